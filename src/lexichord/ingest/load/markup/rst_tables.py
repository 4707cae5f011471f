"""The tables that reStructuredText draws: with lines around their cells, or rules above columns."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from unicodedata import east_asian_width

from lexichord.ingest.load.spans import SpanningCell, filled_rows

SIMPLE_RULE = re.compile(r" *=+(?: +=+)+ *$")
GRID_RULE = re.compile(r" *\+(?:[-=]+\+)+ *$")
RULED = re.compile(r"\+[-=][-=+]*\+")
SPAN_RULE = re.compile(r" *-+(?: +-+)* *")  # below cells that span columns
FILLER = "\ufffe"  # behind a letter that is two columns wide
WIDE = "WF"

type Rows = list[list[str]]


@dataclass
class _Cell:
    """A cell of a grid: its first row and columns, how many rows it has, and its lines."""

    row: int
    columns: range
    rows: int = 1
    lines: list[str] = field(default_factory=list)

    def spanning(self) -> SpanningCell:
        words = " ".join(" ".join(self.lines).replace(FILLER, "").split())
        return SpanningCell(words, self.rows, len(self.columns))


def read_grid(lines: Sequence[str], at: int) -> tuple[Rows, int, int]:
    """Return a grid's rows, how many of them are its header, and where it ends."""
    end = at
    while end < len(lines) and lines[end].strip().startswith(("+", "|")):
        end += 1
    margin = len(lines[at]) - len(lines[at].lstrip())
    drawn = ["".join(_columns(line[margin:].rstrip())) for line in lines[at:end]]
    grid = _Grid(drawn)
    if any(len(line) > grid.width for line in drawn):  # badly drawn: its edges tell nothing
        cells = (line.strip("|").split("|") for line in lines[at:end] if "--+" not in line)
        return [[cell.strip(" +") for cell in row] for row in cells], 0, end
    rows = (
        [cell.spanning() for cell in sorted(row, key=lambda cell: cell.columns.start)]
        for _, row in groupby(sorted(grid.closed, key=lambda cell: cell.row), lambda cell: cell.row)
    )
    return [*filled_rows(rows, grid.header_rows)], grid.header_rows, end


def _columns(line: str) -> Iterator[str]:
    for sign in line:
        yield sign
        if east_asian_width(sign) in WIDE:
            yield FILLER


class _Grid:
    """Follows the cells of a grid line by line; `edges` are the places between its columns."""

    def __init__(self, lines: Sequence[str]) -> None:
        runs = (match for line in lines for match in RULED.finditer(line))
        self._edges = sorted(
            {run.start() + n for run in runs for n, s in enumerate(run[0]) if s == "+"}
        )
        self.width = self._edges[-1] + 1
        self._open = dict[int, _Cell]()
        self._row = -1
        self.closed = list[_Cell]()
        self.header_rows = 0
        for line in lines:
            self._take(line.ljust(self.width))
        self.closed += self._open.values()

    def _take(self, line: str) -> None:
        ruled = self._ruled(line)
        if ruled:
            self._end_cells(ruled)
            if "=" in line and len(ruled) == len(self._edges) - 1:
                self.header_rows = self._row
        column = 0
        while column < len(self._edges) - 1:
            column = column + 1 if column in ruled else self._take_cell(line, column)

    def _ruled(self, line: str) -> set[int]:
        """Return the columns above or below which a line draws a rule."""
        spans = (match.span() for match in RULED.finditer(line))
        return {
            column
            for start, end in spans
            for column in range(bisect_left(self._edges, start), bisect_left(self._edges, end) - 1)
        }

    def _end_cells(self, ruled: set[int]) -> None:
        """Close the cells that a rule ends, and begin a row, into which the others reach."""
        for column in [column for column in self._open if column in ruled]:
            self.closed.append(self._open.pop(column))
        self._row += 1
        for cell in self._open.values():
            cell.rows += 1

    def _take_cell(self, line: str, column: int) -> int:
        """Add a line to the cell at a column; return the column behind it."""
        if column not in self._open:
            edges = range(column + 1, len(self._edges))
            last = next((edge for edge in edges if line[self._edges[edge]] in "|+"), edges[-1])
            self._open[column] = _Cell(max(self._row, 0), range(column, last))
        cell = self._open[column]
        edge = self._edges[cell.columns.stop]
        cell.lines.append(line[self._edges[column] + 1 : edge])
        return cell.columns.stop


def read_simple(lines: Sequence[str], at: int) -> tuple[Rows, int, int]:
    """Return the rows of a table whose columns are told by the rules above and below it.

    A line that leaves its first column free goes on with the row above.
    """
    columns = [match.start() for match in re.finditer("=+", lines[at])]
    end, rules = at + 1, 1
    while end < len(lines) and (lines[end].strip() or rules < 2):
        rules += bool(SIMPLE_RULE.match(lines[end]))
        end += 1
    rows: Rows = []
    header_rows, begins = 0, True
    for line in lines[at + 1 : end]:
        if SIMPLE_RULE.match(line):
            header_rows, begins = header_rows or len(rows), True
        elif SPAN_RULE.fullmatch(line):
            begins = True
        elif cells := _cells(line, columns):
            if begins or cells[0]:
                rows.append(cells)
            else:
                rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], cells, strict=True)]
            begins = False
    return rows, header_rows if rules > 2 else 0, end


def _cells(line: str, columns: Sequence[int]) -> list[str]:
    """Return the cells of a line; what reaches over an edge belongs to the cell before it."""
    wide = "".join(_columns(line))
    edges = [0, *(edge for edge in columns[1:] if not wide[edge - 1 : edge].strip()), len(wide)]
    found = {left: wide[left:right].replace(FILLER, "").strip() for left, right in pairwise(edges)}
    cells = [found.get(column if number else 0, "") for number, column in enumerate(columns)]
    return cells if any(cells) else []
