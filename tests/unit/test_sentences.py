"""Sentences with their spans: abbreviations, numbers, lists, tables, headings, wrapped lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.retrieve.evidence.relevance import sentences_of
from lexichord.retrieve.evidence.sentences import (
    ReadText,
    is_known,
    naming_words,
    said_names,
)
from lexichord.retrieve.evidence.splitting import split_code, split_sentences, without_comment_signs
from lexichord.types.evidence import Quote
from tests.wordings import worded

LONG = "The Supplier shall deliver the goods to the place that the Customer has"


@worded("text", "expected")
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end, _ in split_sentences(text)] == expected


@pytest.mark.parametrize(
    "heading", ["## 5. Term", "5. Term", "5. Term.", "ARTICLE V - TERM", "Term and End"]
)
def test_a_heading_is_no_sentence_but_named(heading: str) -> None:
    text = f"{heading}\n\nIt ends soon. Then no more."
    assert [one.heading for one in split_sentences(text)] == [heading.strip("#. ")] * 2


# Each is one sentence.


@worded("text")
def test_no_abbreviation_path_or_name_ends_a_sentence(text: str) -> None:
    assert [text[start:end] for start, end, _ in split_sentences(text)] == [text]


@worded("sentences")
def test_what_only_looks_like_an_abbreviation_ends_one(sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert [text[start:end] for start, end, _ in split_sentences(text)] == sentences


LINES = "\n".join(f"call_number_{number}();" for number in range(200))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("They sell:\n1. Oranges.\n2. Lemons.\n3. Limes.", 4),
        (f"```\n{LINES}\n```", 200),  # long code has a sentence a line
        ("(b) lets managers swap drivers; and\n\nIt ends.", 2),
    ],
)
def test_neither_items_of_one_word_nor_what_ends_openly_are_headings(
    text: str, number: int
) -> None:
    assert len(split_sentences(text)) == number


pieces = st.sampled_from(
    ["A b. ", "5.2. ", "(a) x;\n", "\n\n", "## T\n", "U.S. ", "é🎉 ", "Go! ", LONG]
)


@given(st.lists(pieces, max_size=12).map("".join) | st.text(max_size=80))
def test_spans_lie_in_order_inside_the_text(text: str) -> None:
    last = 0
    for start, end, _ in split_sentences(text):
        assert last <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        last = end


CODE_CASES = [
    (
        "// It puts a sum\n// on disk. It\n// is cheap.\n//\n// Second part",
        ["It puts a sum\n// on disk.", "It\n// is cheap.", "Second part"],
    ),
    ('return Error("bad",\n  value)\n}', ['return Error("bad",\n  value)']),
    ("import os\nfrom a import b\nuse std::io;\n#include <x.h>", []),
    ('"""Says it.\n\nAnd more.\n"""\nx = 1', ["Says it.", "And more.", "x = 1"]),
    ('x = """SELECT\n1"""\ny = 2', ['x = """SELECT', '1"""', "y = 2"]),
    ("/**\n * It says\n * so.\n */\nint f();", ["It says\n * so.", "int f();"]),
    ("def f(\n    *args):", ["def f(\n    *args):"]),
]


@pytest.mark.parametrize(("text", "expected"), CODE_CASES)
def test_what_code_says(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end, _ in split_code(text)] == expected


def test_a_comment_is_read_without_its_signs() -> None:
    assert without_comment_signs("It puts a sum\n\t// on disk.") == "It puts a sum on disk."
    assert without_comment_signs("a * b // c\n--i;") == "a * b // c --i;"


UNSAID = [
    "![a page](a.png)",
    "[![a](b.png)](c.md)",
    "Note:",
    '<a\n href="x"> <br>',
    "```py",
    "```sh\n```",
    "SED(1)            User Commands            SED(1)",
    "GNU sed 4.9       January 2023            SED(1)",
]


@pytest.mark.parametrize("unsaid", UNSAID)
def test_pictures_labels_tags_and_empty_fences_are_no_sentences(unsaid: str) -> None:
    text = f"It is so.\n\n{unsaid}"
    assert [text[start:end] for start, end, _ in split_sentences(text)] == ["It is so."]


CUT = [
    (
        "location / {\n}\n```\n\nNow restart it.\n\n```sh\nls\n```",
        ["Now restart it.", "```sh\nls\n```"],
    ),
    ("make\n```", ["make"]),
    ("Run it:\n```\n\nmake\n```\n\nDone.", ["Run it:", "```\n\nmake\n```", "Done."]),
    ("Run it:\n\n```\nmake", ["Run it:", "```\nmake"]),
]


@pytest.mark.parametrize(("text", "sentences"), CUT)
def test_a_text_may_begin_and_end_inside_of_code(text: str, sentences: list[str]) -> None:
    found = [text[start:end] for start, end, _ in split_sentences(text)]
    assert [one for one in found if "{" not in one] == sentences


def test_a_sentence_ends_behind_the_bracket_that_closes_it() -> None:
    text = "Pay on Monday. [The discount is 12 percent (hidden).] It is due in 30 days."
    assert [text[start:end] for start, end, _ in split_sentences(text)] == [
        "Pay on Monday.",
        "[The discount is 12 percent (hidden).]",
        "It is due in 30 days.",
    ]


def test_a_table_tells_no_language() -> None:
    rows = "".join(f"| item {n} | Si | {n} |\n" for n in range(30))
    table = f"| Article | Shelf | Count |\n|---|---|---|\n{rows}"
    assert is_known(("en",), "On which shelf is the anvil?", [table])
    assert not is_known(("en",), "Auf welchem Regal steht der Amboss?", [table])


HEAD = """# Leave Policy

Scope: Sick Leave, Parental Leave, Customer Desk
Issued by: Bank of Korsvale AS, Tartu (the Company)
May 2025. What it covers
"""


def found(heading: str, text: str) -> Quote:
    return Quote(text, "1", "1.md", "Leave Policy", heading, 300, 300 + len(text), None, "1", 1.0)


SICK = found("4. Sick leave", "Employees have 12 sick days a year.")
PARENTAL = found("5. Parental leave", "They last 30 days. Ask the customer.")


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("how many sick days do i get at korsvale", ["Bank of Korsvale AS"]),
        ("Does Bank of Korsvale in Tartu pay sick days?", ["Bank of Korsvale AS", "Tartu"]),
        ("do customers of a customer of korsvale", ["Bank of Korsvale AS", "Customer Desk"]),
        ("how long is parental leave", []),  # of which another passage is headed
        ("what may be taken as sick leave", []),
        ("How many sick days are there?", []),
    ],
)
def test_names_in_the_head_are_those_that_a_question_says_and_its_text_does_not(
    question: str, names: list[str]
) -> None:
    text = ReadText(SICK, sentences_of(SICK))
    lacking = text.lacking(naming_words(question, [SICK, PARENTAL]))
    assert said_names(lacking, HEAD) == names
    assert said_names(lacking, "") == []


def test_a_name_that_is_too_long_or_cut_off_is_left_out() -> None:
    lacking = {"korsvale": False, "tartu": False}
    long = "Registered Association of Cartographers & Surveyors of Tartu"
    assert said_names(lacking, f"{long}. Korsvale") == ["Korsvale"]
    assert said_names(lacking, "x " * 246 + "Korsvale") == []  # 500 characters: it may go on
