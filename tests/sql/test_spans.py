"""Texts at spans, the places of chunks, and what words weigh."""

from math import log

import pytest

from tests.sql.corpus import Connection, call, put

LINES = ["Intro.", "Terms one.", "Térms 🎉 two.", "Notes.", "Terms again."]
HEADINGS = ["", "Terms", "Terms", "Notes", "Terms"]
TEXT = "\n".join(LINES)


@pytest.fixture
def stored(connection: Connection) -> Connection:
    put(connection, "other", ["Another."])
    put(connection, "a", LINES, headings=HEADINGS)
    return connection


def test_spans_count_characters_and_keep_their_order(stored: Connection) -> None:
    spans = [(2, 18, 31), (1, 0, 8), (2, 0, len(TEXT)), (2, 5, 5)]
    documents, starts, ends = (list(column) for column in zip(*spans, strict=True))
    rows = call(stored, "read_spans", documents=documents, starts=starts, ends=ends)
    assert [row["content"] for row in rows] == [TEXT[18:31], "Another.", TEXT, ""]
    assert [row["span_number"] for row in rows] == [1, 2, 3, 4]


@pytest.mark.parametrize("span", [(9, 0, 1), (2, 0, 999), (2, -1, 3), (2, 5, 4)])
def test_what_lies_outside_is_null(stored: Connection, span: tuple[int, int, int]) -> None:
    document, start, end = span
    rows = call(stored, "read_spans", documents=[document], starts=[start], ends=[end])
    assert [row["content"] for row in rows] == [None]


def test_a_section_is_a_run_under_one_heading(stored: Connection) -> None:
    ids = [row["chunk_id"] for row in call(stored, "list_chunks", document=2)]
    rows = call(stored, "chunk_places", chunk_ids=[*reversed(ids), 999])
    assert [row["chunk_id"] for row in rows] == ids
    assert [row["ordinal"] for row in rows] == [0, 1, 2, 3, 4]
    assert [row["section"] for row in rows] == [0, 1, 1, 3, 4]
    assert {row["document_id"] for row in rows} == {2}


def test_words_weigh_by_the_chunks_that_hold_them(stored: Connection) -> None:
    rows = call(stored, "weigh_terms", texts=["notes Notes unheard", "", "the term"])
    lexemes = {row["lexeme"]: row for row in rows}
    assert list(lexemes) == ["note", "term", "unheard"]
    places = {name: (row["text_numbers"], row["frequencies"]) for name, row in lexemes.items()}
    assert places == {"note": ([1], [2]), "term": ([3], [1]), "unheard": ([1], [1])}
    assert [row["df"] for row in rows] == [1, 3, 0]
    assert lexemes["note"]["idf"] == pytest.approx(log(1 + (6 - 1 + 0.5) / 1.5))
    assert lexemes["term"]["idf"] == pytest.approx(log(1 + (6 - 3 + 0.5) / 3.5))


def test_a_word_of_several_texts_is_one_row(stored: Connection) -> None:
    rows = call(stored, "weigh_terms", texts=["term", "notes", "terms of the term"])
    frequencies = {
        row["lexeme"]: dict(zip(row["text_numbers"], row["frequencies"], strict=True))
        for row in rows
    }
    assert frequencies == {"note": {2: 1}, "term": {1: 1, 3: 2}}


def test_headings_are_shared_by_words_without_their_numbers(connection: Connection) -> None:
    one = ["1. Term", "2. Fees › 2.1 – 2.3", "§ 3 Law – § 4 Notices", "9. Only here"]
    other = ["ARTICLE IV. NOTICES", "(b) Term", "(b) Term › iv. Fees", ""]
    third = ["I. Governing laws", "Fees", "5.2", "Civil matters"]
    for uri, headings in (("one", one), ("other", other), ("third", third)):
        put(connection, uri, [f"w{number} {uri}" for number in range(4)], headings=headings)
    shared = call(connection, "shared_headings", documents=[1, 2, 3])
    assert [row["heading"] for row in shared] == ["Law", "Notices", "Term", "Fees"]
    few = call(connection, "shared_headings", documents=[1, 2, 3], most=1)
    assert [row["heading"] for row in few] == ["Fees"]
    assert call(connection, "shared_headings", documents=[1]) == []
