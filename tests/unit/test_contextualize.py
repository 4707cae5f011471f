"""The context that costs nothing: title, headings, and the words that tell a document apart."""

import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lexichord.ingest.structural_context import (
    CONTEXT_PARTS,
    IDENTIFIER_WORD,
    MAX_CONTEXT_TITLE_CHARS,
    MAX_IDENTIFIER_CHARS,
    MAX_KEYPHRASES,
    NEIGHBOUR_EDGE_CHARS,
    UNPARTED_LETTER,
    WordFrequencies,
    keyphrases,
    structural_context,
)
from lexichord.ingest.vectors import embedding_text
from lexichord.types import Chunk, ContextPart

WORDS = ["alpha", "Alpha", "ALPHA", "getUserName", "HTTPServer", "naïve", "straße", "x1_y2", "of"]
texts = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join) | st.text(max_size=200)
CHILD = """
from lexichord.ingest.structural_context import WordFrequencies, keyphrases
reference = WordFrequencies()
for text in ("the lease of a house", "the licence of a program", "getUserName of the user"):
    reference.add(text)
print(keyphrases("getUserName lease Lease zebra yak xylophone wombat vole the", reference))
"""


def reference_of(*texts: str) -> WordFrequencies:
    reference = WordFrequencies()
    for text in texts:
        reference.add(text)
    return reference


@given(texts, texts)
def test_keyphrases_are_distinct_words_of_the_text(text: str, other: str) -> None:
    phrases = keyphrases(text, reference_of(text, other))
    assert len(phrases) <= MAX_KEYPHRASES
    assert set(phrases) <= set(IDENTIFIER_WORD.findall(text))
    lowered = [phrase.lower() for phrase in phrases]
    assert len(set(lowered)) == len(lowered)


@given(texts)
@example("a0ぁ")
def test_every_word_is_kept_while_there_is_room(text: str) -> None:
    phrases = keyphrases(text, reference_of(text), limit=1000)
    words = {word for word in IDENTIFIER_WORD.findall(text) if not UNPARTED_LETTER.search(word)}
    assert {phrase.lower() for phrase in phrases} == {word.lower() for word in words}


def test_keyphrases_do_not_depend_on_the_order_of_a_hash() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", CHILD],
            env={"PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert "zebra" in outputs.pop()


def test_what_is_rare_comes_first_and_what_is_frequent_in_the_document_among_equally_rare() -> None:
    reference = reference_of("agreement escrow", "agreement party", "agreement party")
    assert keyphrases("agreement party escrow", reference) == ["escrow", "party", "agreement"]
    reference = reference_of("escrow pump", "other words")
    assert keyphrases("pump escrow escrow", reference) == ["escrow", "pump"]


def test_an_identifier_is_as_rare_as_its_parts() -> None:
    reference = reference_of("get user name", "get user name", "zebra")
    assert reference.rarity("getUserName") == pytest.approx(reference.rarity("name"))
    assert reference.rarity("zebra") > reference.rarity("getUserName")


@pytest.mark.parametrize("blob", ["a" * 9000, "的" * 9000])
def test_a_word_of_thousands_of_characters_is_no_identifier(blob: str) -> None:
    """Nor is a part of it: all the chunks of its document would carry it."""
    longest = "b" * MAX_IDENTIFIER_CHARS
    text = f"alpha {blob} {longest} {longest}b"
    reference = reference_of(text)
    assert set(keyphrases(text, reference)) == {"alpha", longest}
    assert set(reference.counts) == {"alpha", longest}


PHRASES = [f"word{number}" for number in range(MAX_KEYPHRASES)]
CHUNKS = [
    Chunk(0, 9, "the first", heading="Term"),
    Chunk(10, 30, "def notice(): return", heading="Term › Notice"),
    Chunk(31, 39, "the last"),
]


def test_prose_is_told_its_place_and_its_keyword_index_the_words_of_the_document() -> None:
    chunk = structural_context([CHUNKS[0], CHUNKS[2]], "Lease", PHRASES)[0]
    assert chunk.context == "Lease"
    assert chunk.keyword_context == f"Term\n{' '.join(PHRASES)}"


def test_code_is_told_its_place_and_words_and_its_keyword_index_what_is_around() -> None:
    """The neighbours' edges, and what the chunk declares, twice."""
    chunk = structural_context(CHUNKS, "Lease", PHRASES)[1]
    assert chunk.context == f"Lease\n{' '.join(PHRASES)}"
    assert chunk.keyword_context.split("\n") == [
        "Term › Notice",
        "the first",
        "the last",
        "notice",
        "notice",
    ]


def test_a_neighbour_lends_its_edge_only() -> None:
    long = "".join(f"{number} " for number in range(500)).strip()
    chunks = [Chunk(0, len(long), long), Chunk(2000, 2012, "def notice()"), Chunk(3000, 5000, long)]
    chunk = structural_context(chunks, "", [])[1]
    before, after, *_ = chunk.keyword_context.split("\n")
    assert (before, after) == (long[-NEIGHBOUR_EDGE_CHARS:], long[:NEIGHBOUR_EDGE_CHARS])


@pytest.mark.parametrize("part", CONTEXT_PARTS)
def test_each_part_can_be_left_out(part: ContextPart) -> None:
    parts = [other for other in CONTEXT_PARTS if other != part]
    full = structural_context(CHUNKS, "Lease", PHRASES)[1]
    chunk = structural_context(CHUNKS, "Lease", PHRASES, parts)[1]
    assert (chunk.context, chunk.keyword_context) != (full.context, full.keyword_context)
    alone = structural_context(CHUNKS, "Lease", PHRASES, [part])[1]
    assert alone.context or alone.keyword_context
    none = structural_context(CHUNKS, "Lease", PHRASES, [])[1]
    assert (none.context, none.keyword_context) == ("", "")


def test_no_chunk_repeats_more_of_a_title_than_a_chunk_may_hold() -> None:
    chunk = structural_context(CHUNKS, "t" * 100_000, [])[0]
    assert chunk.context == "t" * MAX_CONTEXT_TITLE_CHARS
    own = Chunk(0, 4, "text", context="given")
    assert structural_context([own], "Lease", PHRASES) == [own]  # what came along stays


def test_context_is_embedded_above_the_content() -> None:
    assert embedding_text("where", "what") == "where\nwhat"
    assert embedding_text("", "what") == "what"
