"""What a vacuum takes away is missed by no search."""

from tests.sql import corpus
from tests.sql.corpus import SPACE, Connection, call, ids, put

BY_VECTOR = {"query_vector": "[1,0,0,0]", "query_space": SPACE}
FILLER = " ".join(f"w{number}" for number in range(200, 400))


def test_searches_after_a_vacuum(fresh: Connection) -> None:
    """The table's last pages hold deleted rows only, which a vacuum would like to cut off."""
    corpus.wide(fresh)
    wide = ids(call(fresh, "list_documents"), "document_id")
    before = call(fresh, "hybrid_search", query="w0 w1", documents=wide, **BY_VECTOR)
    for vacuum in ("vacuum", "vacuum full"):
        put(fresh, "tail", [f"w0 w1 {FILLER}"] * 500, [[1, 0, 0, 0]] * 500)
        call(fresh, "rebuild_indexes")
        (tail,) = {*ids(call(fresh, "list_documents"), "document_id")} - {*wide}
        call(fresh, "delete_documents", documents=[tail])
        fresh.execute(f"{vacuum} lexichord_data.chunk".encode())
        for scope in (wide, None):
            hits = call(fresh, "hybrid_search", query="w0 w1", documents=scope, **BY_VECTOR)
            assert len({*ids(hits)} & {*ids(before)}) >= 9, vacuum
        assert call(fresh, "find_problems") == []
