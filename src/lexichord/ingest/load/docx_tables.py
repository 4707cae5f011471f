"""Rows and cells of a Word file's tables."""

from collections.abc import Sequence

from docx.oxml.ns import qn
from lxml.etree import _Element

WRAPPERS = {qn("w:sdt"), qn("w:sdtContent"), qn("w:customXml")}


def rows(table: _Element) -> list[_Element]:
    """Give a table's rows, those that were deleted left out."""
    return [row for row in _inside(table, "w:tr") if row.find(_path("w:trPr", "w:del")) is None]


def cells(row: _Element) -> list[_Element]:
    """Give a row's cells."""
    return _inside(row, "w:tc")


def header_rows(rows: Sequence[_Element]) -> int:
    """Count the rows that are marked as the table's head; the first where none is."""
    marked = [row.find(_path("w:trPr", "w:tblHeader")) for row in rows]
    amount = next((index for index, mark in enumerate(marked) if not _is_on(mark)), len(rows))
    return amount or 1


def goes_on(cell: _Element) -> bool:
    """Tell whether a cell is the continuation of the one above it."""
    merged = cell.find(_path("w:tcPr", "w:vMerge"))
    return merged is not None and merged.get(qn("w:val"), "continue") == "continue"


def _inside(parent: _Element, name: str) -> list[_Element]:
    found = list[_Element]()
    for child in parent:
        if child.tag == qn(name):
            found.append(child)
        elif child.tag in WRAPPERS:
            found += _inside(child, name)
    return found


def _path(*names: str) -> str:
    return "/".join(qn(name) for name in names)


def _is_on(mark: _Element | None) -> bool:
    return mark is not None and mark.get(qn("w:val"), "1") not in ("0", "false", "off")
