"""search_variants: each variant's part, two sources, weighted terms, and what it refuses."""

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.sql.corpus import (
    BY_VECTOR,
    SPACE,
    VECTOR,
    Connection,
    Row,
    all_settings,
    call,
    counter,
    ids,
    put,
    scans,
)

ONE = {"name": "original", "text": "w0 w1", "vector": [0.3, -1, 0.5, 0.2]}
TWO = {"name": "other", "text": "w3", "weight": 0.5}
TERMS = {"name": "terms", "terms": {"w3": 2, "w40": 1}, "vector": None, "weight": 2}
INSIDE = {"name": "inside", "text": "w0", "documents": [2, 3], "weight": 0.1}


def variants(connection: Connection, *items: object, **arguments: object) -> list[Row]:
    return call(connection, "search_variants", variants=Jsonb(list(items)), **arguments)


def alone(connection: Connection, **arguments: object) -> list[int]:
    return ids(call(connection, "hybrid_search", k=100, **arguments))


def test_one_variant_is_a_hybrid_search(library: Connection) -> None:
    hits = variants(library, ONE, k=50, query_space=SPACE)
    rows = call(library, "hybrid_search", query="w0 w1", k=50, **BY_VECTOR)
    same = [name for name in rows[0] if name != "score"]
    assert [{name: row[name] for name in same} for row in hits] == [
        {name: row[name] for name in same} for row in rows
    ]
    assert [row["variant_ranks"] for row in hits] == [{"original": n} for n in range(1, 51)]


@pytest.mark.parametrize("boost", [None, {"1": 3, "7": 0.5}])
def test_the_score_is_the_sum_of_weighted_reciprocal_ranks(
    library: Connection, boost: dict[str, float] | None
) -> None:
    lists = {
        "original": alone(library, query="w0 w1", boost=boost, query_vector=VECTOR),
        "other": alone(library, query="w3", boost=boost),
        "terms": alone(library, query="w3 w3 w40", boost=boost),
        "inside": alone(library, query="w0", documents=[2, 3], boost=boost),
    }
    weights = {"original": 1, "other": 0.5, "terms": 2, "inside": 0.1}
    parts: dict[int, dict[str, float]] = {}
    for name, chunks in lists.items():
        for rank, chunk in enumerate(chunks, start=1):
            parts.setdefault(chunk, {})[name] = weights[name] / (60 + rank)
    hits = variants(library, ONE, TWO, TERMS, INSIDE, k=100, boost=boost)
    assert len(hits) == 100
    for row in hits:
        assert row["variant_scores"] == pytest.approx(parts[row["chunk_id"]])
        assert row["score"] == pytest.approx(sum(parts[row["chunk_id"]].values()))
        assert row["variant_ranks"] == {
            name: chunks.index(row["chunk_id"]) + 1
            for name, chunks in lists.items()
            if row["chunk_id"] in chunks
        }
    best = sorted(parts, key=lambda each: (-round(sum(parts[each].values()), 12), each))
    assert {*ids(hits)[:20]} == {*best[:20]}
    assert [row["score"] for row in hits] == sorted((r["score"] for r in hits), reverse=True)
    likely = sorted(hits, key=lambda row: row["variant_ranks"].get("original", 3) > 2)[:7]
    expected = [row for row in hits if row in likely]
    assert variants(library, ONE, TWO, TERMS, INSIDE, k=7, boost=boost) == expected


def test_the_first_two_of_the_original_stay(library: Connection) -> None:
    first = alone(library, query="w0 w1", query_vector=VECTOR)[:2]
    other = alone(library, query="w3")
    loud = {**TWO, "weight": 100}
    assert not {*first} & {*other[:3]}
    found = ids(variants(library, ONE, loud, k=3, query_space=SPACE))
    assert {*found} == {*first, other[0]}
    assert found[0] == other[0]


def test_terms_count_as_often_as_they_say(wide: Connection) -> None:
    for function in ("term_candidates", "exact_term_candidates"):
        rows = call(wide, function, terms="'w3':1,2,3 'w40':1")
        by_words = function.replace("term", "keyword")
        assert rows == call(wide, by_words, query="w3 w3 w3 w40")
        assert len(rows) == 100
    once, thrice = (
        {row["chunk_id"]: row["score"] for row in call(wide, "term_candidates", terms=terms)}
        for terms in ("'w99':1", "'w99':1,2,3")
    )
    assert once
    assert thrice == pytest.approx({each: 3 * score for each, score in once.items()}, rel=1e-5)


def test_terms_are_not_analysed_again(connection: Connection) -> None:
    """Stemmed once more, disclos would be disclo."""
    put(connection, "a", ["disclose the purpose", "w1"])
    call(connection, "build_indexes")
    for lexeme in ("disclos", "purpos"):
        terms = {"name": "terms", "terms": {lexeme: 2}}
        assert [row["content"] for row in variants(connection, terms)] == ["disclose the purpose"]
        assert variants(connection, {"name": "text", "text": lexeme}) == []


@pytest.mark.parametrize("lexeme", ["it's", "a\\b", "a b", "'", ":1", "\\'"])
def test_any_text_can_be_a_lexeme(connection: Connection, lexeme: str) -> None:
    rows = connection.execute(
        "select (unnest(lexichord.weighted_terms(%s))).*", [Jsonb({lexeme: 2})]
    ).fetchall()
    assert [(name, places) for name, places, _ in rows] == [(lexeme, [1, 2])]


def test_a_document_in_no_list_answers_when_it_is_boosted(wide: Connection) -> None:
    far = ids(call(wide, "list_documents", uri_prefix="wide/far"), "document_id")[0]
    items = [{**ONE, "text": "w0", "vector": [1, 0, 0, 0]}, {**TWO, "vector": [1, 0, 0, 0]}]
    assert far not in ids(variants(wide, *items, k=100), "document_id")
    boosted = variants(wide, *items, k=100, boost={str(far): 10_000})
    assert ids(boosted, "document_id")[:32] == [far] * 32


def test_indexes_are_read_and_settings_end_with_the_search(wide: Connection) -> None:
    indexes = [row["index_name"] for row in call(wide, "index_use")]
    items = [{**ONE, "vector": [1, 0, 0, 0]}, {**TERMS, "vector": [0, 1, 0, 0]}]
    variants(wide, *items)
    settings = all_settings(wide)
    with wide.transaction():
        before = [counter(wide, index) for index in indexes]
        variants(wide, *items)
        assert all_settings(wide) == settings
        reads = list(map(scans, [wide, wide], indexes, before))
    # VectorChord's indexes only tell whether they were read, block maxima are by each term; vectors
    # of Citus are on other servers
    assert reads in ([2, 2], [1, 1], [2, 4], [0, 4])
    assert all_settings(wide) == settings


def test_variants_stay_within_the_scope(library: Connection) -> None:
    scoped = variants(library, ONE, INSIDE, documents=[3, 4])
    assert {*ids(scoped, "document_id")} == {3, 4}
    for row in scoped:
        assert ("inside" in row["variant_ranks"]) == (row["document_id"] == 3)
    nowhere = variants(library, ONE, {**INSIDE, "documents": []})
    assert all(row["variant_ranks"].keys() == {"original"} for row in nowhere)
    assert len(nowhere) == 10


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ([], "1 to 100 objects"),
        ([1], "must be an object"),
        ([{"text": "w1"}], "has no name"),
        ([TWO, TWO], "two variants have the name"),
        ([{**TWO, "weight": 0}], "must be a number above 0"),
        ([{**TWO, "weight": "much"}], "must be a number above 0"),
        ([{**TWO, "weight": None}], "must be a number above 0"),
        ([{**TWO, "documents": 1}], "must be an array of ids"),
        ([{**TWO, "documents": [9999]}], "there is no such document\nDETAIL:  document 9999"),
        ([{"name": "a"}], "the query is empty"),
        ([{"name": "a", "text": " "}], "the query is empty"),
        ([{"name": "a", "terms": {"w1": 0}}], "counts 1 to 255 times"),
        ([{"name": "a", "terms": {"w1": 1.5}}], "counts 1 to 255 times"),
        ([{"name": "a", "terms": {"": 1}}], "counts 1 to 255 times"),
        ([{"name": "a", "terms": ["w1"]}], "terms must be an object"),
        ([{"name": "a", "text": "w1", "vector": [1, 2]}], "the query's vector is of"),
    ],
)
def test_what_makes_no_sense_is_refused(
    library: Connection, items: list[Any], problem: str
) -> None:
    with pytest.raises((psycopg.DataError, psycopg.errors.NoDataFound), match=problem):
        variants(library, *items)
