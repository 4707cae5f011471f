"""hybrid_search: scores, ranks, order, boosts, and what it refuses."""

import re
from typing import Any

import psycopg
import pytest

from tests.sql import oracle
from tests.sql.corpus import BY_VECTOR, SPACE, VECTOR, Connection, Row, call, ids, put, value

QUERIES = ["w0 w1", "w3", "w17 w17 w2", "tale w5", "nothing that is stored"]


def lists(connection: Connection, query: str, vector: str | None) -> tuple[list[Row], list[Row]]:
    """Give the candidates of both channels."""
    dense = call(connection, "dense_candidates", query_vector=vector) if vector else []
    return dense, call(connection, "keyword_candidates", query=query)


def by_chunk(rows: list[Row], column: str = "score") -> dict[int, Any]:
    return {row["chunk_id"]: row[column] for row in rows}


@pytest.mark.parametrize("fusion", ["zscore", "rrf"])
@pytest.mark.parametrize("weights", [[0.35, 0.65], [1.0, 0.0], [0.0, 1.0], [3.0, 7.0]])
def test_scores_are_the_fused_lists(library: Connection, fusion: str, weights: list[float]) -> None:
    for query in QUERIES:
        dense, keyword = lists(library, query, VECTOR)
        dense, keyword = dense if weights[0] else [], keyword if weights[1] else []
        if fusion == "zscore":
            fused = oracle.fuse(by_chunk(dense), by_chunk(keyword), weights, lengths=(0, 100))
        else:
            fused = oracle.fuse_ranks(by_chunk(dense), by_chunk(keyword), weights)
        best = sorted(fused.items(), key=lambda each: (-round(each[1], 12), each[0]))
        question = {"query": query, "fusion": fusion, "weights": weights, **BY_VECTOR}
        hits = call(library, "hybrid_search", k=100, **question)
        assert by_chunk(hits) == pytest.approx(dict(best[:100]), abs=1e-9)
        assert by_chunk(hits, "fused_score") == by_chunk(hits)
        for row in hits:
            for name, rows in (("dense", dense), ("keyword", keyword)):
                assert row[f"{name}_score"] == by_chunk(rows).get(row["chunk_id"])
                assert row[f"{name}_rank"] == by_chunk(rows, "rank").get(row["chunk_id"])
        assert ids(hits) == ids(sorted(hits, key=lambda row: (-row["score"], row["chunk_id"])))


def test_the_lists_above_are_cut_off_and_differ(library: Connection) -> None:
    dense, keyword = lists(library, "w3", VECTOR)
    assert len(dense) == 100
    assert 10 < len(keyword) < 100
    assert {*ids(keyword)} - {*ids(dense)}


def test_a_list_without_spread_counts_nothing(connection: Connection) -> None:
    """A word that every chunk holds equally often tells none from the others."""
    put(connection, "a", ["w1 x", "w1 y", "w1 z"], [[1, 0, 0, 0]] * 3)
    hits = call(connection, "hybrid_search", query="w1", **BY_VECTOR)
    assert [row["fused_score"] for row in hits] == [0, 0, 0]
    assert ids(hits) == sorted(ids(hits))
    assert call(connection, "hybrid_search", query="w1", k=2, **BY_VECTOR) == hits[:2]


@pytest.mark.parametrize("query", ["needle", "needle w0", "what is a needle?"])
def test_the_only_chunk_with_a_rare_word_comes_first(connection: Connection, query: str) -> None:
    """However far its vector is from the question's."""
    near = [[0.3, -1, 0.5, 0.2 + number / 1000] for number in range(149)]
    lines = [f"w0 w{number}" for number in range(149)]
    put(connection, "a", [*lines, "a needle"], [*near, [-0.3, 1, -0.5, -0.2]])
    last = max(ids(call(connection, "keyword_candidates", query="needle")))
    hits = call(connection, "hybrid_search", query=query, **BY_VECTOR)
    assert hits[0]["chunk_id"] == last
    assert hits[0]["dense_rank"] is None


def test_a_short_list_goes_on_with_the_chunks_of_the_scope(connection: Connection) -> None:
    """Not with as many as the depth: three chunks are no haystack."""
    put(connection, "a", ["w1 x", "w2 y", "w3 z"], [[1, 0, 0, 0]] * 3)
    put(connection, "b", [f"w4 w{number}" for number in range(5, 200)])
    everywhere, here = (
        call(connection, "hybrid_search", query="w1", weights=[0, 1], **scope)[0]["fused_score"]
        for scope in ({}, {"documents": [1]})
    )
    assert everywhere == pytest.approx(99**0.5)  # one score above 99 zeros
    assert here == pytest.approx(2**0.5)  # above two


def test_a_chunk_without_a_vector_is_no_zero(connection: Connection) -> None:
    """A cosine of 0 means nothing, so what the vectors lack counts as the lowest of them."""
    put(connection, "a", ["w1 x", "w1 y"], [[0.3, -1, 0.5, 0.2], [0.3, -1, 0.5, 0.9]])
    put(connection, "b", ["w1 z"])
    hits = call(connection, "hybrid_search", query=None, **BY_VECTOR)
    assert [row["fused_score"] for row in hits] == pytest.approx([0.4, -0.4])


@pytest.mark.parametrize("fusion", ["zscore", "rrf"])
def test_k_never_changes_the_head(library: Connection, fusion: str) -> None:
    question = {"query": "w0 w2", "fusion": fusion, **BY_VECTOR}
    all_20 = call(library, "hybrid_search", k=20, **question)
    assert len(all_20) == 20
    assert call(library, "hybrid_search", **question) == all_20[:10]
    for k in range(1, 21):
        assert call(library, "hybrid_search", k=k, **question) == all_20[:k]


def test_a_row_says_where_the_chunk_stands(library: Connection) -> None:
    row = call(library, "hybrid_search", query="w39 animal39", uri_prefix="north/39", k=1)[0]
    stored = value(library, "select text from lexichord_data.document where uri = 'north/39.md'")
    assert (row["dataset"], row["uri"], row["title"]) == (
        "north",
        "north/39.md",
        "The tale of animal39",
    )
    assert stored[row["char_start"] : row["char_end"]] == row["content"]
    assert row["heading"] in ("Start", "Middle")
    assert (row["page"], row["context"]) == (None, "")


def test_without_a_vector_the_centroid_stands_in(library: Connection) -> None:
    centroid = value(library, "select lexichord.term_centroid('w4:1 w6:2')::text")
    by_words = call(library, "hybrid_search", query="w4 w6", k=50)
    by_vector = call(
        library, "hybrid_search", query="w4 w6", k=50, query_vector=centroid, query_space=SPACE
    )
    assert by_words == by_vector
    assert by_words[0]["dense_score"] is not None


def test_a_weight_of_zero_leaves_its_channel_out(library: Connection) -> None:
    by_words = call(library, "hybrid_search", query="w4", k=100, weights=[0, 1])
    assert {row["dense_score"] for row in by_words} == {None}
    assert ids(by_words) == ids(call(library, "keyword_candidates", query="w4"))
    by_meaning = call(library, "hybrid_search", query="w4", k=100, weights=[1, 0], **BY_VECTOR)
    assert {row["keyword_score"] for row in by_meaning} == {None}
    assert ids(by_meaning) == ids(call(library, "dense_candidates", query_vector=VECTOR))


def test_a_vector_needs_no_words(library: Connection) -> None:
    hits = call(library, "hybrid_search", query=None, k=3, **BY_VECTOR)
    assert ids(hits) == ids(call(library, "dense_candidates", query_vector=VECTOR)[:3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"query": ""}, "the query is empty"),
        ({"query": " \t\n"}, "the query is empty"),
        ({"query": None}, "the query is empty"),
        ({"depth": 99}, "depth must be between 100 and 10000"),
        ({"depth": 10001}, "depth must be between 100 and 10000"),
        ({"depth": None}, "depth must be between 100 and 10000"),
        ({"k": 101}, r"k \(101\) is more than the 100 candidates"),
        ({"k": 0}, "k must be at least 1"),
        ({"k": -1}, "k must be at least 1"),
        ({"k": None}, "k must be at least 1"),
        ({"fusion": "max"}, "fusion must be zscore or rrf"),
        ({"fusion": None}, "fusion must be zscore or rrf"),
        ({"weights": None}, "weights must be two numbers"),
        *(
            ({"weights": weights}, "weights must be two numbers")
            for weights in ("{}", "{1}", "{1,1,1}", "{{1},{1}}", "{1,null}", "{0,0}", "{-0.1,1}")
        ),
        ({"weights": "{NaN,1}"}, "weights must be two numbers"),
        ({"weights": "{1e308,1e308}"}, "weights must be two numbers"),
        ({"weights": "{1,Infinity}"}, "weights must be two numbers"),
        ({"query_vector": "[1,0,0]"}, r"is of 3 dimensions, the database's .* test/tiny/4"),
        ({"query_vector": "[1,0,0]", "query_space": SPACE}, "is of test/tiny/4, the database's"),
        ({"query_vector": "[1,0,0,0]", "query_space": "test/other/4"}, "is of test/other/4, the"),
        ({"query_vector": "[NaN,0,0,0]", "query_space": SPACE}, "NaN not allowed"),
        ({"query_vector": "[Infinity,0,0,0]", "query_space": SPACE}, "infinite value not allowed"),
    ],
)
@pytest.mark.parametrize("function", ["hybrid_search", "discover_files"])
def test_what_makes_no_sense_is_an_error(
    library: Connection, function: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(psycopg.DataError, match=message) as error:
        call(library, function, **{"query": "w0", **arguments})
    mismatch = "query_vector" in arguments
    assert (error.value.sqlstate == "22000") is mismatch  # what Python tells them apart by


def test_a_boost_is_points_by_document_id(library: Connection) -> None:
    wrong = {'{"one": 1}': '"one": 1', '{"1": "much"}': '"1": "much"', '{"1": null}': '"1": null'}
    for boost, said in {**wrong, "[1]": "array", "[]": "array", "null": "null"}.items():
        told = f'boost must be an object, document id to points, such as {{"12": 0.5}}, not {said}'
        with pytest.raises(psycopg.DataError, match=re.escape(told)):
            call(library, "hybrid_search", query="w0", boost=boost)


def test_the_limits_themselves_are_fine(library: Connection) -> None:
    assert len(call(library, "hybrid_search", query="w0", k=100, depth=100)) == 100
    assert len(call(library, "hybrid_search", query="w0", k=10000, depth=10000)) == 121


def test_nothing_stored_nothing_found(connection: Connection) -> None:
    for arguments in ({"query": "w0"}, {"query": "w0", **BY_VECTOR}):
        assert call(connection, "hybrid_search", **arguments) == []
        assert call(connection, "discover_files", **arguments) == []


def test_a_boost_adds_its_points(library: Connection) -> None:
    plain = by_chunk(call(library, "hybrid_search", query="w0 w9", k=100, **BY_VECTOR))
    boost = {"1": 5, "2": -0.1, "987654": 3}
    hits = call(library, "hybrid_search", query="w0 w9", k=100, boost=boost, **BY_VECTOR)
    assert [row["document_id"] for row in hits[:3]] == [1, 1, 1]
    assert 2 in ids(hits, "document_id")
    for row in hits:
        points = boost.get(str(row["document_id"]), 0)
        assert row["score"] == pytest.approx(row["fused_score"] + points)
        if not points and row["chunk_id"] in plain:
            assert row["fused_score"] == plain[row["chunk_id"]]
    assert ids(hits) == ids(sorted(hits, key=lambda row: (-row["score"], row["chunk_id"])))


@pytest.mark.parametrize("fusion", ["zscore", "rrf"])
def test_a_boosted_document_answers_although_no_list_has_it(wide: Connection, fusion: str) -> None:
    far = ids(call(wide, "list_documents", uri_prefix="wide/far"), "document_id")[0]
    question = {"query": "w0", "query_vector": "[1,0,0,0]", "query_space": SPACE, "fusion": fusion}
    lists = [
        call(wide, "dense_candidates", query_vector="[1,0,0,0]"),
        call(wide, "keyword_candidates", query="w0"),
    ]
    assert not any(far in ids(rows, "document_id") for rows in lists)
    plain = call(wide, "hybrid_search", k=100, **question)

    boosted = call(wide, "hybrid_search", k=100, boost={str(far): 10_000}, **question)

    own = [row for row in boosted if row["document_id"] == far]
    assert len(own) == 32
    assert boosted[:32] == own
    for row in own:
        assert row["dense_score"] == pytest.approx(-1, abs=0.1)
        assert row["keyword_score"] > 0
        assert (row["dense_rank"], row["keyword_rank"]) == (None, None)
        assert row["score"] == pytest.approx(10_000 + row["fused_score"])
    assert [row for row in boosted if row["document_id"] != far] == plain[:68]


def test_a_boost_brings_nothing_from_outside_the_scope(wide: Connection) -> None:
    far = ids(call(wide, "list_documents", uri_prefix="wide/far"), "document_id")[0]
    question = {"query": "w0", "datasets": ["odd"], "k": 100}
    assert call(wide, "hybrid_search", boost={str(far): 10_000}, **question) == call(
        wide, "hybrid_search", **question
    )


def test_room_beyond_any_depth_is_as_the_greatest_depth(library: Connection) -> None:
    """A list goes on with zeros: not with as many as somebody names, which would never end."""
    asked: dict[str, Any] = {
        "candidates": '{"(keyword,f,1,1,1,0.5)","(keyword,f,2,1,2,0.3)"}',
        "fusion": "zscore",
        "weights": [0.35, 0.65],
    }
    with library.transaction():
        library.execute("set local statement_timeout = '60s'")
        wide = call(library, "fuse_candidates", room=10**12, **asked)
    assert wide == call(library, "fuse_candidates", room=10_000, **asked)
    assert wide != call(library, "fuse_candidates", room=100, **asked)
