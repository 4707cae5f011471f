"""Rows of a table whose columns are known: which lines are its head, and which lines are one row.

A cell goes on in the next line where its next word did not fit into its column; rules and room
between rows tell more, where a table has them.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from lexichord.ingest.load.pdf.table_column_gaps import MAX_HEAD_LINES, Block, TextLine
from lexichord.ingest.load.pdf.tables import PDF_NUMBER, WIDE_ROOM, Cells, Columns, Rule, cell_text
from lexichord.ingest.load.pdf.words import PdfPiece, as_read

MIN_NUMBERS_SHARE = 0.6  # of a column's cells are numbers: its other texts are names
NO_NUMBER = re.compile(r"[^\W\d_]{2}")
NOTHING = re.compile(r"[\W_]*|n\.?\s?/?a\.?|nil|none", re.IGNORECASE)  # in a column of numbers
MAX_OVERLAP = 0.25  # of a line's height two lines share: they are of one row
MIN_RULE_SHARE = 0.6  # of a table's width
# Of a line's height: how much wider the room between rows is than within one, where it tells rows.
# Browsers round it to pixels: at .05 .998 of the cells of bench/pdf_tables.py are right, not 1.000.
MIN_ROOM_STEP = 0.12
MAX_ODD_ROWS_SHARE = 0.2  # of what room or rules hold together may look like several rows
MIN_WRAPPED_CHARS = 20  # of a line of a cell, where both cells of a row go on below
MIN_SPACE = 0.2  # of a line's height, between two words of a cell
SIGNS_BEFORE, SIGNS_AFTER = {"$", "€", "£", "¥", "("}, {"%", ")", "%)"}  # of numbers
MIN_COLUMN_CELLS, MIN_COLUMN_SHARE = 2, 0.1  # lines that fill a column, at least
MAX_UNBROKEN_SHARE = 0.3  # of the cells that go on below had room for one more word
# Of a line of a cell: others of its column may be wrapped, where only words tell, and where room
# or rules say so.
LONG_CELL_CHARS, MIN_CELL_CHARS = 12, 10


@dataclass(slots=True)
class CellLine:
    """A line of a table, its words by column."""

    cells: list[list[PdfPiece]]
    texts: list[str]
    top: float
    bottom: float
    height: float
    crosses: bool  # columns with some of its words

    @property
    def filled(self) -> int:
        """Count the cells that hold something."""
        return sum(map(bool, self.texts))


def well_filled(
    lines: Sequence[TextLine], block: Block, columns_known: bool = False
) -> tuple[Block, list[CellLine]]:
    """Part a block's lines at its columns' edges, but for columns that hardly a line fills.

    Such a word is part of the cell beside it, from which it stands apart by chance, unless it is
    known what columns there are.
    """
    own, columns, edges = lines[block.start : block.end], Columns(block.edges), [*block.edges]
    cells = [
        columns.cells(as_read(line.words)) if index in block.crossing else _cells(line, columns)
        for index, line in enumerate(own, block.start)
    ]
    wide = 0.0 if columns_known else WIDE_ROOM * own[0].height
    while len(edges) > 3 and (edge := _sign_edge(cells) or _poor_edge(cells, wide)):
        del edges[edge]
        for parted in cells:
            parted[edge - 1 : edge + 1] = [[*parted[edge - 1], *parted[edge]]]
    made = [
        CellLine(
            parted,
            [_line_text(cell) for cell in parted],
            *(line.top, line.bottom, line.height, index in block.crossing),
        )
        for index, (line, parted) in enumerate(zip(own, cells, strict=True), block.start)
    ]
    return replace(block, edges=tuple(edges)), made


def _cells(line: TextLine, columns: Columns) -> list[list[PdfPiece]]:
    cells: list[list[PdfPiece]] = [[] for _ in columns.edges[1:]]
    for word in line.words:
        cells[columns.index(word)].append(word)
    return cells


def _line_text(words: Sequence[PdfPiece]) -> str:
    """Return the words of one line as they are read; `cell_text` does it for several lines."""
    return cell_text(words) if len(words) > 1 else words[0].text if words else ""


type Parted = list[list[list[PdfPiece]]]  # words by line and column


def _sign_edge(cells: Parted) -> int:
    """Return the edge between a column of signs and the numbers that they belong to, or 0."""
    for column, lines in enumerate(zip(*cells, strict=True)):
        signs = {word.text for words in lines for word in words}
        if signs and signs <= SIGNS_BEFORE and column + 1 < len(cells[0]):
            return column + 1
        if signs and signs <= SIGNS_AFTER and column:
            return column
    return 0


def _poor_edge(cells: Parted, wide: float) -> int:
    """Return the edge between a column that hardly a line fills and the words nearest to it, or 0.

    `wide` is the room that tells even one word apart.
    """
    fewest = max(MIN_COLUMN_CELLS, MIN_COLUMN_SHARE * len(cells))
    columns = list(zip(*cells, strict=True))
    is_above = sum(map(bool, cells[0])) < sum(map(bool, cells[1]))  # names over several columns
    for column, words in enumerate(columns):
        if sum(map(bool, words)) >= fewest:
            continue
        edges = (edge for edge in (column, column + 1) if 0 < edge < len(columns))
        room, edge = min((_room(cells, edge), edge) for edge in edges)
        if room < wide or (is_above and not any(words[1:])):
            return edge
    return 0


def _room(cells: Parted, edge: int) -> float:
    """Return the least room between words on both sides of an edge in one line."""
    sides = [(parted[edge - 1], parted[edge]) for parted in cells]
    rooms = (
        right[0].left - max(word.right for word in left) for left, right in sides if left and right
    )
    return min(rooms, default=math.inf)


def is_number(text: str) -> bool:
    """Return whether a cell holds a number, or what stands for none."""
    return PDF_NUMBER.fullmatch(text) is not None or NOTHING.fullmatch(text) is not None


def numeric_columns(lines: Sequence[CellLine]) -> set[int]:
    """Return the columns of numbers, whatever their head is."""
    found = set[int]()
    for column in range(len(lines[0].texts)):
        texts = [line.texts[column] for line in lines[1:] if line.texts[column]]
        numbers = sum(PDF_NUMBER.fullmatch(text) is not None for text in texts)
        if numbers and numbers >= MIN_NUMBERS_SHARE * len(texts):
            found.add(column)
    return found


def count_head_lines(
    lines: Sequence[CellLine], numeric: set[int], rules: Sequence[float], has_names: bool
) -> int:
    """Count the lines of the head: above the first rule, or with names in columns of numbers.

    There are none where other lines hold the names and the first holds numbers.
    """
    if has_names and is_of_numbers(lines[0], numeric):
        return 0
    most = min(MAX_HEAD_LINES, len(lines) - 1)
    for rule in rules:
        above = sum((line.top + line.bottom) / 2 < rule for line in lines[: most + 1])
        if above == 1:
            return 1
        is_below = rules[0] < lines[0].top + lines[0].height / 2  # another
        is_head = 1 < above <= most and is_below
        if is_head and not any(_is_full(line) for line in lines[1:above]):
            return 1 if any(is_of_numbers(line, numeric) for line in lines[:above]) else above
    amount = 1
    while amount < most and _names_numbers(lines[amount], numeric):
        amount += 1
    return amount


def _is_full(line: CellLine) -> bool:
    return line.filled == len(line.texts)


def is_of_numbers(line: CellLine, numeric: set[int]) -> bool:
    """Return whether a line holds numbers in most of the columns of numbers."""
    numbers = sum(PDF_NUMBER.fullmatch(line.texts[column]) is not None for column in numeric)
    return 2 * numbers > len(numeric) > 0


def _names_numbers(line: CellLine, numeric: set[int]) -> bool:
    texts = [line.texts[column] for column in numeric if column]
    return any(NO_NUMBER.search(text) and not is_number(text) for text in texts)


def inner_rules(
    lines: Sequence[CellLine], rules: Sequence[Rule], edges: Sequence[float]
) -> list[float]:
    """Return the heights of rules through most of a table, between its lines or above them."""
    wide = MIN_RULE_SHARE * (edges[-1] - edges[0])
    return sorted(
        {
            rule.place
            for rule in rules
            if lines[0].top - lines[0].height < rule.place < lines[-1].top + lines[-1].height / 2
            and min(rule.end, edges[-1]) - max(rule.start, edges[0]) >= wide
        }
    )


def body_rows(lines: Sequence[CellLine], numeric: set[int], rules: Sequence[float]) -> Cells:
    """Return the rows that lines are, below the head."""
    if not lines:
        return []
    groups = _by_overlap(lines, numeric)
    for cuts in (_at_rules(groups, rules), _at_room(groups)):
        joined = _joined(groups, cuts)
        if cuts and len(joined) < len(groups) and _are_rows(joined, numeric, lines, MIN_CELL_CHARS):
            return [_row(group) for group in joined]
    return [_row(group) for group in _by_words(groups, numeric)]


type Group = list[CellLine]


def _by_overlap(lines: Sequence[CellLine], numeric: set[int]) -> list[Group]:
    """Put together lines that stand beside each other, as cells in the middle of a row do.

    What stands between two rows of numbers is said of both.
    """
    groups = [[lines[0]]]
    for above, line in pairwise(lines):
        if line.top - above.bottom >= -MAX_OVERLAP * min(line.height, above.height):
            groups.append([line])
        elif _is_row_below([*groups[-1], line], len(groups[-1]), numeric):
            if above.filled == 1 and len(groups[-1]) > 1:
                label = groups[-1].pop()
                if not (_take_in(groups[-1][0], label) and _take_in(line, label)):
                    groups.append([label])
            groups.append([line])
        else:
            groups[-1].append(line)
    return groups


def _take_in(row: CellLine, label: CellLine) -> bool:
    """Put a cell that spans rows into one of them, where its place is free."""
    column = next(index for index, text in enumerate(label.texts) if text)
    if row.texts[column]:
        return False
    row.cells[column], row.texts[column] = label.cells[column], label.texts[column]
    return True


def _joined(groups: Sequence[Group], cuts: Sequence[int]) -> list[Group]:
    """Put together what no cut parts; a cut is the place of the group that it stands before."""
    starts = [0, *cuts, len(groups)]
    return [
        [line for group in groups[start:end] for line in group]
        for start, end in pairwise(starts)
        if end > start
    ]


def _at_rules(groups: Sequence[Group], rules: Sequence[float]) -> list[int]:
    cuts = list[int]()
    for index, (above, below) in enumerate(pairwise(groups), 1):
        start, end = (above[-1].top + above[-1].bottom) / 2, (below[0].top + below[0].bottom) / 2
        if any(start < rule < end for rule in rules):
            cuts.append(index)
    return cuts


def _at_room(groups: Sequence[Group]) -> list[int]:
    """Return where there is clearly more room than between the lines of one cell."""
    room = [below[0].top - max(line.bottom for line in above) for above, below in pairwise(groups)]
    if len(room) < 2:
        return []
    height = median(line.height for group in groups for line in group)
    ordered = sorted(room)
    step, place = max((b - a, -i) for i, (a, b) in enumerate(pairwise(ordered)))
    if step < MIN_ROOM_STEP * height:
        return []
    return [index for index, each in enumerate(room, 1) if each > ordered[-place] + step / 2]


def _are_rows(
    groups: Sequence[Group], numeric: set[int], lines: Sequence[CellLine], least: int
) -> bool:
    """Return whether the lines of each group can be one row.

    In none stands a number above another, and words are below others that had no room for them, in
    columns of which a line has `least` characters.
    """
    several = [group for group in groups if len(group) > 1]
    odd = sum(
        any(_is_row_below(group, n, numeric) for n in range(1, len(group))) for group in several
    )
    if odd > MAX_ODD_ROWS_SHARE * len(several):
        return False
    widths, long = _widths(lines), _long_columns(lines, least)
    broken = [
        c in long and _had_no_room(above, line.cells[c][0], widths[c])
        for group in several
        for n, line in enumerate(group)
        for c, text in enumerate(line.texts)
        if text and (above := _last_words(group[:n], c))
    ]
    return sum(broken) >= (1 - MAX_UNBROKEN_SHARE) * len(broken)


def _widths(lines: Sequence[CellLine]) -> list[float]:
    """Return how wide the widest line of each column's cells is."""
    return [
        max(
            (
                max(w.right for w in line.cells[c]) - line.cells[c][0].left
                for line in lines
                if line.cells[c]
            ),
            default=0.0,
        )
        for c in range(len(lines[0].texts))
    ]


def _is_row_below(group: Group, index: int, numeric: set[int]) -> bool:
    """Return whether a line can be no part of the row above it."""
    line, above = group[index], group[:index]
    if any(line.texts[c] and any(other.texts[c] for other in above) for c in numeric):
        return True
    long = any(len(text) >= MIN_WRAPPED_CHARS for text in above[-1].texts)
    is_second = _is_full(line) and any(_is_full(other) for other in above)
    return is_second and not (long and line.filled == 2)


def _by_words(groups: Sequence[Group], numeric: set[int]) -> list[Group]:
    """Join lines that go on with what did not fit into a column."""
    lines = [line for group in groups for line in group]
    widths, long = _widths(lines), _long_columns(lines, LONG_CELL_CHARS)
    if not groups[0][0].texts[0]:
        rows = _at_foot(groups)
        if _are_rows(rows, numeric, lines, LONG_CELL_CHARS):
            return rows
    rows = [list(groups[0])]
    for group in groups[1:]:
        whole = [*rows[-1], *group]
        is_second = any(_is_row_below(whole, n, numeric) for n in range(len(rows[-1]), len(whole)))
        if not is_second and _goes_on(rows[-1], group[0], widths, long - numeric):
            rows[-1] = whole
        else:
            rows.append(list(group))
    return rows


def _at_foot(groups: Sequence[Group]) -> list[Group]:
    """Join lines with the one below that has a first cell: all cells stand at their row's foot."""
    rows, waiting = list[Group](), list[CellLine]()
    for group in groups:
        waiting += group
        if group[0].texts[0]:
            rows.append(waiting)
            waiting = []
    return [*rows, waiting] if waiting else rows


def _long_columns(lines: Sequence[CellLine], least: int) -> set[int]:
    """Return the columns with texts so long that they may be wrapped."""
    columns = range(len(lines[0].texts))
    return {c for c in columns if any(len(line.texts[c]) >= least for line in lines)}


def _goes_on(row: Group, line: CellLine, widths: Sequence[float], long: set[int]) -> bool:
    """Return whether each cell of a line follows one of the row that had no room for its word."""
    filled = [c for c, text in enumerate(line.texts) if text]
    if line.crosses or row[-1].crosses:
        return False
    if line.texts[0] and not all(line.texts[c][0].islower() for c in filled):
        return _opens_below(row, line, widths, long)  # else more often a row of its own, or a title
    if not filled or any(c not in long for c in filled):
        return _opens_below(row, line, widths, long)
    return len(filled) < len(line.texts) and all(
        (words := _last_words(row, c)) and _had_no_room(words, line.cells[c][0], widths[c])
        for c in filled
    )


def _opens_below(row: Group, line: CellLine, widths: Sequence[float], long: set[int]) -> bool:
    """Return whether a row's first cell alone stands above the line that holds the others."""
    is_alone = all(each.filled == 1 and NO_NUMBER.search(each.texts[0]) for each in row)
    if not is_alone or 0 not in long or not line.texts[0] or line.filled == 1:
        return False
    return _had_no_room(row[-1].cells[0], line.cells[0][0], widths[0])


def _last_words(row: Group, column: int) -> list[PdfPiece]:
    return next((line.cells[column] for line in row[::-1] if line.cells[column]), [])


def _had_no_room(words: Sequence[PdfPiece], following: PdfPiece, width: float) -> bool:
    used = max(word.right for word in words) - min(word.left for word in words)
    space = MIN_SPACE * following.height
    return used + space + following.right - following.left > width


def _row(group: Group) -> list[str]:
    return [
        cell_text([word for line in group for word in line.cells[column]])
        for column in range(len(group[0].texts))
    ]
