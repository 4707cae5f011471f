"""What a spreadsheet says of its cells besides what they hold: hidden, merged, commented on."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree

from lexichord.ingest.load.archive import open_archive, parse_xml
from lexichord.ingest.load.sheets.formats import (
    BOOK_PART,
    Place,
    cell_place,
    sheet_parts,
    sheet_rows,
)
from lexichord.ingest.load.text import storable_text

# In a part of XLSX that hides something, and one of ODS that hides, merges or comments.
HIDDEN_SIGN = re.compile(rb"hidden=")
NOTED_SIGN = re.compile(rb"""visibility=|rows-spanned=.(?!1["'])|:annotation[ >]""")
# In a part of XLSX that holds an error, or a formula without a value.
FORMULA_SIGN = re.compile(
    rb"""\st=["']e["']|</(?:\w+:)?f>\s*<(?:/|(?:\w+:)?v(?:\s*/>|></))|<(?:\w+:)?f[^>]{0,60}/>\s*</"""
)
SIGN_BYTES = 128  # that a sign has at most
TEXT_TYPES = ("str", "inlineStr", "s")  # of cells whose value may be the empty text
SCANNED_BYTES = 1 << 20
CONTENT_PART = "content.xml"
MAX_ROWS = 1 << 20  # of a sheet
THREADED_AUTHOR = "tc="  # of the copy of a thread, for programs that know none


@dataclass(frozen=True, slots=True)
class CellComment:
    """What somebody said of a cell."""

    cell: Place
    text: str
    author: str = ""
    day: str = ""

    @property
    def name(self) -> str:
        """The cell's name, as B3."""
        letters, column = "", self.cell[1] + 1
        while column:
            column, letter = divmod(column - 1, 26)
            letters = chr(ord("A") + letter) + letters
        return f"{letters}{self.cell[0] + 1}"


@dataclass(slots=True)
class SheetNotes:
    """What is hidden in a sheet, what was said of its cells, and, of ODS, how far these reach."""

    rows: set[int] = field(default_factory=set)
    columns: list[tuple[int, int]] = field(default_factory=list)  # the first and the last
    comments: list[CellComment] = field(default_factory=list)
    merged: list[tuple[Place, Place]] = field(default_factory=list)
    errors: dict[Place, str] = field(default_factory=dict)  # as #N/A, of XLSX
    unvalued: int = 0  # formulas of XLSX that no program has computed

    def hides_column(self, column: int) -> bool:
        """Return whether a column is hidden."""
        return any(first <= column <= last for first, last in self.columns)

    def shown(self, area: tuple[Place, Place]) -> Place:
        """Return the first row and column of an area that show; those it begins with if none do."""
        (first_row, first_column), (last_row, last_column) = area
        rows = (row for row in range(first_row, last_row + 1) if row not in self.rows)
        columns = range(first_column, last_column + 1)
        shown = (column for column in columns if not self.hides_column(column))
        return next(rows, first_row), next(shown, first_column)


def read_sheet_notes(file: Path, broken: str) -> dict[str, SheetNotes]:
    """Return what a workbook says of its sheets' cells, by the sheets' names; of XLSX and ODS.

    Raises IngestError.
    """
    with open_archive(file, broken) as archive:
        names = set(archive.namelist())
        if CONTENT_PART in names:
            is_noted = _holds(archive, CONTENT_PART, NOTED_SIGN)
            return dict(_open_document_notes(archive)) if is_noted else {}
        if BOOK_PART not in names:
            return {}
        people = _people(archive, names)
        parts = [(name, part) for name, part in sheet_parts(archive) if part in names]
        return {name: _notes(archive, part, people) for name, part in parts}


def _notes(archive: zipfile.ZipFile, part: str, people: dict[str, str]) -> SheetNotes:
    notes = SheetNotes()
    if _holds(archive, part, HIDDEN_SIGN):
        _add_hidden(notes, archive, part)
    if _holds(archive, part, FORMULA_SIGN):
        _add_formulas(notes, archive, part)
    related = list(_related(archive, part))
    for kind, name in related:
        if kind == "threadedComment":
            notes.comments += _threads(parse_xml(archive.read(name)), people)
    for kind, name in related:
        if kind == "comments":
            notes.comments += _old_comments(parse_xml(archive.read(name)))
    notes.comments.sort(key=lambda comment: comment.cell)
    return notes


def _holds(archive: zipfile.ZipFile, part: str, sign: re.Pattern[bytes]) -> bool:
    """Return whether a part holds a sign, without the work of reading it as XML."""
    before = b""
    with archive.open(part) as stream:
        while read := stream.read(SCANNED_BYTES):
            if sign.search(before + read):
                return True
            before = read[-SIGN_BYTES:]
    return False


def _add_hidden(notes: SheetNotes, archive: zipfile.ZipFile, part: str) -> None:
    number = 0
    with archive.open(part) as stream:
        for _, element in etree.iterparse(
            stream, tag=("{*}col", "{*}row"), resolve_entities=False, no_network=True
        ):
            hidden = element.get("hidden") in ("1", "true")
            if etree.QName(element).localname == "row":
                number = _whole(element.get("r"), number + 1)
                notes.rows |= {number - 1} if hidden else set()
            elif hidden:
                first = _whole(element.get("min"), 1)
                notes.columns.append((first - 1, _whole(element.get("max"), first) - 1))
            _forget(element)


def _add_formulas(notes: SheetNotes, archive: zipfile.ZipFile, part: str) -> None:
    with archive.open(part) as stream:
        for row in sheet_rows(stream):
            for cell in row.iterfind("{*}c"):
                value, place = cell.findtext("{*}v", ""), cell_place(cell.get("r", ""))
                if cell.get("t") == "e" and place:
                    notes.errors[place] = storable_text(value)
                elif not value and cell.get("t") not in TEXT_TYPES:
                    notes.unvalued += cell.find("{*}f") is not None


def _forget(element: etree._Element) -> None:
    """Free an element that was read, and those before it."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]  # type: ignore[union-attr]


def _related(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the name of each part that a part names and that is there."""
    folder, name = posixpath.split(part)
    links = posixpath.join(folder, "_rels", f"{name}.rels")
    names = set(archive.namelist())
    for link in parse_xml(archive.read(links)) if links in names else []:
        target = posixpath.normpath(posixpath.join("/", folder, link.get("Target", "")))
        if target.lstrip("/") in names:
            yield link.get("Type", "").rpartition("/")[2], target.lstrip("/")


def _people(archive: zipfile.ZipFile, names: set[str]) -> dict[str, str]:
    """Return the names of those who take part in threads, by their ids."""
    parts = [name for name in names if name.startswith("xl/persons/")]
    return {
        person.get("id", ""): person.get("displayName", "")
        for part in parts
        for person in parse_xml(archive.read(part)).iterfind("{*}person")
    }


def _threads(root: etree._Element, people: dict[str, str]) -> Iterator[CellComment]:
    for said in root.iterfind("{*}threadedComment"):
        if place := cell_place(said.get("ref", "")):
            author = people.get(said.get("personId", ""), "")
            text = said.findtext("{*}text") or ""
            yield _comment(place, text, author, said.get("dT", ""))


def _old_comments(root: etree._Element) -> Iterator[CellComment]:
    authors = [author.text or "" for author in root.iterfind("{*}authors/{*}author")]
    for said in root.iterfind("{*}commentList/{*}comment"):
        number = _whole(said.get("authorId"), -1)
        author = authors[number] if 0 <= number < len(authors) else ""
        place = cell_place(said.get("ref", ""))
        if place and not author.startswith(THREADED_AUTHOR):
            text = "".join(part.text or "" for part in said.iterfind("{*}text//{*}t"))
            yield _comment(place, text.removeprefix(f"{author}:"), author, "")


def _comment(place: Place, text: str, author: str, day: str) -> CellComment:
    line = " ".join(storable_text(text).split())
    return CellComment(place, line, author, day)


def _open_document_notes(archive: zipfile.ZipFile) -> Iterator[tuple[str, SheetNotes]]:
    notes, row, column = SheetNotes(), 0, 0
    with archive.open(CONTENT_PART) as stream:
        for event, element in etree.iterparse(
            stream,
            events=("start", "end"),
            tag=("{*}table", "{*}table-column", "{*}table-row"),
            resolve_entities=False,
            no_network=True,
        ):
            name = etree.QName(element).localname
            if name == "table" and event == "start":
                notes, row, column = SheetNotes(), 0, 0
                yield _attribute(element, "name"), notes
            elif name == "table-column" and event == "end":
                columns = _whole(_attribute(element, "number-columns-repeated"), 1)
                if _is_hidden(element):
                    notes.columns.append((column, column + columns - 1))
                column += columns
            elif name == "table-row" and event == "end":
                rows = _whole(_attribute(element, "number-rows-repeated"), 1)
                if _is_hidden(element):
                    notes.rows.update(range(row, min(row + rows, MAX_ROWS)))
                _add_cells(notes, element, row)
                row += rows
                _forget(element)


def _add_cells(notes: SheetNotes, row: etree._Element, number: int) -> None:
    column = 0
    for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell"):
        place = number, column
        below = _whole(_attribute(cell, "number-rows-spanned"), 1) - 1
        beside = _whole(_attribute(cell, "number-columns-spanned"), 1) - 1
        if below > 0 or beside > 0:
            notes.merged.append((place, (number + below, column + beside)))
        for said in cell.iterfind("{*}annotation"):
            text = " ".join("".join(map(str, line.itertext())) for line in said.iterfind("{*}p"))
            author, day = said.findtext("{*}creator") or "", said.findtext("{*}date") or ""
            notes.comments.append(_comment(place, text, author, day))
        column += _whole(_attribute(cell, "number-columns-repeated"), 1)


def _is_hidden(element: etree._Element) -> bool:
    return _attribute(element, "visibility") in ("collapse", "filter")


def _attribute(element: etree._Element, name: str) -> str:
    return element.get(f"{{urn:oasis:names:tc:opendocument:xmlns:table:1.0}}{name}", "")


def _whole(written: str | None, default: int) -> int:
    return int(written) if written and re.fullmatch(r"\d{1,9}", written) else default
