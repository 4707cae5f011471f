"""The text of a Word file's paragraphs, with what was inserted and without what was deleted."""

from collections.abc import Iterator

from docx.oxml.ns import qn
from lxml.etree import _Element

MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # the same again
TEXT = {qn("w:t"), f"{{{MATH}}}t"}
SIGNS = {
    qn("w:tab"): "\t",
    qn("w:ptab"): "\t",
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:noBreakHyphen"): "-",
}
NOTES = {qn("w:footnoteReference"): "footnotes", qn("w:endnoteReference"): "endnotes"}
LEFT_OUT = {
    qn("w:pPr"),
    qn("w:rPr"),
    qn("w:del"),
    qn("w:moveFrom"),
    qn("w:txbxContent"),
    FALLBACK,
}


def paragraph_text(paragraph: _Element, notes: list[tuple[str, str]]) -> str:
    """Give a paragraph's text; add the footnotes that it names to `notes`."""
    return "".join(_runs(paragraph, notes))


def _runs(element: _Element, notes: list[tuple[str, str]]) -> Iterator[str]:
    for child in element:
        if child.tag in TEXT:
            yield child.text or ""
        elif child.tag in SIGNS:
            yield SIGNS[child.tag]
        elif child.tag in NOTES:
            notes.append((NOTES[child.tag], child.get(qn("w:id"), "")))
            yield f"[{len(notes)}]"
        elif child.tag not in LEFT_OUT:
            yield from _runs(child, notes)


def boxes(element: _Element) -> Iterator[_Element]:
    """Find the text boxes that hang on a paragraph; those in a box hang on its own paragraphs."""
    for child in element:
        if child.tag == qn("w:txbxContent"):
            yield child
        elif child.tag != FALLBACK:
            yield from boxes(child)


def blocks(parent: _Element) -> Iterator[_Element]:
    """Give the paragraphs and tables in a body, a cell, a box or a note, in order."""
    for child in parent:
        if child.tag in (qn("w:p"), qn("w:tbl")):
            yield child
            continue
        if child.tag in (qn("w:sdt"), qn("w:sdtContent"), qn("w:customXml"), qn("w:ins")):
            yield from blocks(child)
