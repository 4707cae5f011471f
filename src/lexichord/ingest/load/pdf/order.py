"""The reading order of a PDF page: columns, paragraphs, rows of tables."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median

from lexichord.ingest.load.pdf.words import HYPHEN, WIDE_GAP, Piece

PARAGRAPH_GAP = 0.3  # of the height of a line, on top of the usual gap between lines
ROW_GAP = 0.4  # of the height of a line: lines of prose stand closer than rows of a table
PROSE = 0.3  # of a column's letters stand in full lines, at least: it may hold tables
COLUMN_LINES = 4  # that a column has at least
COLUMN_WIDTH = 15  # characters of a column's middling line, at least
COINCIDENCE = 0.7  # of the gaps on both sides stand side by side: a table
FULL = 0.8  # of a column's width is filled by a line of prose, unless it is a paragraph's last
LABEL = re.compile(r"\W{0,3}(\d+(\.\d+)*|[a-z]|[ivxlc]+|)\W{0,3}", re.IGNORECASE)  # 5.2, (a), iv, •
RULED = 3  # rows of a table that stand apart
WRAPPED = (8, 0.6)  # a cell of several lines: lines high it is wide; how far its lines fill it


@dataclass(slots=True)
class Line:
    """A line of text and what parts it from the line before."""

    text: str
    before: str = "\n"


def reading_order(pieces: Sequence[Piece]) -> list[Line]:
    """Give the lines of a page as a reader takes them: columns one after the other."""
    if edge := _gutter(pieces):
        return [line for region in _regions(pieces, edge) for line in reading_order(region)]
    return [
        line
        for is_table, run in groupby(bands(pieces), _is_table)
        for line in (_table(list(run)) if is_table else _paragraphs(run))
    ]


def rows(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Group what stands in one line, top to bottom and left to right."""
    found = list[list[Piece]]()
    for piece in sorted(pieces, key=lambda piece: (piece.top + piece.bottom, piece.left)):
        if found and found[-1][-1].beside(piece):
            found[-1].append(piece)
        else:
            found.append([piece])
    return [sorted(row, key=lambda piece: piece.left) for row in found]


def gaps(lines: Sequence[Sequence[Piece]]) -> list[float]:
    """Give the room between each line and the next."""
    return [
        min(piece.top for piece in below) - max(piece.bottom for piece in above)
        for above, below in pairwise(lines)
    ]


def bands(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Cut where the room between two lines is clearly more than usual."""
    lines = rows(pieces)
    if len(lines) < 2:
        return [list(pieces)] if pieces else []
    between = gaps(lines)
    limit = _usual(between) + PARAGRAPH_GAP * median(piece.height for piece in pieces)
    found = [list(lines[0])]
    for gap, line in zip(between, lines[1:], strict=True):
        if gap > limit:
            found.append([])
        found[-1] += line
    return found


def _usual(between: Sequence[float]) -> float:
    """Give the gap between the lines of one paragraph."""
    return max(sorted(between)[len(between) // 4], 0)


def _gutter(pieces: Sequence[Piece]) -> float | None:
    """Find the left edge of a right-hand column of prose; what crosses it spans the columns."""
    edges = Counter(round(piece.left) for piece in pieces)
    best: tuple[int, int] | None = None
    found: float | None = None
    for edge in (edge - 1.0 for edge, amount in edges.items() if amount >= COLUMN_LINES):
        left, right, crossing = _parted(pieces, edge)
        rank = (len(crossing), -len(right))
        if (best is None or rank < best) and _are_columns(left, right):
            best, found = rank, edge
    return found


def _parted(pieces: Sequence[Piece], edge: float) -> tuple[list[Piece], list[Piece], list[Piece]]:
    left = [piece for piece in pieces if piece.right <= edge]
    right = [piece for piece in pieces if piece.left >= edge]
    crossing = [piece for piece in pieces if piece.left < edge < piece.right]
    return left, right, crossing


def _are_columns(left: Sequence[Piece], right: Sequence[Piece]) -> bool:
    """Tell two columns of prose from a text with short lines, and from a table.

    In a table the paragraphs of both sides begin side by side.
    """
    left, right = _within(left, right), _within(right, left)
    if not (_is_column(left) and _is_column(right)):
        return False
    both = [*left, *right]
    if _usual(gaps(rows(both))) > ROW_GAP * median(piece.height for piece in both):
        return False
    common = sum(1 for band in bands(both) if _has_both(band, left))
    return common < 3 or common < COINCIDENCE * max(len(bands(left)), len(bands(right)))


def _within(pieces: Sequence[Piece], others: Sequence[Piece]) -> list[Piece]:
    """Give those that stand as high as some of the others."""
    top = min((other.top for other in others), default=0.0)
    bottom = max((other.bottom for other in others), default=0.0)
    return [piece for piece in pieces if top < piece.bottom and piece.top < bottom]


def _is_column(pieces: Sequence[Piece]) -> bool:
    """Tell prose, whose lines are long and mostly full, from cells and labels."""
    lines = rows(pieces)
    if len(lines) < COLUMN_LINES:
        return False
    letters = [sum(len(piece.text) for piece in line) for line in lines]
    return median(letters) >= COLUMN_WIDTH and _full(pieces) >= PROSE * sum(letters)


def _full(pieces: Sequence[Piece]) -> int:
    """Count the letters in lines that are as wide as what stands above and below them."""
    letters = 0
    for column in _cells(pieces):
        width = max(piece.right for piece in column) - min(piece.left for piece in column)
        full = (piece for piece in column if piece.right - piece.left >= FULL * width)
        letters += sum(len(piece.text) for piece in full)
    return letters


def _has_both(band: Sequence[Piece], left: Sequence[Piece]) -> bool:
    edge = max(piece.right for piece in left)
    return any(piece.right <= edge for piece in band) and any(piece.left > edge for piece in band)


def _regions(pieces: Sequence[Piece], edge: float) -> Iterator[list[Piece]]:
    """Part a page at its columns' edge, between the lines that span both."""
    ordered = sorted(pieces, key=lambda piece: piece.top)
    for spanning, group in groupby(ordered, lambda piece: piece.left < edge < piece.right):
        run = list(group)
        left, right, _ = _parted(run, edge)
        yield from ([run] if spanning else filter(None, (left, right)))


def _is_table(band: Sequence[Piece]) -> bool:
    """Tell rows of cells from a paragraph, and from one whose number stands apart."""
    first, *others = _cells(band)
    if len(others) == 1:
        return not all(LABEL.fullmatch(piece.text) for piece in first)
    return bool(others)


def _table(run: Sequence[Sequence[Piece]]) -> list[Line]:
    """Read rows of cells, which may be parted by rules: then each is a row, however high."""
    found = list[Line]()
    for band, cells in zip(run, _columns(run), strict=True):
        if len(run) >= RULED or _is_wrapped(cells):
            found.append(Line("\t".join(_joined(rows(cell)) for cell in cells)))
        else:
            found += [Line("\t".join(piece.text for piece in row)) for row in rows(band)]
    found[0].before = "\n\n"
    return found


def _columns(run: Sequence[Sequence[Piece]]) -> list[list[list[Piece]]]:
    """Give each row's cells: by the columns of the whole table, if most rows have as many."""
    each = [_cells(band) for band in run]
    columns = _cells([piece for band in run for piece in band])
    usual, _ = Counter(map(len, each)).most_common(1)[0]
    if len(columns) != usual:
        return each
    edges = [max(piece.right for piece in column) for column in columns[:-1]]
    return [_parted_at(edges, band) for band in run]


def _parted_at(edges: Sequence[float], band: Sequence[Piece]) -> list[list[Piece]]:
    cells: list[list[Piece]] = [[] for _ in range(len(edges) + 1)]
    for piece in band:
        cells[bisect_left(edges, piece.right)].append(piece)
    return cells


def _cells(band: Sequence[Piece]) -> list[list[Piece]]:
    """Group what is not parted by white space from the top of the band to its bottom."""
    found = list[list[Piece]]()
    right = 0.0
    for piece in sorted(band, key=lambda piece: piece.left):
        if found and piece.left - right < WIDE_GAP / 2 * piece.height:
            found[-1].append(piece)
            right = max(right, piece.right)
        else:
            found.append([piece])
            right = piece.right
    return found


def _is_wrapped(cells: Sequence[Sequence[Piece]]) -> bool:
    """Tell a row with cells of several lines from several rows."""
    longest = max(cells, key=len)
    left, right = min(piece.left for piece in longest), max(piece.right for piece in longest)
    width, filled = WRAPPED
    full = [piece for line in rows(longest)[:-1] for piece in line]
    return right - left > width * longest[0].height and all(
        piece.right - piece.left > filled * (right - left) for piece in full
    )


def _joined(lines: Sequence[Sequence[Piece]]) -> str:
    text = " ".join(piece.text for line in lines for piece in line)
    return text.replace(f"{HYPHEN} ", "")


def _paragraphs(run: Iterable[Sequence[Piece]]) -> list[Line]:
    return [line for band in run for line in _paragraph(rows(band))]


def _paragraph(lines: Sequence[Sequence[Piece]]) -> list[Line]:
    """Give each line; one that is set in, after a line that is not full, opens a paragraph."""
    right = max(line[-1].right for line in lines)
    found = list[Line]()
    for index, line in enumerate(lines):
        near = [lines[other][0].left for other in (index - 1, index + 1) if 0 <= other < len(lines)]
        is_set_in = all(left < line[0].left - line[0].height / 2 for left in near)
        follows_end = index > 0 and lines[index - 1][-1].right < right - line[0].height
        is_new = index == 0 or (is_set_in and follows_end)
        found.append(Line(_joined([line]), "\n\n" if is_new else "\n"))
    return found
