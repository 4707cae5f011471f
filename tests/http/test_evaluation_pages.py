"""The pages of evaluations: what was measured, read on the page."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from lexichord import SyncLexichord
from lexichord.db import catalogue, schema
from lexichord.serve.page.evaluations import view_evaluation
from lexichord.types.evaluation import EvalQuery, EvaluationRun, Outcome
from tests.conftest import SPACE, new_database
from tests.http.served_page import HOSTILE, served
from tests.http.test_manage import Managed, words
from tests.http.test_page import Elements

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
def evaluated(embedded_dsn: str) -> Iterator[Managed]:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with SyncLexichord(dsn=dsn) as core:
            core.run(catalogue.record_evaluation(core.core.database, evaluation(150)))
            core.ingest(documents=[{"uri": "a", "text": "gnu"}], dataset="open")
            keys = {
                "reads": core.create_key("r"),
                "narrow": core.create_key("n", datasets=["open"], writes=True, deletes=True),
            }
            secrets = {name: key.secret for name, key in keys.items()}
            with served(dsn, allowed_hosts="search.example.com") as address:
                yield Managed(address, core, secrets)


def test_the_latest_lead_to_their_metrics_and_questions(evaluated: Managed) -> None:
    with evaluated.client("reads") as client:
        listed = client.get("/evaluations")
        assert "small hybrid 150 1" in words(listed.text)
        (path,) = {
            address
            for each in Elements(listed.text).all("a")
            if (address := each.get("href") or "").startswith("/evaluations/")
        }
        page = client.get(path).text
        assert len(page.encode()) < 120_000
    shown = words(page)
    assert "small by hybrid" in shown
    assert f"mrr {sum(range(150)) / 150 / 150:.4f} 150" in shown
    assert "recall@5 1.0000 1" in shown
    assert "unjudged" not in shown
    assert "question 0 0.0000 1.0 – failed the database is gone" in shown.replace("—", "–")
    assert "and 50 more" in shown
    assert "Ghent." in shown
    assert "no answer, though there is one" in shown
    assert "question 149" not in shown
    assert not Elements(page).all("img")


def test_another_metric_sorts_the_questions(evaluated: Managed) -> None:
    (row,) = evaluated.core.run(catalogue.list_evaluations(evaluated.core.core.database, 5))
    results = evaluated.core.run(
        catalogue.evaluation_results(evaluated.core.core.database, row["evaluation_id"])
    )
    assert view_evaluation(row, results, "recall@5").by == "recall@5"
    assert view_evaluation(row, results, "no such").by == "mrr"
    order = [each["query_id"] for each in view_evaluation(row, results, "mrr").questions]
    assert order == [f"q{n}" for n in range(100)]
    bare = view_evaluation(row, [], "mrr")
    assert (bare.metrics, bare.by, bare.more) == ([], "", 0)


@pytest.mark.parametrize("evaluation", ["0", "x", "9" * 18, "9" * 40])
def test_an_evaluation_that_is_not_there_is_a_page(evaluated: Managed, evaluation: str) -> None:
    with evaluated.client("reads") as client:
        answer = client.get(f"/evaluations/{evaluation}")
    assert answer.status_code == 404
    assert "Not there" in answer.text


@pytest.mark.parametrize("path", ["/evaluations", "/evaluations/1"])
def test_who_reaches_some_datasets_sees_none(evaluated: Managed, path: str) -> None:
    with evaluated.client("narrow") as client:
        assert client.get(path).status_code == 403
        assert "/evaluations" not in client.get("/status").text
