"""Rows of a sheet with what is merged in each row that it covers, and what is hidden marked."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lexichord.ingest.load.marks import Marks
from lexichord.ingest.load.number_formats import Place
from lexichord.ingest.load.sheet_notes import SheetNotes

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
    reaching = list[_MergedCell]()
    number = 0
    for place, (number, row) in enumerate(rows):
        row += [""] * (width - len(row))
        is_empty = not any(map(str.strip, row))
        reaching = [cell for cell in reaching if number <= cell.last]
        for cell in reaching:
            if not is_empty or number == cell.shown_row:
                row[cell.shown] = row[cell.shown] or cell.text
        for cell in starting.pop(number, []):
            begun = replace(cell, text=row[cell.column])
            row[cell.column], row[cell.shown] = "", begun.text
            reaching += [begun] if place or number in notes.rows else []
        yield number, row
    for below in range(number + 1, max((cell.shown_row for cell in reaching), default=0) + 1):
        shown = {cell.shown: cell.text for cell in reaching if cell.shown_row == below}
        yield below, [shown.get(column, "") for column in range(width)]


@dataclass(frozen=True, slots=True)
class _MergedCell:
    """A merged cell: the column that it begins in, where it shows, its last row, what it holds."""

    column: int
    shown: int
    shown_row: int
    last: int
    text: str = ""


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
        self._hidden = {column for column in range(width) if notes.hides_column(column + left)}
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
