"""Equations of Word files: in a line of text that says the same value."""

import re
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from lexichord.ingest.load import load

MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def part(name: str, *inner: str) -> str:
    """Write an element; what is no XML yet is a run's text."""
    held = "".join(each if each.startswith("<") or not each else run(each) for each in inner)
    return f"<m:{name}>{held}</m:{name}>"


def half(over: str = "1", under: str = "2") -> str:
    return part("f", part("num", over), part("den", under))


def power(base: str, by: str) -> str:
    return part("sSup", part("e", base), part("sup", by))


def said(name: str, **properties: str) -> str:
    inner = "".join(f'<m:{key} m:val="{value}"/>' for key, value in properties.items())
    return f"<m:{name}Pr>{inner}</m:{name}Pr>"


def read(tmp_path: Path, *pieces: str) -> str:
    """Read a paragraph of words and, where a piece is XML, equations."""
    document = docx.Document()
    paragraph = document.add_paragraph()
    for piece in pieces:
        if piece.startswith("<"):
            outer = piece if piece.startswith("<m:oMath") else part("oMath", piece)
            marked = re.sub(r"^<[\w:]+", rf"\g<0> {MATH} {nsdecls('w')}", outer)
            paragraph._p.append(parse_xml(marked))
        else:
            paragraph.add_run(piece)
    document.save(str(tmp_path / "dose.docx"))
    return load(tmp_path / "dose.docx").text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (half(), "1/2"),
        (half("a+b", "2x"), "(a+b)/(2x)"),
        (part("f", part("num", half()), part("den", "3")), "(1/2)/3"),
        (part("f", said("f", type="noBar"), part("num", "n"), part("den", "k")), "n¦k"),
        (power("10", "2"), "10^2"),
        (power("x", "n-1"), "x^(n-1)"),
        (power("10", "-3"), "10^(-3)"),
        (part("sSub", part("e", "x"), part("sub", "1")), "x_1"),
        (part("sSubSup", part("e", "x"), part("sub", "1"), part("sup", "2")), "x_1^2"),
        (part("sPre", part("sub", "6"), part("sup", "14"), part("e", "C")), "_6^14 C"),
        (part("rad", "<m:deg/>", part("e", "2")), "√2"),
        (part("rad", part("deg", "3"), part("e", "x+1")), "∛(x+1)"),
        (part("rad", part("deg", "5"), part("e", "2")), "2^(1/5)"),
        (
            part("nary", said("nary", chr="∑"), part("sub", "i=1"), part("sup", "n"))[:-9]
            + part("e", "x+1")
            + "</m:nary>",
            "∑_(i=1)^n (x+1)",
        ),
        (part("nary", part("sub", "0"), part("sup", "1"), part("e", "x")), "∫_0^1 x"),
        (part("d", part("e", "a"), part("e", "b")), "(a|b)"),
        (part("d", said("d", begChr="[", endChr="]", sepChr=","), part("e", "a")), "[a]"),
        (part("d", said("d", begChr="{", endChr=""), part("e", "a")), "{a"),
        (part("func", part("fName", "sin"), part("e", "x")), "sin x"),
        (
            part("func", part("fName", part("limLow", part("e", "lim"), part("lim", "x→0"))))[:-9]
            + part("e", part("d", part("e", "x")))
            + "</m:func>",
            "lim_(x→0)(x)",
        ),
        (part("acc", said("acc", chr="⃗"), part("e", "v")), "v⃗"),
        (part("bar", said("bar", pos="top"), part("e", "x")), "x̄"),
        (
            part("m", part("mr", part("e", "1"), part("e", "2")), part("mr", part("e", "3"))),
            "1, 2; 3",
        ),
        (part("eqArr", part("e", "x&amp;=1"), part("e", "y&amp;=2")), "x=1; y=2"),
        (part("unknown", part("e", "1"), part("other", "2"), part("another", "3")), "1 2 3"),
    ],
)
def test_an_equation_says_the_same_in_a_line(tmp_path: Path, written: str, shown: str) -> None:
    assert read(tmp_path, "is ", written, " so") == f"is {shown} so"


def test_no_numbers_run_together(tmp_path: Path) -> None:
    assert read(tmp_path, "Take 2", half(), "mg") == "Take 2 1/2 mg"
    mixed = part("oMath", "3", half(), "x", power("y", "2"), "z")
    assert read(tmp_path, mixed) == "3 1/2 x y^2 z"
    assert read(tmp_path, part("oMath", "1", "0", power("", "2"), "+x")) == "10^2+x"
    assert read(tmp_path, part("oMath", part("d", part("e", half())), "y")) == "(1/2)y"
    assert read(tmp_path, "f", part("oMath", "x")) == "fx"


def test_equations_of_a_paragraph_stand_in_lines(tmp_path: Path) -> None:
    both = part("oMathPara", part("oMath", half()), part("oMath", "x"))
    assert read(tmp_path, both) == "1/2\nx"


def test_what_was_deleted_in_an_equation_is_left_out(tmp_path: Path) -> None:
    changed = f'<w:del w:id="1" w:author="A">{run("9")}</w:del>'
    added = f'<w:ins w:id="2" w:author="A">{run("4")}</w:ins>'
    assert read(tmp_path, part("oMath", part("sSup", part("e", changed, added)), "1")) == "4 1"
