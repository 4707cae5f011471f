"""How many cells a workbook reaches over: told before the library has room made for each of them.

It makes room for the rectangle around all values of a sheet, of .xls and .ods of all sheets at
once, which one value far out makes as large as may be.
"""

import re
import struct
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import IO

from lxml import etree

from lexichord.errors import IngestError
from lexichord.ingest.load.archive import open_archive, open_compound, read_stream
from lexichord.ingest.load.sheets.formats import (
    BOOK_PART,
    CONTENT_PART,
    MAX_ROWS,
    Place,
    cell_place,
    forget,
    sheet_parts,
    sheet_rows,
)
from lexichord.ingest.load.text import storable_text

# Of a file, empty ones too. Filled they come to more than the text that is read of one.
MAX_CELLS = 20_000_000
TOO_MANY = f"over more than {MAX_CELLS // 10**6} million cells"
MEND = "split it, or delete what stands far out"


class CellBudget:
    """How many cells the sheets of one file reach over."""

    def __init__(self) -> None:
        self._cells = 0

    def spend(self, name: str | int, cells: int) -> None:
        """Count those of a sheet, told by its name or number. Raises IngestError where too many."""
        if cells > MAX_CELLS:
            called = f'"{storable_text(name)}"' if isinstance(name, str) else str(name)
            raise IngestError(f"sheet {called} reaches {TOO_MANY}: {MEND}")
        self._cells += cells
        if self._cells > MAX_CELLS:
            raise IngestError(f"its sheets together reach {TOO_MANY}: {MEND}")


DIMENSION = re.compile(rb'<(?:\w+:)?dimension [^>]*?ref="([A-Z]+\d+)(?::([A-Z]+\d+))?"')
DIMENSION_BYTES = 4096  # of a sheet's part, within which it says how far its cells reach


MANIFEST = "META-INF/manifest.xml"
ENCRYPTED_SIGN = b":encryption-data"  # of a part of ODS


def check_archived_sizes(file: Path, broken: str, encrypted: str) -> int:
    """Refuse an XLSX or ODS whose values reach over too many cells. Raises IngestError.

    Return how many rows hold something below the last that a sheet may have, of ODS.
    """
    budget, below = CellBudget(), 0
    with open_archive(file, broken) as archive:
        names = set(archive.namelist())
        if BOOK_PART in names:
            for name, part in sheet_parts(archive):
                if part in names:
                    budget.spend(name, _spanned_cells(archive, part))
        elif CONTENT_PART in names:
            if MANIFEST in names and ENCRYPTED_SIGN in archive.read(MANIFEST):
                raise IngestError(encrypted)
            with archive.open(CONTENT_PART) as stream:
                for table in _tables(stream):
                    budget.spend(table.name, table.rows * table.columns)
                    below = max(below, table.below)
    return below


def _spanned_cells(archive: zipfile.ZipFile, part: str) -> int:
    """Return over how many cells a sheet's values reach, or says that they do if they do."""
    with archive.open(part) as stream:
        said = DIMENSION.search(stream.read(DIMENSION_BYTES))
    if said:
        corners = [*filter(None, (cell_place(corner.decode()) for corner in said.groups(said[1])))]
        cells = _spanned(corners)
        if 0 < cells <= MAX_CELLS:
            return cells
    with archive.open(part) as stream:
        return _spanned(_valued_places(stream))


def _valued_places(stream: IO[bytes]) -> Iterator[Place]:
    """Yield where values are; what does not say where is behind what stands before it."""
    number = -1
    for row in sheet_rows(stream):
        said = row.get("r", "")
        number, column = int(said) - 1 if re.fullmatch(r"\d{1,7}", said) else number + 1, -1
        for cell in row.iterfind("{*}c"):
            place = cell_place(cell.get("r", "")) or (number, column + 1)
            column = place[1]
            if cell.find("{*}v") is not None or cell.find("{*}is") is not None:
                yield place


def _spanned(places: Iterable[Place]) -> int:
    """Return how many cells the rectangle around some has."""
    first, last = None, (0, 0)
    for place in places:
        first = place if first is None else (min(first[0], place[0]), min(first[1], place[1]))
        last = max(last[0], place[0]), max(last[1], place[1])
    return (last[0] - first[0] + 1) * (last[1] - first[1] + 1) if first else 0


@dataclass(slots=True)
class _Table:
    """How far a sheet of ODS reaches, and how many rows hold something below its last."""

    name: str
    rows: int = 0
    columns: int = 0
    below: int = 0

    def add(self, first: int, repeated: int, columns: int) -> None:
        """Add a row that stands there more than once, with values up to a column."""
        if columns:
            self.rows = first + repeated
            self.columns = max(self.columns, columns)
            self.below += min(repeated, max(0, self.rows - MAX_ROWS))


MAX_COLUMNS = 1 << 14  # of a sheet of ODS, which the library reads


def _tables(stream: IO[bytes]) -> Iterator[_Table]:
    """Yield the sheets of an ODS, however its namespaces are called: the library knows one name."""
    table, row = _Table(""), 0
    for event, element in etree.iterparse(
        stream,
        events=("start", "end"),
        tag=("{*}table", "{*}table-row"),
        resolve_entities=False,
        no_network=True,
        huge_tree=True,
    ):
        is_row = etree.QName(element).localname == "table-row"
        said = _attributes(element)
        if is_row and event == "end":
            repeated = _amount(said.get("number-rows-repeated", ""))
            table.add(row, repeated, _valued_columns(element))
            row += repeated
            forget(element)
        elif not is_row and event == "start":
            table, row = _Table(said.get("name", "")), 0
        elif not is_row:
            yield table


def _valued_columns(row: etree._Element) -> int:
    """Return up to which column a row holds something."""
    column = last = 0
    for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell"):
        repeated, is_valued = 1, False
        for key, value in cell.items():
            name = str(key)
            if name.endswith("}number-columns-repeated"):
                repeated = _amount(value)
            elif "value" in name or name.endswith("}formula"):
                is_valued = True
        column += repeated
        last = column if is_valued else last
    return min(last, MAX_COLUMNS)


def _attributes(element: etree._Element) -> dict[str, str]:
    return {str(name).rpartition("}")[2]: str(value) for name, value in element.items()}


def _amount(written: str | bytes) -> int:
    """Return how often something stands there; once where that is no number."""
    written = str(written)
    return int(written) if re.fullmatch(r"\d{1,20}", written) else 1


# Records of a workbook before 2007 (MS-XLS), each its kind, its length and so many bytes.
RECORD, CELL = struct.Struct("<HH"), struct.Struct("<HH")
NUMBER = struct.Struct("<d")
BOOK_STREAMS = ("Workbook", "Book", "WORKBOOK", "BOOK")
OPENS, CLOSES, ENCRYPTED, SHEET_PLACE, DIMENSIONS = 0x0809, 0x000A, 0x002F, 0x0085, 0x0200
VALUES = frozenset((0x0006, 0x00D6, 0x00FD, 0x0203, 0x0204, 0x0205, 0x027E))
NUMBERS, FORMULA, NUMBER_VALUE = 0x00BD, 0x0006, 0x0203
NO_NUMBER = b"\xff\xff"  # ends a formula's value that is none


@dataclass(slots=True)
class OldSheet:
    """How far a sheet of .xls reaches, and its cells whose number is none."""

    rows: int = 0
    columns: int = 0
    no_numbers: set[Place] = field(default_factory=set)


def read_old_sheets(data: bytes, broken: str) -> list[OldSheet]:
    """Return what the sheets of an .xls are like, in their order; none of one that is encrypted.

    Raises IngestError where they reach over too many cells, or say that they do, and where sheets
    lie in each other.
    """
    stream = _book_stream(data, broken)
    places = list[int]()
    for kind, start, length in _records(stream, 0):
        if kind == ENCRYPTED:
            return []
        if kind == CLOSES:
            break
        if kind == SHEET_PLACE and length >= 4:
            places.append(int.from_bytes(stream[start : start + 4], "little"))
    sheets, budget, read = list[OldSheet](), CellBudget(), 0
    for number, place in enumerate(places, 1):
        sheet = OldSheet()
        read += _read_old_sheet(sheet, stream, place, broken)
        if read > 2 * len(stream):  # each lies in a place of its own
            raise IngestError(broken)
        budget.spend(number, sheet.rows * sheet.columns)
        sheets.append(sheet)
    return sheets


def _book_stream(data: bytes, broken: str) -> bytes:
    compound = open_compound(data, broken)
    # The first of a name, as the library takes it: behind it are those of workbooks within.
    streams = {entry.name: entry for entry in reversed([*filter(None, compound.direntries)])}
    entry = next((streams[name] for name in BOOK_STREAMS if name in streams), None)
    try:
        return read_stream(compound, entry) if entry else b""
    except (OSError, ValueError):
        raise IngestError(broken) from None


def _records(stream: bytes, place: int) -> Iterator[tuple[int, int, int]]:
    """Yield each record's kind, where it begins and its length."""
    while place + RECORD.size <= len(stream):
        kind, length = RECORD.unpack_from(stream, place)
        place += RECORD.size
        if place + length > len(stream):
            return
        yield kind, place, length
        place += length


def _read_old_sheet(sheet: OldSheet, stream: bytes, place: int, broken: str) -> int:
    """Add what a sheet's records say; return how many bytes these take."""
    depth, end = 0, place
    for kind, start, length in _records(stream, place):
        end = start + length
        if kind in VALUES and length >= CELL.size:
            row, column = CELL.unpack_from(stream, start)
            sheet.rows, sheet.columns = max(sheet.rows, row + 1), max(sheet.columns, column + 1)
            if kind in (NUMBER_VALUE, FORMULA) and _is_no_number(stream[start + 6 : end], kind):
                sheet.no_numbers.add((row, column))
        elif kind == NUMBERS and length >= CELL.size:
            row, _ = CELL.unpack_from(stream, start)
            last = int.from_bytes(stream[end - 2 : end], "little")
            sheet.rows, sheet.columns = max(sheet.rows, row + 1), max(sheet.columns, last + 1)
        elif kind == DIMENSIONS and _said_cells(stream[start:end]) > MAX_CELLS:
            raise IngestError(broken)
        elif kind in (OPENS, CLOSES):
            depth += 1 if kind == OPENS else -1
            if depth <= 0:
                break
    return end - place


def _is_no_number(value: bytes, kind: int) -> bool:
    if len(value) < NUMBER.size or (kind == FORMULA and value[6:8] == NO_NUMBER):
        return False
    return isnan(NUMBER.unpack_from(value)[0])


def _said_cells(said: bytes) -> int:
    """Return for how many cells the library makes room: those that a sheet says it has.

    One whose last row stands before its first says that it has more than there are.
    """
    form = {10: "<HHHHxx", 14: "<IIHHxx"}.get(len(said))
    if form is None:
        return 0
    row, rows, column, columns = struct.unpack(form, said)
    column = 0 if column > 0xFF or columns < column else column
    return (rows - row) % 2**32 * (columns - column) if rows and columns else 1
