"""VectorChord's indexes after a crash of the server: nothing that was stored is missed."""

import psycopg
import pytest

from lexichord.db.schema import Choice, prepare
from tests.conftest import SPACE
from tests.own_server import own_server
from tests.sql import corpus
from tests.sql.corpus import Connection, call, ids, put

pytestmark = pytest.mark.faults

LIBRARIES = "vchord,vchord_bm25"


def test_what_was_stored_is_found_after_a_crash(vectorchord_dsn: str) -> None:
    """Sealed chunks, chunks that wait, deleted ones, and ones never committed."""
    with own_server(vectorchord_dsn, LIBRARIES) as server:
        dsn = server.dsn
        prepare(dsn, Choice("vectorchord", "english", SPACE))
        connection = psycopg.connect(dsn, autocommit=True)
        corpus.wide(connection)
        put(connection, "late", ["w1 late"] * 400, [[0.3, 1, 0, 0]] * 400)
        odd = ids(call(connection, "list_documents", datasets=["odd"]), "document_id")
        call(connection, "delete_documents", documents=odd)
        connection.execute("begin")
        put(connection, "open", ["w1 late"] * 50, [[0.3, 1, 0, 0]] * 50)
        server.crash()
        connection.close()
        server.start(LIBRARIES)
        with psycopg.connect(dsn, autocommit=True) as connection:
            assert len(candidates(connection, "keyword_candidates", query="late")) == 400
            for query in ("w0", "w1 w2", "w499 w7"):
                same(connection, "keyword_candidates", query=query)
            same(connection, "dense_candidates", query_vector="[1,0,0,0]")
            call(connection, "build_indexes")  # what waited is sealed
            assert call(connection, "find_problems") == []


def same(connection: Connection, function: str, **query: str) -> None:
    indexed, exact = (
        candidates(connection, name, **query) for name in (function, f"exact_{function}")
    )
    assert len(indexed) == len(exact) > 0
    assert len(indexed & exact) >= 0.98 * len(exact)


def candidates(connection: Connection, function: str, **query: str) -> set[int]:
    return {*ids(call(connection, function, depth=5000, **query))}
