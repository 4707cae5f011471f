"""The normal form, beside Python's own tables of Unicode, and what is made of any text at all."""

import os
import unicodedata
from random import Random
from typing import Literal

import pytest

from tests.sql.corpus import Connection, value

# First, last and how often: of scripts, signs and what is not shown, so that they meet.
RANGES = [
    *((0x20, 0x7E, 30), (0xA0, 0x24F, 10), (0x250, 0x36F, 4), (0x370, 0x3FF, 4)),
    *((0x400, 0x4FF, 3), (0x590, 0x5FF, 1), (0x600, 0x6FF, 2), (0x900, 0x97F, 2)),
    *((0xE00, 0xE7F, 2), (0x1E00, 0x1FFF, 3), (0x2000, 0x206F, 6), (0x2070, 0x20CF, 3)),
    *((0x2100, 0x23FF, 3), (0x2500, 0x27BF, 2), (0x3000, 0x30FF, 3), (0x4E00, 0x4FFF, 3)),
    *((0xAC00, 0xACFF, 2), (0xFB00, 0xFB4F, 2), (0xFE00, 0xFE6F, 2), (0xFF00, 0xFFEF, 3)),
    *((0x1D400, 0x1D7FF, 1), (0x1F000, 0x1FAFF, 3), (0xE0000, 0xE01EF, 1), (0x20000, 0x20100, 1)),
]
BETWEEN = [" ", "\n", "-\n", ".", "-", "/", "_", "1", "a"]
TEXTS = int(os.environ.get("LEXICHORD_TEST_TEXTS", "5000"))
type Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")
EACH = """
select t.text from unnest(%s::text[], %s::text[]) as t (text, other)
where lexichord.lexemes(t.text, 'english') <> lexichord.lexemes(t.other, 'english')"""


def some_text(random: Random) -> str:
    """Make a text of any characters that Unicode has names for, controls left out."""
    text = ""
    for _ in range(random.randint(1, 24)):
        [(first, last, _)] = random.choices(RANGES, [often for *_, often in RANGES])
        character = chr(random.randint(first, last))
        odd = unicodedata.category(character) in ("Cn", "Cs", "Cc", "Co")
        text += random.choice(BETWEEN) if odd or random.random() < 0.1 else character
    return text


@pytest.fixture(scope="module")
def texts() -> list[str]:
    random = Random(20261127)
    return [some_text(random) for _ in range(TEXTS)]


def test_it_is_one_form(library: Connection, texts: list[str]) -> None:
    changed = """
        select t.text from unnest(%s::text[]) as t (text), lexichord.normal_form(t.text) as f (form)
        where lexichord.normal_form(f.form) <> f.form or f.form is not nfkc normalized"""
    assert library.execute(changed, [texts]).fetchall() == []


@pytest.mark.parametrize("form", FORMS)
def test_how_a_text_is_encoded_changes_nothing(
    library: Connection, texts: list[str], form: Form
) -> None:
    number = FORMS.index(form)
    sample = texts[number :: len(FORMS)]
    others = [unicodedata.normalize(form, text) for text in sample]
    assert library.execute(EACH, [sample, others]).fetchall() == []


def test_a_query_asks_for_what_its_text_holds(library: Connection, texts: list[str]) -> None:
    """Not for accents that no text leaves out, nor for phrases; for nothing where it holds none."""
    others = """
        select t.text from unnest(%s::text[]) as t (text),
               tsvector_to_array(lexichord.lexemes(t.text)) as held (words),
               tsvector_to_array(lexichord.query_lexemes(t.text)) as asked (words)
        where not asked.words <@ held.words or (asked.words = '{}') <> (held.words = '{}')"""
    assert library.execute(others, [texts[: TEXTS // 4]]).fetchall() == []


def test_all_that_is_not_shown_is_gone(library: Connection) -> None:
    """Python does not know the property; these are Unicode 16's ranges that are assigned."""
    ranges = [
        *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5)),
        *((0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F)),
        *((0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0)),
        *((0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0001, 0xE007F), (0xE0100, 0xE01EF)),
    ]
    hidden = [chr(code) for first, last in ranges for code in range(first, last + 1)]
    made = """
        select array(select lexichord.normal_form('a' || c || 'b')
                     from unnest(%s::text[]) as u (c))"""
    shown = {
        character: form
        for character, form in zip(hidden, value(library, made, hidden), strict=True)
        if form != "ab"
    }
    assert shown == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ﬁnal oﬃce", "final office"),
        ("ＡＢＣ１２３", "ABC123"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("CO₂, m², ½", "CO2, m2, 1/2"),
        ("e\u0301 A\u030a", "é Å"),
        ("non\u2011breaking \u2212 x\u2013y \u2014 z", "non-breaking - x-y — z"),
        ("don\u2019t \u02bcn", "don't 'n"),
        ("1,000,000 1,00", "1000000 1,00"),
        ("inter-\n  connection Inter-\r\nconnection", "inter-connection Inter-connection"),
        ("A-\nB 1-\n2", "A-\nB 1-\n2"),
        ("🏳\ufe0f\u200d🌈", "🏳🌈"),
        ("", ""),
    ],
)
def test_what_reads_alike_is_one_text(library: Connection, text: str, expected: str) -> None:
    assert value(library, "select lexichord.normal_form(%s)", text) == expected


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("naïve façade ångström", "naive facade angstrom"),
        ("smørrebrød œuvre æon", "smorrebrod oeuvre aeon"),
        ("łódź ıspanya þing ðað", "lodz ispanya thing dad"),
        ("ガギ שָׁלוֹם हिन्दी", "ガギ שָׁלוֹם हिन्दी"),
    ],
)
def test_accents_are_folded(library: Connection, text: str, folded: str) -> None:
    assert value(library, "select lexichord.fold_accents(%s)", text) == folded
