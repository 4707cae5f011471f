"""Tables between the straight lines that a PDF page draws, and what makes a table of cells."""

import ctypes
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

import pypdfium2
from pypdfium2 import raw

from lexichord.ingest.load.pdf.words import (
    LINE_END_HYPHEN,
    MAX_OVERLAP,
    MAX_WORD_GAP,
    PdfPiece,
    PdfWord,
    Rectangle,
    group_rows,
    run_right_to_left,
)

MAX_RULE_WIDTH = 3.0  # points; what is wider is a box
MIN_RULE_LENGTH = 6.0  # points
MAX_PATHS = 4000  # of a page: more is a drawing
MAX_SEGMENTS = 400  # of a path


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal line at a height, or a vertical one at a distance from the left."""

    place: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Rules:
    """The lines of a page, turned as its words are."""

    horizontal: list[Rule]
    vertical: list[Rule]


def read_rules(page: pypdfium2.PdfPage, turned: Callable[..., Rectangle]) -> Rules:
    """Return the lines of a page, the edges of boxes among them."""
    horizontal, vertical = list[Rule](), list[Rule]()
    for box in _strokes(page):
        left, top, right, bottom = turned(*box)
        is_flat, is_thin = bottom - top <= MAX_RULE_WIDTH, right - left <= MAX_RULE_WIDTH
        if is_flat and is_thin:
            continue
        if not is_thin and right - left >= MIN_RULE_LENGTH:
            for place in {(top + bottom) / 2} if is_flat else (top, bottom):
                horizontal.append(Rule(place, left, right))
        if not is_flat and bottom - top >= MIN_RULE_LENGTH:
            for place in {(left + right) / 2} if is_thin else (left, right):
                vertical.append(Rule(place, top, bottom))
    return Rules(_merged(horizontal), _merged(vertical))


def _strokes(page: pypdfium2.PdfPage) -> Iterator[Rectangle]:
    """Yield the boxes of lines and of rectangles."""
    paths = 0
    for index in range(raw.FPDFPage_CountObjects(page)):
        drawn = raw.FPDFPage_GetObject(page, index)
        if raw.FPDFPageObj_GetType(drawn) != raw.FPDF_PAGEOBJ_PATH:
            continue
        paths += 1
        if paths > MAX_PATHS:
            return
        amount = raw.FPDFPath_CountSegments(drawn)
        if amount <= 6:
            yield from _bounds(drawn)
        elif amount <= MAX_SEGMENTS:
            yield from _segments(drawn, amount)


def _bounds(drawn: raw.FPDF_PAGEOBJECT) -> Iterator[Rectangle]:
    edges = [ctypes.c_float() for _ in range(4)]
    if raw.FPDFPageObj_GetBounds(drawn, *edges):
        left, bottom, right, top = (edge.value for edge in edges)
        yield left, bottom, right, top


def _segments(drawn: raw.FPDF_PAGEOBJECT, amount: int) -> Iterator[Rectangle]:
    """Yield the straight segments of a path, each as a box without width."""
    matrix = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(drawn, matrix):
        return
    x, y = ctypes.c_float(), ctypes.c_float()
    last: tuple[float, float] | None = None
    for index in range(amount):
        segment = raw.FPDFPath_GetPathSegment(drawn, index)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        is_line = raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_LINETO
        if is_line and last and min(abs(point[0] - last[0]), abs(point[1] - last[1])) < 1:
            yield (*map(min, point, last), *map(max, point, last))
        last = point


def _merged(rules: list[Rule]) -> list[Rule]:
    """Join what lies on one line, end to end."""
    joined = list[Rule]()
    for rule in sorted(rules, key=lambda rule: (round(rule.place), rule.start)):
        last = joined[-1] if joined else None
        is_on = last and abs(last.place - rule.place) <= 1.5 and rule.start <= last.end + 2
        if last and is_on:
            joined[-1] = Rule(last.place, last.start, max(last.end, rule.end))
        else:
            joined.append(rule)
    return joined


TOUCH = 3.0  # points that lines may miss each other by, or two of them be one
OPEN_MARGIN = 9.0  # points that horizontal lines reach beyond vertical ones: columns without edges
MAX_RULES = 600  # lines of a page, either way: more is a drawing
MAX_PDF_CELL_CHARS = 400  # characters of a middling cell: more is a page's layout
MIN_FILLED_SHARE = 0.2  # of the cells hold text; of a drawing fewer do
MIN_PROSE_LINES, MIN_RUN_ON_SHARE = 4, 0.35  # lines of a column; begin with a small letter
MIN_ALIGNED_LINES = 4  # lines in which white space tells columns though it is narrow
NARROW_ROOM, WIDE_ROOM = 0.45, 1.0  # of the height: white space between columns, at least
MAX_CROSSING_SHARE = 0.1  # of a table's lines may run across a column's edge
MAX_PHRASE_GAP = 0.4  # of the height between words of a cell that runs across columns
MIN_CELL_SHARE = 0.25  # of a phrase stands in its cell, which may be the first of several
PDF_NUMBER = re.compile(r"[^\w\n]*\d[\d.,:/\s-]*+\W*+\w{0,2}\W*")
MIN_NUMERIC_SHARE = 0.8  # of lines with numbers in most cells, each is a row
MIN_ROW_LINES_SHARE = 0.6  # of the lines between two rules are rows, if they have cells like rows

type Cells = list[list[str]]


@dataclass(slots=True)
class TablePiece(PdfPiece):
    """A table where it stands; each row has a cell for each column, "" where it is empty."""

    rows: Cells = field(default_factory=list)


def cell_text(words: Sequence[PdfPiece]) -> str:
    """Return the text of a cell, its lines joined."""
    text = " ".join(word.text for line in group_rows(words) for word in line)
    return text.replace(f"{LINE_END_HYPHEN} ", "")


def markdown_rows(rows: Cells) -> list[str]:
    """Write a table's lines; the first row is its header."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return [lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]]


def apart(rows: Cells) -> tuple[list[str], Cells, list[str]]:
    """Part a title above a table of three columns or more, and notes below it, from its rows."""
    alone = [sum(map(bool, row)) == 1 and len(row) > 2 for row in rows]
    start = next((index for index, is_alone in enumerate(alone) if not is_alone), len(rows))
    end = len(rows) - next((i for i, is_alone in enumerate(alone[::-1]) if not is_alone), 0)
    if end - start < 2:
        return [], rows, []
    above, below = ([max(row) for row in part] for part in (rows[:start], rows[end:]))
    return above, rows[start:end], below


def joined_header(rows: Cells) -> Cells:
    """Put the second line of a header, which stands above numbers, to its first."""
    if len(rows) < 3 or not _is_numeric(rows[2]) or any(map(_is_numeric, rows[:2])):
        return rows
    is_below = all(above or not below for above, below in zip(*rows[:2], strict=True))
    if not is_below or all(rows[1]):
        return rows
    return [[" ".join(filter(None, pair)) for pair in zip(*rows[:2], strict=True)], *rows[2:]]


def run_on(rows: Cells) -> bool:
    """Return whether rows are the lines of columns of prose, whose sentences run on."""
    columns = [[row[index] for row in rows if row[index]] for index in range(len(rows[0]))]
    return all(
        len(column) >= MIN_PROSE_LINES
        and sum(cell[:1].islower() for cell in column) >= MIN_RUN_ON_SHARE * len(column)
        for column in columns
    )


def is_table(rows: Cells) -> bool:
    """Return whether rows of cells are a table: neither a drawing nor a page's layout."""
    if len(rows) < 2 or len(rows[0]) < 2:
        return False
    texts = [cell for row in rows for cell in row if cell]
    is_full = len(texts) >= MIN_FILLED_SHARE * len(rows) * len(rows[0])
    return is_full and sum(map(len, texts)) <= MAX_PDF_CELL_CHARS * len(texts)


def filled(rows: Cells) -> Cells:
    """Leave out rows and columns without any text."""
    kept = [row for row in rows if any(row)]
    columns = [index for index in range(len(kept[0]) if kept else 0) if any(r[index] for r in kept)]
    return [[row[index] for index in columns] for row in kept]


def take_tables(words: Sequence[PdfWord], rules: Rules) -> tuple[list[TablePiece], list[PdfWord]]:
    """Return the tables that lines are drawn for, and the words outside them."""
    if max(len(rules.horizontal), len(rules.vertical)) > MAX_RULES:
        return [], list(words)
    tables, rest = list[TablePiece](), list(words)
    for horizontal, vertical in _connected(rules):
        xs, ys = _places(vertical), _places(horizontal)
        if len(xs) < 2 or len(ys) < 2:
            continue
        left, right = min(r.start for r in horizontal), max(r.end for r in horizontal)
        is_open = left < xs[0] - OPEN_MARGIN or right > xs[-1] + OPEN_MARGIN
        if is_open:
            xs = _widened(xs, left, right)
        inside = [word for word in rest if _is_inside(word, xs, ys)]
        if is_open and inside:
            white = white_edges(group_rows(inside))[1:-1]
            xs = [*xs[:1], *_places(Rule(x, 0, 0) for x in (*xs[1:-1], *white)), *xs[-1:]]
        if len(xs) < 3:
            continue
        table = _table(inside, xs, ys, vertical)
        if table:
            tables.append(table)
            taken = set(map(id, inside))
            rest = [word for word in rest if id(word) not in taken]
    return tables, rest


def _connected(rules: Rules) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Yield the lines that cross or touch, group by group, the largest first."""
    across, down = list(rules.horizontal), list(rules.vertical)
    groups = list[tuple[list[Rule], list[Rule]]]()
    while down:
        group: tuple[list[Rule], list[Rule]] = [], [down.pop()]
        fresh: list[Rule] = list(group[1])
        while fresh:
            met = [rule for rule in across if any(_touch(rule, other) for other in fresh)]
            across = [rule for rule in across if rule not in met]
            fresh = [rule for rule in down if any(_touch(other, rule) for other in met)]
            down = [rule for rule in down if rule not in fresh]
            group[0].extend(met)
            group[1].extend(fresh)
        groups.append(group)
    yield from sorted(groups, key=lambda group: -len(group[0]) * len(group[1]))


def _widened(xs: Sequence[float], left: float, right: float) -> list[float]:
    """Add the columns outside the outermost vertical lines, as far as horizontal ones reach."""
    inner = [x for x in xs if left + OPEN_MARGIN < x < right - OPEN_MARGIN]
    return [min(left, xs[0]), *inner, max(right, xs[-1])]


def _touch(across: Rule, down: Rule) -> bool:
    return (
        across.start - TOUCH <= down.place <= across.end + TOUCH
        and down.start - TOUCH <= across.place <= down.end + TOUCH
    )


def white_edges(lines: Sequence[Sequence[PdfPiece]]) -> list[float]:
    """Return where columns begin and end: where white space runs through nearly all the lines."""
    words = [word for line in lines for word in line]
    few = len(lines) < MIN_ALIGNED_LINES
    room = (WIDE_ROOM if few else NARROW_ROOM) * median(word.height for word in words)
    allowed = int(MAX_CROSSING_SHARE * len(lines))
    ends = sorted([*((word.left, 1) for word in words), *((word.right, -1) for word in words)])
    edges, open_words, since = [ends[0][0] - 1], 0, ends[0][0]
    for place, step in ends:
        if step == 1 and open_words == allowed and place - since >= room:
            edges.append((since + place) / 2)
        open_words += step
        if step == -1 and open_words == allowed:
            since = place
    return [*edges, ends[-1][0] + 1]


def _places(rules: Iterable[Rule]) -> list[float]:
    places = list[float]()
    for rule in sorted(rules, key=lambda rule: rule.place):
        if not places or rule.place - places[-1] > TOUCH:
            places.append(rule.place)
    return places


def _is_inside(word: PdfPiece, xs: Sequence[float], ys: Sequence[float]) -> bool:
    x, y = (word.left + word.right) / 2, (word.top + word.bottom) / 2
    return xs[0] <= x <= xs[-1] and ys[0] <= y <= ys[-1]


def _table(
    words: Sequence[PdfPiece], xs: Sequence[float], ys: Sequence[float], walls: Sequence[Rule]
) -> TablePiece | None:
    """Put words between lines into cells; None where they make no table."""
    columns = Columns(xs, walls)
    stripes: list[list[PdfPiece]] = [[] for _ in ys[1:]]
    for word in words:
        stripes[_index(ys, (word.top + word.bottom) / 2)].append(word)
    rows = filled([row for stripe in stripes if stripe for row in columns.rows(stripe)])
    if not is_table(apart(rows)[1]):
        return None
    box = xs[0], ys[0], xs[-1], ys[-1]
    text = " ".join(cell for row in rows for cell in row if cell)
    return TablePiece(*box, text, min(word.place for word in words), rows=rows)


def _index(places: Sequence[float], place: float) -> int:
    return min(max(bisect_right(places, place) - 1, 0), len(places) - 2)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table by their edges, and the lines that are drawn between them."""

    edges: Sequence[float]
    walls: Sequence[Rule] = ()

    def rows(self, stripe: Sequence[PdfPiece], fewest: int = 3) -> Cells:
        """Return what stands between two lines: a row, or a row a line where lines look like rows.

        `fewest` lines are looked at so: fewer are one row, unless they are mostly numbers.
        """
        lines = [self.cells(line) for line in group_rows(stripe)]
        texts = [[cell_text(cell) for cell in line] for line in lines]
        first = next(index for index in range(len(texts[0])) if any(row[index] for row in texts))
        alike = sum(bool(row[first]) and sum(map(bool, row)) > 1 for row in texts)
        are_rows = len(lines) >= fewest and alike >= MIN_ROW_LINES_SHARE * len(lines)
        if are_rows or self._are_numbers(texts):
            return texts
        return [[cell_text([w for line in lines for w in line[i]]) for i in range(len(texts[0]))]]

    @staticmethod
    def _are_numbers(texts: Cells) -> bool:
        """Return whether lines are rows of numbers; some may hold a label of several rows."""
        numeric = sum(map(_is_numeric, texts))
        longer = sum(sum(map(bool, row)) > 1 for row in texts)
        return numeric > 1 and numeric >= MIN_NUMERIC_SHARE * longer

    def index(self, piece: PdfPiece) -> int:
        """Return the column in which the middle of a piece stands."""
        return _index(self.edges, (piece.left + piece.right) / 2)

    def cells(self, line: Sequence[PdfPiece]) -> list[list[PdfPiece]]:
        """Put the words of a line, which may run across columns, into them."""
        cells: list[list[PdfPiece]] = [[] for _ in self.edges[1:]]
        for phrase in self._phrases(line):
            cells[self._column(phrase)] += phrase
        return cells

    def _phrases(self, line: Sequence[PdfPiece]) -> Iterator[list[PdfPiece]]:
        """Yield words that stand close with no line between them: they share a cell."""
        phrase = list[PdfPiece]()
        for word in sorted(line, key=lambda word: word.left) if run_right_to_left(line) else line:
            if phrase and not self._is_close(phrase, word):
                yield phrase
                phrase = []
            phrase.append(word)
        if phrase:
            yield phrase

    def _is_close(self, phrase: Sequence[PdfPiece], following: PdfPiece) -> bool:
        word = phrase[-1]
        gap = following.left - word.right
        room = MAX_WORD_GAP if self._runs_across(phrase) else MAX_PHRASE_GAP
        if not -MAX_OVERLAP * word.height < gap <= room * word.height:
            return False
        start, end = (word.left + word.right) / 2, (following.left + following.right) / 2
        height = (word.top + word.bottom) / 2
        return not any(
            start < wall.place < end and wall.start <= height <= wall.end for wall in self.walls
        )

    def _runs_across(self, phrase: Sequence[PdfPiece]) -> bool:
        """Return whether a phrase runs over whole columns: their edges do not hold in its line."""
        return self.index(phrase[-1]) - self.index(phrase[0]) > 1

    def _column(self, phrase: Sequence[PdfPiece]) -> int:
        """Return the first column in which a fair part of a phrase stands."""
        left, right = phrase[0].left, max(word.right for word in phrase)
        first = max(bisect_left(self.edges, left) - 1, 0)
        last = bisect_right(self.edges, right)
        for index, (start, end) in enumerate(pairwise(self.edges[first : last + 1]), first):
            if min(right, end) - max(left, start) >= MIN_CELL_SHARE * (right - left):
                return index
        return _index(self.edges, left)


def _is_numeric(row: Sequence[str]) -> bool:
    """Return whether a row has two numbers or more, and they are most of its cells."""
    cells = [cell for cell in row[1:] if cell]
    numbers = sum(PDF_NUMBER.fullmatch(cell) is not None for cell in cells)
    return numbers > 1 and 2 * numbers > len(cells)
