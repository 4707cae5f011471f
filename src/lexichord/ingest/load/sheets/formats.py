"""What a spreadsheet says of its cells besides values: formats, hidden, merged, commented on."""

import posixpath
import re
import zipfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import IO

from lxml import etree

from lexichord.ingest.load.archive import open_archive, parse_xml
from lexichord.ingest.load.text import storable_text

# Formats that every workbook has, by number.
BUILT_IN_FORMATS: Mapping[int, str] = MappingProxyType(
    {
        9: "0%",
        10: "0.00%",
        **dict.fromkeys((5, 6), '"$"#,##0'),
        **dict.fromkeys((7, 8), '"$"#,##0.00'),
        42: '"$"#,##0',
        44: '"$"#,##0.00',
    }
)
# Room for a sign, a filler, a colour or condition.
PADDING = re.compile(r"[_*].|\[(?!\$)[^\[\]]*\]")
CURRENCY = re.compile(
    r"\[\$(?P<code>[^\[\]-]+)(-[^\[\]]*)?\]|\"(?P<quoted>\s*([A-Z]{3}|[$€£¥₹])\s*)\"|(?P<sign>[$€£¥₹])"
)
SCALED = re.compile(r"[0#?],+(?![#0?,])")  # a comma after the digits: thousands are shown
DECIMALS = re.compile(r"\.([0#?]+)")
ZEROS = re.compile(r"0{2,}")
MAX_FORMAT_CHARS = 255  # as Excel takes it
STYLE_PART, BOOK_PART = "xl/styles.xml", "xl/workbook.xml"
RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

type Place = tuple[int, int]  # row and column, from 0
type SheetFormats = Mapping[Place, str]


def read_formats(file: Path, broken: str) -> dict[str, SheetFormats]:
    """Return the formats of cells that say percent or a currency, by the sheets' names.

    Empty where the archive is no .xlsx. Raises IngestError.
    """
    with open_archive(file, broken) as archive:
        names = set(archive.namelist())
        if not {STYLE_PART, BOOK_PART} <= names:
            return {}
        styles = _styles(archive)
        if not styles:
            return {}
        sheets = ((name, part) for name, part in sheet_parts(archive) if part in names)
        return {name: dict(_cells(archive, part, styles)) for name, part in sheets}


def format_number(value: float, code: str) -> str | None:
    """Return a number as a format shows it; None where the number alone says as much."""
    shown = PADDING.sub("", code.partition(";")[0]).replace("\\", "")
    if ZEROS.fullmatch(shown):
        padded = f"{value:0{len(shown)}.0f}"
        return padded if value >= 0 and len(padded) == len(shown) else None
    currency = CURRENCY.search(shown)
    if SCALED.search(shown) or not ("%" in shown or currency):
        return None
    digits = DECIMALS.search(shown)
    decimals = len(digits[1]) if digits else 0
    sign = "-" if value < 0 else ""
    if "%" in shown:
        return f"{sign}{abs(value) * 100:.{decimals}f}%"
    assert currency is not None
    symbol = (currency["code"] or currency["quoted"] or currency["sign"]).strip()
    number = f"{abs(value):{',' if ',' in shown else ''}.{decimals}f}"
    space = " " if symbol.isalpha() else ""
    is_before = currency.start() < min((shown.find(c) for c in "0#?" if c in shown), default=0)
    return f"{sign}{symbol}{space}{number}" if is_before else f"{sign}{number} {symbol}"


def _styles(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the formats that matter here, by the styles' numbers."""
    root = parse_xml(archive.read(STYLE_PART))
    codes = dict(BUILT_IN_FORMATS)
    for tag in root.iterfind("{*}numFmts/{*}numFmt"):
        codes[int(tag.get("numFmtId", "0"))] = tag.get("formatCode", "")
    used = (tag.get("numFmtId", "0") for tag in root.iterfind("{*}cellXfs/{*}xf"))
    found = ((str(number), codes.get(int(format_id), "")) for number, format_id in enumerate(used))
    known = ((number, code) for number, code in found if len(code) <= MAX_FORMAT_CHARS)
    return {number: code for number, code in known if format_number(1.0, code) is not None}


def repeated_sheets(file: Path, broken: str) -> set[str]:
    """Return the names of sheets of XLSX whose part a sheet before them has. Raises IngestError."""
    with open_archive(file, broken) as archive:
        parts = set(archive.namelist())
        named = [*_named_parts(archive)] if BOOK_PART in parts else []
        read = {name for name, _ in _once(named)}
        return {name for name, part in named if part in parts and name not in read}


def sheet_parts(archive: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Yield the sheets' names with their parts of the archive, each part once."""
    return _once(_named_parts(archive))


def _once(named: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield what names a part first: a book may name one without end."""
    names = dict[str, str]()
    for name, part in named:
        names.setdefault(part, name)
    return ((name, part) for part, name in names.items())


def _named_parts(archive: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    links = parse_xml(archive.read("xl/_rels/workbook.xml.rels"))
    parts = {link.get("Id"): link.get("Target", "") for link in links}
    for sheet in parse_xml(archive.read(BOOK_PART)).iterfind("{*}sheets/{*}sheet"):
        part = parts.get(sheet.get(RELATION_ID), "")
        yield sheet.get("name", ""), posixpath.normpath(posixpath.join("/xl", part)).lstrip("/")


def _cells(
    archive: zipfile.ZipFile, part: str, styles: Mapping[str, str]
) -> Iterator[tuple[Place, str]]:
    with archive.open(part) as stream:
        for row in sheet_rows(stream):
            for cell in row.iterfind("{*}c"):
                code = styles.get(cell.get("s", ""))
                place = cell_place(cell.get("r", "")) if code else None
                if code and place:
                    yield place, code


def sheet_rows(stream: IO[bytes]) -> Iterator[etree._Element]:
    """Yield a sheet's rows, each gone from memory once the next is asked for."""
    for _, row in etree.iterparse(stream, tag="{*}row", resolve_entities=False, no_network=True):
        yield row
        row.clear()
        while row.getprevious() is not None:
            del row.getparent()[0]


def cell_place(reference: str) -> Place | None:
    """Return where B3 is: row 2, column 1."""
    match = re.fullmatch(r"([A-Z]{1,3})(\d{1,7})", reference)
    if match is None:
        return None
    column = 0
    for letter in match[1]:
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(match[2]) - 1, column - 1


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


class Hidden:
    """Rows or columns that are hidden; all are added before the first is asked for."""

    def __init__(self) -> None:
        self._added = list[tuple[int, int]]()

    def add(self, first: int, last: int) -> None:
        """Hide those from a first to a last."""
        self._added.append((first, last))

    def __contains__(self, place: int) -> bool:
        """Return whether a row or column is hidden."""
        return self.shown(place) > place

    def shown(self, place: int) -> int:
        """Return the first from a place on that shows."""
        at = bisect_right(self._runs, place, key=itemgetter(0))
        return max(place, self._runs[at - 1][1] + 1) if at else place

    @cached_property
    def _runs(self) -> list[tuple[int, int]]:
        """What is hidden without a gap, its first and last, in order: a file may repeat some."""
        runs = list[tuple[int, int]]()
        for first, last in sorted(self._added):
            if runs and first <= runs[-1][1] + 1:
                runs[-1] = runs[-1][0], max(runs[-1][1], last)
            else:
                runs.append((first, last))
        return runs


@dataclass(slots=True)
class SheetNotes:
    """What is hidden in a sheet, what was said of its cells, and, of ODS, how far these reach."""

    rows: Hidden = field(default_factory=Hidden)
    columns: Hidden = field(default_factory=Hidden)
    comments: list[CellComment] = field(default_factory=list)
    merged: list[tuple[Place, Place]] = field(default_factory=list)
    errors: dict[Place, str] = field(default_factory=dict)  # as #N/A, of XLSX
    no_numbers: set[Place] = field(default_factory=set)  # cells whose number is none, of .xls
    unvalued: int = 0  # formulas of XLSX that no program has computed

    def shown(self, area: tuple[Place, Place]) -> Place:
        """Return the first row and column of an area that show; those it begins with if none do."""
        (first_row, first_column), (last_row, last_column) = area
        row, column = self.rows.shown(first_row), self.columns.shown(first_column)
        return (
            row if row <= last_row else first_row,
            column if column <= last_column else first_column,
        )


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
        return {name: _notes(archive, part, people, names) for name, part in parts}


def _notes(
    archive: zipfile.ZipFile, part: str, people: dict[str, str], unread: set[str]
) -> SheetNotes:
    notes = SheetNotes()
    if _holds(archive, part, HIDDEN_SIGN):
        _add_hidden(notes, archive, part)
    if _holds(archive, part, FORMULA_SIGN):
        _add_formulas(notes, archive, part)
    related = [*_related(archive, part, unread)]
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
                if hidden:
                    notes.rows.add(number - 1, number - 1)
            elif hidden:
                first = _whole(element.get("min"), 1)
                notes.columns.add(first - 1, _whole(element.get("max"), first) - 1)
            forget(element)


def _add_formulas(notes: SheetNotes, archive: zipfile.ZipFile, part: str) -> None:
    with archive.open(part) as stream:
        for row in sheet_rows(stream):
            for cell in row.iterfind("{*}c"):
                value, place = cell.findtext("{*}v", ""), cell_place(cell.get("r", ""))
                if cell.get("t") == "e" and place:
                    notes.errors[place] = storable_text(value)
                elif not value and cell.get("t") not in TEXT_TYPES:
                    notes.unvalued += cell.find("{*}f") is not None


def forget(element: etree._Element) -> None:
    """Free an element that was read, and those before it."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]  # type: ignore[union-attr]


def _related(archive: zipfile.ZipFile, part: str, unread: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the kind and the name of each part that a part names first: one is read once."""
    folder, name = posixpath.split(part)
    links = posixpath.join(folder, "_rels", f"{name}.rels")
    for link in parse_xml(archive.read(links)) if links in unread else []:
        path = posixpath.normpath(posixpath.join("/", folder, link.get("Target", "")))
        if (target := path.lstrip("/")) in unread:
            unread.remove(target)
            yield link.get("Type", "").rpartition("/")[2], target


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
                    notes.columns.add(column, column + columns - 1)
                column += columns
            elif name == "table-row" and event == "end":
                rows = _whole(_attribute(element, "number-rows-repeated"), 1)
                if _is_hidden(element):
                    notes.rows.add(row, min(row + rows, MAX_ROWS) - 1)
                _add_cells(notes, element, row)
                row += rows
                forget(element)


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
