"""Tables without lines between their columns: white space runs down through their rows.

Single words of prose stand apart by chance in one line and closed up in the next; only columns
keep the same stripe of a page white in line after line.
"""

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from statistics import median

from lexichord.ingest.load.pdf.words import PdfPiece

type Stripe = tuple[float, float]  # white space from the left to the right, endless at the sides

# Of a line's height is white between columns, at least: a space of usual fonts is .2 to .27, of
# typewriters' .5 to .55, in lines that are set to a width up to .6, but never one below another.
# Of the cells of bench/pdf_tables.py 1.000 are right, at .42 .995; at .26, too, but then words of
# one line close columns of two real files of 77. At .34 for typewriters', too, .980 are right.
MIN_STRIPE, MIN_TYPED_STRIPE = 0.34, 0.65
MAX_PITCH_SPREAD = 0.03  # between the widths of a typewriter's letters
NO_FIGURE = re.compile(r"[^\W\d_]")  # figures have one width in most fonts
MIN_TYPED_WORDS = 2
# White within cells, and how much of that between them it is at most; at .6 .986 are right.
MIN_SPACES, MAX_SPACE_SHARE = 3, 0.8
MAX_ROW_ROOM = 2.5  # of a line's height between two rows
MAX_MORE_ROOM = 1.6  # times the widest room between rows so far, on top of half a line
MAX_LABEL_ROOM = 0.5  # of a line's height, on top of that room, above a line of one cell
MAX_HEAD_LINES = 4  # whose words span several columns
# Of a table's lines run across its columns, or are what the rows below are about.
MAX_CROSSING_SHARE, MAX_LABELS_SHARE = 0.1, 0.35


@dataclass(slots=True)
class TextLine:
    """Words of a line from left to right, and the white space between and beside them."""

    words: list[PdfPiece]
    top: float
    bottom: float
    height: float
    is_typed: bool  # in letters of one width
    gaps: list[Stripe] = field(default_factory=list)
    spaces: list[Stripe] = field(default_factory=list)  # between all its words

    @property
    def is_parted(self) -> bool:
        """Return whether white space parts it as it parts cells."""
        return len(self.gaps) > 2


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that white space parts into columns: from `start`, `end` is excluded.

    `edges` are where columns begin and end, one more than there are columns; `crossing` are the
    lines whose words stand in several columns.
    """

    start: int
    end: int
    edges: tuple[float, ...]
    crossing: Collection[int]
    room: float  # points of the narrowest white space between two columns

    @property
    def rank(self) -> int:
        """Return how much is told apart."""
        return (self.end - self.start) * (len(self.edges) - 2)


def text_line(pieces: Sequence[PdfPiece], is_typed_above: bool) -> TextLine:
    """Return a line's words with the white space that may part columns."""
    words = sorted((w for piece in pieces for w in piece.words), key=lambda word: word.left)
    height = median([word.height for word in words])
    is_typed = _is_typed(words, is_typed_above)
    line = TextLine(
        words, min(w.top for w in words), max(w.bottom for w in words), height, is_typed
    )
    room = (MIN_TYPED_STRIPE if is_typed else MIN_STRIPE) * height
    right = -math.inf
    for word in words:
        if right > -math.inf:
            line.spaces.append((right, word.left))
        if word.left - right >= room:
            line.gaps.append((right, word.left))
        right = max(right, word.right)
    line.gaps.append((right, math.inf))
    return line


def is_closed_up(line: TextLine, stripes: Sequence[Stripe]) -> bool:
    """Return whether the white between a line's cells is no wider than that within them: prose."""
    if len(line.spaces) <= MIN_SPACES:
        return False
    middles = [(start + end) / 2 for start, end in stripes if start > -math.inf and end < math.inf]
    within, between, place = list[float](), list[float](), 0
    for start, end in line.spaces:
        while place < len(middles) and middles[place] <= start:
            place += 1
        is_between = place < len(middles) and middles[place] < end
        (between if is_between else within).append(end - start)
    if len(within) < MIN_SPACES or not between:
        return False
    return median(within) >= MAX_SPACE_SHARE * min(between)


def text_lines(lines: Sequence[Sequence[PdfPiece]]) -> list[TextLine]:
    """Return lines of pieces as lines of words."""
    made = list[TextLine]()
    for line in lines:
        made.append(text_line(line, bool(made) and made[-1].is_typed))
    return made


def _is_typed(words: Sequence[PdfPiece], is_typed_above: bool) -> bool:
    """Return whether letters have one width; what has too few words is as the line above."""
    pitches = [
        (word.right - word.left) / len(word.text)
        for word in words
        if len(word.text) > 2 and NO_FIGURE.search(word.text)
    ]
    if len(pitches) < MIN_TYPED_WORDS:
        return is_typed_above
    return max(pitches) - min(pitches) < MAX_PITCH_SPREAD * max(pitches)


def next_blocks(lines: Sequence[TextLine], start: int) -> list[Block]:
    """Return the first stretch of lines from one on in which the same white space parts columns.

    The first lines may be a title, or a head that spans columns: then later starts, which follow,
    tell more columns apart, and more cells in all.
    """
    found = list[Block]()
    while not found and start < len(lines):
        for first in range(start, min(start + MAX_HEAD_LINES, len(lines))):
            if lines[first].is_parted and not is_closed_up(lines[first], lines[first].gaps):
                grown = _grown(lines, first, len(found[-1].edges) - 2 if found else 0)
                if grown and (not found or grown.rank > found[-1].rank):
                    found.append(grown)
            elif first == start:
                break
        start += 1
    return found


def _grown(lines: Sequence[TextLine], start: int, least: int) -> Block | None:
    """Return the lines from one on that tell most cells apart, by more than `least` stripes."""
    stripes, widest = lines[start].gaps, 0.0
    crossing = set[int]()
    best: tuple[int, int, Sequence[Stripe]] = (0, 0, ())  # rank, end, stripes
    for index in range(start + 1, len(lines)):
        line, room = lines[index], lines[index].top - lines[index - 1].bottom
        if _is_apart(line, room, widest, index - start):
            break
        shared = _shared(stripes, line.gaps, MIN_STRIPE * line.height)
        amount = _inner(shared)
        if amount and is_closed_up(line, shared):
            break
        if amount < _inner(stripes) and _may_cross(lines, index, stripes, crossing, start):
            crossing.add(index)
            continue
        if best[1] == index and _closes(lines, index, stripes, amount, widest):
            crossing.add(index)
            best = best[0], index + 1, stripes
            break
        if amount == 0 or (amount <= least and index > start + 2):
            break
        stripes, widest = shared, max(widest, room)
        rank = (index + 1 - start) * amount
        best = (rank, index + 1, stripes) if rank >= best[0] else best
    _, end, kept = best
    return _block(lines, start, end, kept, crossing) if _inner(kept) > least else None


def _is_apart(line: TextLine, room: float, widest: float, number: int) -> bool:
    """Return whether more room than between the rows above parts a line from them."""
    if number < 3:  # no room between rows is usual yet
        return room > MAX_ROW_ROOM * line.height
    usual = widest * MAX_MORE_ROOM + line.height / 2 if widest > 0 else line.height
    label = widest + MAX_LABEL_ROOM * line.height
    return room > min(usual, MAX_ROW_ROOM * line.height) or (room > label and not line.is_parted)


def _may_cross(
    lines: Sequence[TextLine],
    index: int,
    stripes: Sequence[Stripe],
    crossing: set[int],
    start: int,
) -> bool:
    """Return whether a line runs across columns that the lines around it keep."""
    share = MAX_CROSSING_SHARE if lines[index].is_parted else MAX_LABELS_SHARE
    allowed = 1 + share * (index - start)
    if index + 1 >= len(lines) or len(crossing) + 1 > allowed:
        return False
    below = lines[index + 1]
    if not below.is_parted or below.top - lines[index].bottom > below.height:
        return False
    return _inner(_shared(stripes, below.gaps, MIN_STRIPE * below.height)) >= _inner(stripes)


def _closes(
    lines: Sequence[TextLine], index: int, stripes: Sequence[Stripe], amount: int, widest: float
) -> bool:
    """Return whether a line is a table's last, with a name that runs across some columns."""
    line = lines[index]
    is_near = line.top - lines[index - 1].bottom <= widest + line.height / 4
    is_last = index + 1 == len(lines) or not lines[index + 1].is_parted
    keeps_most = _inner(stripes) > amount > _inner(stripes) / 2
    return is_near and is_last and line.is_parted and keeps_most


def _shared(stripes: Sequence[Stripe], gaps: Sequence[Stripe], room: float) -> list[Stripe]:
    """Return what is white in both."""
    shared = list[Stripe]()
    one = other = 0
    while one < len(stripes) and other < len(gaps):
        (start, end), (left, right) = stripes[one], gaps[other]
        first, last = start if start > left else left, end if end < right else right
        if last - first >= room:
            shared.append((first, last))
        if end < right:
            one += 1
        else:
            other += 1
    return shared


def _inner(stripes: Sequence[Stripe]) -> int:
    """Count the stripes with words on both sides."""
    return sum(start > -math.inf and end < math.inf for start, end in stripes)


def _block(
    lines: Sequence[TextLine], start: int, end: int, stripes: Sequence[Stripe], crossing: set[int]
) -> Block:
    left = min(line.words[0].left for line in lines[start:end])
    right = max(line.gaps[-1][0] for line in lines[start:end])
    crossing = {index for index in crossing if index < end}
    inner = [(a, b) for a, b in stripes if a > -math.inf and b < math.inf]
    edges = (left - 1, *((a + b) / 2 for a, b in inner), right + 1)
    room = min(b - a for a, b in inner)
    return Block(start, end, edges, crossing, room)
