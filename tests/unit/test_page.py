"""What the pages make of texts and places, and their colours: no server."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexichord
from lexichord.serve.page.document import show_document
from lexichord.serve.page.render import local_address
from lexichord.serve.page.results import mark_words, word_pattern
from lexichord.serve.page.routes import example_questions
from lexichord.types import ShownDocument, StoredChunk, StoredDocument

HTTP = Path(lexichord.__file__).parent / "serve" / "page"
FILES = [path for folder in ("static", "templates") for path in sorted((HTTP / folder).iterdir())]


def shown(text: str, *starts: int) -> ShownDocument:
    sizes = (len(text), len(starts))
    document = StoredDocument("doc_1", "d", "u", "t", "text/plain", *sizes, {}, None)  # type: ignore[arg-type]
    end = len(text)
    chunks = [
        StoredChunk(f"chunk_{n}", n, f"A › {n}", at, end, None, text[at:], "", "", {}, False)
        for n, at in enumerate(starts)
    ]
    return ShownDocument(document, text, chunks)


@pytest.mark.parametrize(
    ("question", "text", "marked"),
    [
        ("How long do obligations last?", "An obligation lasts.", ["obligation", "lasts"]),
        ("Who may terminate?", "Termination or terminated", ["Termination", "terminated"]),
        ("What is the NDA of 2024?", "the NDA, what, Nda, 2024, 20245", ["NDA", "Nda", "2024"]),
        ("notice?", "notices, noticeable, unnoticed", ["notices"]),
        ("What is it?", "What is it", []),
        ("(.*) [a-z]+ \\", "abc", []),
        ("Straße", "die Straße", ["Straße"]),
    ],
)
def test_the_words_of_a_question_are_found_in_their_other_forms(
    question: str, text: str, marked: list[str]
) -> None:
    parts = mark_words(text, word_pattern(question))
    assert [part for part, is_word in parts if is_word] == marked
    assert "".join(part for part, _ in parts) == text


@given(st.text(max_size=60), st.text(max_size=60))
def test_marking_changes_no_text(question: str, text: str) -> None:
    assert "".join(part for part, _ in mark_words(text, word_pattern(question))) == text


PLACE = st.tuples(st.integers(0, 40), st.integers(0, 40)).map(lambda two: f"{two[0]}-{two[1]}")


@given(
    st.text("ab\n ", max_size=30),
    st.sets(st.integers(0, 30), max_size=5),
    PLACE,
    st.lists(PLACE, max_size=4),
)
def test_blocks_are_the_whole_text_and_marks_the_quotes(
    text: str, starts: set[int], place: str, others: list[str]
) -> None:
    view = show_document(shown(text, *sorted(s for s in starts if s < len(text))), place, others)
    pieces = [piece for block in view.blocks for piece in block]
    assert "".join(piece.text for piece in pieces) == text
    for number, (start, end) in enumerate(view.quotes):
        assert "".join(p.text for p in pieces if p.quote == number) == text[start:end]
        assert [p.opens for p in pieces if p.quote == number].count(True) == 1
    assert all(one[1] <= other[0] for one, other in pairwise(view.quotes))
    start, end = map(int, place.split("-"))
    assert (view.current is None) == (start >= min(end, len(text)))
    if view.current is not None:
        assert view.quotes[view.current] == (start, min(end, len(text)))
    anchors = [piece.anchor for piece in pieces if piece.anchor is not None]
    assert len(anchors) == len({s for s in starts if s < len(text)})


def test_a_block_ends_where_a_line_does() -> None:
    view = show_document(shown("one\ntwo three", 0, 4, 8), "")
    assert [[piece.text for piece in block] for block in view.blocks] == [
        ["one\n"],
        ["two ", "three"],
    ]
    assert [(entry.name, entry.depth) for entry in view.outline] == [("0", 1), ("1", 1), ("2", 1)]


def test_examples_are_made_of_titles_that_can_be_read() -> None:
    assert example_questions([]) == example_questions(["", "x" * 100]) == []
    assert example_questions(["Lease", "Lease"]) == ["What is Lease about?"]
    assert example_questions(["A lease", "B lease", "C lease"]) == [
        "What is A lease about?",
        "Compare A lease and B lease",
        "Summarise C lease",
    ]
    assert example_questions(["init", "A lease"])[0] == "What is A lease about?"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("/?q=a%20b&k=3", "/?q=a%20b&k=3"),
        ("/document/4", "/document/4"),
        *((each, "/") for each in ("", "//x", "/\\x", "http://x", "x", "/\tx", "/\nx", "///x")),
    ],
)
def test_an_address_to_go_on_to_is_one_of_ours(address: str, expected: str) -> None:
    assert local_address(address) == expected


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_no_file_of_a_page_asks_another_server_or_acts_inline(file: Path) -> None:
    text = file.read_text().replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"(?:https?:)?//[\w.-]+\.\w|@import|url\(|\bdata:", text)
    if file.suffix == ".html":
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|\|\s*safe", text)
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))
    if file.suffix == ".js":
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)


PAIRS = [
    *((text, ground) for text in ("text", "dim", "accent") for ground in ("ground", "surface")),
    *(("on-accent", "accent"), ("accent", "soft"), ("text", "soft"), ("dim", "soft")),
    *(("on-mark", "mark"), ("on-warn", "warn")),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_colours_can_be_read(scheme: str, text: str, ground: str) -> None:
    """WCAG 2.2, 1.4.3: at least 4.5 to 1."""
    css = (HTTP / "static" / "page.css").read_text()
    light, dark = (
        dict(re.findall(r"--([\w-]+): #([0-9a-f]{6})", part))
        for part in re.findall(r":root \{([^}]+)\}", css)
    )
    colours = light if scheme == "light" else dark
    brighter, darker = sorted((_luminance(colours[each]) for each in (text, ground)), reverse=True)
    assert (brighter + 0.05) / (darker + 0.05) >= 4.5


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
