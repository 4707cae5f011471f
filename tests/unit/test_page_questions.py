"""Questions made of titles and headings: what reads as one, and what is left out."""

from dataclasses import replace

import pytest

from lexichord.serve.page.questions import candidates
from lexichord.types import ShownDocument
from tests.builders import CHUNK, DOCUMENT


def shown(title: str, headings: list[str], text: str, language: str = "en") -> ShownDocument:
    stored = replace(DOCUMENT, title=title, metadata={"language": language})
    chunks = [replace(CHUNK, heading=heading) for heading in headings]
    return ShownDocument(stored, text, chunks)


def asked(title: str, headings: list[str], text: str, language: str = "en") -> list[str]:
    return [one.question for one in candidates(shown(title, headings, text, language))]


@pytest.mark.parametrize(
    "heading",
    [
        *("2.3", "§ 4", "(ii)", "Introduction", "Recap", "Example", "Why?", "In a hurry?"),
        *("2 Both Parties shall", "About the data", "https://example.org/a"),
        *("Table 3-1 v2.0", "`x = 1`", "Never said again", "A " * 40),
    ],
)
def test_a_heading_that_makes_no_question_is_left_out(heading: str) -> None:
    text = heading if heading == "Never said again" else f"{heading} and once more: {heading}"
    assert asked("scan_0042.pdf", [heading], text) == []


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("What is a cookie?", "What is a cookie?"),
        ("3.2 How do we use your data?", "How do we use your data?"),
        ("Start › **Create** an instance", "How do I create an instance?"),
        ("ARTICLE IV. Return of Materials", "What is said about return of materials?"),
    ],
)
def test_a_heading_is_asked_about_as_its_document_writes_it(heading: str, question: str) -> None:
    text = "Return of materials: return of materials. To create an instance create an instance."
    assert asked("scan_0042", [heading], text) == [question]


def test_a_title_is_asked_for_where_its_text_speaks_of_it() -> None:
    text = (
        "The Office Lease is long. Under the Office Lease the tenant pays. The Office Lease ends."
    )
    assert asked("Office Lease", [], text) == ["What is the Office Lease?"]
    assert asked("office lease", ["Rent of rooms"], f"{text} Rent of rooms, rent of rooms.") == [
        "What is the Office Lease?",
        "What does the Office Lease say about rent of rooms?",
    ]
    assert asked("Path Parameters", [], "Path parameters, path parameters, path parameters") == [
        "What are path parameters?"
    ]
    number = "Of a prime number more is known. If a prime number is even, it is two. Prime number."
    assert asked("Prime number", [], number) == ["What is a prime number?"]
    assert asked("FastAPI", [], "FastAPI, FastAPI, fastapi, fastapi, fastapi") == [
        "What is FastAPI?"
    ]
    assert asked("Help", [], "Help, help, help.") == []
    assert asked("cbsinteractive com", [], "CBS Interactive. CBS Interactive.") == []


@pytest.mark.parametrize(
    ("language", "question"),
    [("de", "Was wird über Höhe der Miete gesagt?"), ("zh", "关于Höhe der Miete说了什么？")],
)
def test_it_is_asked_in_the_language_of_the_document(language: str, question: str) -> None:
    text = "Höhe der Miete. Die Höhe der Miete ist Sache der Höhe der Miete."
    assert asked("x1", ["1. Höhe der Miete"], text, language) == [question]
    assert asked("x1", ["1. Höhe der Miete", "Wie hoch ist sie denn?"], text, "fi") == [
        "Wie hoch ist sie denn?"
    ]


def test_a_paragraph_that_begins_with_a_question_asks_it() -> None:
    text = (
        "1. What information do we collect? We collect names. Who would ask so? Nobody.\nWhy? No.\n"
        "Would you like to get help?\n"
    )
    assert asked("x1", [], text) == ["What information do we collect?"]


def test_a_candidate_knows_its_section() -> None:
    text = "Return of goods, return of goods"
    (one,) = candidates(shown("x", ["Start › 2. Return of goods"], text))
    assert (one.document_id, one.heading) == (DOCUMENT.document_id, "Return of goods")
