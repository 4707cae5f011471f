"""DOCX: headings by their styles, the numbers of lists written out, tables a line a row.

What styles mean is in `styles`, list numbers are in `numbering`, the blocks of the file in
`content`, the text of paragraphs, with tracked changes, in `paragraphs`, headers and footers in
`margins`, what people said about the text in `comments`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import docx
from docx.document import Document
from docx.oxml.ns import qn
from docx.parts.document import DocumentPart
from lxml.etree import _Element

from lexichord.errors import IngestError
from lexichord.ingest.load.archive import ARCHIVE_ERRORS, check_archive, office_properties
from lexichord.ingest.load.docx.content import (
    ParagraphStyles,
    block_elements,
    count_header_rows,
    grid_rows,
    is_hidden_row,
    is_on,
    part_root,
    root_of,
    row_cells,
    sections,
    table_rows,
    text_boxes,
)
from lexichord.ingest.load.docx.numbering import ListNumbering
from lexichord.ingest.load.docx.paragraphs import ParagraphReader
from lexichord.ingest.load.kinds import DOCX_TYPE
from lexichord.ingest.load.marks import LoadOptions, Marks, within
from lexichord.ingest.load.text import TextBuilder
from lexichord.types import LoadedText

BROKEN_DOCX = "is no DOCX, or a broken one: open it and save it again"
OLD_DOCX = "is encrypted or an old .doc: save it as .docx without a password"


def load(file: Path, named: str, options: LoadOptions) -> LoadedText:
    """Read a Word file. Raises IngestError."""
    marks = Marks(options)
    check_archive(file, BROKEN_DOCX, OLD_DOCX)
    try:
        document = docx.Document(str(file))
        loaded = _Reader(document, marks).read(named)
    except ARCHIVE_ERRORS:
        raise IngestError(BROKEN_DOCX) from None
    properties = office_properties(file)
    properties.pop("title", None)
    return replace(loaded, metadata=marks.flagged(properties))


class _Reader:
    """Walks through one document, once."""

    def __init__(self, document: Document, marks: Marks) -> None:
        self._part, self._marks = document.part, marks
        self._body: _Element = document.element.body
        self._named = str(document.core_properties.title or "").strip()
        self._title = ""
        self._styles = ParagraphStyles(part_root(self._part, "styles"))
        self._numbers = ListNumbering(part_root(self._part, "numbering"), self._styles)
        comments = read_comments(part_root(self._part, "comments"), marks)
        self._paragraphs = ParagraphReader(self._part, self._styles, marks, comments)
        self._margins = Margins(self._part, marks, self._margin)
        self._headers = list[str]()
        self._built = TextBuilder()

    def read(self, named: str) -> LoadedText:
        if self._body.getroottree().docinfo.internalDTD is not None:
            raise IngestError(BROKEN_DOCX)  # the format has none; entities would be left out
        for section, blocks in sections(self._body):
            self._read_section(section, blocks)
        self._add(self._margins.never_shown())
        self._read_notes()
        self._add(self._paragraphs.other_comments())
        return self._built.document(DOCX_TYPE, self._title or self._named or named)

    def _add(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._built.paragraph(text)

    def _read_section(self, section: _Element | None, blocks: Sequence[_Element]) -> None:
        """Read a section, its headers before it or below the heading that opens it."""
        self._headers, footers = ([], []) if section is None else self._margins.of(section)
        self._read(blocks)
        self._add_headers()
        self._add(footers)

    def _add_headers(self) -> None:
        waiting, self._headers = self._headers, []
        self._add(waiting)

    def _read(self, blocks: Iterable[_Element]) -> None:
        for block in blocks:
            if block.tag == qn("w:p"):
                self._read_paragraph(block)
            else:
                self._read_table(block)
            self._add(self._paragraphs.take_pictures())
            self._add(self._paragraphs.take_comments())

    def _read_paragraph(self, paragraph: _Element) -> None:
        text = self._numbered(paragraph).strip("\n")
        level = self._styles.level(paragraph)
        if text.strip():
            if level is None:
                self._add_headers()
            self._built.paragraph(text, level)
            self._add_headers()
            if not self._title and self._styles.is_title(paragraph):
                self._title = " ".join(text.split())
        for box in text_boxes(paragraph):
            self._read(block_elements(box))

    def _numbered(self, paragraph: _Element) -> str:
        label = self._numbers.label(paragraph)
        text = self._paragraphs.text(paragraph)
        return f"{label} {text.lstrip()}" if label and text.strip() else text

    def _margin(self, root: _Element) -> str:
        """Return the lines of a header or footer; one of signs alone is a rule."""
        lines = (" ".join(filter(None, line)) for line in self._lines(root))
        return "\n".join(line for line in lines if any(map(str.isalnum, line)))

    def _lines(self, parent: _Element) -> Iterator[Sequence[str]]:
        """Yield the words of each paragraph and row in a header or footer."""
        for block in block_elements(parent):
            if block.tag == qn("w:p"):
                boxes = [piece for box in text_boxes(block) for piece in self._pieces(box)]
                yield self._paragraphs.text(block).split()
                yield [*boxes, *map(within, self._paragraphs.take_pictures())]
            else:
                for row in table_rows(block):
                    yield [self._cell(cell) for cell in row_cells(row)]

    def _read_table(self, table: _Element) -> None:
        """Read a table; one of a single row only sets out what is in its cells."""
        self._add_headers()
        listed_rows = table_rows(table)
        if len(listed_rows) == 1:
            for cell in row_cells(listed_rows[0]):
                self._read(block_elements(cell))
            return
        head = count_header_rows(listed_rows)
        lines = grid_rows(listed_rows, head, self._cell)
        self._built.table(map(self._marked, listed_rows, lines), head)

    def _marked(self, row: _Element, cells: list[str]) -> list[str]:
        """Return the texts of a row's cells; one that is hidden says so in its last."""
        return self._marks.hidden_row(cells) if is_hidden_row(row) else cells

    def _cell(self, cell: _Element) -> str:
        """Return a cell's text in one line."""
        return " ".join(self._pieces(cell))

    def _pieces(self, cell: _Element) -> Iterator[str]:
        for block in block_elements(cell):
            if block.tag == qn("w:p"):
                yield from self._numbered(block).split()
                yield from map(within, self._paragraphs.take_pictures())
                for box in text_boxes(block):
                    yield from self._pieces(box)
            else:
                for row in table_rows(block):
                    for inner in row_cells(row):
                        yield from self._pieces(inner)

    def _read_notes(self) -> None:
        """Put foot- and endnotes after the text, numbered as they are named in it."""
        roots = {kind: part_root(self._part, kind) for kind in ("footnotes", "endnotes")}
        for number, (kind, name) in enumerate(list(self._paragraphs.notes), 1):
            root = roots[kind]
            for note in [] if root is None else root:
                if note.get(qn("w:id")) == name:
                    self._built.paragraph(f"[{number}] {' '.join(self._pieces(note))}")
                    self._add(self._paragraphs.take_comments())


HEADER, FOOTER = "w:headerReference", "w:footerReference"
KINDS = {HEADER: "Header", FOOTER: "Footer"}


class Margins:
    """The headers and footers of a document, section after section."""

    def __init__(self, part: DocumentPart, marks: Marks, read: Callable[[_Element], str]) -> None:
        self._part, self._marks, self._read = part, marks, read
        settings = part_root(part, "settings")
        parted = None if settings is None else settings.find(qn("w:evenAndOddHeaders"))
        self._parts_even_pages = is_on(parted)
        self._linked = dict[tuple[str, str], str]()
        self._texts = dict[str, str]()
        self._seen = set[str]()

    def of(self, section: _Element) -> tuple[list[str], list[str]]:
        """Return a section's headers and footers that no section before it had."""
        for kind in KINDS:
            for reference in section.iterfind(qn(kind)):
                pages = reference.get(qn("w:type"), "default")
                self._linked[kind, pages] = reference.get(qn("r:id"), "")
        has_first = is_on(section.find(qn("w:titlePg")))
        shown = {"first": has_first, "default": True, "even": self._parts_even_pages}
        names = [name for name, is_shown in shown.items() if is_shown]
        return list(self._shown(HEADER, names)), list(self._shown(FOOTER, names))

    def never_shown(self) -> Iterator[str]:
        """Yield the headers and footers that no page shows."""
        for (kind, _), link in self._linked.items():
            if any(map(str.isalpha, text := self._text(link))) and text not in self._seen:
                self._seen.add(text)
                if marked := self._marks.hidden(text, KINDS[kind].lower()):
                    yield f"{KINDS[kind]}: {marked}"

    def _shown(self, kind: str, pages: Iterable[str]) -> Iterator[str]:
        for text in (self._text(self._linked.get((kind, each), "")) for each in pages):
            if any(map(str.isalpha, text)) and text not in self._seen:
                self._seen.add(text)
                yield f"{KINDS[kind]}: {text}"

    def _text(self, link: str) -> str:
        """Return the text of a header or footer, read once."""
        relation = self._part.rels.get(link)
        if link not in self._texts and relation is not None and not relation.is_external:
            self._texts[link] = self._read(root_of(relation.target_part)).strip()
        return self._texts.get(link, "")


def read_comments(root: _Element | None, marks: Marks) -> dict[str, str]:
    """Return the comments by their ids, marked; those that are left out are not among them."""
    comments = [] if root is None else root.findall(qn("w:comment"))
    marked = {each.get(qn("w:id"), ""): _marked(each, marks) for each in comments}
    return {name: text for name, text in marked.items() if text}


def _marked(comment: _Element, marks: Marks) -> str:
    paragraphs = (
        "".join(text.text or "" for text in paragraph.iter(qn("w:t")))
        for paragraph in comment.iter(qn("w:p"))
    )
    author, day = comment.get(qn("w:author"), ""), comment.get(qn("w:date"), "")
    return marks.comment("\n".join(filter(str.strip, paragraphs)), author, day)
