"""Which sentences, hits and files are taken; no database."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.retrieve.evidence.passages import (
    choose_by_mmr,
    rank_files,
    remove_duplicates,
    tell_apart,
)
from lexichord.retrieve.evidence.relevance import (
    coverage,
    in_document_order,
    sub_quote,
    word_cosine,
)
from lexichord.types import ChunkHit, HitScores
from lexichord.types.evidence import Quote

HIT = ChunkHit(
    *("chunk_7", "doc_3", "default", "a.md", "Lease", "Rent", 10, 14, 2, "text", "", 0.5),
    scores=HitScores(None, None, None),
    ranks={},
)
QUOTE = Quote.of(HIT)
DISTINCT = "The tenant pays the rent on the first day of each month, and in advance."


@pytest.mark.parametrize(
    ("aspects", "told"),
    [
        (["grep -i", "Grep -v"], ["-i", "-v"]),
        (["notice period", "rent"], ["notice period", "rent"]),
        (["a lock", "a queueing lock"], ["a lock", "a queueing lock"]),
        (["the fee"], ["the fee"]),
    ],
)
def test_what_all_aspects_have_tells_none_apart(aspects: list[str], told: list[str]) -> None:
    assert list(tell_apart(aspects)) == told


def test_novelty_prefers_what_is_new_to_what_is_the_same() -> None:
    twins = {(0, 1), (1, 0)}
    chosen = choose_by_mmr([0.9, 0.85, 0.6], lambda a, b: float((a, b) in twins), 2)
    assert chosen == [0, 2]
    assert choose_by_mmr([0.9, 0.85, 0.6], lambda a, b: 0.0, 2) == [0, 1]


@given(st.lists(st.floats(0, 1), max_size=12), st.integers(0, 12))
def test_each_is_chosen_once_and_none_without_relevance(scores: list[float], number: int) -> None:
    chosen = choose_by_mmr(scores, lambda a, b: 0.5, number)
    assert len(set(chosen)) == len(chosen)
    assert len(chosen) == min(number, sum(score > 0 for score in scores))
    assert all(scores[n] > 0 for n in chosen)


def test_files_are_ranked_by_their_best_chunk() -> None:
    hits = [replace(HIT, uri="a", document_id="doc_1", score=0.9)]
    hits += [replace(HIT, uri="b", document_id="doc_2", score=score) for score in (0.8, 0.6)]
    files = rank_files(hits)
    assert files[0].uri == "a"
    assert {file.uri: file.hits for file in files} == {"a": 1, "b": 2}


def test_equal_files_come_by_name() -> None:
    hits = [replace(HIT, uri=uri, document_id=f"doc_{n}") for n, uri in enumerate("cab")]
    assert [file.uri for file in rank_files(hits)] == ["a", "b", "c"]


def test_near_repetitions_go_but_not_those_of_another_file() -> None:
    words = " ".join(f"word{n}" for n in range(60))
    one = replace(QUOTE, text=words)
    same = replace(QUOTE, text=words.upper() + " end", start=900)
    elsewhere = replace(same, document_id="doc_4")
    other = replace(QUOTE, text=DISTINCT)
    assert remove_duplicates([one, same, elsewhere, other]) == [one, elsewhere, other]


def test_document_order_keeps_the_best_document_first() -> None:
    late, early = replace(QUOTE, start=50), replace(QUOTE, start=5)
    other = replace(QUOTE, document_id="doc_1", start=0)
    assert in_document_order([late, other, early]) == [early, late, other]


@given(st.text(max_size=30), st.data())
def test_a_part_of_a_quote_is_the_text_at_its_span(text: str, data: st.DataObject) -> None:
    stored = "x" * 10 + text
    whole = replace(QUOTE, text=text, start=10, end=10 + len(text))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    part = sub_quote(whole, start, end, 1.0)
    assert stored[part.start : part.end] == part.text


def test_coverage_is_the_share_of_idf() -> None:
    idfs = {"rent": 3.0, "month": 1.0}
    assert coverage(idfs, ["rent", "other"]) == 0.75
    assert coverage(idfs, [], ["rent"]) == pytest.approx(0.75 * 0.75)
    assert coverage(idfs, ["rent"], ["rent"]) == 0.75
    assert coverage({}, ["rent"]) == 0.0


def test_the_cosine_of_words() -> None:
    assert word_cosine({"a": 2.0}, {"a": 1.0}) == 1.0
    assert word_cosine({"a": 2.0}, {"b": 1.0}) == 0.0
    assert word_cosine({}, {}) == 0.0
