"""Rows of cells as tables: of sheets, of CSV and TSV, of JSON lines; cells that span several."""

import csv
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from lexichord.errors import IngestError
from lexichord.ingest.load import CSV_TYPE, NDJSON_TYPE, TSV_TYPE, kind_of
from lexichord.ingest.load.text import MAX_TEXT_BYTES, TextBuilder, read_text, too_long_error
from lexichord.types import LoadedText, Table

NUMBER_CELL = re.compile(r"[-+(]?[.,\s]*\d[\d.,\s]*[%)]?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*")

# Of a table of 50 columns a row may have one cell of its own; rows that all span all that follow
# would come to the square of what the file holds.
MAX_SPANNED_RATIO, FREE_CELLS = 50, 1_000
MAX_EMPTY_COLUMNS = 10  # side by side: more are left out, a sheet may have thousands


def add_tables(built: TextBuilder, rows: Iterable[Sequence[str]], level: int) -> None:
    """Add each block of rows as a table, its place named by its rows; empty ones part blocks."""
    for first, block in _headed(_blocks(rows)):
        columns = _shown_columns(block)
        width = len(columns)
        cells = even_rows(_used_cells(row, columns) for row in block)
        last = first + len(block) - 1
        numbers = f"rows {first}–{last}" if last > first else f"row {first}"
        built.place(level, numbers)
        while len(cells) > 2 and width > 1 and sum(map(bool, map(str.strip, cells[0]))) == 1:
            built.paragraph(" ".join("".join(cells.pop(0)).split()))  # a title above the table
            first += 1
        if width == 1:
            built.lines("\n".join(" ".join(row[0].split()) for row in cells), first)
        else:
            built.markdown_table(cells, int(_has_header(cells)), first)


def _blocks(rows: Iterable[Sequence[str]]) -> Iterator[tuple[int, list[Sequence[str]]]]:
    """Yield each run of rows that are not empty, with the number of its first."""
    block: list[Sequence[str]] = []
    number = 0
    for number, row in enumerate(rows, 1):
        if any(map(str.strip, row)):
            block.append(row)
        elif block:
            yield number - len(block), block
            block = []
    if block:
        yield number + 1 - len(block), block


def _headed(
    blocks: Iterable[tuple[int, list[Sequence[str]]]],
) -> Iterator[tuple[int, list[Sequence[str]]]]:
    """Put a header that a blank row parts from its table to it."""
    waiting: tuple[int, list[Sequence[str]]] | None = None
    for first, block in blocks:
        if waiting and _is_header_of(waiting[1], block):
            yield first - 1, [*waiting[1], *block]
            waiting = None
            continue
        if waiting:
            yield waiting
        waiting = first, block
    if waiting:
        yield waiting


def _is_header_of(above: Sequence[Sequence[str]], block: Sequence[Sequence[str]]) -> bool:
    """Return whether one row of names stands above rows that have none, and fills their columns."""
    named = {place for place, cell in enumerate(above[0]) if cell.strip()}
    used = {place for row in block for place, cell in enumerate(row) if cell.strip()}
    is_alone = len(above) == 1 < min(len(named), len(block)) and used <= named
    names_columns = not any(NUMBER_CELL.fullmatch(cell.strip()) for cell in above[0])
    return is_alone and names_columns and not _has_header(block)


def _shown_columns(block: Iterable[Sequence[str]]) -> list[int]:
    """Return the columns of a block of rows, to the last that is used; without wide gaps."""
    used = sorted({place for row in block for place, cell in enumerate(row) if cell.strip()})
    columns, end = list[int](), 0
    for place in used:
        is_wide = place - end > MAX_EMPTY_COLUMNS
        columns += [place] if is_wide else range(end, place + 1)
        end = place + 1
    return columns


def _used_cells(row: Sequence[str], columns: Sequence[int]) -> list[str]:
    """Return the cells of these columns, to the last that is used."""
    cells = [row[at] for at in columns[: bisect_left(columns, len(row))]]
    while cells and not cells[-1].strip():
        cells.pop()
    return cells


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names columns: more rows follow, and no cell is a number."""
    return len(rows) > 1 and not any(NUMBER_CELL.fullmatch(cell.strip()) for cell in rows[0])


MAX_SPANNED_COLUMNS = 1000  # as browsers take it

type Below = dict[int, tuple[int, str]]  # by column: for how many rows more, and what


@dataclass(frozen=True, slots=True)
class SpanningCell:
    """A cell, and how far it reaches."""

    text: str
    rows: int = 1
    columns: int = 1


def filled_rows(rows: Iterable[Iterable[SpanningCell]], header_rows: int) -> Iterator[list[str]]:
    """Yield rows of texts, each cell below that of its column.

    What spans rows stands in each of them that holds something besides, in the header once; what
    spans columns in the first.
    Raises IngestError where that comes to too much text, or to far more than there are cells.
    """
    below: Below = {}
    length = own = filled = 0
    for number, row in enumerate(map(list, rows)):
        is_filled = number >= header_rows and any(cell.text.strip() for cell in row)
        line, below = _filled(row, below, is_filled)
        length += sum(map(len, line)) + len(line)
        if length > MAX_TEXT_BYTES:
            raise too_long_error()
        own, filled = own + len(row), filled + len(line)
        if filled > FREE_CELLS + MAX_SPANNED_RATIO * own:
            raise IngestError(f"holds a table whose {own} cells span more than {filled} places")
        yield line


def even_rows(rows: Iterable[list[str]]) -> list[list[str]]:
    """Return rows of the same length, as a table in Markdown has them.

    As they are where that came to far more cells than there are: one long row above short ones.
    """
    listed = list(rows)
    width, own = max(map(len, listed), default=0), sum(map(len, listed))
    if width * len(listed) > FREE_CELLS + MAX_SPANNED_RATIO * own:
        return listed
    return [[*row, *[""] * (width - len(row))] for row in listed]


def _filled(row: Iterable[SpanningCell], above: Below, is_filled: bool) -> tuple[list[str], Below]:
    """Return the row's texts, and what reaches into the next."""
    line, below, used = list[str](), dict[int, tuple[int, str]](), 0
    for cell in row:
        _take(line, above, below, is_filled)
        columns = min(max(cell.columns, 1), MAX_SPANNED_COLUMNS)
        if cell.rows > 1:
            texts = [cell.text, *[""] * (columns - 1)]
            below |= {len(line) + at: (cell.rows - 1, text) for at, text in enumerate(texts)}
        used = len(line) + 1
        line += [cell.text, *[""] * (columns - 1)]
    for column in sorted(above):
        line += [""] * (column - len(line))
        _take(line, above, below, is_filled)
    last = max((at for at, text in enumerate(line, 1) if text), default=0)
    return line[: max(used, last)], below


def _take(line: list[str], above: Below, below: Below, is_filled: bool) -> None:
    """Add what reaches into the row from above, up to the next free column."""
    while (column := len(line)) in above:
        rows, text = above.pop(column)
        line.append(text if is_filled else "")
        if rows > 1:
            below[column] = (rows - 1, text)


DELIMITERS = ",;\t|"
SAMPLE_LINES = 20  # by which the delimiter is told
DELIMITER_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # for spreadsheet programs


def load_delimited(file: Path, named: str) -> LoadedText:
    """Read a file of rows. Raises IngestError."""
    kind = kind_of(file.name) or CSV_TYPE
    content, metadata = read_text(file)
    built = TextBuilder()
    if named_delimiter := DELIMITER_LINE.match(content):
        delimiter = named_delimiter[1]
        content = f"\n{content[named_delimiter.end() :]}"  # the rows keep their numbers
    else:
        delimiter = "\t" if kind == TSV_TYPE else _delimiter(content)
    add_tables(built, _rows(content, delimiter), 2)
    return built.document(kind, named, metadata)


def _rows(content: str, delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(MAX_TEXT_BYTES)
    try:
        yield from csv.reader(StringIO(content, newline=""), delimiter=delimiter)
    except csv.Error as error:
        raise IngestError(f"is no table of delimited cells: {error}") from None


def _delimiter(content: str) -> str:
    """Return the sign that parts the first lines into the same number of cells, and the most."""
    lines = content.split("\n", SAMPLE_LINES)[:SAMPLE_LINES]
    sample = "\n".join(lines)

    def fit(delimiter: str) -> tuple[float, int]:
        widths = [len(row) for row in csv.reader(StringIO(sample), delimiter=delimiter) if row]
        common = max(set(widths), key=widths.count, default=1)
        return (widths.count(common) / len(widths) if common > 1 else 0.0), common

    try:
        return max(DELIMITERS, key=fit)
    except csv.Error:
        return ","


def load_records(file: Path, named: str) -> LoadedText:
    """Read lines of records as they are. Raises IngestError."""
    content, metadata = read_text(file)
    tables = (Table(0, len(content), 0, first_row=1),)
    return LoadedText(content, NDJSON_TYPE, named, tables=tables, metadata=metadata)
