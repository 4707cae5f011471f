"""Spreadsheets: a section a sheet, its blocks of rows as tables, cells as they are computed."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from operator import attrgetter
from pathlib import Path

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from lexichord.errors import IngestError
from lexichord.ingest.load import ODS_TYPE, XLS_TYPE, XLSX_TYPE, kind_of
from lexichord.ingest.load.archive import (
    OLE_SIGNATURE,
    check_archive,
    office_properties,
    open_document_properties,
)
from lexichord.ingest.load.marks import LEFT_OUT, LoadOptions, Marks
from lexichord.ingest.load.sheets.formats import (
    Place,
    SheetFormats,
    SheetNotes,
    find_large_sheet,
    format_number,
    read_formats,
    read_sheet_notes,
    repeated_sheets,
)
from lexichord.ingest.load.tables import add_tables
from lexichord.ingest.load.text import (
    MAX_TEXT_BYTES,
    TextBuilder,
    read_bytes,
    storable_text,
    too_long_error,
)
from lexichord.types import LoadedText

BROKEN_SHEET = "is no spreadsheet, or a broken one: open it and save it again"
ENCRYPTED_SHEET = "is encrypted: save it without a password"
EXACT_WHOLE = 2.0**53  # below which a number of 64 bits holds each digit of a whole one
MAX_CELLS = 20_000_000  # of a sheet, empty ones too

type Cell = str | float | bool | date | time | timedelta


def load(file: Path, named: str, options: LoadOptions) -> LoadedText:
    """Read a spreadsheet. Raises IngestError."""
    marks = Marks(options)
    kind = kind_of(file.name) or XLSX_TYPE
    if kind != XLS_TYPE:
        check_archive(file, BROKEN_SHEET, ENCRYPTED_SHEET)
    elif not read_bytes(file).startswith(OLE_SIGNATURE):
        raise IngestError(f"{BROKEN_SHEET}; a web page or a text that is only named .xls, too")
    formats = _formats(file) if kind == XLSX_TYPE else {}
    notes = read_sheet_notes(file, BROKEN_SHEET) if kind != XLS_TYPE else {}
    repeated = repeated_sheets(file, BROKEN_SHEET) if kind == XLSX_TYPE else set()
    built = TextBuilder()
    with _open_book(file) as book:
        for sheet in {sheet.name: sheet for sheet in book.sheets_metadata}.values():
            if sheet.typ == SheetTypeEnum.WorkSheet and sheet.name not in repeated:
                name = f"Sheet {storable_text(sheet.name)}"
                if sheet.visible != SheetVisibleEnum.Visible:
                    name = marks.hidden(name, "sheet")
                if name:
                    own = notes.get(sheet.name, SheetNotes())
                    rows = _Sheet(book.get_sheet_by_name(sheet.name), own, marks)
                    rows.add_to(built, name, formats.get(sheet.name, {}))
    properties = open_document_properties(file) if kind == ODS_TYPE else office_properties(file)
    if unvalued := sum(own.unvalued for own in notes.values()):
        formulas = "formula" if unvalued == 1 else "formulas"
        flag = f"{LEFT_OUT}{unvalued} {formulas} without a value: open the file and save it again"
        properties["flags"] = [flag]
    return built.document(kind, properties.pop("title", "") or named, marks.flagged(properties))


@contextmanager
def _open_book(file: Path) -> Iterator[CalamineWorkbook]:
    """Open a workbook; what is wrong within it is an IngestError."""
    try:
        with CalamineWorkbook.from_path(str(file)) as book:
            yield book
    except PasswordError:
        raise IngestError(ENCRYPTED_SHEET) from None
    except (CalamineError, OSError, ValueError):
        raise IngestError(BROKEN_SHEET) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # Rust's, of no module that can be imported
            raise
        raise IngestError(BROKEN_SHEET) from None


def _formats(file: Path) -> dict[str, SheetFormats]:
    """Return how numbers are shown; look at the sheets' sizes first, which memory may not hold."""
    if name := find_large_sheet(file, BROKEN_SHEET, MAX_CELLS):
        raise _too_large_error(name)
    return read_formats(file, BROKEN_SHEET)


class _Sheet:
    """One sheet, with what is said of its cells."""

    def __init__(self, sheet: CalamineSheet, notes: SheetNotes, marks: Marks) -> None:
        if sheet.total_height * sheet.total_width > MAX_CELLS:
            raise _too_large_error(sheet.name)
        self._sheet, self._notes, self._marks = sheet, notes, marks

    def add_to(self, built: TextBuilder, name: str, formats: SheetFormats) -> None:
        """Add the sheet's tables, and below them what was said of its cells."""
        comments = list(self._comments())
        if self._sheet.height or comments:
            built.paragraph(name, 2, apart=True)
            add_tables(built, self._marked_rows(formats), 3)
        if comments:
            built.place(3, "comments")
        for comment in comments:
            built.paragraph(comment)

    def _marked_rows(self, formats: SheetFormats) -> Iterator[list[str]]:
        """Yield the rows from the sheet's first on; the library leaves out empty ones at the top.

        Raises IngestError where that comes to too much text.
        """
        top, left = self._sheet.start or (0, 0)
        yield from ([] for _ in range(top))
        merged = self._notes.merged or self._sheet.merged_cell_ranges or []
        numbered = _numbered_rows(self._sheet, formats, self._notes.errors)
        filled = filled_rows(numbered, merged, self._notes, left)
        length = 0
        for row in marked_rows(filled, self._notes, self._marks, left):
            length += sum(map(len, row))
            if length > MAX_TEXT_BYTES:
                raise too_long_error()
            yield row

    def _comments(self) -> Iterator[str]:
        for said in self._notes.comments:
            text = f"on {said.name}: {said.text}" if said.text else ""
            if marked := self._marks.comment(text, said.author, said.day):
                yield marked


def _too_large_error(name: str) -> IngestError:
    reach = f'sheet "{storable_text(name)}" reaches over more than {MAX_CELLS // 10**6} million'
    return IngestError(f"{reach} cells: split it, or delete what stands far out")


def _numbered_rows(
    sheet: CalamineSheet, formats: SheetFormats, errors: Mapping[Place, str]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that hold something and those between them, each with its number.

    Errors are given, for the library makes empty cells of them.
    """
    top, left = sheet.start or (0, 0)
    for number, row in enumerate(sheet.to_python(skip_empty_area=True), top):
        places = ((number, column) for column in range(left, left + len(row)))
        shown = (
            errors.get(place, "") if cell == "" else _shown(cell, formats.get(place, ""))
            for cell, place in zip(row, places, strict=True)
        )
        yield number, list(map(storable_text, shown))


def _shown(cell: Cell, code: str = "") -> str:
    """Write a cell as a person would: whole numbers without a point, days without midnight.

    Percents, amounts of money and numbers with zeros in front are written as their format shows
    them, durations in hours.
    """
    if isinstance(cell, bool):
        return str(cell).upper()
    if code and isinstance(cell, int | float) and (shown := format_number(cell, code)):
        return shown
    if isinstance(cell, float):
        is_exact = cell.is_integer() and abs(cell) < EXACT_WHOLE
        return str(int(cell)) if is_exact else f"{cell:.15g}"  # numbers of cards, of articles
    if isinstance(cell, timedelta):
        minutes, seconds = divmod(round(cell.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    return cell.isoformat(sep=" ") if isinstance(cell, datetime) else str(cell)


type Row = list[str]
type Area = tuple[Place, Place]  # the first cell and the last


def filled_rows(
    rows: Iterable[tuple[int, Row]], merged: Sequence[Area], notes: SheetNotes, left: int
) -> Iterator[tuple[int, Row]]:
    """Yield the rows, each merged value in all that it covers and that hold something besides.

    In the first row, a header, it stands once. Where the cell begins in a hidden column or row, it
    stands in the first that shows. Rows begin at the column `left`.
    """
    starting = defaultdict[int, list[_MergedCell]](list)
    for area in merged:
        if cell := _merged_cell(area, notes, left):
            starting[area[0][0]].append(cell)
    width = max((cell.shown + 1 for cells in starting.values() for cell in cells), default=0)
    reaching = dict[int, _MergedCell]()  # one a column: no two cells of a sound file share one
    number = 0
    for place, (number, row) in enumerate(rows):
        row += [""] * (width - len(row))
        is_empty = not any(map(str.strip, row))
        reaching = {shown: cell for shown, cell in reaching.items() if number <= cell.last}
        for cell in reaching.values():
            if not is_empty or number == cell.shown_row:
                row[cell.shown] = row[cell.shown] or cell.text
        for cell in starting.pop(number, []):
            begun = replace(cell, text=row[cell.column])
            row[cell.column], row[cell.shown] = "", begun.text
            if place or number in notes.rows:
                both = reaching.get(cell.shown, begun), begun
                reaching[cell.shown] = max(both, key=attrgetter("last"))
        yield number, row
    yield from _rows_below(number, reaching.values(), width)


@dataclass(frozen=True, slots=True)
class _MergedCell:
    """A merged cell: the column that it begins in, where it shows, its last row, what it holds."""

    column: int
    shown: int
    shown_row: int
    last: int
    text: str = ""


def _rows_below(
    number: int, reaching: Collection[_MergedCell], width: int
) -> Iterator[tuple[int, Row]]:
    """Yield the rows below the last one up to where the last merged cell shows."""
    for below in range(number + 1, max((cell.shown_row for cell in reaching), default=0) + 1):
        shown = {cell.shown: cell.text for cell in reaching if cell.shown_row == below}
        yield below, [shown.get(column, "") for column in range(width)]


def _merged_cell(area: Area, notes: SheetNotes, left: int) -> _MergedCell | None:
    """Return a cell that goes down, or that shows elsewhere than where it begins."""
    (first, column), (last, _) = area
    row, shown = notes.shown(area)
    if column < left or (last == first and shown == column):
        return None
    return _MergedCell(column - left, shown - left, row, last)


def marked_rows(
    rows: Iterable[tuple[int, Row]], notes: SheetNotes, marks: Marks, left: int
) -> Iterator[Row]:
    """Yield the rows, hidden ones marked or left out, hidden columns at the top of each block."""
    marker: _ColumnMarker | None = None
    for number, row in rows:
        marker = marker or _ColumnMarker(notes, marks, left, len(row))
        marked = marker.marked(row)
        if number not in notes.rows or not any(map(str.strip, row)):
            yield marked
        elif any(map(str.strip, hidden := marks.hidden_row(marked))):
            yield hidden


class _ColumnMarker:
    """Marks hidden columns where a block of rows begins, as its header names them."""

    def __init__(self, notes: SheetNotes, marks: Marks, left: int, width: int) -> None:
        self._hidden = {column for column in range(width) if column + left in notes.columns}
        self._marks = marks
        self._is_kept = marks.keeps_hidden("column", len(self._hidden))
        self._waiting = set(self._hidden)

    def marked(self, row: Row) -> Row:
        """Return a row; its cells of hidden columns marked or left out."""
        if not self._hidden:
            return row
        if not any(map(str.strip, row)):
            self._waiting = set(self._hidden)
        if not self._is_kept:
            return ["" if place in self._hidden else cell for place, cell in enumerate(row)]
        marked = list(row)
        for place in [place for place in self._waiting if "".join(row[place : place + 1]).strip()]:
            self._waiting.remove(place)
            marked[place] = self._marks.hidden(row[place], "column")
        return marked
