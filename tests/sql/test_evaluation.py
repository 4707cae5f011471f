from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from lexichord.db.catalogue import (
    compare_evaluations,
    evaluation_results,
    forget_evaluations,
    list_evaluations,
    record_evaluation,
)
from lexichord.db.pool import Database
from lexichord.errors import ConfigError
from lexichord.types import Json
from lexichord.types.evaluation import (
    EvalQuery,
    EvaluationRun,
    EvidenceSpan,
    Outcome,
    RankedPassage,
)
from tests.sql.corpus import Connection, Row, call, value

QUERIES: list[dict[str, Any]] = [
    {"id": "q2", "text": "who pays", "files": ["a"]},
    {"id": "q1", "text": "how long"},
]
YESTERDAY = datetime(2026, 11, 20, tzinfo=UTC)


def result(query: str, ms: float = 1, **metrics: float | None) -> dict[str, Any]:
    return {"query_id": query, "ms": ms, "metrics": metrics}


def record(
    connection: Connection,
    results: Sequence[Json],
    queries: Sequence[Json] = QUERIES,
    **more: Any,
) -> int:
    arguments = {"set_name": "small", "strategy": "hybrid", "ks": [5], "version": "1", **more}
    lists = {"queries": Jsonb(list(queries)), "results": Jsonb(list(results))}
    rows = call(connection, "record_evaluation", **lists, **arguments)
    return int(rows[0]["record_evaluation"])


def judgments(connection: Connection, kind: str) -> list[tuple[Any, ...]]:
    columns = "uri, char_start, char_end, ordinal, grade, entity_type, variants, critical"
    return connection.execute(
        f"select {columns} from lexichord_data.judgment where kind = %s "
        "order by uri, entity_type, char_start, variants".encode(),
        [kind],
    ).fetchall()


def count(connection: Connection, table: str) -> int:
    return int(value(connection, f"select count(*) from lexichord_data.{table}"))


def test_every_kind_of_judgment_is_kept(connection: Connection) -> None:
    query = {
        **{"id": "q", "text": "t", "files": ["a", "b"]},
        "spans": [{"file": "a", "start": 3, "end": 9}, {"file": "a", "start": 12, "end": 15}],
        "chunks": [["a", 0], ["b", 7]],
        "grades": {"a": 2, "b": 0},
        "entities": {"TIME": ["two years", "2 years"], "MONEY": ["$ 5"]},
        "critical": ["TIME"],
    }
    record(connection, [], [query])
    rest = (None,) * 3
    assert judgments(connection, "file") == [(u, *[None] * 7) for u in ("a", "b")]
    assert judgments(connection, "span") == [
        ("a", 3, 9, None, None, *rest),
        ("a", 12, 15, None, None, *rest),
    ]
    assert judgments(connection, "chunk") == [
        ("a", None, None, 0, None, *rest),
        ("b", None, None, 7, None, *rest),
    ]
    assert judgments(connection, "grade") == [
        ("a", None, None, None, 2, *rest),
        ("b", None, None, None, 0, *rest),
    ]
    assert judgments(connection, "entity") == [
        (None, None, None, None, None, "MONEY", ["$ 5"], False),
        (None, None, None, None, None, "TIME", ["two years", "2 years"], True),
    ]


def test_a_set_is_kept_once_and_a_changed_one_apart(connection: Connection) -> None:
    record(connection, [])
    record(connection, [], strategy="keyword")
    assert (count(connection, "evaluation_set"), count(connection, "judgment")) == (1, 1)
    record(connection, [], [*QUERIES, {"id": "q3", "text": "why"}])
    assert (count(connection, "evaluation_set"), count(connection, "evaluation_query")) == (2, 5)


def test_results_come_in_the_order_of_the_set(connection: Connection) -> None:
    passages = [{"uri": "a", "start": 0, "end": 4, "number": 0, "score": 0.1 + 0.2}]
    full = {
        **{"query_id": "q1", "ms": 2.5, "passages": passages, "files": ["a", "b"], "answer": "A"},
        **{"confidence": 0.25, "abstained": True, "error": "cut off", "metrics": {"mrr": 0.5}},
    }
    evaluation = record(connection, [full, result("q2", mrr=None)])
    first, second = call(connection, "evaluation_results", evaluation=evaluation)
    assert first["query_id"] == "q2"
    assert (first["metrics"], first["passages"], first["files"]) == ({"mrr": None}, [], [])
    words = {"query": "how long", "hint": None, "intent": None, "answerable": True}
    assert second == full | words


def test_the_list_gives_means_of_what_is_judged(connection: Connection) -> None:
    results = [
        result("q2", ms=10, mrr=1.0, recall=0.5, map=None),
        result("q1", ms=20, mrr=None, recall=0.25, map=None),
    ]
    settings = {"context": "none"}
    evaluation = record(connection, results, settings=settings, qps={"1": 9.5}, ks=[5, 10])
    (row,) = call(connection, "list_evaluations")
    assert (row["evaluation_id"], row["set_name"], row["strategy"]) == (
        evaluation,
        "small",
        "hybrid",
    )
    assert row["means"] == {"mrr": 1.0, "recall": 0.375}
    assert (row["queries"], row["failed"], row["p50_ms"], row["p95_ms"]) == (2, 0, 15, 19.5)
    assert (row["settings"], row["qps"], row["ks"]) == (settings, {"1": 9.5}, [5, 10])


def test_what_failed_has_no_part_in_the_milliseconds(connection: Connection) -> None:
    failed = {**result("q2", ms=30000, mrr=0.0), "error": "timeout"}
    record(connection, [failed, result("q1", ms=4, mrr=1.0)])
    (row,) = call(connection, "list_evaluations")
    assert (row["failed"], row["p50_ms"], row["p95_ms"]) == (1, 4, 4)
    assert row["means"] == {"mrr": 0.5}


def test_the_latest_come_first(connection: Connection) -> None:
    evaluations = [record(connection, []) for _ in range(3)]
    rows = call(connection, "list_evaluations", latest=2)
    assert [row["evaluation_id"] for row in rows] == evaluations[:0:-1]


def test_two_are_compared_question_by_question(connection: Connection) -> None:
    a = record(connection, [result("q2", mrr=0.5, map=None), result("q1", mrr=0.25, map=0.5)])
    b = record(connection, [result("q2", mrr=1.0, map=0.5), result("q1", mrr=0.0, recall=1.0)])
    rows = call(connection, "compare_evaluations", a=a, b=b)
    assert rows == [row("mrr", "q2", 0.5, 1.0), row("mrr", "q1", 0.25, 0.0)]
    back = call(connection, "compare_evaluations", a=b, b=a)
    assert [each["difference"] for each in back] == [-0.5, 0.25]


def row(metric: str, query: str, a: float, b: float) -> Row:
    values = {"a_value": a, "b_value": b, "difference": b - a}
    return {"metric": metric, "query_id": query, **values}


def test_an_evaluation_compared_with_itself_differs_nowhere(connection: Connection) -> None:
    a = record(connection, [result("q2", mrr=0.5), result("q1", mrr=0.25)])
    rows = call(connection, "compare_evaluations", a=a, b=a)
    assert [each["difference"] for each in rows] == [0, 0]


def test_what_cannot_be_compared_is_refused(connection: Connection) -> None:
    a = record(connection, [])
    b = record(connection, [], QUERIES[:1])
    with (
        pytest.raises(psycopg.DataError, match=f"evaluations {a} and {b} are of different"),
        connection.transaction(),
    ):
        call(connection, "compare_evaluations", a=a, b=b)
    for pair in ((a, 10**6), (10**6, a)):
        with (
            pytest.raises(psycopg.DataError, match="there is no evaluation 1000000"),
            connection.transaction(),
        ):
            call(connection, "compare_evaluations", a=pair[0], b=pair[1])


def test_a_question_answered_twice_is_refused(connection: Connection) -> None:
    with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
        record(connection, [result("q1"), result("q1")])
    assert count(connection, "evaluation") == 0


def test_old_ones_are_forgotten_and_sets_that_nobody_asked(connection: Connection) -> None:
    record(connection, [result("q1")], QUERIES[1:], started_at=YESTERDAY)
    record(connection, [result("q1")], started_at=YESTERDAY)
    new = record(connection, [result("q1")])
    age = value(connection, "select now() - %s::timestamptz", YESTERDAY)
    assert call(connection, "forget_evaluations", older_than=age) == [{"forget_evaluations": 2}]
    assert [each["evaluation_id"] for each in call(connection, "list_evaluations")] == [new]
    assert (count(connection, "evaluation_set"), count(connection, "evaluation_result")) == (1, 1)
    everything = timedelta(0)
    call(connection, "forget_evaluations", older_than=everything)
    tables = ("evaluation", "evaluation_set", "evaluation_query", "judgment")
    assert [count(connection, table) for table in tables] == [0] * 4


async def test_a_run_is_read_back_as_it_was(database: Database) -> None:
    query = EvalQuery(
        "q",
        "who pays",
        "the lease",
        files=("a",),
        spans=(EvidenceSpan("a", 0, 4),),
        chunks=(("a", 0),),
        grades={"a": 1},
        entities={"TIME": ("a year",)},
        critical=("TIME",),
        intent="summary",
        answerable=False,
    )
    outcome = Outcome("q", (RankedPassage("a", 0, 4, 0, 0.5),), ("a",), "A", 0.25, True, 2.5)
    settings = {"context": "none"}
    metrics: dict[str, list[float | None]] = {"mrr": [0.5], "map": [None]}
    place = (None, "small", "hybrid", settings, (5, 10), (query,), (outcome,))
    run = EvaluationRun(*place, metrics, {1: 9.5, 4: 20.0}, YESTERDAY)
    id = await record_evaluation(database, run)
    (listed,) = await list_evaluations(database, 5)
    assert (listed["evaluation_id"], listed["started_at"]) == (id, YESTERDAY)
    assert (listed["settings"], listed["ks"]) == (settings, [5, 10])
    assert listed["qps"] == {"1": 9.5, "4": 20.0}
    (row,) = await evaluation_results(database, id)
    assert (row["query"], row["hint"], row["intent"]) == ("who pays", "the lease", "summary")
    assert (row["ms"], row["confidence"], row["abstained"]) == (2.5, 0.25, True)
    assert row["passages"] == [{"uri": "a", "start": 0, "end": 4, "number": 0, "score": 0.5}]
    assert (row["metrics"], row["answerable"]) == ({"mrr": 0.5, "map": None}, False)
    assert len(await compare_evaluations(database, id, id)) == 1
    with pytest.raises(ConfigError, match="there is no evaluation 0: see list_evaluations"):
        await compare_evaluations(database, id, 0)
    assert await forget_evaluations(database, timedelta(0)) == 1
