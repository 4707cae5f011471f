"""Rows of a sheet with what is merged in each row that it covers, and what is hidden marked."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from lexichord.ingest.load.marks import Marks
from lexichord.ingest.load.number_formats import Place
from lexichord.ingest.load.sheet_notes import SheetNotes

type Row = list[str]
type Area = tuple[Place, Place]  # the first cell and the last


def filled_rows(
    rows: Iterable[tuple[int, Row]], merged: Sequence[Area], left: int
) -> Iterator[tuple[int, Row]]:
    """Yield the rows, each merged value in all that it covers and that hold something besides.

    In the first row, a header, it stands once. Rows begin at the column `left`.
    """
    starting = defaultdict[int, list[tuple[int, int]]](list)
    for (first, column), (last, _) in merged:
        if last > first and column >= left:
            starting[first].append((column - left, last))
    reaching = dict[int, tuple[int, str]]()  # by column: up to which row, and what
    for place, (number, row) in enumerate(rows):
        is_empty = not any(map(str.strip, row))
        for column, (last, text) in list(reaching.items()):
            if number > last:
                del reaching[column]
            elif column < len(row) and not is_empty:
                row[column] = row[column] or text
        if place:
            begun = starting.pop(number, [])
            reaching |= {column: (last, row[column]) for column, last in begun if column < len(row)}
        yield number, row


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
        for place in [place for place in self._waiting if row[place].strip()]:
            self._waiting.remove(place)
            marked[place] = self._marks.hidden(row[place], "column")
        return marked
