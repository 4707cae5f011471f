"""Symbols and fields of forms in Word files: what stands in the text without being text."""

from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from lexichord.ingest.load import load
from lexichord.types import LoadedText
from tests.wordings import worded


def read(tmp_path: Path, runs: str) -> LoadedText:
    document = docx.Document()
    for run in parse_xml(f"<w:p {nsdecls('w')}>{runs}</w:p>"):
        paragraph = document.paragraphs[0] if document.paragraphs else document.add_paragraph()
        paragraph._p.append(run)
    document.save(str(tmp_path / "form.docx"))
    return load(tmp_path / "form.docx")


def words(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def sign(font: str, char: str) -> str:
    return f'<w:r><w:sym w:font="{font}" w:char="{char}"/></w:r>'


def field(kind: str, form: str, shown: str = "") -> str:
    def mark(which: str, inner: str = "") -> str:
        return f'<w:r><w:fldChar w:fldCharType="{which}">{inner}</w:fldChar></w:r>'

    begin = mark("begin", f'<w:ffData><w:name w:val="A"/>{form}</w:ffData>')
    asked = f"<w:r><w:instrText> {kind} </w:instrText></w:r>"
    return f"{begin}{asked}{mark('separate')}{shown}{mark('end')}"


@worded("font", "char", "shown")
def test_symbols_are_read(tmp_path: Path, font: str, char: str, shown: str) -> None:
    loaded = read(tmp_path, words("5 ") + sign(font, char) + words(" 2"))
    assert loaded.text == f"5 {shown} 2"
    assert "flags" not in loaded.metadata


@pytest.mark.parametrize(
    ("font", "char"), [("Wingdings", "F024"), ("House", "F041"), ("Symbol", ""), ("Arial", "D800")]
)
def test_a_symbol_that_only_its_font_knows_is_flagged(tmp_path: Path, font: str, char: str) -> None:
    loaded = read(tmp_path, words("5 ") + sign(font, char) + words(" 2"))
    assert loaded.text == "5 \ufffd 2"
    assert loaded.metadata["flags"] == ["left out: 1 symbol"]


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>', "☑"),
        ('<w:checkBox><w:default w:val="1"/></w:checkBox>', "☑"),
        ('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>', "☐"),
    ],
)
def test_check_boxes_of_forms_are_read(tmp_path: Path, form: str, shown: str) -> None:
    assert read(tmp_path, field("FORMCHECKBOX", form) + words(" Yes")).text == f"{shown} Yes"


@pytest.mark.parametrize(
    ("chosen", "shown"),
    [
        ('<w:result w:val="1"/><w:default w:val="0"/>', "Blue"),
        ('<w:default w:val="1"/>', "Blue"),
        ("", "Red"),
        ('<w:result w:val="7"/>', ""),
    ],
)
def test_the_choice_of_a_list_is_read(tmp_path: Path, chosen: str, shown: str) -> None:
    entries = '<w:listEntry w:val="Red"/><w:listEntry w:val="Blue"/>'
    listed = field("FORMDROPDOWN", f"<w:ddList>{chosen}{entries}</w:ddList>")
    assert read(tmp_path, words("Is ") + listed + words(".")).text == f"Is {shown}."


def test_what_a_field_shows_stands_once(tmp_path: Path) -> None:
    entries = '<w:ddList><w:listEntry w:val="Red"/></w:ddList>'
    assert read(tmp_path, field("FORMDROPDOWN", entries, words("Green"))).text == "Green"
    text = "<w:textInput/>"
    assert read(tmp_path, field("FORMTEXT", text, words("Ann"))).text == "Ann"
