"""The parts of a Word file, and the blocks, rows and cells in them."""

from collections.abc import Iterator, Sequence
from functools import cache

from docx.opc.part import Part, XmlPart
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from docx.parts.document import DocumentPart
from lxml.etree import _Element

BLOCK_TAGS = {qn("w:p"), qn("w:tbl")}
BOX_TAG, INSERTED_TAG, ROW_TAG = qn("w:txbxContent"), qn("w:ins"), qn("w:tr")
# The same again.
FALLBACK_TAG = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"


def part_root(part: DocumentPart, kind: str) -> _Element | None:
    """Parse the part of the file that holds the styles, the numbering, the notes or the like."""
    for relation in part.rels.values():
        if not relation.is_external and relation.reltype.endswith(f"/{kind}"):
            return root_of(relation.target_part)
    return None


def root_of(part: Part) -> _Element:
    """Return a part's root, parsed by the library if it knows the kind."""
    root: _Element = part.element if isinstance(part, XmlPart) else parse_xml(part.blob)
    return root


def text_boxes(element: _Element) -> Iterator[_Element]:
    """Find the text boxes that hang on a paragraph; those in a box hang on its own paragraphs."""
    for child in element:
        if child.tag == BOX_TAG:
            yield child
        elif child.tag != FALLBACK_TAG:
            yield from text_boxes(child)


def block_elements(parent: _Element) -> Iterator[_Element]:
    """Yield the paragraphs and tables in a body, a cell, a box or a note, in order."""
    for child in parent:
        if child.tag in BLOCK_TAGS:
            yield child
        elif child.tag in (*WRAPPER_TAGS, INSERTED_TAG):
            yield from block_elements(child)


def sections(body: _Element) -> Iterator[tuple[_Element | None, list[_Element]]]:
    """Yield each section's properties, which stand at its end, with its blocks."""
    blocks = list[_Element]()
    for block in block_elements(body):
        blocks.append(block)
        if (section := block.find(_path("w:pPr", "w:sectPr"))) is not None:
            yield section, blocks
            blocks = []
    yield body.find(qn("w:sectPr")), blocks


MAX_COLUMNS = 63  # of a table, as Word takes it
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
    amount = next((index for index, mark in enumerate(marked) if not is_on(mark)), len(rows))
    return amount or 1


def is_continuation(cell: _Element) -> bool:
    """Return whether a cell is the continuation of the one above it."""
    merged = cell.find(_path("w:tcPr", "w:vMerge"))
    return merged is not None and merged.get(qn("w:val"), "continue") == "continue"


def columns_of(cell: _Element) -> int:
    """Return over how many columns a cell reaches."""
    return _whole(cell.find(_path("w:tcPr", "w:gridSpan")), 1)


def columns_before(row: _Element) -> int:
    """Return how many columns a row leaves free before its first cell."""
    return _whole(row.find(_path("w:trPr", "w:gridBefore")), 0)


def _whole(said: _Element | None, otherwise: int) -> int:
    written = "" if said is None else said.get(qn("w:val"), "")
    return min(int(written), MAX_COLUMNS) if written.isdecimal() else otherwise


def is_hidden_row(row: _Element) -> bool:
    """Return whether a row of a table is hidden."""
    return is_on(row.find(_path("w:trPr", "w:hidden")))


def _inside(parent: _Element, name: str) -> list[_Element]:
    elements = list[_Element]()
    for child in parent:
        if child.tag == qn(name):
            elements.append(child)
        elif child.tag in WRAPPER_TAGS:
            elements += _inside(child, name)
    return elements


@cache
def _path(*names: str) -> str:
    return "/".join(qn(name) for name in names)


def is_on(mark: _Element | None) -> bool:
    """Return whether a property is there and not switched off."""
    return mark is not None and mark.get(qn("w:val"), "1") not in ("0", "false", "off")
