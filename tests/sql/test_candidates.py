"""The indexes' candidates against the exact ones, and these against plain Python."""

from random import Random

import numpy as np
import pytest

from tests.sql import oracle
from tests.sql.corpus import (
    MOST,
    Connection,
    Row,
    call,
    ids,
    put,
    random_lines,
    small_segments,
    value,
    wide_documents,
)

QUERIES = [" ".join(Random(seed).choices([f"w{n}" for n in range(500)], k=3)) for seed in range(20)]
QUERIES += ["w0", "w0 w1 w2", "w3 w3 w3 w40"]
VECTORS = [[round(Random(seed).gauss(0, 1), 3) for _ in range(4)] for seed in range(0, 80, 4)]


def scores(rows: list[Row]) -> dict[int, float]:
    return {row["chunk_id"]: row["score"] for row in rows}


def parameters(connection: Connection) -> Row:
    return call(connection, "bm25_parameters")[0]


def most(wide: Connection) -> list[int]:
    return ids(call(wide, "list_documents", filter=MOST), "document_id")


@pytest.fixture(scope="module")
def texts(wide: Connection) -> dict[int, str]:
    rows = wide.execute(
        "select uri, ordinal, c.id from lexichord_data.chunk c join lexichord_data.document d "
        "on d.id = c.document_id"
    )
    chunk_ids = {(uri, ordinal): chunk_id for uri, ordinal, chunk_id in rows}
    return {
        chunk_ids[uri, ordinal]: line
        for uri, lines, _ in wide_documents()
        for ordinal, line in enumerate(lines)
    }


def test_exact_keyword_candidates_are_bm25(wide: Connection, texts: dict[int, str]) -> None:
    for query in QUERIES:
        candidates = call(wide, "exact_keyword_candidates", query=query, depth=10000)
        expected = oracle.bm25(texts, query, **parameters(wide))
        assert scores(candidates) == pytest.approx(expected, rel=1e-5)
        best = sorted(candidates, key=lambda row: (-row["score"], row["chunk_id"]))
        assert ids(candidates) == ids(best)
        assert [row["rank"] for row in candidates] == list(range(1, len(candidates) + 1))


def test_keyword_statistics_are_the_whole_corpus_whatever_the_scope(
    wide: Connection, texts: dict[int, str]
) -> None:
    whole = oracle.bm25(texts, "w2 w9", **parameters(wide))
    for function in ("keyword_candidates", "exact_keyword_candidates"):
        narrow = call(wide, function, query="w2 w9", documents=most(wide)[:2], depth=1000)
        assert scores(narrow) == pytest.approx({each: whole[each] for each in ids(narrow)})
        assert len(narrow) > 10


@pytest.mark.parametrize("scoped", [False, True])
def test_the_keyword_index_gives_the_exact_candidates(wide: Connection, scoped: bool) -> None:
    documents = most(wide) if scoped else None
    for query in QUERIES:
        rows = call(wide, "keyword_candidates", query=query, documents=documents)
        assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
        indexed = scores(rows)
        assert list(indexed.values()) == sorted(indexed.values(), reverse=True)
        exact = scores(
            call(wide, "exact_keyword_candidates", query=query, documents=documents, depth=10000)
        )
        assert indexed == pytest.approx(dict(list(exact.items())[:100]), rel=1e-6)


def test_a_short_list_begins_as_a_long_one(wide: Connection) -> None:
    """Long questions have many middling words: what the best have of each does not stand out."""
    random = Random(2)
    for _ in range(40):
        query = " ".join(random_lines(random, 1, words=500, longest=60))
        short = call(wide, "keyword_candidates", query=query, depth=10)
        exact = call(wide, "exact_keyword_candidates", query=query, depth=10)
        clear = {row["chunk_id"] for row in exact if row["score"] > 1.03 * exact[-1]["score"]}
        assert clear <= {*ids(short)}, query


def test_also_the_index_of_a_few_chunks_gives_the_exact_candidates(connection: Connection) -> None:
    """Where the planner would rather read the table, which knows no score."""
    put(connection, "z", ["w1 w2", "w2 w2 w3", "w3", "w2"])
    call(connection, "build_indexes")
    for query in ("w2", "w1 w3", "w2 w4"):
        candidates = call(connection, "keyword_candidates", query=query)
        exact = call(connection, "exact_keyword_candidates", query=query)
        assert scores(candidates) == pytest.approx(scores(exact), rel=1e-6)
        assert ids(candidates) == ids(exact)


def test_a_session_that_prints_few_digits_stores_and_scores_the_same(
    connection: Connection,
) -> None:
    small_segments(connection)
    lines = dict(enumerate(random_lines(Random(5), 150, words=60, longest=20), start=1))
    connection.execute("set local extra_float_digits = -15")
    put(connection, "a", [*lines.values()])
    call(connection, "rebuild_indexes")
    connection.execute(
        "create temporary table asked as "
        "select * from lexichord.keyword_candidates('w0 w1 w5 w7 w7', depth => 150)"
    )
    connection.execute("reset extra_float_digits")
    exact = oracle.bm25(lines, "w0 w1 w5 w7 w7", **parameters(connection))
    asked = connection.execute(
        "select c.ordinal + 1, a.score from asked a "
        "join lexichord_data.chunk c on c.id = a.chunk_id"
    )
    assert dict(asked.fetchall()) == pytest.approx(exact, rel=1e-5)


def test_chunks_without_any_of_the_words_are_no_candidates(wide: Connection) -> None:
    for function in ("keyword_candidates", "exact_keyword_candidates"):
        assert call(wide, function, query="unheard of") == []
        assert call(wide, function, query="the and of") == []  # stop words
        assert call(wide, function, query=None) == []
        rare = call(wide, function, query="w499 unheard", depth=1000)
        assert 0 < len(rare) < 200


def test_exact_dense_candidates_are_cosines(wide: Connection) -> None:
    rows = wide.execute("select id, embedding::text from lexichord_data.chunk order by id")
    names, vectors = zip(*((name, vector) for name, vector in rows), strict=True)
    stored = np.array([[float(x) for x in vector[1:-1].split(",")] for vector in vectors])
    for vector in VECTORS:
        cosines = stored @ vector / np.linalg.norm(stored, axis=1) / np.linalg.norm(vector)
        candidates = call(wide, "exact_dense_candidates", query_vector=str(vector), depth=10000)
        assert scores(candidates) == pytest.approx(dict(zip(names, cosines, strict=True)), abs=1e-3)
        assert [row["score"] for row in candidates] == sorted(
            scores(candidates).values(), reverse=True
        )


@pytest.mark.parametrize("depth", [100, 1000])
@pytest.mark.parametrize("scoped", [False, True])
def test_the_vector_index_gives_the_exact_candidates(
    wide: Connection, scoped: bool, depth: int
) -> None:
    documents = most(wide) if scoped else None
    hits = 0
    for vector in VECTORS:
        query = {"query_vector": str(vector), "depth": depth, "documents": documents}
        rows = call(wide, "dense_candidates", **query)
        assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
        indexed = scores(rows)
        exact = scores(call(wide, "exact_dense_candidates", **query))
        assert len(indexed) == len(exact) == depth
        assert list(indexed.values()) == pytest.approx(list(exact.values()), abs=1e-3)
        assert list(indexed.values()) == sorted(indexed.values(), reverse=True)
        hits += len(indexed.keys() & exact.keys())
    assert hits >= 0.99 * depth * len(VECTORS)


def test_depths_beyond_what_the_vector_index_lists_at_once(wide: Connection) -> None:
    candidates = call(wide, "dense_candidates", query_vector="[1,0,0,0]", depth=2500)
    assert len({*ids(candidates)}) == 2500


@pytest.mark.parametrize("indexed", [False, True])
def test_zeros_are_near_nothing(connection: Connection, indexed: bool) -> None:
    """Their cosine is NaN, which would come first and spoil the scale of all others."""
    put(connection, "a", ["w1", "w2"], [[0, 0, 0, 0], [1, 0, 0, 0]])
    if indexed:
        call(connection, "build_indexes")
    for function in ("dense_candidates", "exact_dense_candidates"):
        assert scores(call(connection, function, query_vector="[1,0,0,0]")) == {
            value(connection, "select max(id) from lexichord_data.chunk"): 1
        }
        assert call(connection, function, query_vector="[0,0,0,0]") == []


def test_without_indexes_both_channels_work(connection: Connection) -> None:
    put(connection, "a", ["w1 w2", "w3"], [[1, 0, 0, 0], [0, 1, 0, 0]])
    assert len(call(connection, "keyword_candidates", query="w3")) == 1
    assert len(call(connection, "dense_candidates", query_vector="[1,0,0,0]")) == 2
    assert not any(row["used"] for row in call(connection, "index_use"))


def test_chunks_without_a_vector_are_no_dense_candidates(connection: Connection) -> None:
    put(connection, "a", ["w1", "w2"], [None, [1, 0, 0, 0]])
    for function in ("dense_candidates", "exact_dense_candidates"):
        assert len(call(connection, function, query_vector="[1,0,0,0]")) == 1
