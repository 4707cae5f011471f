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

LONG = "The Supplier shall deliver the goods to the place that the Customer has"
CASES = [
    ("U.S. law applies. It is so.", ["U.S. law applies.", "It is so."]),
    ("See 5.2. of the Agreement. End.", ["See 5.2. of the Agreement.", "End."]),
    ("5.2. The term ends. So be it.", ["5.2. The term ends.", "So be it."]),
    ("7. Term. It lasts three years.", ["7. Term. It lasts three years."]),
    ("Mr. Smith agrees, e.g. by letter.", ["Mr. Smith agrees, e.g. by letter."]),
    ("It must:\n(a) pay; and\n(b) go.", ["It must:", "(a) pay; and", "(b) go."]),
    ("| a | 1 |\n| b | 2 |", ["| a | 1 |", "| b | 2 |"]),
    (f"{LONG}\nnamed in writing. It pays.", [f"{LONG}\nnamed in writing.", "It pays."]),
    (
        "Vom 24. November auf den 3. Dezember verlegt. Der 3. zählt.",
        ["Vom 24. November auf den 3. Dezember verlegt.", "Der 3. zählt."],
    ),
    (f"{LONG} am 31.\nJuli an. Ja.", [f"{LONG} am 31.\nJuli an.", "Ja."]),
    ("It has 12. Maybe more.", ["It has 12.", "Maybe more."]),
    ("**Never do so.** Use the other.", ["**Never do so.**", "Use the other."]),
    ("_It ends._ **It begins.**", ["_It ends._", "**It begins.**"]),
    ("It is:\n~~~\na = 1\n\nb = 2", ["It is:", "~~~\na = 1\n\nb = 2"]),
    (f"- {LONG}\n- Second\n* Third", [f"- {LONG}", "- Second", "* Third"]),
    (
        "- Fill in the\n  [Form] and send it.\n- Wait",
        ["- Fill in the\n  [Form] and send it.", "- Wait"],
    ),
    ("Oranges\n-------\n\nThey are sold.", ["They are sold."]),
    ("It holds trees,\nOak and elm.", ["It holds trees,\nOak and elm."]),
    ("Oak Trees\n~~~~~~~~~\n\nThey grow.\n\nSo.", ["They grow.", "So."]),
    (
        "# The sum of all it may hold at one time is 100 parts.\n# Next",
        ["# The sum of all it may hold at one time is 100 parts."],
    ),
    (
        "--continue\n    Continue with a file. It helps.\n\n  writeback\n    Data are late.",
        ["--continue\n    Continue with a file.", "It helps.", "writeback\n    Data are late."],
    ),
    ("OPTIONS\n    Sed takes some.", ["Sed takes some."]),
    ("Exit status:\n    124 if it is late", ["Exit status:", "124 if it is late"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end, _ in split_sentences(text)] == expected


@pytest.mark.parametrize(
    "heading", ["## 5. Term", "5. Term", "5. Term.", "ARTICLE V - TERM", "Term and End"]
)
def test_a_heading_is_no_sentence_but_named(heading: str) -> None:
    text = f"{heading}\n\nIt ends soon. Then no more."
    assert [one.heading for one in split_sentences(text)] == [heading.strip("#. ")] * 2


# Each is one sentence.
WHOLE = [
    "It takes approx. 5 km resp. Six miles, incl. VAT vs. Fees (cf. Smith 2020), e.g. This one.",
    "As No. 5, Fig. 3, ch. 7, Vol. 29 No. 2, sec. 8, Art. II, p. 5 and Figs. 7 and 8 show.",
    "See ../basics and ./run.sh, then `../intro`, setup.py, v2.1.10 and www.Acme.org for more.",
    "Call asyncio.Queue() or a.b.c() of ASP.NET, pier.Rope and `./dist/` first.",
    "Any non-U.S. Skipper may moor.",
    "...Although it crashes.",
    "When the fog lifts the pilot reads all marks of the fairway anew;\nno mast is lowered.",
    "It is `<resource>! <object>. A` of ``a `! B`` here.",
    "It reads _“Short of rope?”_ on the sign at it.",
    f"{LONG} approx.\n75.0 parts of lime.",
    "Es zählt Nr. 7 Abs. 3 Satz 1, S. 5, bzw. Kap. 3, z. B. Haus, inkl. MwSt. und ggf. Porto.",
    "Der Mieter zahlt für das Haus ca. 30 Mio. EUR, mind. 3 Tage lang, u. a. Montags.",
    "El Convenio núm. 81 rige en EE. UU. para el Sr. Gómez y la Sra. Ruiz.",
    "M. Dupont est dans la maison et il voit le jardin avec Mme. Curie.",
]


@pytest.mark.parametrize("text", WHOLE)
def test_no_abbreviation_path_or_name_ends_a_sentence(text: str) -> None:
    assert [text[start:end] for start, end, _ in split_sentences(text)] == [text]


PARTED = [
    ["Keep this in mind.", "It helps."],
    ["It takes 5 min.", "Then stop."],
    ["Call x.y().", "Then go to www.acme.org.", "It is there."],
    ["It costs 5.", "Six would be dear."],
    ["Das Boot lief mit der Flut in das Becken des Hafens.", "1564 kam es an."],
]


@pytest.mark.parametrize("sentences", PARTED)
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
