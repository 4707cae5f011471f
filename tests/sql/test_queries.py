"""What was asked is recorded, and read back newest first."""

from tests.sql.corpus import Connection, call

SAID = {"confidence": 0.8, "abstained": False, "chunks": [7, 3], "timings_ms": {"search": 4.5}}


def test_a_query_is_kept_without_its_text(connection: Connection) -> None:
    first = call(connection, "record_query", intent="general", **SAID)[0]["record_query"]
    (row,) = call(connection, "list_queries")
    assert row["query_id"] == first
    assert row["query"] is None
    assert (row["intent"], row["confidence"], row["abstained"]) == ("general", 0.8, False)
    assert (row["chunks"], row["timings_ms"]) == ([7, 3], {"search": 4.5})
    assert (row["degraded"], row["trace"]) == ([], {})


def test_the_newest_come_first(connection: Connection) -> None:
    for query in ("one", "two", "three"):
        call(connection, "record_query", intent="summary", query=query, **SAID)
    assert [row["query"] for row in call(connection, "list_queries", latest=2)] == ["three", "two"]
