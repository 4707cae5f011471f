"""What the outcomes of questions are worth, one value a question and metric, all from 0 to 1.

| metric | of what | judged by |
|---|---|---|
| `pass@k` | share of the golden chunks among the first k | chunks, else spans |
| `recall@k`, `precision@k`, `mrr` | the ranking | chunks, else spans, else documents |
| `ndcg@k`, `map` | the ranking | chunks, else documents, unless there are spans |
| `char_recall@k`, `char_precision@k` | characters of the first k passages, each once | spans |
| `evidence@B` | share of the gold characters in the first B that a reader is shown | spans |
| `document@k` | 1 if one of the first k documents is relevant | documents |
| `entity_…` | the answer, see `entities` | entities |
| `ann_recall@k` | the vector index alone, see `index` | the vectors |
| `abstain` | 1 if it abstained exactly where there is no answer | whether there is one |

Pass@k is that of VectorChord's and Anthropic's articles on contextual retrieval. Chunks are not
known by number once files are cut anew, so spans can stand for them: a span counts as found where
passages hold half of it together, and a passage as relevant if it holds a gold character. How many
chunks would have been relevant is unknown then, so there is no nDCG and no MAP. Documents rank as
the outcome's files, then as its passages, each document once.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean

from lexichord.errors import ConfigError
from lexichord.evaluate import ranking
from lexichord.evaluate.entities import score_entities
from lexichord.evaluate.spans import Stretch, cut, length, merge, shared
from lexichord.types.evaluation import EvalQuery, Outcome, Passage

BUDGETS = (1000, 2000, 4000)  # characters
HELD = 0.5  # of a span's characters, for it to count as found

type Scores = Mapping[str, float | None]


def evaluate(
    queries: Sequence[EvalQuery], outcomes: Sequence[Outcome], ks: Sequence[int]
) -> dict[str, list[float | None]]:
    """Give, for each metric, a value for each query, in the order of `queries`.

    `outcomes` are in the same order. A value is None where the query has no judgment of that kind;
    it is 0 where it has one and the outcome is an error. `ks` are ranks, from 1. Raises ConfigError
    if the outcomes are not those of the queries.
    """
    _check(queries, outcomes, ks)
    rows = [_score(query, out, ks) for query, out in zip(queries, outcomes, strict=True)]
    return {name: [row[name] for row in rows] for row in rows[:1] for name in row}


def summarise(values: Sequence[float | None]) -> float | None:
    """Give the mean of the values that are not None; None if there are none."""
    judged = [value for value in values if value is not None]
    return fmean(judged) if judged else None


def rank_documents(outcome: Outcome) -> list[str]:
    """Give the uris of an outcome: its files, then those of its passages, each once."""
    return list(dict.fromkeys([*outcome.files, *(passage.uri for passage in outcome.passages)]))


def find_group(query: EvalQuery) -> str:
    """Give the document that a question is about; without one it stands for itself.

    Questions to the same document are not independent.
    """
    return next(iter(grade_documents(query)), f"question {query.id}")


def grade_documents(query: EvalQuery) -> dict[str, int]:
    """Give the grades of documents; without any, 1 for each that holds something golden."""
    if query.grades:
        return dict(query.grades)
    spans, chunks = (span.file for span in query.spans), (uri for uri, _ in query.chunks)
    return dict.fromkeys([*query.files, *spans, *chunks], 1)


def _check(queries: Sequence[EvalQuery], outcomes: Sequence[Outcome], ks: Sequence[int]) -> None:
    asked, answered = [query.id for query in queries], [out.query_id for out in outcomes]
    if asked != answered:
        odd = sorted({*asked} ^ {*answered})[:3] or "their order"
        raise ConfigError(
            f"{len(outcomes)} outcomes do not fit {len(queries)} questions ({odd}): give one each"
        )
    if not ks or min(ks) < 1:
        raise ConfigError(f"k counts ranks from 1: {', '.join(map(str, ks)) or 'none given'}")


def _score(query: EvalQuery, outcome: Outcome, ks: Sequence[int]) -> Scores:
    scores = {
        **_score_ranking(query, outcome, ks),
        **_score_characters(query, outcome, ks),
        **_score_documents(query, outcome, ks),
        **score_entities(query, outcome.answer, outcome.entities),
        "abstain": float(outcome.abstained != query.answerable),
    }
    if outcome.error is None:
        return scores
    return {name: None if score is None else 0.0 for name, score in scores.items()}


def _score_ranking(query: EvalQuery, outcome: Outcome, ks: Sequence[int]) -> Scores:
    """Score by the finest unit that is judged."""
    if query.chunks:
        chunks = [(passage.uri, passage.number) for passage in outcome.passages]
        ranked = _score_ranks(chunks, dict.fromkeys(query.chunks, 1), ks)
        return {**{f"pass@{k}": ranked[f"recall@{k}"] for k in ks}, **ranked}
    if query.spans:
        return _score_spans(query, outcome, ks)
    ranked = _score_ranks(rank_documents(outcome), grade_documents(query), ks)
    return {**{f"pass@{k}": None for k in ks}, **ranked}


def _score_ranks[T: (str, tuple[str, int])](
    found: Sequence[T], grades: Mapping[T, int], ks: Sequence[int]
) -> Scores:
    gains, ideal = ranking.find_gains(found, grades), ranking.find_ideal(grades)
    scores: dict[str, float | None] = {}
    for k in ks:
        scores[f"recall@{k}"] = ranking.recall(gains, len(ideal), k) if ideal else None
        scores[f"precision@{k}"] = ranking.precision(gains, k) if ideal else None
        scores[f"ndcg@{k}"] = ranking.ndcg(gains, ideal, k) if ideal else None
    scores["mrr"] = ranking.reciprocal_rank(gains) if ideal else None
    scores["map"] = ranking.average_precision(gains, len(ideal)) if ideal else None
    return scores


def _score_spans(query: EvalQuery, outcome: Outcome, ks: Sequence[int]) -> Scores:
    spans = [merge([(span.file, span.start, span.end)]) for span in query.spans]
    gold = merge((span.file, span.start, span.end) for span in query.spans)
    places = _places(outcome.passages)
    gains = [int(shared(gold, merge([place])) > 0) for place in places]
    scores: dict[str, float | None] = {}
    for k in ks:
        held = merge(places[:k])
        found = [0 < HELD * length(span) <= shared(span, held) for span in spans]
        scores[f"pass@{k}"] = scores[f"recall@{k}"] = fmean(found)
        scores[f"precision@{k}"] = ranking.precision(gains, k)
        scores[f"ndcg@{k}"] = None
    return {**scores, "mrr": ranking.reciprocal_rank(gains), "map": None}


def _score_characters(query: EvalQuery, outcome: Outcome, ks: Sequence[int]) -> Scores:
    gold = merge((span.file, span.start, span.end) for span in query.spans)
    room, places = length(gold), _places(outcome.passages)
    scores: dict[str, float | None] = {}
    for k in ks:
        held = merge(places[:k])
        right, shown = shared(gold, held), length(held)
        scores[f"char_recall@{k}"] = right / room if room else None
        scores[f"char_precision@{k}"] = (right / shown if shown else 0.0) if room else None
    for budget in BUDGETS:
        right = shared(gold, merge(cut(places, budget)))
        scores[f"evidence@{budget}"] = right / room if room else None
    return scores


def _score_documents(query: EvalQuery, outcome: Outcome, ks: Sequence[int]) -> Scores:
    grades, found = grade_documents(query), rank_documents(outcome)
    gains = ranking.find_gains(found, grades)
    judged = any(ranking.find_ideal(grades))
    return {f"document@{k}": float(any(gains[:k])) if judged else None for k in sorted({1, *ks})}


def _places(passages: Sequence[Passage]) -> list[Stretch]:
    return [(passage.uri, passage.start, passage.end) for passage in passages]
