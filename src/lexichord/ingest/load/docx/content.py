"""The text of a Word file's paragraphs, with what was inserted and without what was deleted."""

from collections.abc import Iterator, Sequence

from docx.oxml.ns import qn
from lxml.etree import _Element

MATH_NAMESPACE = "http://schemas.openxmlformats.org/officeDocument/2006/math"
# The same again.
FALLBACK_TAG = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
TEXT_TAGS = {qn("w:t"), f"{{{MATH_NAMESPACE}}}t"}
CHARACTER_TAGS = {
    qn("w:tab"): "\t",
    qn("w:ptab"): "\t",
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:noBreakHyphen"): "-",
}
NOTE_TAGS = {qn("w:footnoteReference"): "footnotes", qn("w:endnoteReference"): "endnotes"}
SKIPPED_TAGS = {
    qn("w:pPr"),
    qn("w:rPr"),
    qn("w:del"),
    qn("w:moveFrom"),
    qn("w:txbxContent"),
    FALLBACK_TAG,
}


def paragraph_text(paragraph: _Element, notes: list[tuple[str, str]]) -> str:
    """Return a paragraph's text; add the footnotes that it names to `notes`."""
    return "".join(_runs(paragraph, notes))


def _runs(element: _Element, notes: list[tuple[str, str]]) -> Iterator[str]:
    for child in element:
        if child.tag in TEXT_TAGS:
            yield child.text or ""
        elif child.tag in CHARACTER_TAGS:
            yield CHARACTER_TAGS[child.tag]
        elif child.tag in NOTE_TAGS:
            notes.append((NOTE_TAGS[child.tag], child.get(qn("w:id"), "")))
            yield f"[{len(notes)}]"
        elif child.tag not in SKIPPED_TAGS:
            yield from _runs(child, notes)


def text_boxes(element: _Element) -> Iterator[_Element]:
    """Find the text boxes that hang on a paragraph; those in a box hang on its own paragraphs."""
    for child in element:
        if child.tag == qn("w:txbxContent"):
            yield child
        elif child.tag != FALLBACK_TAG:
            yield from text_boxes(child)


def block_elements(parent: _Element) -> Iterator[_Element]:
    """Yield the paragraphs and tables in a body, a cell, a box or a note, in order."""
    for child in parent:
        if child.tag in (qn("w:p"), qn("w:tbl")):
            yield child
            continue
        if child.tag in (qn("w:sdt"), qn("w:sdtContent"), qn("w:customXml"), qn("w:ins")):
            yield from block_elements(child)


WRAPPER_TAGS = {qn("w:sdt"), qn("w:sdtContent"), qn("w:customXml")}


def table_rows(table: _Element) -> list[_Element]:
    """Return a table's rows, those that were deleted left out."""
    return [row for row in _inside(table, "w:tr") if row.find(_path("w:trPr", "w:del")) is None]


def row_cells(row: _Element) -> list[_Element]:
    """Return a row's cells."""
    return _inside(row, "w:tc")


def count_header_rows(rows: Sequence[_Element]) -> int:
    """Count the rows that are marked as the table's head; the first where none is."""
    marked = [row.find(_path("w:trPr", "w:tblHeader")) for row in rows]
    amount = next((index for index, mark in enumerate(marked) if not _is_on(mark)), len(rows))
    return amount or 1


def is_continuation(cell: _Element) -> bool:
    """Return whether a cell is the continuation of the one above it."""
    merged = cell.find(_path("w:tcPr", "w:vMerge"))
    return merged is not None and merged.get(qn("w:val"), "continue") == "continue"


def _inside(parent: _Element, name: str) -> list[_Element]:
    elements = list[_Element]()
    for child in parent:
        if child.tag == qn(name):
            elements.append(child)
        elif child.tag in WRAPPER_TAGS:
            elements += _inside(child, name)
    return elements


def _path(*names: str) -> str:
    return "/".join(qn(name) for name in names)


def _is_on(mark: _Element | None) -> bool:
    return mark is not None and mark.get(qn("w:val"), "1") not in ("0", "false", "off")
