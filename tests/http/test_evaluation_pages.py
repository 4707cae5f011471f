"""The pages of evaluations: what was measured, read on the page."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from lexichord.db import catalogue
from lexichord.serve.page.status import view_evaluation
from lexichord.types.evaluation import EvalQuery, EvaluationRun, Outcome
from tests.http.pages import HOSTILE, Elements, words
from tests.http.served import Keys, Served, serve_documents

BEGUN = datetime(2026, 11, 20, tzinfo=UTC)


def evaluation(questions: int) -> EvaluationRun:
    """Give a run: the first question fails, each other is better than the one before."""
    queries = [EvalQuery(f"q{n}", f"question {n}") for n in range(questions)]
    queries[1] = EvalQuery("q1", HOSTILE)
    outcomes = [Outcome(each.id, (), ("a",), milliseconds=2.0) for each in queries]
    outcomes[0] = Outcome("q0", (), error="the database is gone", milliseconds=1.0)
    outcomes[2] = Outcome("q2", (), answer="Ghent.", confidence=0.75, milliseconds=3.0)
    outcomes[3] = Outcome("q3", (), abstained=True)
    metrics: dict[str, list[float | None]] = {
        "mrr": [n / questions for n in range(questions)],
        "recall@5": [1.0, *[None] * (questions - 1)],
        "unjudged": [None] * questions,
    }
    place = (None, "small", "hybrid", {"context": "none"}, (5,), tuple(queries), tuple(outcomes))
    return EvaluationRun(*place, metrics, {4: 20.0}, BEGUN)


@pytest.fixture(scope="module")
def evaluated(bare: str) -> Iterator[Served]:
    keys: Keys = {"reads": {}, "narrow": {"datasets": ["open"], "writes": True, "deletes": True}}
    with serve_documents(bare, {"open": [{"uri": "a", "text": "gnu"}]}, keys) as served:
        core = served.lexichord
        core.run(catalogue.record_evaluation(core.core.database, evaluation(150)))
        yield served


def test_the_latest_lead_to_their_metrics_and_questions(evaluated: Served) -> None:
    client = evaluated.by("reads")
    listed = client.get("/evaluations").text
    assert "small hybrid 150 1" in words(listed)
    (path,) = set(re.findall(r'href="(/evaluations/[^"]+)"', listed))
    page = client.get(path).text
    assert len(page.encode()) < 120_000
    shown = words(page)
    for said in (
        "small by hybrid",
        f"mrr {sum(range(150)) / 150 / 150:.4f} 150",
        "recall@5 1.0000 1",
        "and 50 more",
        "Ghent.",
        "no answer, though there is one",
    ):
        assert said in shown
    assert "question 0 0.0000 1.0 – failed the database is gone" in shown.replace("—", "–")
    assert "unjudged" not in shown
    assert "question 149" not in shown
    assert not Elements(page).all("img")


def test_another_metric_sorts_the_questions(evaluated: Served) -> None:
    core = evaluated.lexichord
    (row,) = core.run(catalogue.list_evaluations(core.core.database, 5))
    results = core.run(catalogue.evaluation_results(core.core.database, row["evaluation_id"]))
    assert view_evaluation(row, results, "recall@5").by == "recall@5"
    assert view_evaluation(row, results, "no such").by == "mrr"
    order = [each["query_id"] for each in view_evaluation(row, results, "mrr").questions]
    assert order == [f"q{n}" for n in range(100)]
    bare = view_evaluation(row, [], "mrr")
    assert (bare.metrics, bare.by, bare.more) == ([], "", 0)


@pytest.mark.parametrize("evaluation", ["0", "x", "9" * 18, "9" * 40])
def test_an_evaluation_that_is_not_there_is_a_page(evaluated: Served, evaluation: str) -> None:
    answer = evaluated.by("reads").get(f"/evaluations/{evaluation}")
    assert (answer.status_code, "Not there" in answer.text) == (404, True)


def test_who_reaches_some_datasets_sees_none(evaluated: Served) -> None:
    for path in ("/evaluations", "/evaluations/1"):
        assert evaluated.by("narrow").get(path).status_code == 403
    assert "/evaluations" not in evaluated.by("narrow").get("/status").text
