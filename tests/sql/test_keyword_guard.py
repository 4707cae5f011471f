"""Rows that came after the keyword index was built may be lost: marks tell, a re-index mends.

pg_textsearch keeps them in memory; of vchord_bm25's pages a crash may leave some empty.
"""

import psycopg
import pytest

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.types import Question
from tests.sql.corpus import Connection, call, ids, put, value

MARKS = "select count(*) from lexichord_data.unsaved_keywords"
EARLIER = "insert into lexichord_data.unsaved_keywords values ('2001-01-01')"


def index(connection: Connection) -> Connection:
    put(connection, "a", ["w1 w2", "w3"], [[1, 0, 0, 0], [0, 1, 0, 0]])
    call(connection, "build_indexes")
    return connection


@pytest.fixture
def indexed(connection: Connection) -> Connection:
    return index(connection)


def test_building_leaves_no_mark(indexed: Connection) -> None:
    assert value(indexed, MARKS) == 0
    assert value(indexed, "select lexichord.refresh_keyword_index()") is False


@pytest.mark.parametrize(
    "write",
    [
        "update lexichord_data.chunk set embedding = '[0,0,1,0]'",
        "delete from lexichord_data.chunk where ordinal = 0",
        "delete from lexichord_data.document",
        "select lexichord.delete_documents(array[1])",
    ],
)
def test_every_write_after_that_leaves_one(indexed: Connection, write: str) -> None:
    indexed.execute(write.encode())
    assert value(indexed, MARKS) == 1


def test_one_mark_is_enough(indexed: Connection) -> None:
    for uri in "bcd":
        put(indexed, uri, ["w4"])
    assert value(indexed, MARKS) == 1
    assert value(indexed, "select lexichord.keyword_index_is_stale()") is False
    assert value(indexed, "select lexichord.refresh_keyword_index()") is True
    assert value(indexed, MARKS) == 0


def test_a_mark_belongs_to_the_transaction_of_its_rows(dsn: str, fresh: Connection) -> None:
    indexed = index(fresh)
    with indexed.transaction(force_rollback=True):
        put(indexed, "b", ["w4"])
        assert value(indexed, MARKS) == 1
        with psycopg.connect(dsn) as other:
            assert value(other, MARKS) == 0
    assert value(indexed, MARKS) == 0


def test_a_mark_of_another_epoch_stops_the_search_and_a_re_index_mends_it(
    indexed: Connection,
) -> None:
    indexed.execute(EARLIER)
    assert value(indexed, "select lexichord.keyword_index_is_stale()") is True
    assert value(indexed, "select keyword_index_is_stale from lexichord.database_status()") is True
    for function in ("keyword_candidates", "hybrid_search", "discover_files"):
        with (
            pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as error,
            indexed.transaction(),
        ):
            call(indexed, function, query="w3")
        assert "may be damaged" in str(error.value.diag.message_primary)
        hint = "Run: select lexichord.refresh_keyword_index();"
        assert error.value.diag.message_hint == hint
    assert value(indexed, "select lexichord.refresh_keyword_index()") is True
    assert value(indexed, MARKS) == 0
    assert len(call(indexed, "keyword_candidates", query="w3")) == 1


def test_what_does_not_read_the_index_still_works(indexed: Connection) -> None:
    indexed.execute(EARLIER)
    document = ids(call(indexed, "list_documents"), "document_id")
    assert len(call(indexed, "keyword_candidates", query="w3", documents=document)) == 1
    assert len(call(indexed, "exact_keyword_candidates", query="w3")) == 1
    assert len(call(indexed, "dense_candidates", query_vector="[1,0,0,0]")) == 2


def test_tidying_after_a_load_keeps_the_mark_and_every_row(indexed: Connection) -> None:
    for number in range(20):
        put(indexed, f"late{number}", [f"w9 late{number}"])
    call(indexed, "delete_documents", documents=[2])
    assert value(indexed, "select lexichord.build_indexes()") is False
    assert value(indexed, MARKS) == 1
    put(indexed, "last", ["w9"])
    candidates = call(indexed, "keyword_candidates", query="w9")
    assert len(candidates) == 20
    assert ids(candidates) == ids(call(indexed, "exact_keyword_candidates", query="w9"))


def test_what_comes_after_the_index_is_found_at_once(indexed: Connection) -> None:
    for number in range(5):
        put(indexed, f"late{number}", [f"late{number} w9"])
        assert len(call(indexed, "keyword_candidates", query="w9")) == number + 1
    call(
        indexed,
        "delete_documents",
        documents=[value(indexed, "select max(id) from lexichord_data.document")],
    )
    assert len(call(indexed, "keyword_candidates", query="w9")) == 4


async def test_python_mends_it_by_itself(dsn: str, fresh: Connection) -> None:
    indexed = index(fresh)
    indexed.execute(EARLIER)
    async with Database(dsn, 1) as database:
        assert len(await search.hybrid_search(database, Question("w3", mode="keyword"))) == 1
    assert value(indexed, MARKS) == 0
