"""Rankings by trec_eval's own code, the reference of the field, on random runs."""

import random
from typing import Any

import pytest
import pytrec_eval

from lexichord.evaluate.metrics import compute_metrics, mean_of_judged
from lexichord.types.evaluation import EvalQuery, Outcome, RankedPassage

KS = (1, 3, 5, 10, 20)
THEIRS = {
    **{f"recall@{k}": f"recall_{k}" for k in KS},
    **{f"precision@{k}": f"P_{k}" for k in KS},
    **{f"ndcg@{k}": f"ndcg_cut_{k}" for k in KS},
    **{f"document@{k}": f"success_{k}" for k in KS},
    "mrr": "recip_rank",
    "map": "map",
}
CUTS = ",".join(map(str, KS))
MEASURES = {f"{name}.{CUTS}" for name in ("recall", "P", "ndcg_cut", "success")}


def reference(
    grades: dict[str, dict[str, int]], rankings: dict[str, list[str]]
) -> dict[str, dict[str, float]]:
    run = {
        query: {name: float(-rank) for rank, name in enumerate(names)}
        for query, names in rankings.items()
    }
    scores: Any = pytrec_eval.RelevanceEvaluator(grades, {*MEASURES, "map", "recip_rank"})
    result: dict[str, dict[str, float]] = scores.evaluate(run)
    return result


def random_run(seed: int, most: int) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Grades from 0 to `most` of some of 40 documents, and rankings of 1 to 40, 25 questions."""
    rng = random.Random(seed)
    names = [f"d{number}" for number in range(40)]
    grades, rankings = {}, {}
    for number in range(25):
        judged = {name: rng.randint(0, most) for name in rng.sample(names, rng.randint(1, 15))}
        grades[f"q{number}"] = {**judged, rng.choice(names): 1}
        rankings[f"q{number}"] = rng.sample(names, rng.randint(1, 40))
    return grades, rankings


@pytest.mark.parametrize("seed", range(5))
def test_documents_by_grades_score_as_in_trec_eval(seed: int) -> None:
    grades, rankings = random_run(seed, most=3)
    queries = [EvalQuery(id, "?", grades=grades[id]) for id in grades]
    outcomes = [
        Outcome(id, tuple(RankedPassage(name, 0, 9, 0, 1.0) for name in rankings[id]))
        for id in grades
    ]
    ours, theirs = compute_metrics(queries, outcomes, KS), reference(grades, rankings)
    for name, their_name in THEIRS.items():
        assert ours[name] == pytest.approx([theirs[id][their_name] for id in grades])
        mean = sum(scores[their_name] for scores in theirs.values()) / len(theirs)
        assert mean_of_judged(ours[name]) == pytest.approx(mean)


@pytest.mark.parametrize("seed", range(5, 8))
def test_chunks_score_as_documents_do_in_trec_eval(seed: int) -> None:
    grades, rankings = random_run(seed, most=1)
    queries = [
        EvalQuery(id, "?", chunks=tuple(("a", int(name[1:])) for name, g in judged.items() if g))
        for id, judged in grades.items()
    ]
    outcomes = [
        Outcome(id, tuple(RankedPassage("a", 0, 9, int(name[1:]), 1.0) for name in rankings[id]))
        for id in grades
    ]
    ours, theirs = compute_metrics(queries, outcomes, KS), reference(grades, rankings)
    for name, their_name in THEIRS.items():
        if not name.startswith("document"):
            assert ours[name] == pytest.approx([theirs[id][their_name] for id in grades])
