"""The numbers of lists and headings in OpenDocument files."""

import zipfile
from pathlib import Path

import pytest

from lexichord.ingest.load import load
from tests.unit.test_load_odt_marks import ODF, SPACES

ALL_SPACES = (
    f'{SPACES} xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"'
)


def numbered(level: int, said: str) -> str:
    """Write a level; `said` has its attributes without the space of names, with | before text's."""
    style = " ".join(
        each.replace("|", "text:") if "|" in each or ":" in each else f"style:{each}"
        for each in said.split()
    )
    return f'<text:list-level-style-number text:level="{level}" {style}/>'


LEGAL = (
    numbered(1, 'num-format="1" num-suffix="."')
    + numbered(2, 'num-format="1" |display-levels="2"')
    + numbered(3, 'num-format="a" num-prefix="(" num-suffix=")"')
    + '<text:list-level-style-bullet text:level="4" text:bullet-char="-"/>'
)
STYLES = (
    f"<office:document-styles {ALL_SPACES}><office:styles>"
    f'<text:list-style style:name="Legal">{LEGAL}</text:list-style>'
    '<text:outline-style><text:outline-level-style text:level="1" style:num-format="I"/>'
    '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>'
    "</text:outline-style>"
    '<style:style style:name="Clause" style:list-style-name="Legal"/>'
    '<style:style style:name="Bare" style:list-style-name=""/>'
    "</office:styles></office:document-styles>"
)


def read(tmp_path: Path, body: str, styles: str = "") -> list[str]:
    content = (
        f"<office:document-content {ALL_SPACES}><office:automatic-styles>{styles}"
        '<style:style style:name="P1" style:parent-style-name="Clause"/>'
        f"</office:automatic-styles><office:body><office:text>{body}</office:text></office:body>"
        "</office:document-content>"
    )
    with zipfile.ZipFile(tmp_path / "a.odt", "w") as archive:
        archive.writestr("META-INF/manifest.xml", f'<manifest xmlns="{ODF}manifest:1.0"/>')
        archive.writestr("content.xml", content)
        archive.writestr("styles.xml", STYLES)
    return load(tmp_path / "a.odt").text.split("\n\n")


def listed(*items: str, said: str = "") -> str:
    """Write a list; an item is its text, or XML that stands in it."""
    inner = "".join(
        each
        if each.startswith("<text:list-item")
        else f"<text:list-item>{each if each.startswith('<') else para(each)}</text:list-item>"
        for each in items
    )
    return f"<text:list {said}>{inner}</text:list>"


def para(text: str, style: str = "Plain") -> str:
    return f'<text:p text:style-name="{style}">{text}</text:p>'


NAMED = 'text:style-name="Legal"'
GOING_ON = f'{NAMED} text:continue-numbering="true"'


def test_numbers_of_all_levels_are_written_out(tmp_path: Path) -> None:
    deep = listed(para("c") + listed("d"), "e")
    body = listed(para("a") + listed(para("b") + deep, "f"), para("g") + listed("h"), said=NAMED)
    assert read(tmp_path, body) == [
        *("1. a", "  1.1 b", "    (a) c", "      • d", "    (b) e", "  1.2 f", "2. g", "  2.1 h")
    ]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ('num-format="1" num-suffix="."', "1. 2."),
        ('num-format="a" num-suffix=")"', "a) b)"),
        ('num-format="A"', "A B"),
        ('num-format="i"', "i ii"),
        ('num-format="I" num-prefix="§"', "§I §II"),
        ('num-format="1" |start-value="9"', "9 10"),
        ('num-format="1" |display-levels="7"', "1 2"),
        ('num-format="1" loext:num-list-format="No%1%:"', "No1: No2:"),
        ('num-format="一"', "1 2"),
    ],
)
def test_numbers_have_the_form_of_their_style(tmp_path: Path, said: str, shown: str) -> None:
    style = f'<text:list-style style:name="L1">{numbered(1, said)}</text:list-style>'
    first, second = shown.split()
    body = listed("a", "b", said='text:style-name="L1"')
    assert read(tmp_path, body, style) == [f"{first} a", f"{second} b"]


def test_a_level_without_numbers_shows_none(tmp_path: Path) -> None:
    levels = numbered(1, 'num-format=""') + numbered(2, 'num-format="1" |display-levels="2"')
    style = f'<text:list-style style:name="L1">{levels}</text:list-style>'
    body = listed(para("a") + listed("b"), said='text:style-name="L1"')
    assert read(tmp_path, body, style) == ["a", "  1 b"]


def test_a_list_goes_on_only_where_it_says_so(tmp_path: Path) -> None:
    body = (
        listed("a", "b", said=f'{NAMED} xml:id="first"')
        + listed("c", said=NAMED)
        + listed("d", said=GOING_ON)
        + listed("e", said=f'{NAMED} text:continue-list="first"')
        + listed(listed("f"), said=GOING_ON)
        + listed("g", said='text:continue-numbering="true"')
    )
    assert read(tmp_path, body) == ["1. a", "2. b", "1. c", "2. d", "3. e", "  3.1 f", "• g"]


def test_items_may_say_their_number_and_their_style(tmp_path: Path) -> None:
    fifth = f'<text:list-item text:start-value="5">{para("a")}</text:list-item>'
    own = f'<text:list-item text:style-override="L1">{para("c")}</text:list-item>'
    style = f'<text:list-style style:name="L1">{numbered(1, 'num-format="A"')}</text:list-style>'
    assert read(tmp_path, listed(fifth, "b", own, said=NAMED), style) == ["5. a", "6. b", "G c"]


def test_a_paragraph_s_style_may_name_the_list_s(tmp_path: Path) -> None:
    own = listed("d", said='text:style-name="L1"')
    style = f'<text:list-style style:name="L1">{numbered(2, 'num-format="i"')}</text:list-style>'
    body = listed(para("a", "P1") + para("b", "P1"), para("c", "P1") + own)
    assert read(tmp_path, body, style) == ["1. a\nb", "2. c", "  i d"]


def test_two_lists_in_an_item_are_numbered_apart(tmp_path: Path) -> None:
    inner = listed("b", "c") + listed("d") + listed("e", said='text:continue-numbering="true"')
    assert read(tmp_path, listed(para("a") + inner, said=NAMED)) == [
        *("1. a", "  1.1 b", "  1.2 c", "  1.1 d", "  1.2 e")
    ]


def test_headings_are_numbered_by_their_outline_or_their_list(tmp_path: Path) -> None:
    def heading(level: int, text: str, said: str = "") -> str:
        return f'<text:h text:outline-level="{level}" {said}>{text}</text:h>'

    body = (
        heading(1, "Term")
        + heading(2, "Start")
        + heading(1, "Preface", 'text:is-list-header="true"')
        + heading(1, "Note", 'text:style-name="Bare"')
        + heading(1, "Rent")
        + heading(3, "Deposit")
        + listed(heading(1, "Clause") + para("a"), said=NAMED)
    )
    assert read(tmp_path, body) == [
        *("I Term", "I.1 Start", "Preface", "Note", "II Rent", "Deposit", "1. Clause", "a")
    ]


def test_items_in_cells_have_their_numbers_and_deleted_lists_do_not_count(tmp_path: Path) -> None:
    deleted = (
        "<text:tracked-changes><text:changed-region><text:deletion>"
        f"{listed('x', said=NAMED)}</text:deletion></text:changed-region></text:tracked-changes>"
    )
    cells = "".join(
        f"<table:table-row><table:table-cell>{listed(text, said=said)}</table:table-cell>"
        "</table:table-row>"
        for text, said in (("a", GOING_ON), ("b", GOING_ON), ("c", ""))
    )
    body = f"{deleted}<table:table>{cells}</table:table>"
    assert read(tmp_path, body) == ["| 1. a |\n| --- |\n| 2. b |\n| c |"]
