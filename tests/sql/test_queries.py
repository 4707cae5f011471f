from collections.abc import Sequence
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from lexichord.types import Json
from tests.sql.corpus import Connection, Row, call, put, value

LINES = ["w1 w2", "w3 w4 w5", "w6"]


def hit(chunk_id: int = 1, start: int = 0, end: int = 5, **more: Any) -> dict[str, Any]:
    place = {"dataset": "library", "uri": "a", "char_start": start, "char_end": end}
    return {"chunk_id": chunk_id, "score": 0.1 + 0.2, **place, **more}


def record(connection: Connection, hits: Sequence[Json] = (), **more: Any) -> int:
    fields = {"intent": "general", "confidence": 0.5, "abstained": False, "version": "1", **more}
    rows = call(connection, "record_query", hits=Jsonb(list(hits)), **fields)
    return int(rows[0]["record_query"])


def stored_chunks(connection: Connection) -> list[Row]:
    rows = call(connection, "list_documents")
    return call(connection, "list_chunks", document=rows[0]["document_id"])


def current(connection: Connection, query: int) -> list[int | None]:
    return [row["current_chunk_id"] for row in call(connection, "query_hits", query_id=query)]


def test_a_record_is_read_back_as_it_was_given(connection: Connection) -> None:
    stages = [{"stage": "search", "ms": 1.25, "made": 2}, {"stage": "answer", "ms": 0.5}]
    fields = {"coverage": 0.75, "ms": 1.75, "space": "a/b/4", "datasets": ["library"]}
    words = {"narrowed": True, "hinted": True, "query": "who pays", "hint": "the lease"}
    place = {"uri": "a", "char_start": 2, "char_end": 4}
    told = {"stages": Jsonb(stages), "phrase": Jsonb(place)}
    query = record(connection, [hit(), hit()], counts={"files": 3}, **told, **fields, **words)
    (listed,) = call(connection, "list_queries")
    assert listed.pop("asked_at") == value(connection, "select now()")
    assert listed == {
        **{"query_id": query, "intent": "general", "confidence": 0.5, "abstained": False},
        **{"version": "1", "counts": {"files": 3}, "stages": stages, "hits": 2},
        "phrase": place,
        **fields,
        **words,
    }


def test_little_is_needed(connection: Connection) -> None:
    query = record(connection)
    (listed,) = call(connection, "list_queries")
    assert (listed["query_id"], listed["hits"], listed["ms"]) == (query, 0, None)
    assert (listed["query"], listed["hint"], listed["hinted"]) == (None, None, False)
    assert (listed["datasets"], listed["narrowed"], listed["space"]) == ([], False, None)
    assert call(connection, "query_hits", query_id=query) == []


def test_hits_keep_their_order_scores_and_ranks(connection: Connection) -> None:
    scores = {"dense": 0.1 + 0.2, "keyword": None, "contributions": {"original": 1 / 61}}
    best = hit(7, scores=scores, ranks={"dense": 4, "keyword": None})
    query = record(connection, [best, hit(5, start=6, end=9), hit(6)])
    rows = call(connection, "query_hits", query_id=query)
    assert [(row["rank"], row["chunk_id"]) for row in rows] == [(1, 7), (2, 5), (3, 6)]
    assert (rows[0]["score"], rows[0]["scores"]) == (best["score"], scores)
    assert rows[0]["ranks"] == {"dense": 4, "keyword": None}
    assert (rows[1]["scores"], rows[1]["ranks"]) == ({}, {})
    assert (rows[1]["char_start"], rows[1]["char_end"]) == (6, 9)


def test_the_rows_of_a_search_are_hits(connection: Connection) -> None:
    put(connection, "a", LINES)
    query = value(
        connection,
        "select lexichord.record_query('general', 1, false, jsonb_agg(h), '1') "
        "from lexichord.hybrid_search('w3', depth => 100) as h",
    )
    (hit,) = call(connection, "query_hits", query_id=query)
    chunk = stored_chunks(connection)[1]["chunk_id"]
    assert (hit["chunk_id"], hit["current_chunk_id"]) == (chunk, chunk)


def test_a_hit_is_found_by_its_place_after_a_reingest(connection: Connection) -> None:
    put(connection, "a", LINES)
    before = stored_chunks(connection)
    hits = [
        hit(chunk["chunk_id"], chunk["char_start"], chunk["char_end"], uri=uri, dataset=dataset)
        for chunk in before
        for uri, dataset in (("a", "library"), ("b", "library"), ("a", "other"))
    ]
    query = record(connection, hits[::3] + hits[1:3])
    assert current(connection, query) == [*(c["chunk_id"] for c in before), None, None]
    put(connection, "a", [LINES[0], "w9 w9", "w6 longer"])
    after = stored_chunks(connection)
    assert current(connection, query) == [after[0]["chunk_id"], None, None, None, None]
    assert after[0]["chunk_id"] != before[0]["chunk_id"]
    documents = [row["document_id"] for row in call(connection, "list_documents")]
    call(connection, "delete_documents", documents=documents)
    assert current(connection, query) == [None] * 5


def test_of_chunks_at_one_place_the_same_one_counts(connection: Connection) -> None:
    put(connection, "a", ["", "w1"])
    connection.execute("update lexichord_data.chunk set char_start = 0, char_end = 5")
    first, second = [chunk["chunk_id"] for chunk in stored_chunks(connection)]
    query = record(connection, [hit(second), hit(first), hit(second + 1000)])
    assert current(connection, query) == [second, first, first]


def test_the_latest_come_first(connection: Connection) -> None:
    query_ids = [record(connection) for _ in range(4)]
    listed = [row["query_id"] for row in call(connection, "list_queries")]
    assert listed == query_ids[::-1]
    assert [r["query_id"] for r in call(connection, "list_queries", latest=2)] == query_ids[:1:-1]


def test_judgments_are_counted_beside_what_was_found(connection: Connection) -> None:
    first, second = record(connection, counts={"files": 3}), record(connection)
    for query, is_right in ((first, True), (first, False), (first, True), (second, False)):
        call(connection, "judge_query", query_id=query, is_right=is_right)
    counts = {row["query_id"]: row["counts"] for row in call(connection, "list_queries")}
    assert counts == {first: {"files": 3, "right": 2, "wrong": 1}, second: {"wrong": 1}}
    with pytest.raises(psycopg.errors.NoDataFound, match="no recorded query"):
        call(connection, "judge_query", query_id=second + 1, is_right=True)


def test_what_was_found_right_more_often_than_wrong_is_a_question_of_its_document(
    connection: Connection,
) -> None:
    put(connection, "a", LINES)
    put(connection, "b", LINES)

    def judge(query: str | None, *judgments: bool, uri: str = "a", **more: Any) -> int:
        """Record a question that finds a document, and each of its judgments."""
        hits = [hit(uri=uri), hit(uri="b")]
        number = record(connection, hits, query=query, **more)
        for is_right in judgments:
            call(connection, "judge_query", query_id=number, is_right=is_right)
        return number

    judge("who pays", True)
    judge("who pays", False)
    latest = judge("who pays", True)
    elsewhere = judge("who pays", True, uri="b")
    hinted = judge("who pays", True, hint="the lease", hinted=True)
    judge("who sings", True, False)
    judge("who waits")
    judge(None, True)
    judge("who left", True, uri="gone")
    found = call(connection, "judged_questions")
    assert [(row["query_id"], row["query"], row["hint"], row["uri"]) for row in found] == [
        (latest, "who pays", None, "a"),
        (elsewhere, "who pays", None, "b"),
        (hinted, "who pays", "the lease", "a"),
    ]
    assert [row["uri"] for row in call(connection, "judged_questions", latest=5)] == ["a"]


def test_forgetting_by_age_and_altogether(connection: Connection) -> None:
    old, young = record(connection, [hit()]), record(connection, [hit()])
    connection.execute(
        "update lexichord_data.query set asked_at = now() - interval '2 days' where id = %s", [old]
    )
    forget = "select lexichord.forget_queries(older_than => %s::interval)"
    assert value(connection, forget, "3 days") == 0
    assert value(connection, forget, "1 day") == 1
    assert [row["query_id"] for row in call(connection, "list_queries")] == [young]
    rows = connection.execute("select query_id from lexichord_data.query_hit").fetchall()
    assert rows == [(young,)]
    assert value(connection, forget, None) == 0
    assert value(connection, forget, "0") == 1
    left = "select count(*) from lexichord_data.query_hit"
    assert (value(connection, left), call(connection, "list_queries")) == (0, [])


@pytest.mark.parametrize(
    ("hits", "more"),
    [
        ([{"chunk_id": 1}], {}),
        ([], {"intent": None}),
        ([], {"hinted": True, "hint": "the lease"}),  # words of a hint, but not of the query
        ([], {"query": "who pays", "hint": "the lease"}),
    ],
)
def test_half_a_record_is_an_error_and_leaves_nothing(
    connection: Connection, hits: list[Json], more: Json
) -> None:
    with pytest.raises(psycopg.IntegrityError), connection.transaction():
        record(connection, hits, **more)
    assert call(connection, "list_queries") == []


def test_documents_do_not_depend_on_records(connection: Connection) -> None:
    """Nothing that a copy, a dump of the documents or a deletion touches refers to them."""
    referred = connection.execute(
        "select confrelid::regclass::text from pg_constraint where contype = 'f' and conrelid in "
        "('lexichord_data.query'::regclass, 'lexichord_data.query_hit'::regclass)"
    ).fetchall()
    assert referred == [("lexichord_data.query",)]
