"""OpenDocument text: headings by their levels, lists, tables, notes at their place.

What it has in common with presentations is in `odf`.
"""

import zipfile
from pathlib import Path

from lxml.etree import QName, _Element

from lexichord.errors import IngestError
from lexichord.ingest.load.kinds import ODT_TYPE
from lexichord.ingest.load.marks import Marks
from lexichord.ingest.load.odf import OdfReader, open_document
from lexichord.ingest.load.odf_styles import USUAL_PAGE
from lexichord.ingest.load.options import LoadOptions
from lexichord.ingest.load.properties import open_document_properties
from lexichord.types import LoadedText

BROKEN_ODT = "is no ODT, or a broken one: open it and save it again"
OPENING = ("h", "p", "table")  # what may say on which pages a document begins


def load(file: Path, named: str, options: LoadOptions) -> LoadedText:
    """Read a text document. Raises IngestError."""
    marks = Marks(options)
    with open_document(file, BROKEN_ODT) as archive:
        built = _Reader(archive, marks).built
    properties = open_document_properties(file)
    return LoadedText(
        built.text,
        ODT_TYPE,
        properties.pop("title", "") or named,
        headings=tuple(built.headings),
        tables=tuple(built.tables),
        metadata=marks.flagged(properties),
    )


class _Reader(OdfReader):
    """Puts headers and footers where their pages begin and end."""

    def __init__(self, archive: zipfile.ZipFile, marks: Marks) -> None:
        super().__init__(archive, marks)
        self._headers, self._footers = list[str](), list[str]()
        body = self.content.find("{*}body/{*}text")
        if body is None:
            raise IngestError(BROKEN_ODT)
        opening = next((block for block in body if QName(block).localname in OPENING), None)
        if opening is None or not self.styles.page(opening):
            self._begin_pages(USUAL_PAGE)
        self.add(body)
        self.paragraphs([*self._headers, *self._footers])

    def begin(self, element: _Element) -> None:
        """Begin the pages that an element asks for."""
        if page := self.styles.page(element):
            self._begin_pages(page)

    def _begin_pages(self, name: str) -> None:
        """End the pages with their footers; headers wait for a heading that opens the new ones."""
        self.paragraphs(self._footers)
        headers, self._footers = self.styles.margins(name)
        self._headers += headers

    def add_paragraph(self, text: str, level: int | None) -> None:
        """Add a paragraph, or a heading, which the headers of its pages follow."""
        if not text.strip():
            return
        headers, self._headers = self._headers, []
        self.paragraphs(headers if level is None else [])
        super().add_paragraph(text, level)
        self.paragraphs([] if level is None else headers)

    def begin_table(self) -> None:
        """Put the headers that wait before a table."""
        headers, self._headers = self._headers, []
        self.paragraphs(headers)
