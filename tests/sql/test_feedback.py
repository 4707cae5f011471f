"""Relevance feedback: which chunks it learns from, the terms against plain Python, the vector."""

import json
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import psycopg
import pytest

from lexichord.db.pool import Database
from lexichord.db.search import vector_text
from lexichord.retrieve.search import make_variants
from lexichord.types import FileHit, Question, Scope
from tests.sql.corpus import BY_VECTOR, VECTOR, Connection, Row, call, ids, put, value

QUERY = "w0 w3 w3"


def best_by_document(rows: list[Row]) -> list[int]:
    first: dict[int, int] = {}
    for row in rows:
        first.setdefault(row["document_id"], row["chunk_id"])
    return list(first.values())


def feedback(connection: Connection, function: str, **arguments: object) -> list[Row]:
    return call(connection, function, query=QUERY, **{**BY_VECTOR, **arguments})


def contents(connection: Connection, chunks: list[int]) -> list[list[str]]:
    statement = "select content from lexichord_data.chunk where id = any(%s)"
    return [text.split() for (text,) in connection.execute(statement, [chunks])]


def expected_terms(
    connection: Connection, chunks: list[int], terms: int, original: float
) -> dict[str, float]:
    total = value(connection, "select chunk_count from lexichord_data.corpus")
    df = dict(connection.execute("select lexeme, df from lexichord_data.term").fetchall())
    shares: Counter[str] = Counter()
    for words in contents(connection, chunks):
        for word, times in Counter(words).items():
            idf = math.log(1 + (total - df[word] + 0.5) / (df[word] + 0.5))
            shares[word] += idf * times / len(words)  # type: ignore[assignment]
    best = sorted(shares.items(), key=lambda each: (-each[1], each[0]))[:terms]
    whole = sum(share for _, share in best)
    weights = {word: (1 - original) * share / whole for word, share in best}
    for word, times in Counter(QUERY.split()).items():
        weights[word] = weights.get(word, 0) + original * times / len(QUERY.split())
    return weights


def test_it_learns_from_the_best_chunk_of_each_document(library: Connection) -> None:
    hits = feedback(library, "hybrid_search", k=100)
    best = best_by_document(hits)
    assert len(best) < len(hits)
    for amount in (1, 5, 20):
        rows = feedback(library, "feedback_chunks", feedback_documents=amount)
        assert ids(rows) == best[:amount]
        assert [row["rank"] for row in rows] == list(range(1, amount + 1))
    scoped = feedback(library, "feedback_chunks", documents=[3, 4])
    assert {*ids(scoped, "document_id")} == {3, 4}


@pytest.mark.parametrize("terms", [1, 5, 1000])
@pytest.mark.parametrize("original", [0, 0.3, 1])
def test_terms_are_rm3(library: Connection, terms: int, original: float) -> None:
    chunks = ids(feedback(library, "feedback_chunks", feedback_documents=7))
    rows = call(
        library,
        "feedback_terms",
        query=QUERY,
        chunks=chunks,
        terms=terms,
        original_weight=original,
    )
    weights = {row["lexeme"]: row["weight"] for row in rows}
    assert weights == pytest.approx(expected_terms(library, chunks, terms, original))
    assert sum(weights.values()) == pytest.approx(1)
    for row in rows:
        assert 1 <= row["times"] <= 255
        assert abs(row["times"] - 200 * row["weight"]) <= 1 or row["weight"] > 1


def test_the_vector_lies_between_the_query_and_the_chunks(library: Connection) -> None:
    chunks = ids(feedback(library, "feedback_chunks", feedback_documents=7))
    statement = "select embedding::text from lexichord_data.chunk where id = any(%s)"
    rows = library.execute(statement, [chunks]).fetchall()
    stored = np.array([json.loads(vector) for (vector,) in rows if vector])
    mean = (stored / np.linalg.norm(stored, axis=1, keepdims=True)).mean(axis=0)
    query_vector = np.array(json.loads(VECTOR))
    for original in (0, 0.6, 1):
        moved = original * query_vector / np.linalg.norm(query_vector)
        moved = moved + (1 - original) * mean / np.linalg.norm(mean)
        feedback_vector = call(
            library,
            "feedback_vector",
            query_vector=VECTOR,
            chunks=chunks,
            original_weight=original,
        )[0]["feedback_vector"]
        expected = (moved / np.linalg.norm(moved)).tolist()
        assert json.loads(feedback_vector) == pytest.approx(expected, abs=2e-3)


def test_without_vectors_there_are_terms_alone(connection: Connection) -> None:
    put(connection, "a", ["w1 w2 w3"])
    put(connection, "b", ["w1 w2 w4"])
    row = call(connection, "relevance_feedback", query="w1")[0]
    assert (row["coherence"], row["vector"]) == (None, None)
    assert {*row["terms"]} == {"w1", "w2", "w3", "w4"}
    assert len(row["chunk_ids"]) == 2
    above = call(connection, "relevance_feedback", query="w1", least_coherence=-1)[0]
    assert above == {**row, "terms": None}
    terms = call(connection, "feedback_terms", query="w1", chunks=row["chunk_ids"])
    assert [term["lexeme"] for term in terms] == ["w1", "w3", "w4", "w2"]  # w2 tells nothing
    assert {term["lexeme"]: term["times"] for term in terms} == row["terms"]


def test_coherence_is_the_mean_cosine_of_two_chunks(connection: Connection) -> None:
    vectors = np.array([[1.0, 0, 0, 0], [0.6, 0.8, 0, 0], [0, 1, 0, 0]])
    for number, vector in enumerate(vectors.tolist()):
        put(connection, f"d{number}", [f"w1 x{number}"], [vector])
    cosines = vectors @ vectors.T
    mean = (cosines.sum() - 3) / 6
    question = {"query": "w1", "query_vector": vector_text([1, 0, 0, 0])}
    row = call(connection, "relevance_feedback", **question)[0]
    assert row["coherence"] == pytest.approx(mean, abs=1e-3)
    assert set(row["terms"]) == {"w1", "x0", "x1", "x2"}
    above = call(connection, "relevance_feedback", least_coherence=mean + 0.01, **question)[0]
    assert (above["terms"], above["vector"]) == (None, None)
    assert above["chunk_ids"] == row["chunk_ids"]


def test_nothing_found_is_nothing_learned(connection: Connection) -> None:
    assert call(connection, "feedback_chunks", query="w1") == []
    row = call(connection, "relevance_feedback", query="w1")[0]
    assert row["chunk_ids"] == []
    assert row["terms"] == {"w1": 30}
    assert row["vector"] is None


async def test_it_crosses_a_pin_and_no_tenant(fresh: Connection, database: Database) -> None:
    for tenant in ("north", "south"):
        for number in range(3):
            lines, vectors = [f"w1 {tenant} x{number}"], [[1, 0.1 * number, 0, 0]]
            uri, metadata = f"{tenant}/{number}", {"tenant": tenant}
            put(fresh, uri, lines, vectors, dataset=tenant, metadata=metadata)
    call(fresh, "build_indexes")
    first = database.ids.write("doc", 1)
    inside = [FileHit(first, "north", "north/0", "", 1.0, {}, 1)]
    for scope in (
        Scope(datasets=("north",)),
        Scope(uri_prefix="north/"),
        Scope(filter={"tenant": "north"}),
        Scope(filter={"key": "tenant", "op": "≠", "value": "south"}),
    ):
        for pinned in ((), (first,)):
            asked = Question("w1", (1.0, 0.0, 0.0, 0.0), scope=replace(scope, documents=pinned))
            variants = await make_variants(database, asked, inside, always=True)
            terms = variants.variants[1].terms
            assert terms is not None
            numbered = {f"{word}{n}" for word in ("x", "northx") for n in range(3)}
            assert terms.keys() == {"w1", "north", *numbered}, scope


@pytest.mark.parametrize(
    ("function", "arguments", "problem"),
    [
        ("feedback_terms", {"query": "w1", "chunks": [1], "terms": 0}, "terms must be at least 1"),
        ("feedback_terms", {"query": "w1", "chunks": [1], "original_weight": 2}, "between 0 and 1"),
        (
            "feedback_vector",
            {"query_vector": VECTOR, "chunks": [1], "original_weight": -1},
            "between 0 and 1",
        ),
        ("feedback_chunks", {"query": "w1", "feedback_documents": 0}, "k must be at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused(
    library: Connection, function: str, arguments: dict[str, object], problem: str
) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=problem):
        call(library, function, **arguments)
