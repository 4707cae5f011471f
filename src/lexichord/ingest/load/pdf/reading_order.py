"""The reading order of a PDF page: columns, paragraphs, rows of tables; words made whole."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median
from typing import Literal

from lexichord.ingest.load.pdf.borderless import Known, find_unruled
from lexichord.ingest.load.pdf.tables import (
    Cells,
    Columns,
    TablePiece,
    apart,
    filled,
    is_table,
    joined_header,
    markdown_rows,
    run_on,
    white_edges,
)
from lexichord.ingest.load.pdf.words import (
    LINE_END_HYPHEN,
    MAX_WORD_GAP,
    UNKNOWN_LETTER,
    PdfPiece,
    group_rows,
    run_right_to_left,
)

PARAGRAPH_GAP = 0.3  # of the height of a line, on top of the usual gap between lines
ROW_GAP = 0.4  # of the height of a line: lines of prose stand closer than rows of a table
# Lines of a page, or parts of them: a newspaper's has some 1,000. More is a drawing or a map, where
# columns are not sought: each edge that some begin at is tried over all of them.
MAX_COLUMN_PIECES = 3000
MIN_COLUMN_LINES = 4  # that a column has at least
# Letters of a column's middling line, and the share of its letters in full lines, at least.
WIDE_COLUMN = (15, 0.3)
NARROW_COLUMN = (6, 0.15)  # the same where its lines run on
# Of the lines below a column's first begin with a small letter, at least: sentences run on.
MIN_RUN_ON_SHARE = 0.4
# Lines for each time that drawing goes from one column to the other; in a table each row does.
MIN_LINES_A_SWITCH = 8
TABLE_GAP_SHARE = 0.7  # of the gaps on both sides stand side by side: a table
# Of a column's width is filled by a line of prose, unless it is a paragraph's last.
FULL_LINE_SHARE = 0.8
PARAGRAPH_LABEL = re.compile(
    r"\W{0,3}(\d+(\.\d+)*|[a-z]|[ivxlc]+|)\W{0,3}", re.IGNORECASE
)  # 5.2, (a), iv, •
MIN_ROWS_APART = 3  # rows of a table that stand apart; then less than so many lines are one row
MIN_ROW_LINES = 5
MIN_EDGES_ACROSS = 3  # of a table that lies across columns' edge: two columns are no proof of it
WRAPPED_CELL = (8, 0.6)  # a cell of several lines: lines high it is wide; how far its lines fill it


@dataclass(slots=True)
class PageLine:
    """A line of text and what parts it from the line before."""

    text: str
    before: str = "\n"
    part: Literal["", "header", "row"] = ""  # of a table


def lines_in_order(pieces: Sequence[PdfPiece], known: Known) -> list[PageLine]:
    """Return the lines of a page as a reader takes them: columns one after the other.

    `known` takes in the heads of tables, which following pages may repeat.
    """
    if edge := _gutter(pieces):
        if across := _across(pieces, edge, known):
            return across
        return [line for region in _regions(pieces, edge) for line in lines_in_order(region, known)]
    tables = [piece for piece in pieces if isinstance(piece, TablePiece)]
    if tables:
        return _around(min(tables, key=lambda table: table.top), pieces, known)
    return list(_unruled(group_rows(pieces), known))


def _across(pieces: Sequence[PdfPiece], edge: float, known: Known) -> list[PageLine]:
    """Return the lines of a page with a table across what looks like columns' edge, if it has one.

    Its rows are drawn from side to side, where columns are drawn one after the other.
    """
    lines = group_rows([piece for piece in pieces if not isinstance(piece, TablePiece)])
    for found in find_unruled(lines, known):
        own = [piece for line in lines[found.start : found.end] for piece in line]
        words = [word for piece in own for word in piece.words]
        left, right, _ = _parted(words, edge)
        is_wide = found.kind == "table" and len(found.edges) > MIN_EDGES_ACROSS
        if is_wide and left and right and not _are_drawn_apart(left, right):
            top, taken = min(piece.top for piece in own), set(map(id, own))
            rest = [piece for piece in pieces if id(piece) not in taken]
            above = [piece for piece in rest if piece.top < top]
            below = [piece for piece in rest if piece.top >= top]
            rows = _table_lines(found.rows, has_head=True)
            return [*lines_in_order(above, known), *rows, *lines_in_order(below, known)]
    return []


def _around(table: TablePiece, pieces: Sequence[PdfPiece], known: Known) -> list[PageLine]:
    """Return what begins above a table, the table, and what begins below its top."""
    above = [piece for piece in pieces if piece is not table and piece.top < table.top]
    below = [piece for piece in pieces if piece is not table and piece.top >= table.top]
    own = _table_lines(table.rows)
    return [*lines_in_order(above, known), *own, *lines_in_order(below, known)]


def _unruled(lines: Sequence[Sequence[PdfPiece]], known: Known) -> Iterator[PageLine]:
    """Yield lines with the tables among them that have no lines between their columns."""
    place = 0
    for found in find_unruled(lines, known):
        yield from _plain(lines[place : found.start])
        own = lines[found.start : found.end]
        place = found.end
        if found.kind == "table":
            yield from _table_lines(found.rows, has_head=True)
        elif found.kind == "columns":
            pieces = [word for line in own for piece in line for word in piece.words]
            yield from _side_by_side(pieces, Columns(found.edges))
        else:
            yield from _paragraphs([[piece for line in own for piece in line]])
    yield from _plain(lines[place:])


def _plain(lines: Sequence[Sequence[PdfPiece]]) -> Iterator[PageLine]:
    bands = split_bands([piece for line in lines for piece in line])
    for has_cells, run in groupby(bands, _is_table):
        own = list(run)
        yield from _aligned(own) if has_cells else _paragraphs(own)


def _table_lines(rows: Cells, has_head: bool = False) -> list[PageLine]:
    """Return a table's lines; the head may be known, and its lines be joined."""
    above, rows, below = apart(rows)
    title, notes = ([PageLine(text, "\n\n") for text in part] for part in (above, below))
    rows = filled(rows)
    header, rule, *others = markdown_rows(rows if has_head else joined_header(rows))
    head = [PageLine(header, "\n\n", "header"), PageLine(rule, "\n", "header")]
    return [*title, *head, *(PageLine(row, "\n", "row") for row in others), *notes]


def gaps(lines: Sequence[Sequence[PdfPiece]]) -> list[float]:
    """Return the room between each line and the next."""
    return [
        min(piece.top for piece in below) - max(piece.bottom for piece in above)
        for above, below in pairwise(lines)
    ]


def split_bands(pieces: Sequence[PdfPiece]) -> list[list[PdfPiece]]:
    """Cut where the room between two lines is clearly more than usual."""
    lines = group_rows(pieces)
    if len(lines) < 2:
        return [list(pieces)] if pieces else []
    between = gaps(lines)
    limit = _usual(between) + PARAGRAPH_GAP * median(piece.height for piece in pieces)
    groups = [list(lines[0])]
    for gap, line in zip(between, lines[1:], strict=True):
        if gap > limit:
            groups.append([])
        groups[-1] += line
    return groups


def _usual(between: Sequence[float]) -> float:
    """Return the gap between the lines of one paragraph."""
    return max(sorted(between)[len(between) // 4], 0)


def _gutter(pieces: Sequence[PdfPiece]) -> float | None:
    """Find the left edge of a right-hand column of prose; what crosses it spans the columns."""
    if len(pieces) > MAX_COLUMN_PIECES:
        return None
    edges = Counter(round(piece.left) for piece in pieces)
    edges.update(round(piece.right) + 2 for piece in pieces if piece.is_right_to_left)
    best: tuple[int, int] | None = None
    gutter: float | None = None
    for edge in (edge - 1.0 for edge, amount in edges.items() if amount >= MIN_COLUMN_LINES):
        left, right, crossing = _parted(pieces, edge)
        rank = (len(crossing), -len(right))
        if (best is None or rank < best) and _are_columns(left, right):
            left_edge = max(piece.right for piece in _within(left, right))
            best, gutter = rank, (left_edge + edge) / 2  # a quotation mark may hang over
    return gutter


def _parted(
    pieces: Sequence[PdfPiece], edge: float
) -> tuple[list[PdfPiece], list[PdfPiece], list[PdfPiece]]:
    left = [piece for piece in pieces if piece.right <= edge]
    right = [piece for piece in pieces if piece.left >= edge]
    crossing = [piece for piece in pieces if piece.left < edge < piece.right]
    return left, right, crossing


def _are_columns(left: Sequence[PdfPiece], right: Sequence[PdfPiece]) -> bool:
    """Return whether these are two columns of prose, neither short lines nor a table.

    In a table the paragraphs of both sides begin side by side.
    """
    left, right = _within(left, right), _within(right, left)
    if not (_is_column(left) and _is_column(right)):
        return False
    if _are_drawn_apart(left, right):
        return True
    both = [*left, *right]
    if _usual(gaps(group_rows(both))) > ROW_GAP * median(piece.height for piece in both):
        return False
    common = sum(1 for band in split_bands(both) if _has_both(band, left))
    return common < 3 or common < TABLE_GAP_SHARE * max(
        len(split_bands(left)), len(split_bands(right))
    )


def _are_drawn_apart(left: Sequence[PdfPiece], right: Sequence[PdfPiece]) -> bool:
    """Return whether one side is drawn after the other, where the rows of a table alternate."""
    sides = sorted([*((piece.place, 0) for piece in left), *((piece.place, 1) for piece in right)])
    switches = sum(before[1] != after[1] for before, after in pairwise(sides))
    lines = min(len(group_rows(left)), len(group_rows(right)))
    return switches <= max(1, lines / MIN_LINES_A_SWITCH)


def _within(pieces: Sequence[PdfPiece], others: Sequence[PdfPiece]) -> list[PdfPiece]:
    """Return those that stand as high as some of the others."""
    top = min((other.top for other in others), default=0.0)
    bottom = max((other.bottom for other in others), default=0.0)
    return [piece for piece in pieces if top < piece.bottom and piece.top < bottom]


def _is_column(pieces: Sequence[PdfPiece]) -> bool:
    """Return whether this is prose, whose lines are long and mostly full; not cells or labels."""
    lines = group_rows(pieces)
    if len(lines) < MIN_COLUMN_LINES:
        return False
    letters = [sum(len(piece.text) for piece in line) for line in lines]
    run_on = sum(line[0].text[:1].islower() for line in lines[1:])
    is_prose = run_on >= MIN_RUN_ON_SHARE * (len(lines) - 1)
    fewest, share = NARROW_COLUMN if is_prose else WIDE_COLUMN
    return median(letters) >= fewest and _full(pieces) >= share * sum(letters)


def _full(pieces: Sequence[PdfPiece]) -> int:
    """Count the letters in lines that are as wide as what stands above and below them."""
    letters = 0
    for column in _cells(pieces):
        width = max(piece.right for piece in column) - min(piece.left for piece in column)
        full = (piece for piece in column if piece.right - piece.left >= FULL_LINE_SHARE * width)
        letters += sum(len(piece.text) for piece in full)
    return letters


def _has_both(band: Sequence[PdfPiece], left: Sequence[PdfPiece]) -> bool:
    edge = max(piece.right for piece in left)
    return any(piece.right <= edge for piece in band) and any(piece.left > edge for piece in band)


def _regions(pieces: Sequence[PdfPiece], edge: float) -> Iterator[list[PdfPiece]]:
    """Part a page at its columns' edge, between the lines that span both."""
    ordered = sorted(pieces, key=lambda piece: piece.top)
    for spanning, group in groupby(ordered, lambda piece: piece.left < edge < piece.right):
        run = list(group)
        left, right, _ = _parted(run, edge)
        sides = (right, left) if run_right_to_left(run) else (left, right)
        yield from ([run] if spanning else filter(None, sides))


def _is_table(band: Sequence[PdfPiece]) -> bool:
    """Return whether these are rows of cells, not a paragraph whose number stands apart."""
    first, *others = _cells(band)
    if len(others) == 1:
        return not all(PARAGRAPH_LABEL.fullmatch(piece.text) for piece in first)
    return bool(others)


def _aligned(run: Sequence[Sequence[PdfPiece]]) -> list[PageLine]:
    """Read rows of cells, which may be parted by room: then each is a row, however high."""
    bands = [[word for piece in band for word in piece.words] for band in run]
    lines = [line for band in bands for line in group_rows(band)]
    columns = Columns(white_edges(lines))
    fewest = MIN_ROW_LINES if len(run) >= MIN_ROWS_APART else 2
    rows = filled(
        [
            row
            for band, words in zip(run, bands, strict=True)
            for row in columns.rows(words, 99 if _is_wrapped(_cells(band)) else fewest)
        ]
    )
    if rows and len(rows[0]) > 1 and run_on(rows):
        return _side_by_side([piece for band in run for piece in band], columns)
    if is_table(apart(rows)[1]):
        return _table_lines(rows)
    texts = [
        "\t".join(_joined([[piece]]) for piece in row) for band in run for row in group_rows(band)
    ]
    return [PageLine(text, "\n" if index else "\n\n") for index, text in enumerate(texts)]


def _side_by_side(pieces: Sequence[PdfPiece], columns: Columns) -> list[PageLine]:
    """Read columns of prose one after the other."""
    parts: list[list[PdfPiece]] = [[] for _ in columns.edges[1:]]
    for piece in pieces:
        parts[columns.index(piece)].append(piece)
    return [line for part in parts for line in _paragraphs(split_bands(part))]


def _cells(band: Sequence[PdfPiece]) -> list[list[PdfPiece]]:
    """Group what is not parted by white space from the top of the band to its bottom."""
    cells = list[list[PdfPiece]]()
    right = 0.0
    for piece in sorted(band, key=lambda piece: piece.left):
        if cells and piece.left - right < MAX_WORD_GAP / 2 * piece.height:
            cells[-1].append(piece)
            right = max(right, piece.right)
        else:
            cells.append([piece])
            right = piece.right
    return cells


def _is_wrapped(cells: Sequence[Sequence[PdfPiece]]) -> bool:
    """Return whether this is one row with cells of several lines, not several rows."""
    longest = max(cells, key=len)
    left, right = min(piece.left for piece in longest), max(piece.right for piece in longest)
    width, filled = WRAPPED_CELL
    full = [piece for line in group_rows(longest)[:-1] for piece in line]
    return right - left > width * longest[0].height and all(
        piece.right - piece.left > filled * (right - left) for piece in full
    )


def _joined(lines: Sequence[Sequence[PdfPiece]]) -> str:
    text = " ".join(piece.text for line in lines for piece in line)
    return text.replace(f"{LINE_END_HYPHEN} ", "")


def _paragraphs(run: Iterable[Sequence[PdfPiece]]) -> list[PageLine]:
    return [line for band in run for line in _paragraph(group_rows(band))]


def _paragraph(lines: Sequence[Sequence[PdfPiece]]) -> list[PageLine]:
    """Return each line; one that is set in, after a line that is not full, opens a paragraph."""
    right = max(line[-1].right for line in lines)
    paragraph = list[PageLine]()
    for index, line in enumerate(lines):
        near = [lines[other][0].left for other in (index - 1, index + 1) if 0 <= other < len(lines)]
        is_set_in = all(left < line[0].left - line[0].height / 2 for left in near)
        follows_end = index > 0 and lines[index - 1][-1].right < right - line[0].height
        is_new = index == 0 or (is_set_in and follows_end)
        paragraph.append(PageLine(_joined([line]), "\n\n" if is_new else "\n"))
    return paragraph


PART_WORD = re.compile(r"\w+")
COMPOUND_WORD = re.compile(r"\b\w++(?:-\w+)+")
LAST_PART = re.compile(rf"(?<!\w)(\w*){LINE_END_HYPHEN}\Z")
FIRST_PART = re.compile(r"\w*")
LIGATURES = ("ffi", "fi", "ff", "fl", "ffl")
DAMAGED_WORD = re.compile(rf"\b\w+{UNKNOWN_LETTER}\w+")
MIN_PART_LETTERS = 3  # of a word that may be half of a compound


class OwnWords:
    """The words of a document, those apart that stand at a line's end and are not whole."""

    def __init__(self, lines: Sequence[PageLine]) -> None:
        texts = [line.text for line in lines]
        self.compounds = {word.lower() for text in texts for word in COMPOUND_WORD.findall(text)}
        self.words = {word.lower() for text in _whole(texts) for word in PART_WORD.findall(text)}
        self.sorted = sorted(self.words)
        self.heads = {word.split("-")[0] for word in self.compounds}

    def is_compound(self, first: str, second: str) -> bool:
        """Return whether a hyphen belongs between two halves, as in "chat-optimized".

        It does where the document writes it so elsewhere; else where both halves are words of it,
        or one is and the other opens compounds of it, and nothing in it begins with them joined.
        """
        if second[:1].isupper() or not second[:1].isalpha() or not first[-1:].isalpha():
            return True
        first, second = first.lower(), second.lower()
        if f"{first}-{second}" in self.compounds:
            return True
        if self._begins(first + second) or second not in self.words:
            return False
        is_known = first in self.words and len(first) >= MIN_PART_LETTERS
        return len(second) >= MIN_PART_LETTERS and (is_known or first in self.heads)

    def _begins(self, word: str) -> bool:
        """Return whether a word of the document is this one, or begins with it."""
        place = bisect_left(self.sorted, word)
        return place < len(self.sorted) and self.sorted[place].startswith(word)


def _whole(texts: Sequence[str]) -> Iterator[str]:
    """Yield lines without the words that go on in the next, or come from the one before."""
    is_parted = False
    for text in texts:
        yield LAST_PART.sub("", FIRST_PART.sub("", text, count=1) if is_parted else text)
        is_parted = text.endswith(LINE_END_HYPHEN)


def join_words(lines: Sequence[PageLine]) -> None:
    """Put together words that a line's end parts; what is written with a hyphen keeps it."""
    parted = [(line, below) for line, below in pairwise(lines) if LAST_PART.search(line.text)]
    if not parted:
        return
    own = OwnWords(lines)
    for line, below in parted:
        first, second = LAST_PART.search(line.text), FIRST_PART.match(below.text)
        keeps = own.is_compound(first[1] if first else "", second[0] if second else "")
        line.text = line.text[:-1] + ("-" if keeps else "")
        below.before = ""


def fill_ligatures(lines: Sequence[PageLine]) -> None:
    """Write out ligatures that the file does not explain, where it has the same word elsewhere."""
    if not any(UNKNOWN_LETTER in line.text for line in lines):
        return
    words = {word.lower() for line in lines for word in PART_WORD.findall(line.text)}

    def whole(damaged: re.Match[str]) -> str:
        tries = (damaged[0].replace(UNKNOWN_LETTER, ligature) for ligature in LIGATURES)
        return next((word for word in tries if word.lower() in words), damaged[0])

    for line in lines:
        line.text = DAMAGED_WORD.sub(whole, line.text)
