from typing import Any

import numpy as np
import psycopg
import pytest

from tests.sql.corpus import Connection, call, put

REFUSED = (psycopg.errors.InvalidParameterValue, psycopg.errors.NoDataFound)


def cosines(library: Connection, source: int) -> dict[int, tuple[float, int]]:
    """Give each other document's best cosine to the source's mean vector, and its chunks."""
    rows = library.execute(
        "select document_id, embedding::text from lexichord_data.chunk where embedding is not null"
    ).fetchall()
    vectors = [(owner, np.array(eval(vector))) for owner, vector in rows]
    mean = np.mean([vector for owner, vector in vectors if owner == source], axis=0)
    nearest: dict[int, tuple[float, int]] = {}
    for owner, vector in vectors:
        cosine = float(vector @ mean / np.linalg.norm(vector) / np.linalg.norm(mean))
        best, hits = nearest.get(owner, (-1.0, 0))
        nearest[owner] = max(best, cosine), hits + 1
    return {owner: each for owner, each in nearest.items() if owner != source}


@pytest.mark.parametrize("source", [1, 2, 30, 41])
def test_the_best_cosine_to_the_mean_vector_decides(library: Connection, source: int) -> None:
    similar = call(library, "similar_documents", source=source, k=50)
    expected = cosines(library, source)
    assert {row["document_id"]: row["hits"] for row in similar} == {
        owner: hits for owner, (_, hits) in expected.items()
    }
    for row in similar:
        assert row["score"] == pytest.approx(expected[row["document_id"]][0], abs=2e-3)
    assert similar == sorted(similar, key=lambda row: (-row["score"], row["document_id"]))
    assert call(library, "similar_documents", source=source, k=3) == similar[:3]
    assert len(call(library, "similar_documents", source=source)) == 10


def test_its_own_chunks_do_not_crowd_the_others_out(connection: Connection) -> None:
    put(connection, "large", [f"w{n}" for n in range(400)], [[1, 0, 0, 0]] * 400)
    put(connection, "small", ["w1"], [[0, 1, 0, 0]])
    similar = call(connection, "similar_documents", source=1, k=1)
    assert [row["uri"] for row in similar] == ["small"]


def test_a_copy_is_first(connection: Connection) -> None:
    for uri in ("a", "b", "copy of a"):
        x = 0 if uri == "b" else 1
        put(connection, uri, ["w1", "w2"], [[x, 1, 0, 0], [x, 0.9, 0.1, 0]], title=uri)
    similar = call(connection, "similar_documents", source=1)
    assert [row["title"] for row in similar] == ["copy of a", "b"]
    stored = dict(
        connection.execute("select uri, metadata from lexichord_data.document").fetchall()
    )
    assert [row["metadata"] for row in similar] == [stored["copy of a"], stored["b"]]
    assert similar[0]["score"] == pytest.approx(1, abs=1e-2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": 99999}, "there is no such document\nDETAIL:  document 99999"),
        ({"source": 42}, "the document has no vectors yet\nDETAIL:  document 42"),
        ({"source": 1, "k": 0}, "k must be at least 1"),
        ({"source": 1, "k": None}, "k must be at least 1"),
    ],
)
def test_what_makes_no_sense_is_an_error(
    library: Connection, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(REFUSED, match=message):
        call(library, "similar_documents", **arguments)


def test_vectors_that_cancel_out_are_like_nothing(connection: Connection) -> None:
    put(connection, "a", ["w1", "w2"], [[1, 0, 0, 0], [-1, 0, 0, 0]])
    put(connection, "b", ["w1"], [[1, 0, 0, 0]])
    assert call(connection, "similar_documents", source=1) == []
