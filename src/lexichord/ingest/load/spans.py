"""Cells that span rows or columns: what they hold, in each row that they cover."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lexichord.ingest.load.text import MAX_TEXT_BYTES, too_long_error

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
    Raises IngestError where that comes to too much text.
    """
    below: Below = {}
    length = 0
    for number, row in enumerate(map(list, rows)):
        is_filled = number >= header_rows and any(cell.text.strip() for cell in row)
        line, below = _filled(row, below, is_filled)
        length += sum(map(len, line)) + len(line)
        if length > MAX_TEXT_BYTES:
            raise too_long_error()
        yield line


def even_rows(rows: Iterable[list[str]]) -> list[list[str]]:
    """Return rows of the same length, as a table in Markdown has them."""
    listed = list(rows)
    width = max(map(len, listed), default=0)
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
