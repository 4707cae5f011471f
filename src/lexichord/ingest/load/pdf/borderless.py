"""Tables without lines between their columns, told from other text; the heads of their columns."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from lexichord.ingest.load.pdf.cells import (
    MIN_ROOM_STEP,
    CellLine,
    body_rows,
    count_head_lines,
    inner_rules,
    is_of_numbers,
    numeric_columns,
    well_filled,
)
from lexichord.ingest.load.pdf.table_column_gaps import (
    MAX_HEAD_LINES,
    MIN_STRIPE,
    Block,
    TextLine,
    next_blocks,
    text_lines,
)
from lexichord.ingest.load.pdf.tables import (
    NARROW_ROOM,
    PDF_NUMBER,
    TOUCH,
    WIDE_ROOM,
    Cells,
    Rule,
    cell_text,
    is_table,
    run_on,
)
from lexichord.ingest.load.pdf.words import PdfPiece

MAX_CHANCE_LINES = 8  # that white space parts once by chance
# Of a table; of one whose columns stand close; of one whose columns mostly hold no numbers.
MIN_LINES, MIN_NARROW_LINES, MIN_WORDS_LINES = 3, 5, 5
MIN_ROWS_OF_CELLS_SHARE = 0.6  # of the rows have two cells or more
MAX_LEADERS_SHARE = 0.3  # of the lines have dots or underscores to a number, or to write on
LEADER = re.compile(r"\.{4,}|(?:\. ){3,}|_{4,}|…{2,}")
LABEL = re.compile(
    r"\W{0,3}(?:\d+(?:\.\d+)*|[a-z]|[ivxlc]+|)\W{0,3}|\[[^\]]{1,16}\]", re.IGNORECASE
)
KEY = re.compile(r"^[\w ]+:(?:\s|$)")
MAX_KEYS_SHARE = 0.25  # of a table's cells are a name with its colon: more is a form
SIGN = re.compile(r"[=<>≤≥≈≠:+\u2212–→←⇒|]{1,2}")  # a column of them parts the sides of formulas
MAX_LABEL_CHARS, MIN_SENTENCE_CHARS = 4, 20  # of several labels before one text
MIN_KEYS_SHARE = 0.6  # of first cells end with a colon: a list of what is said of one thing
MAX_CONTENTS_COLUMNS = 3  # a chapter's number, its title and its page
# Of the cells of words that stand close: alone, and beside columns of numbers.
MIN_FILLED_SHARE, MIN_FILLED_BESIDE_NUMBERS = 0.6, 0.4
PAIR_ROOM = 0.8  # of a line's height, between two columns of words
MAX_PAIR_CHARS = 40  # of a line of one of the two: longer ones are columns of a page
MIN_PAIR_SHARE = 0.25  # of the lines fill each of them: else one is a note at the side
MIN_GOING_ON_CHARS = 20  # of a line that goes on with a sentence
MAX_APART_SHARE = 0.5  # of such lines other cells hold something new: columns of a page
LINES_A_SWITCH = 8  # of drawing from one column to another: rows switch in each line
MIN_PROSE_CHARS, MIN_RUN_ON_SHARE = 32, 0.35  # of a line; of lines begin with a small letter
CODE = re.compile(r"[=(){};]")
MIN_CODE_SHARE = 0.4  # of lines in a typewriter's letters


@dataclass(frozen=True, slots=True)
class Unruled:
    """Lines from `start`, `end` excluded: a table, columns one after the other, or plain lines."""

    start: int
    end: int
    kind: Literal["table", "columns", "plain"]
    rows: Cells
    edges: Sequence[float]


@dataclass(frozen=True, slots=True)
class Known:
    """What tells a page's tables besides its words: rules from left to right, and heads.

    `heads` are those of the document's tables so far, with the amount of their columns.
    """

    rules: Sequence[Rule] = ()
    heads: dict[str, int] = field(default_factory=dict)


def find_unruled(lines: Sequence[Sequence[PdfPiece]], known: Known) -> Iterator[Unruled]:
    """Yield the lines, top to bottom, that are parted and known for what they are."""
    texts = text_lines(lines)
    start = taken = 0
    while blocks := next_blocks(texts, start):
        block = _telling_most(texts, blocks)
        if found := _found(texts, block, taken, known):
            start = taken = found.end
            yield found
        else:  # prose above a table, parted by chance, may have taken its first lines
            is_short = MIN_LINES <= block.end - block.start <= MAX_CHANCE_LINES
            is_chance = is_short and len(well_filled(texts, block)[0].edges) == 3
            start = block.start + 1 if is_chance else block.end


def _telling_most(texts: Sequence[TextLine], blocks: Sequence[Block]) -> Block:
    """Return the first block, or a later one with more columns that more than a line fills."""
    best, *others = blocks
    for other in others:
        one, more = (len(well_filled(texts, block)[0].edges) for block in (best, other))
        best = other if more > one else best
    return best


def _found(texts: Sequence[TextLine], block: Block, taken: int, known: Known) -> Unruled | None:
    """Return what a block is; None where nothing is sure. `taken` lines are others' already."""
    head = " ".join(word.text for word in texts[block.start].words)
    is_repeated = known.heads.get(head) == len(block.edges) - 1
    if block.end - block.start < MIN_LINES and not is_repeated:
        return None
    block, parted = well_filled(texts, block, is_repeated)
    parted = _without_text_below(parted)
    end, numeric = block.start + len(parted), numeric_columns(parted)
    kind = "table" if is_repeated else _kind(parted, texts, block, numeric)
    if kind != "table":
        return Unruled(block.start, end, kind, [], block.edges) if kind else None
    opens = is_of_numbers(parted[0], numeric)
    above = count_lines_above(texts, block, taken, opens)
    rows = _rows(texts, block, parted, numeric, above, known.rules)
    if not (is_repeated or _are_rows(rows)):
        return None
    known.heads[head] = len(block.edges) - 1
    return Unruled(block.start - above, end, kind, rows, block.edges)


def _without_text_below(parted: list[CellLine]) -> list[CellLine]:
    """Leave out short lines below a table, from which more room parts them than its rows."""
    room = [below.top - above.bottom for above, below in pairwise(parted)]
    end = len(parted)
    while end > 2 and parted[end - 1].filled == 1 and parted[end - 1].texts[0]:
        if (
            room[end - 2]
            < max(room[: end - 2], default=0.0) + MIN_ROOM_STEP * parted[end - 1].height
        ):
            break
        end -= 1
    return parted[:end]


def _rows(
    texts: Sequence[TextLine],
    block: Block,
    parted: Sequence[CellLine],
    numeric: set[int],
    above: int,
    rules: Sequence[Rule],
) -> Cells:
    """Return the rows of a table, its head the first."""
    drawn = inner_rules(parted, rules, block.edges)
    amount = count_head_lines(parted, numeric, drawn, above > 0)
    extents = [
        (
            min((w.left for line in parted for w in line.cells[c]), default=block.edges[c]),
            max((w.right for line in parted for w in line.cells[c]), default=block.edges[c + 1]),
        )
        for c in range(len(block.edges) - 1)
    ]
    head = named_columns(texts[block.start - above : block.start], parted[:amount], extents)
    return [head, *body_rows(parted[amount:], numeric, drawn)]


def _are_rows(rows: Cells) -> bool:
    parted = sum(sum(map(bool, row)) > 1 for row in rows)
    return is_table(rows) and parted >= MIN_ROWS_OF_CELLS_SHARE * len(rows)


def _kind(
    parted: Sequence[CellLine], texts: Sequence[TextLine], block: Block, numeric: set[int]
) -> Literal["table", "columns", "plain"] | None:
    """Return what a block is; None where nothing is sure."""
    height, cells = texts[block.start].height, [line.texts for line in parted]
    is_close = block.room < WIDE_ROOM * height
    if len(parted) < MIN_LINES or _is_labelled(cells):
        return None
    if _is_list(cells):
        return "plain"
    has_values = bool(numeric - {0}) and _are_short(cells)  # which programs draw by columns, too
    if not has_values and 2 * len(numeric) < len(cells[0]) and _are_drawn_apart(parted):
        are_columns = all(
            sum(map(bool, column)) >= MIN_LINES for column in zip(*cells, strict=True)
        )
        return "columns" if are_columns and not is_close else None
    if _is_other_text(cells) or _is_code(texts[block.start : block.end], cells) or run_on(cells):
        return None
    if _run_apart(cells) or (len(cells[0]) == 2 and _least_share(cells) < MIN_PAIR_SHARE):
        return None
    fewest = MIN_NARROW_LINES if block.room < NARROW_ROOM * height else MIN_LINES
    if 2 * len(numeric - {0}) < len(cells[0]) - 1:  # words stand so by chance, or in a form
        fewest = MIN_WORDS_LINES
        if not _are_words_parted(cells, block.room / height, bool(numeric - {0})):
            return None
    return None if len(parted) < fewest else "table"


def _are_words_parted(cells: Cells, room: float, has_numbers: bool) -> bool:
    """Return whether cells, mostly words, are a table's; `room` is of a line's height."""
    if len(cells[0]) > 2:
        least = MIN_FILLED_BESIDE_NUMBERS if has_numbers else MIN_FILLED_SHARE
        return room >= WIDE_ROOM or _filled_share(cells) >= least
    is_short = any(
        sum(map(len, column)) < MAX_PAIR_CHARS * sum(map(bool, column))
        for column in zip(*cells, strict=True)
    )
    return is_short and room >= PAIR_ROOM


def _are_short(cells: Cells) -> bool:
    """Return whether no cell is as long as a line of sentences."""
    return all(len(text) < MIN_PROSE_CHARS for row in cells for text in row)


def _run_apart(cells: Cells) -> bool:
    """Return whether sentences go on in a line's first cell while others begin something new."""
    filled = [list(filter(None, row)) for row in cells]
    going_on = [row for row in filled if _goes_on(row[0])]
    apart = sum(any(not text[0].islower() for text in row) for row in going_on)
    return len(going_on) >= MIN_LINES and apart > MAX_APART_SHARE * len(going_on)


def _goes_on(text: str) -> bool:
    return text[:1].islower() and len(text) >= MIN_GOING_ON_CHARS


def _filled_share(cells: Cells) -> float:
    """Return the share of cells that lines of several fill; others go on with one cell."""
    amounts = [amount for row in cells if (amount := sum(map(bool, row))) > 1]
    return sum(amounts) / max(len(amounts), 1) / len(cells[0])


def _least_share(cells: Cells) -> float:
    """Return the share of lines that fill the emptiest column."""
    return min(sum(map(bool, column)) for column in zip(*cells, strict=True)) / len(cells)


def _is_labelled(cells: Cells) -> bool:
    """Return whether lines are of sentences beside their numbers, or who says them."""
    labels = [text for row in cells[1:] for text in row[:-1] if text]
    if len(cells[0]) == 2:
        return all(map(LABEL.fullmatch, labels)) or _is_prose(cells)
    texts = [row[-1] for row in cells if row[-1]]
    are_sentences = sum(map(len, texts)) >= MIN_SENTENCE_CHARS * len(texts)
    return are_sentences and all(len(label) <= MAX_LABEL_CHARS for label in labels)


def _is_list(cells: Cells) -> bool:
    """Return whether lines are names and what is said of one thing, or titles and their pages."""
    firsts = [row[0] for row in cells if row[0]]
    if len(cells[0]) == 2 and (
        sum(first.endswith(":") for first in firsts) >= MIN_KEYS_SHARE * len(firsts)
    ):
        return True
    return len(cells[0]) <= MAX_CONTENTS_COLUMNS and _are_page_numbers([row[-1] for row in cells])


def _is_other_text(cells: Cells) -> bool:
    """Return whether lines are of contents, forms or formulas."""
    texts = [text for row in cells for text in row if text]
    leaders = sum(LEADER.search(" ".join(row)) is not None for row in cells)
    keys = sum(KEY.search(text) is not None for text in texts)
    return (
        leaders > MAX_LEADERS_SHARE * len(cells)
        or keys > MAX_KEYS_SHARE * len(texts)
        or any(
            all(SIGN.fullmatch(text) for text in column if text)
            for column in zip(*cells, strict=True)
        )
    )


def _are_page_numbers(texts: Sequence[str]) -> bool:
    """Return whether all are whole numbers, none less than one before: where chapters begin."""
    numbers = ["".join(text.split()) for text in texts if text]  # pdfium may part figures
    if not all(map(str.isdecimal, numbers)):
        return False
    return all(int(one) <= int(other) for one, other in pairwise(numbers))


def _is_prose(cells: Cells) -> bool:
    """Return whether the second cells are lines of sentences, beside a label or a speaker."""
    texts = [row[1] for row in cells if row[1]]
    run_on_lines = sum(text[:1].islower() for text in texts)
    long = sum(len(text) >= MIN_PROSE_CHARS for text in texts)
    return run_on_lines >= MIN_RUN_ON_SHARE * len(texts) and 2 * long > len(texts)


def _is_code(texts: Sequence[TextLine], cells: Cells) -> bool:
    if 2 * sum(line.is_typed for line in texts) < len(texts):
        return False
    marked = sum(CODE.search(" ".join(row)) is not None for row in cells)
    return marked >= MIN_CODE_SHARE * len(cells)


def _are_drawn_apart(parted: Sequence[CellLine]) -> bool:
    """Return whether columns are drawn one after the other, where a table's rows are."""
    order = sorted(
        (cell[0].place, column) for line in parted for column, cell in enumerate(line.cells) if cell
    )
    switches = sum(one != other for (_, one), (_, other) in pairwise(order))
    others = len(parted[0].cells) - 1
    return len(parted) > 2 and switches <= others * max(1, len(parted) / LINES_A_SWITCH)


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
