"""Spreadsheets: a section a sheet, its blocks of rows as tables, cells as they are computed."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
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
    SheetMetadata,
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
    MAX_ROWS,
    Place,
    SheetFormats,
    SheetNotes,
    format_number,
    read_formats,
    read_sheet_notes,
    repeated_sheets,
)
from lexichord.ingest.load.sheets.sizes import (
    CellBudget,
    OldSheet,
    check_archived_sizes,
    read_old_sheets,
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

type Cell = str | float | bool | date | time | timedelta


def load(file: Path, named: str, options: LoadOptions) -> LoadedText:
    """Read a spreadsheet. Raises IngestError."""
    kind = kind_of(file.name) or XLSX_TYPE
    below, old_sheets = 0, list[OldSheet]()
    if kind == XLS_TYPE:
        old_sheets = _old_sheets(file)
    else:
        check_archive(file, BROKEN_SHEET, ENCRYPTED_SHEET)
        below = check_archived_sizes(file, BROKEN_SHEET, ENCRYPTED_SHEET)
    formats = read_formats(file, BROKEN_SHEET) if kind == XLSX_TYPE else {}
    notes = read_sheet_notes(file, BROKEN_SHEET) if kind != XLS_TYPE else {}
    repeated = repeated_sheets(file, BROKEN_SHEET) if kind == XLSX_TYPE else set()
    built, marks, budget = TextBuilder(), Marks(options), CellBudget()
    with _open_book(file) as book:
        listed = book.sheets_metadata
        for sheet, old in zip(listed, old_sheets, strict=False):
            notes[sheet.name] = SheetNotes(no_numbers=old.no_numbers)
        sheets = [sheet for sheet in listed if _is_read(sheet, repeated)]
        by_name = {sheet.name: sheet for sheet in sheets}
        for sheet in by_name.values():
            if name := _heading(sheet, marks):
                own = notes.get(sheet.name, SheetNotes())
                rows = _Sheet(book.get_sheet_by_name(sheet.name), own, marks, budget)
                rows.add_to(built, name, formats.get(sheet.name, {}))
    properties = open_document_properties(file) if kind == ODS_TYPE else office_properties(file)
    if flags := [*_flags(notes.values(), below, len(sheets) - len(by_name))]:
        properties["flags"] = flags
    return built.document(kind, properties.pop("title", "") or named, marks.flagged(properties))


def _old_sheets(file: Path) -> list[OldSheet]:
    """Return what there is to know of the sheets of an .xls before the library reads them."""
    data = read_bytes(file)
    if not data.startswith(OLE_SIGNATURE):
        raise IngestError(f"{BROKEN_SHEET}; a web page or a text that is only named .xls, too")
    return read_old_sheets(data, BROKEN_SHEET)


def _is_read(sheet: SheetMetadata, repeated: Collection[str]) -> bool:
    return sheet.typ == SheetTypeEnum.WorkSheet and sheet.name not in repeated


def _heading(sheet: SheetMetadata, marks: Marks) -> str:
    """Return what stands above a sheet; "" of a hidden one that is left out."""
    name = f"Sheet {storable_text(sheet.name)}"
    return name if sheet.visible == SheetVisibleEnum.Visible else marks.hidden(name, "sheet")


def _flags(notes: Iterable[SheetNotes], below: int, unread: int) -> Iterator[str]:
    """Yield what is left out: values, rows, and sheets that the library tells by name alone."""
    if unvalued := sum(own.unvalued for own in notes):
        formulas = "formula" if unvalued == 1 else "formulas"
        yield f"{LEFT_OUT}{unvalued} {formulas} without a value: open the file and save it again"
    if below:
        rows = "row" if below == 1 else "rows"
        yield f"{LEFT_OUT}{below:,} {rows} of a sheet below its {MAX_ROWS:,}th: split it"
    if unread:
        sheets = "sheet" if unread == 1 else "sheets"
        yield f"{LEFT_OUT}{unread} {sheets} that another has the name of: give each its own"


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


class _Sheet:
    """One sheet, with what is said of its cells."""

    def __init__(
        self, sheet: CalamineSheet, notes: SheetNotes, marks: Marks, budget: CellBudget
    ) -> None:
        budget.spend(sheet.name, sheet.total_height * sheet.total_width)
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
        numbered = _numbered_rows(self._sheet, formats, self._notes)
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


def _numbered_rows(
    sheet: CalamineSheet, formats: SheetFormats, notes: SheetNotes
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that hold something and those between them, each with its number.

    Errors are noted, for the library makes empty cells of them, and of numbers that are none days.
    """
    top, left = sheet.start or (0, 0)
    noted = {row for row, _ in notes.errors}
    for number, row in enumerate(sheet.to_python(skip_empty_area=True), top):
        if number > top and number not in noted and row.count("") == len(row):
            yield number, []  # of gaps of a million rows no cell is looked at
            continue
        for column in range(len(row)) if notes.no_numbers else ():
            if (number, left + column) in notes.no_numbers:
                row[column] = ""
        places = ((number, column) for column in range(left, left + len(row)))
        shown = (
            notes.errors.get(place, "") if cell == "" else _shown(cell, formats.get(place, ""))
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
