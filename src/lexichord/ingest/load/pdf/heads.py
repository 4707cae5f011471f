"""Heads of tables: names over columns, in several lines, some over several columns."""

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from lexichord.ingest.load.pdf.aligned import MAX_HEAD_LINES, MIN_STRIPE, Block, TextLine
from lexichord.ingest.load.pdf.cells import CellLine
from lexichord.ingest.load.pdf.tables import PDF_NUMBER, TOUCH, cell_text
from lexichord.ingest.load.pdf.words import PdfPiece

MAX_HEAD_ROOM = 1.0  # of a line's height between lines of a head
MAX_SHIFT = 1.2  # of a line's height: a name stands in the middle of its columns, or at their edge

AMOUNT = re.compile(r"(?!\d{4}\b)" + PDF_NUMBER.pattern)  # no year, which names columns

UNNAMED_COST = 4.0  # points that names are rather shifted by than leave out a column between them

type Extent = tuple[float, float]
type Way = tuple[float, list[range]]  # how far names are shifted, and the columns of each


def count_lines_above(
    lines: Sequence[TextLine], block: Block, taken: int, opens_with_numbers: bool
) -> int:
    """Count the lines above a block whose words stand over several of its columns.

    `taken` lines from the page's top belong to other tables. Where a block opens with numbers, its
    names may stand apart in another way than they.
    """
    amount = 0
    while amount < MAX_HEAD_LINES - 1 and block.start - amount > taken:
        line, below = lines[block.start - amount - 1], lines[block.start - amount]
        if below.top - line.bottom > MAX_HEAD_ROOM * line.height or not _is_over(
            line, block, opens_with_numbers
        ):
            break
        amount += 1
    return amount


def _is_over(line: TextLine, block: Block, opens_with_numbers: bool) -> bool:
    left, right = line.words[0].left, max(word.right for word in line.words)
    reach = line.height  # of a name that is wider than its column
    is_within = block.edges[0] - reach <= left and right <= block.edges[-1] + reach
    names = [cell_text(part) for part in _parts(line.words)]
    is_row = len(names) > 1 + len(block.edges) / 2 and not opens_with_numbers
    is_row = is_row or any(map(AMOUNT.fullmatch, names))
    may_span = len(block.edges) > 3 and (line.is_parted or left >= block.edges[1])
    return is_within and may_span and not is_row


def named_columns(
    above: Sequence[TextLine], head: Sequence[CellLine], extents: Sequence[Extent]
) -> list[str]:
    """Return the name of each column: of those above it, and of its own, line by line."""
    names: list[list[str]] = [[] for _ in extents]
    parts = [_parts(line.words) for line in above]
    parts += [[cell for cell in line.cells if cell] for line in head[:-1]]
    for line in parts:
        for words, columns in zip(line, _columns(line, extents), strict=True):
            for column in columns:
                names[column].append(cell_text(words))
    for column, text in enumerate(head[-1].texts if head else ()):
        names[column].append(text)
    return [" ".join(filter(None, name)) for name in names]


def _parts(words: Sequence[PdfPiece]) -> list[list[PdfPiece]]:
    """Part a line's words where columns may be parted."""
    parts = [[words[0]]]
    for word, following in pairwise(words):
        if following.left - word.right >= MIN_STRIPE * word.height:
            parts.append([])
        parts[-1].append(following)
    return parts


def _columns(line: Sequence[Sequence[PdfPiece]], extents: Sequence[Extent]) -> list[range]:
    """Return over which columns each part of a line stands: those in whose middle it is.

    Of all ways to give out columns from left to right the one that shifts the parts least.
    """
    ways: list[Way] = [(0.0, [])] * (len(extents) + 1)  # by how many columns they may use
    for words in line:
        left, right = words[0].left, max(word.right for word in words)
        limit = MAX_SHIFT * words[0].height
        following: list[Way] = [(math.inf, [])]
        for end in range(1, len(extents) + 1):
            best = following[-1][0] + UNNAMED_COST, following[-1][1]
            for first in range(end):
                cost = ways[first][0] + _shift(left, right, extents[first:end], limit)
                if cost < best[0]:
                    best = cost, [*ways[first][1], range(first, end)]
            following.append(best)
        ways = following
    found = ways[-1][1]
    return found if len(found) == len(line) else [_nearest(words, extents) for words in line]


def _nearest(words: Sequence[PdfPiece], extents: Sequence[Extent]) -> range:
    middle = (words[0].left + words[-1].right) / 2
    column = min(range(len(extents)), key=lambda c: abs(sum(extents[c]) / 2 - middle))
    return range(column, column + 1)


def _shift(left: float, right: float, columns: Sequence[Extent], limit: float) -> float:
    """Return by how much a name is off the middle of columns, or the edge of one."""
    start, end = columns[0][0], columns[-1][1]
    off = abs(left + right - start - end) / 2
    if len(columns) == 1:
        off = min([off, *(edge for edge in (abs(left - start), abs(right - end)) if edge < TOUCH)])
    elif left < start - limit or right > end + limit:
        off += 1000
    return off + len(columns) / 100
