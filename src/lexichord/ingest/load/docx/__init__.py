"""DOCX: headings by their styles, the numbers of lists written out, tables a line a row.

What styles mean is in `styles`, list numbers are in `numbering`, the text of paragraphs and tables,
with tracked changes, is in `content`.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import docx
from docx.document import Document
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from lxml.etree import _Element

from lexichord.errors import IngestError
from lexichord.ingest.load.archive import ARCHIVE_ERRORS, check_archive
from lexichord.ingest.load.docx.content import (
    block_elements,
    count_header_rows,
    is_continuation,
    paragraph_text,
    row_cells,
    table_rows,
    text_boxes,
)
from lexichord.ingest.load.docx.numbering import ListNumbering
from lexichord.ingest.load.docx.styles import ParagraphStyles
from lexichord.ingest.load.kinds import DOCX_TYPE
from lexichord.ingest.load.properties import office_properties
from lexichord.ingest.load.text import TextBuilder
from lexichord.types import LoadedText

BROKEN_DOCX = "is no DOCX, or a broken one: open it and save it again"
OLD_DOCX = "is encrypted or an old .doc: save it as .docx without a password"


# What the library does with a file that is not as it expects.


def load(file: Path, named: str) -> LoadedText:
    """Read a Word file. Raises IngestError."""
    check_archive(file, BROKEN_DOCX, OLD_DOCX)
    try:
        document = docx.Document(str(file))
        loaded = _Reader(document).read(named)
    except ARCHIVE_ERRORS:
        raise IngestError(BROKEN_DOCX) from None
    properties = office_properties(file)
    properties.pop("title", None)
    return replace(loaded, metadata=properties)


class _Reader:
    """Walks through one document, once."""

    def __init__(self, document: Document) -> None:
        self._part = document.part
        self._body: _Element = document.element.body
        self._named = str(document.core_properties.title or "").strip()
        self._title = ""
        self._styles = ParagraphStyles(self._root("styles"))
        self._numbers = ListNumbering(self._root("numbering"), self._styles)
        self._notes = list[tuple[str, str]]()
        self._built = TextBuilder()

    def _root(self, kind: str) -> _Element | None:
        """Parse the part of the file that holds the styles, the numbering or the notes."""
        for relation in self._part.rels.values():
            if not relation.is_external and relation.reltype.endswith(f"/{kind}"):
                part = relation.target_part
                root: _Element = part.element if hasattr(part, "element") else parse_xml(part.blob)
                return root
        return None

    def read(self, named: str) -> LoadedText:
        if self._body.getroottree().docinfo.internalDTD is not None:
            raise IngestError(BROKEN_DOCX)  # the format has none; entities would be left out
        self._read(self._body)
        self._read_notes()
        return LoadedText(
            self._built.text,
            DOCX_TYPE,
            self._title or self._named or named,
            headings=tuple(self._built.headings),
            tables=tuple(self._built.tables),
        )

    def _read(self, parent: _Element) -> None:
        for block in block_elements(parent):
            if block.tag == qn("w:p"):
                self._read_paragraph(block)
            else:
                self._read_table(block)

    def _read_paragraph(self, paragraph: _Element) -> None:
        text = self._numbered(paragraph).strip("\n")
        if text.strip():
            self._built.paragraph(text, self._styles.level(paragraph))
            if not self._title and self._styles.is_title(paragraph):
                self._title = " ".join(text.split())
        for box in text_boxes(paragraph):
            self._read(box)

    def _numbered(self, paragraph: _Element) -> str:
        label = self._numbers.label(paragraph)
        text = paragraph_text(paragraph, self._notes)
        return f"{label} {text.lstrip()}" if label and text.strip() else text

    def _read_table(self, table: _Element) -> None:
        """Read a table; one of a single row only sets out what is in its cells."""
        listed_rows = table_rows(table)
        if len(listed_rows) == 1:
            for cell in row_cells(listed_rows[0]):
                self._read(cell)
            return
        lines = [[self._cell(cell) for cell in row_cells(row)] for row in listed_rows]
        self._built.table(lines, count_header_rows(listed_rows))

    def _cell(self, cell: _Element) -> str:
        """Return a cell's text in one line; one that goes on from the row above is empty."""
        return "" if is_continuation(cell) else " ".join(self._pieces(cell))

    def _pieces(self, cell: _Element) -> Iterator[str]:
        for block in block_elements(cell):
            if block.tag == qn("w:p"):
                yield from self._numbered(block).split()
                for box in text_boxes(block):
                    yield from self._pieces(box)
            else:
                for row in table_rows(block):
                    for inner in row_cells(row):
                        yield from self._pieces(inner)

    def _read_notes(self) -> None:
        """Put foot- and endnotes after the text, numbered as they are named in it."""
        roots = {kind: self._root(kind) for kind in ("footnotes", "endnotes")}
        for number, (kind, name) in enumerate(list(self._notes), 1):
            root = roots[kind]
            for note in [] if root is None else root:
                if note.get(qn("w:id")) == name:
                    self._built.paragraph(f"[{number}] {' '.join(self._pieces(note))}")
