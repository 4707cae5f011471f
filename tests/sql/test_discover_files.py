"""discover_files and the card candidates that it is made of."""

from collections import defaultdict
from collections.abc import Callable
from statistics import fmean
from typing import Any

import psycopg
import pytest

from tests.sql import oracle
from tests.sql.corpus import SPACE, Connection, Row, call, ids, put, value

VECTOR = "[0.3,-1,0.5,0.2]"
BY_VECTOR = {"query_vector": VECTOR, "query_space": SPACE}
DOCUMENTS = 42  # of the library
AGGREGATES: dict[str, Callable[[list[float]], float]] = {"max": max, "mean": fmean, "sum": sum}


def scores(rows: list[Row], column: str = "chunk_id") -> dict[int, float]:
    return {row[column]: row["score"] for row in rows}


@pytest.fixture(scope="module")
def cards(library: Connection) -> dict[int, str]:
    rows = library.execute("select id, uri, title, text from lexichord_data.document").fetchall()
    return {number: oracle.card(*row) for number, *row in rows}


@pytest.mark.parametrize("query", ["w0 w1", "w3 w3 tale", "animal7 w2", "7 md", "unheard of"])
def test_cards_score_by_bm25_with_squared_idf(
    library: Connection, cards: dict[int, str], query: str
) -> None:
    files = call(library, "card_candidates", query=query, depth=50)
    asked = query.replace("animal7", "animal7 animal w2").replace("animal w2 w2", "animal w2")
    expected = oracle.bm25(cards, asked, k1=1.2, b=0.3, power=2)
    assert scores(files, "document_id") == pytest.approx(expected, rel=1e-9)
    assert [row["rank"] for row in files] == list(range(1, len(files) + 1))
    assert files == sorted(files, key=lambda row: (-row["score"], row["document_id"]))
    assert call(library, "card_candidates", query=query, depth=2) == files[:2]


def test_cards_keep_the_statistics_of_all_in_a_scope(
    library: Connection, cards: dict[int, str]
) -> None:
    files = call(library, "card_candidates", query="w0 w1", documents=[3, 4, 5])
    everywhere = oracle.bm25(cards, "w0 w1", k1=1.2, b=0.3, power=2)
    assert scores(files, "document_id") == pytest.approx({n: everywhere[n] for n in (3, 4, 5)})


def test_a_card_ends_after_1500_characters(connection: Connection) -> None:
    put(connection, "a", ["w1 " * 499 + "w2 w3"])
    counts = {w: len(call(connection, "card_candidates", query=w)) for w in ("w1", "w2", "w3")}
    assert counts == {"w1": 1, "w2": 1, "w3": 0}


@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("file_weights", [[0.8, 0.2], [1.0, 0.0], [0.0, 1.0]])
@pytest.mark.parametrize("query", ["w0 animal5", "w17 w3", "animal9"])
def test_scores_are_cards_and_chunks_on_their_own_scales(
    library: Connection, aggregate: str, file_weights: list[float], query: str
) -> None:
    cards = scores(call(library, "card_candidates", query=query), "document_id")
    chunks = chunk_scores(library, query, list(cards)[:3])
    aggregated = {document: AGGREGATES[aggregate](own) for document, own in chunks.items()}
    expected = oracle.fuse(cards, aggregated, file_weights, lengths=(DOCUMENTS, 0))

    question = {"query": query, "aggregate": aggregate, "file_weights": file_weights, **BY_VECTOR}
    files = call(library, "discover_files", weights=[0.35, 0.65], k=100, **question)

    assert scores(files, "document_id") == pytest.approx(expected, abs=1e-5)
    for row in files:
        document = row["document_id"]
        assert row["card_score"] == cards.get(document)
        assert row["chunk_score"] == pytest.approx(aggregated.get(document), abs=1e-5)
        assert row["hits"] == len(chunks.get(document, []))
    assert files == sorted(files, key=lambda row: (-row["score"], row["document_id"]))


def chunk_scores(library: Connection, query: str, best: list[int]) -> dict[int, list[float]]:
    """Fuse the lists with the own chunks of the documents that are best by card."""
    searches: list[tuple[str, dict[str, Any]]] = [
        ("dense_candidates", {"query_vector": VECTOR}),
        ("keyword_candidates", {"query": query}),
    ]
    lists = [call(library, function, **arguments) for function, arguments in searches]
    own = [call(library, function, **question, documents=best) for function, question in searches]
    fused = oracle.fuse(
        scores(lists[0]),
        scores(lists[1]),
        [0.35, 0.65],
        (scores(own[0]), scores(own[1])),
        lengths=(0, 100),
    )
    owner = {row["chunk_id"]: row["document_id"] for rows in (*lists, *own) for row in rows}
    chunks: dict[int, list[float]] = defaultdict(list)
    for chunk, score in fused.items():
        chunks[owner[chunk]].append(score)
    return chunks


def test_a_title_finds_its_document_although_no_chunk_has_the_word(library: Connection) -> None:
    for number in (0, 7, 39):
        files = call(library, "discover_files", query=f"animal{number}")
        assert files[0]["title"] == f"The tale of animal{number}"
        assert files[0]["card_score"] > 0
        assert (files[0]["chunk_score"], files[0]["hits"]) == (None, 0)


def test_the_clearer_a_name_the_stronger_it_is(library: Connection) -> None:
    """A word of one card alone counts for more than two that other cards hold as well."""
    clear, common = (
        call(library, "discover_files", query=query, **BY_VECTOR)[0]["score"]
        for query in ("animal7", "w1 w2")
    )
    assert clear > common > 0


def test_a_name_in_a_small_scope_stands_out_of_that_alone(library: Connection) -> None:
    files = call(
        library, "discover_files", query="animal7", documents=[7, 8, 9], file_weights=[1, 0]
    )
    assert files[0]["title"] == "The tale of animal7"
    assert files[0]["score"] == pytest.approx(2**0.5)  # one score above two zeros


def test_the_best_three_by_card_bring_their_own_chunks(wide: Connection) -> None:
    """So that their chunk score is known although no list of the whole scope has them."""
    far = ids(call(wide, "list_documents", uri_prefix="wide/far"), "document_id")[0]
    question = {"query": "w0 w101", "query_vector": "[1,0,0,0]", "query_space": SPACE, "k": 100}
    cards = ids(call(wide, "card_candidates", query="w0 w101"), "document_id")
    dense = call(wide, "dense_candidates", query_vector="[1,0,0,0]")
    assert far in cards[:3]
    assert far not in ids(dense, "document_id")
    files = {row["document_id"]: row for row in call(wide, "discover_files", **question)}
    assert [files[document]["hits"] for document in cards[:3]] == [32, 32, 32]
    assert max(files[document]["hits"] for document in cards[3:] if document in files) < 32
    assert files[far]["chunk_score"] is not None


def test_k_cuts_the_list_and_nothing_else(library: Connection) -> None:
    all_20 = call(library, "discover_files", query="w0 w5", k=20, **BY_VECTOR)
    for k in range(1, 20):
        assert call(library, "discover_files", query="w0 w5", k=k, **BY_VECTOR) == all_20[:k]


def test_of_files_of_one_score_the_first_are_found(connection: Connection) -> None:
    for number in range(30):
        title = "w1" if number > 20 else "x1"  # which no card's weight of 0 may tell
        put(connection, f"{number}.md", ["w1 w2"], [[1, 0, 0, 0]], title=title)
    for k in (3, 30):
        asked = {"query": "w1", "k": k, "file_weights": [0.0, 1.0], **BY_VECTOR}
        files = call(connection, "discover_files", **asked)
        assert ids(files, "document_id") == [*range(1, k + 1)]


def test_without_a_vector_the_centroid_stands_in(library: Connection) -> None:
    centroid = value(library, "select lexichord.term_centroid('w4:1 w6:2')::text")
    by_vector = {"query_vector": centroid, "query_space": SPACE}
    assert call(library, "discover_files", query="w4 w6") == call(
        library, "discover_files", query="w4 w6", **by_vector
    )


def test_channels_and_fusion_are_those_of_the_chunks(library: Connection) -> None:
    by_words = call(library, "discover_files", query="w4", k=50, weights=[0, 1])
    matched = {*ids(call(library, "keyword_candidates", query="w4"), "document_id")}
    assert {row["document_id"] for row in by_words if row["hits"]} == matched
    ranks = call(library, "discover_files", query="w4", k=50, fusion="rrf", **BY_VECTOR)
    assert 0 < max(row["chunk_score"] or 0 for row in ranks) < 1 / 60


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"aggregate": "median"}, "aggregate must be max, mean or sum"),
        ({"aggregate": None}, "aggregate must be max, mean or sum"),
        ({"file_weights": None}, "file_weights must be two numbers"),
        ({"file_weights": [1.0]}, "file_weights must be two numbers"),
        ({"file_weights": [0.0, 0.0]}, "file_weights must be two numbers"),
        ({"file_weights": [-1.0, 2.0]}, "file_weights must be two numbers"),
    ],
)
def test_what_makes_no_sense_is_an_error(
    library: Connection, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=message):
        call(library, "discover_files", query="w0", **arguments)
