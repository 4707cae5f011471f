import json

import numpy as np
import pytest

from tests.sql.corpus import Connection, call, put, value

CENTROID = "select lexichord.term_centroid(lexichord.lexemes(%s), %s)::text"


@pytest.mark.parametrize("query", ["w0", "w0 w3 w5", "w12"])
@pytest.mark.parametrize("scoped", [False, True])
def test_is_the_mean_of_the_ten_best(library: Connection, query: str, scoped: bool) -> None:
    documents = list(range(1, 25)) if scoped else None
    best = call(library, "keyword_candidates", query=query, depth=10, documents=documents)
    rows = library.execute(
        "select embedding::text from lexichord_data.chunk where id = any(%s)",
        [[row["chunk_id"] for row in best]],
    )
    mean = np.mean([json.loads(vector) for (vector,) in rows], axis=0)
    centroid = value(library, CENTROID, query, documents)
    assert json.loads(centroid) == pytest.approx(mean.tolist(), abs=2e-3)


def test_hits_without_a_vector_do_not_count(connection: Connection) -> None:
    put(connection, "a", ["w1", "w1 w1", "w2"], [[0.5, 0, 0, 0], None, [0, 1, 0, 0]])
    assert value(connection, CENTROID, "w1", None) == "[0.5,0,0,0]"
    assert value(connection, CENTROID, "w3", None) is None
    connection.execute("update lexichord_data.chunk set embedding = null")
    assert value(connection, CENTROID, "w1", None) is None
    assert len(call(connection, "hybrid_search", query="w1")) == 2


def test_vectors_that_cancel_out_leave_the_words(connection: Connection) -> None:
    put(connection, "a", ["w1", "w1 w2"], [[1, 0, 0, 0], [-1, 0, 0, 0]])
    hits = call(connection, "hybrid_search", query="w1")
    assert [row["content"] for row in hits] == ["w1", "w1 w2"]
    assert [row["dense_score"] for row in hits] == [None, None]
    assert [row["score"] for row in hits] == pytest.approx([0.6, -0.6])
