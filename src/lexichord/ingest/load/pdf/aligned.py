"""Tables without lines between their columns: white space runs down through their rows.

Single words of prose stand apart by chance in one line and closed up in the next; only columns
keep the same stripe of a page white in line after line.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from lexichord.ingest.load.pdf.words import PdfPiece

type Stripe = tuple[float, float]  # white space from the left to the right, endless at the sides

# Of a line's height is white between columns, at least: a space of usual fonts is .2 to .27, of
# typewriters' .5 to .55, in lines that are set to a width up to .6, but never one below another.
MIN_STRIPE, MIN_TYPED_STRIPE = 0.34, 0.65
MAX_PITCH_SPREAD = 0.03  # between the widths of a typewriter's letters
NO_FIGURE = re.compile(r"[^\W\d_]")  # figures have one width in most fonts
MIN_TYPED_WORDS = 2
MIN_SPACES, MAX_SPACE_SHARE = 3, 0.8  # within cells; of the white between them
MAX_ROW_ROOM = 2.5  # of a line's height between two rows
MAX_ROOM_OF_CLOSE = 1.0  # the same where rows so far stand close
MAX_MORE_ROOM = 1.6  # times the widest room between rows so far, on top of half a line
MAX_LABEL_ROOM = (
    0.5  # of a line's height, on top: a line that is not parted is no more of the table
)
MAX_HEAD_LINES = 4  # whose words span several columns
MAX_CROSSING_SHARE = 0.1  # of a table's lines run across its columns


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
    crossing: frozenset[int]
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
    middles = [(start + end) / 2 for start, end in stripes]
    within, between = list[float](), list[float]()
    for start, end in line.spaces:
        is_between = any(start < middle < end for middle in middles)
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


def find_blocks(lines: Sequence[TextLine]) -> Iterator[Block]:
    """Yield the stretches of lines, top to bottom, in which the same white space parts columns."""
    start = 0
    while start < len(lines):
        if not lines[start].is_parted:
            start += 1
            continue
        # The first lines may be a title, or a head that spans columns: then a later start tells
        # more columns apart, and more cells in all.
        best: Block | None = None
        for first in range(start, min(start + MAX_HEAD_LINES + 1, len(lines))):
            is_row = lines[first].is_parted and not is_closed_up(lines[first], lines[first].gaps)
            grown = _grown(lines, first) if is_row else None
            if grown and (
                best is None or (len(grown.edges) > len(best.edges) and grown.rank > best.rank)
            ):
                best = grown
        if best:
            yield best
        start = best.end if best else start + 1


def _grown(lines: Sequence[TextLine], start: int) -> Block | None:
    """Return the lines from one on that tell most cells apart; None where the next does not."""
    stripes, widest = list(lines[start].gaps), 0.0
    crossing = set[int]()
    best: Block | None = None
    for index in range(start + 1, len(lines)):
        line, height = lines[index], lines[index].height
        room = line.top - lines[index - 1].bottom
        usual = widest * MAX_MORE_ROOM + height / 2 if widest > 0 else MAX_ROOM_OF_CLOSE * height
        if room > MAX_ROW_ROOM * height or (index > start + 2 and room > usual):
            break
        if index > start + 2 and not line.is_parted and room > widest + MAX_LABEL_ROOM * height:
            break
        shared = _shared(stripes, line.gaps, MIN_STRIPE * height)
        if is_closed_up(line, shared):
            break
        if _inner(shared) < _inner(stripes) and _may_cross(lines, index, stripes, crossing, start):
            crossing.add(index)
            continue
        if best and best.end == index and _closes(lines, index, stripes, shared, widest):
            crossing.add(index)
            return replace(best, end=index + 1, crossing=frozenset(crossing))
        if not _inner(shared):
            break
        stripes, widest = shared, max(widest, room)
        if best is None or (index + 1 - start) * _inner(stripes) >= best.rank:
            best = _block(lines, start, index + 1, stripes, crossing)
    return best


def _may_cross(
    lines: Sequence[TextLine],
    index: int,
    stripes: Sequence[Stripe],
    crossing: set[int],
    start: int,
) -> bool:
    """Return whether a line runs across columns that the lines around it keep."""
    allowed = 1 + MAX_CROSSING_SHARE * (index - start)
    if index - start < 2 or index + 1 >= len(lines) or len(crossing) + 1 > allowed:
        return False
    below = lines[index + 1]
    if not below.is_parted or below.top - lines[index].bottom > below.height:
        return False
    return _inner(_shared(stripes, below.gaps, MIN_STRIPE * below.height)) >= _inner(stripes)


def _closes(
    lines: Sequence[TextLine],
    index: int,
    stripes: Sequence[Stripe],
    shared: Sequence[Stripe],
    widest: float,
) -> bool:
    """Return whether a line is a table's last, with a name that runs across some columns."""
    line = lines[index]
    is_near = line.top - lines[index - 1].bottom <= widest + line.height / 4
    is_last = index + 1 == len(lines) or not lines[index + 1].is_parted
    keeps_most = _inner(stripes) > _inner(shared) > _inner(stripes) / 2
    return is_near and is_last and line.is_parted and keeps_most


def _shared(stripes: Sequence[Stripe], gaps: Sequence[Stripe], room: float) -> list[Stripe]:
    """Return what is white in both."""
    shared = list[Stripe]()
    one = other = 0
    while one < len(stripes) and other < len(gaps):
        (start, end), (left, right) = stripes[one], gaps[other]
        if min(end, right) - max(start, left) >= room:
            shared.append((max(start, left), min(end, right)))
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
    inner = [(a, b) for a, b in stripes if a > -math.inf and b < math.inf]
    edges = (left - 1, *((a + b) / 2 for a, b in inner), right + 1)
    room = min(b - a for a, b in inner)
    return Block(start, end, edges, frozenset(crossing), room)
