"""OpenDocument's texts and presentations: paragraphs, lists, tables, frames, slides, notes."""

import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from lxml.etree import QName, _Element

from lexichord.errors import IngestError
from lexichord.ingest.load import ODP_TYPE, ODT_TYPE
from lexichord.ingest.load.archive import open_archive, open_document_properties, parse_xml
from lexichord.ingest.load.marks import (
    LoadOptions,
    Marks,
    add_speaker_notes,
    begin_slide,
    described,
    picture,
    titled,
    within,
)
from lexichord.ingest.load.odf.styles import (
    OPEN_DOCUMENT,
    USUAL_PAGE,
    OdfStyles,
    attribute,
    list_labels,
)
from lexichord.ingest.load.parts import BULLET
from lexichord.ingest.load.tables import SpanningCell, even_rows, filled_rows
from lexichord.ingest.load.text import TextBuilder, storable_text
from lexichord.types import LoadedText

ENCRYPTED_FILE = "is encrypted: save it without a password"
MAX_REPEATED = 100  # times that a cell, a row or a space stands in a table or a line
STYLES_PART = "styles.xml"
DRAWING = f"{OPEN_DOCUMENT}drawing:1.0"
ANNOTATION = f"{{{OPEN_DOCUMENT}office:1.0}}annotation"
LEFT_OUT = ("tracked-changes", "annotation-end", "desc", "title", "sequence-decls")
SPACES = {"s": " ", "tab": "\t", "line-break": "\n"}
BLOCKS = ("p", "h", "list-item", "table-row")  # whose words never join those of the next
WRAPPERS = (
    *("section", "index-body", "index-title", "numbered-paragraph", "bibliography"),
    *("table-header-rows", "table-row-group"),
)


@contextmanager
def open_document(file: Path, broken: str) -> Iterator[zipfile.ZipFile]:
    """Open a file that is not encrypted; whatever is wrong within it is said as `broken`."""
    with open_archive(file, broken) as archive:
        manifest = parse_xml(archive.read("META-INF/manifest.xml"))
        if next(manifest.iter("{*}encryption-data"), None) is not None:
            raise IngestError(ENCRYPTED_FILE)
        yield archive


class OdfReader:
    """Walks through one document, once."""

    def __init__(self, archive: zipfile.ZipFile, marks: Marks) -> None:
        self.built = TextBuilder()
        self.marks = marks
        self._comments, self.pictures = list[str](), list[str]()
        self.content = parse_xml(archive.read("content.xml"))
        roots = [self.content]
        if STYLES_PART in archive.namelist():
            roots.insert(0, parse_xml(archive.read(STYLES_PART)))
        self.styles = OdfStyles(roots, marks, self._margin)
        self._labels = list_labels(self.content, roots, self.styles.list_style)

    def add(self, parent: _Element, is_hidden: bool = False) -> None:
        """Add what an element holds, block by block."""
        for element in parent:
            self.begin(element)
            self._add_block(element, is_hidden)
            self.add_gathered()

    def begin(self, element: _Element) -> None:
        """Take note that a block begins."""

    def add_paragraph(self, text: str, level: int | None) -> None:
        """Add a paragraph, or a heading of a level."""
        if text.strip():
            self.built.paragraph(text, level)

    def paragraphs(self, texts: Iterable[str]) -> None:
        """Add paragraphs that are marked as what they are."""
        for text in texts:
            self.built.paragraph(text)

    def _add_block(self, element: _Element, is_hidden: bool) -> None:
        name = QName(element).localname
        if name in ("h", "p"):
            level = _count(element, "text", "outline-level") if name == "h" else None
            text = self._numbered(element, self.text(element, is_hidden).strip("\n"))
            self.add_paragraph(text, level)
        elif name == "list":
            self._add_list(element, "", is_hidden)
        elif name == "table":
            self._add_table(element, is_hidden)
        elif element.tag == ANNOTATION:
            self._comment(element)
        elif QName(element).namespace == DRAWING:
            self._describe(element)
            self.add(element, is_hidden)
        elif name in WRAPPERS or name.endswith(("-index", "-of-content")):
            self.add(element, is_hidden or attribute(element, "text", "display") == "none")

    def add_gathered(self) -> None:
        """Add what was said of the pictures and of the text of a block below it."""
        self.paragraphs([*self.pictures, *self._comments])
        self.pictures, self._comments = [], []

    def begin_table(self) -> None:
        """Take note that a table begins."""

    def _add_item(self, item: _Element, indent: str, is_hidden: bool) -> None:
        """Add a list's item with its mark; lists in it are set in below."""
        labels = map(self._labels.get, item.iterchildren("{*}p"))
        mark = next((f"{label} " for label in labels if label), "")
        for is_text, group in groupby(item, lambda child: QName(child).localname == "p"):
            if is_text:
                lines = (self.text(paragraph, is_hidden) for paragraph in group)
                if text := "\n".join(filter(str.strip, lines)):
                    self.add_paragraph(f"{indent}{mark}{text}", None)
                    mark = ""
                self.add_gathered()
                continue
            for child in group:
                if QName(child).localname == "list":
                    self._add_list(child, f"{indent}  ", is_hidden)
                else:
                    self._add_block(child, is_hidden)
                    self.add_gathered()

    def _numbered(self, element: _Element, text: str) -> str:
        """Put a heading's number before it, or an item's that stands in a cell."""
        label = self._labels.get(element, "").replace(BULLET, "")
        return f"{label} {text.lstrip()}" if label and text.strip() else text

    def _add_list(self, element: _Element, indent: str, is_hidden: bool) -> None:
        for item in element.iterchildren("{*}list-header", "{*}list-item"):
            self._add_item(item, indent, is_hidden)

    def _add_table(self, table: _Element, is_hidden: bool) -> None:
        rows = [
            cells
            for row in _inside(table, "table-row")
            for cells in [list(self._cells(row, is_hidden))]
            * _count(row, "table", "number-rows-repeated")
        ]
        filled = [row for row in filled_rows(rows, 1) if any(map(str.strip, row))]
        if not filled:
            return
        width = max(place for row in filled for place, cell in enumerate(row, 1) if cell.strip())
        even = even_rows(row[:width] for row in filled)
        self.begin_table()
        self.built.markdown_table(even, int(len(even) > 1), None)

    def _cells(self, row: _Element, is_hidden: bool) -> Iterator[SpanningCell]:
        """Yield a row's cells, without those that others cover."""
        for cell in row.iterchildren("{*}table-cell"):
            parts = [
                self._numbered(part, self.text(part, is_hidden).strip())
                for part in paragraphs_in(cell)
            ]
            text = " ".join([*parts, *map(within, self.pictures)])
            self.pictures = []
            rows = _count(cell, "table", "number-rows-spanned")
            columns = _count(cell, "table", "number-columns-spanned")
            repeated = _count(cell, "table", "number-columns-repeated")
            yield from [SpanningCell(text, rows, columns)] * repeated

    def _margin(self, margin: _Element) -> str:
        """Return the lines of a header or footer."""
        lines = (" ".join(self.text(part).split()) for part in paragraphs_in(margin))
        text = "\n".join(line for line in lines if any(map(str.isalnum, line)))
        pictures, self.pictures = self.pictures, []
        return "\n".join(filter(None, [text, *map(within, pictures)]))

    def text(self, element: _Element, is_hidden: bool = False) -> str:
        """Return an element's text, without what is hidden in it, unless that is kept."""
        hides = is_hidden or self.styles.hides(element) or _hides_paragraph(element)
        return self._shown(self._pieces(element, hides))

    def _shown(self, pieces: Iterable[tuple[bool, str]]) -> str:
        parts = (
            (hidden, storable_text("".join(text for _, text in group)))
            for hidden, group in groupby(pieces, itemgetter(0))
        )
        return "".join(self.marks.passage(text) if hidden else text for hidden, text in parts)

    def _pieces(self, element: _Element, hidden: bool) -> Iterator[tuple[bool, str]]:
        yield hidden, element.text or ""
        for child in element:
            yield from self._piece(child, hidden)
            yield hidden, child.tail or ""

    def _piece(self, child: _Element, hidden: bool) -> Iterator[tuple[bool, str]]:
        name = QName(child).localname
        if name in SPACES:
            yield hidden, SPACES[name] * _count(child, "text", "c")
        elif name == "note":
            yield hidden, self._note(child)
        elif name == "annotation":
            self._comment(child)
        elif name == "hidden-text":
            shown = attribute(child, "text", "is-hidden") == "false"
            yield hidden or not shown, attribute(child, "text", "string-value") or child.text or ""
        elif name == "ruby-text":
            yield hidden, f" ({''.join(text for _, text in self._pieces(child, hidden))})"
        elif name not in LEFT_OUT:
            if QName(child).namespace == DRAWING:
                self._describe(child)
            yield from self._pieces(child, hidden or self.styles.hides(child))
            yield hidden, " " if name in BLOCKS else ""

    def _note(self, note: _Element) -> str:
        body = note.find("{*}note-body")
        words = "" if body is None else self._shown(self._pieces(body, False))
        return f" [{' '.join(words.split())}]" if body is not None else ""

    def _comment(self, said: _Element) -> None:
        author, day = said.findtext("{*}creator") or "", said.findtext("{*}date") or ""
        lines = ("".join(map(str, line.itertext())).strip() for line in said.iter("{*}p"))
        text = storable_text("\n".join(filter(None, lines)))
        if comment := self.marks.comment(text, author, day):
            self._comments.append(comment)

    def _describe(self, frame: _Element) -> None:
        said = described(frame.findtext("{*}desc") or frame.findtext("{*}title") or "")
        if said:
            self.pictures.append(picture(said))


def _hides_paragraph(paragraph: _Element) -> bool:
    """Return whether a field in a paragraph hides it."""
    fields = paragraph.iterfind("{*}hidden-paragraph")
    return any(attribute(field, "text", "is-hidden") == "true" for field in fields)


def paragraphs_in(parent: _Element) -> Iterator[_Element]:
    """Yield the paragraphs and headings in a cell or a margin; what they hold is in their text."""
    for child in parent:
        if QName(child).localname in ("p", "h"):
            yield child
        else:
            yield from paragraphs_in(child)


def _inside(parent: _Element, name: str) -> Iterator[_Element]:
    for child in parent:
        if QName(child).localname == name:
            yield child
        elif QName(child).localname in WRAPPERS:
            yield from _inside(child, name)


def _count(element: _Element, namespace: str, name: str) -> int:
    written = attribute(element, namespace, name) or "1"
    return min(max(int(written), 1), MAX_REPEATED) if written.isdecimal() else 1


BROKEN_ODT = "is no ODT, or a broken one: open it and save it again"
OPENING = ("h", "p", "table")  # what may say on which pages a document begins


def load_odt(file: Path, named: str, options: LoadOptions) -> LoadedText:
    """Read a text document. Raises IngestError."""
    marks = Marks(options)
    with open_document(file, BROKEN_ODT) as archive:
        built = _Reader(archive, marks).built
    properties = open_document_properties(file)
    return built.document(ODT_TYPE, properties.pop("title", "") or named, marks.flagged(properties))


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


BROKEN_ODP = "is no ODP, or a broken one: open it and save it again"


def load_odp(file: Path, named: str, options: LoadOptions) -> LoadedText:
    """Read a presentation. Raises IngestError."""
    marks = Marks(options)
    with open_document(file, BROKEN_ODP) as archive:
        deck = _Deck(archive, marks)
    properties = open_document_properties(file)
    return deck.built.document(
        ODP_TYPE,
        properties.pop("title", "") or next(filter(None, deck.titles), named),
        marks.flagged(properties),
    )


class _Deck(OdfReader):
    """The text of a presentation, and the titles of its slides."""

    def __init__(self, archive: zipfile.ZipFile, marks: Marks) -> None:
        super().__init__(archive, marks)
        self.titles = list[str]()
        deck = self.content.find("{*}body/{*}presentation")
        if deck is None:
            raise IngestError(BROKEN_ODP)
        for number, slide in enumerate(deck.iterfind("{*}page"), 1):
            self._add_slide(slide, number)

    def _add_slide(self, slide: _Element, number: int) -> None:
        heading = next((frame for frame in slide if _class(frame) == "title"), None)
        title = "" if heading is None else " ".join(self._words(heading).split())
        is_hidden = self.styles.hides_slide(attribute(slide, "drawing", "style-name"))
        if begin_slide(self.built, self.marks, number, title, is_hidden):
            self.titles.append(titled(title))
            notes = [part for part in slide if part.tag.endswith("}notes")]
            for part in [*notes, *([] if heading is None else [heading])]:
                slide.remove(part)
            self.add_gathered()
            self.add(slide)
            for note in notes:
                frames = (frame for frame in note if _class(frame) == "notes")
                add_speaker_notes(self.built, "\n".join(map(self._words, frames)).strip())
        self.built.drop_place()

    def _words(self, frame: _Element) -> str:
        """Return the lines of a frame."""
        lines = (self.text(line).strip() for line in paragraphs_in(frame))
        return "\n".join(filter(None, lines))


def _class(frame: _Element) -> str:
    return attribute(frame, "presentation", "class")
