"""The tables of an RTF file: what is merged in them, which the library does not tell.

Signs are put into the source where rows begin and end, and where cells end. They stay in what the
library makes of it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lexichord.ingest.load.rtf_parts import TOKEN
from lexichord.ingest.load.spans import SpanningCell, even_rows, filled_rows

START, CELL_END, ROW_END = "\x0e", "\x0f", "\x10"
TABLE_SIGNS = dict.fromkeys(range(0x0E, 0x11), "?")
SIGNED_ROW = re.compile(
    f"{START}(?P<cells>[^{START}{ROW_END}]*){ROW_END}(?P<number>\\d+){ROW_END}[ \t]*\n?"
)
ROW_SIGNS = f"{START}|{CELL_END}|{ROW_END}\\d+{ROW_END}"
LEFT_SIGNS = re.compile(ROW_SIGNS)  # of rows that are none
NEAR_EDGES = 60  # twips, a millimetre: edges of rows that are as far apart are one

type CellTexts = tuple[int, list[str]]  # the number of a row's layout, and its cells' texts


@dataclass(slots=True)
class RowLayout:
    """The right edges of a row's cells, and which go on with the one before or above."""

    edges: list[int] = field(default_factory=list)
    beside: list[bool] = field(default_factory=list)
    above: list[bool] = field(default_factory=list)


def sign_rows(source: str) -> tuple[str, list[RowLayout]]:
    """Return a source with signs in its tables, and the layouts that these number."""
    if "\\trowd" not in source:
        return source, []
    signer = _Signer(source.translate(TABLE_SIGNS))
    return "".join(signer.signed()), signer.layouts


class _Signer:
    """Goes through a source once; a layout holds until the next one."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._layout, self._words = RowLayout(), set[str]()
        self._is_in_row = False
        self.layouts = list[RowLayout]()

    def signed(self) -> Iterator[str]:
        place = 0
        for token in TOKEN.finditer(self._source):
            sign = self._sign(token["word"] or "", token["number"])
            if sign:
                yield f"{self._source[place : token.start()]}{{}}{sign}"
                place = token.end() + self._source.startswith(" ", token.end())
        yield self._source[place:]

    def _sign(self, word: str, number: str | None) -> str:
        """Take a control word in; return what stands in its place, if anything else does."""
        if word == "trowd":
            self._layout, self._words = RowLayout(), set()
        elif word in ("clmrg", "clvmrg"):
            self._words.add(word)
        elif word == "cellx":
            self._layout.edges.append(int(number or 0))
            self._layout.beside.append("clmrg" in self._words)
            self._layout.above.append("clvmrg" in self._words)
            self._words.clear()
        if word in ("trowd", "intbl") and not self._is_in_row:
            self._is_in_row = True
            return START
        if word in ("cell", "nestcell", "nestrow"):
            return CELL_END if word == "cell" else " "
        if word == "row":
            self._is_in_row = False
            self.layouts.append(self._layout)
            return f"{ROW_END}{len(self.layouts) - 1}{ROW_END}\n"
        return ""


def part_tables(text: str) -> Iterator[tuple[str, list[CellTexts]]]:
    """Yield what stands before each table with its rows; what follows the last with none."""
    place, before, rows = 0, "", list[CellTexts]()
    for match in SIGNED_ROW.finditer(text):
        between = text[place : match.start()]
        if between.strip() and rows:
            yield LEFT_SIGNS.sub(" ", before), rows
            before, rows = "", []
        before += between
        cells = match["cells"].split(CELL_END)
        rows.append((int(match["number"]), cells if cells[-1].strip() else cells[:-1]))
        place = match.end()
    yield LEFT_SIGNS.sub(" ", before), rows
    yield LEFT_SIGNS.sub(" ", text[place:]), []


@dataclass(slots=True)
class _Cell:
    text: str
    columns: int
    rows: int = 1


def table_rows(rows: Sequence[CellTexts], layouts: Sequence[RowLayout]) -> list[list[str]]:
    """Return the texts of a table's rows, what is merged in each that it covers."""
    columns = _columns({edge for number, _ in rows for edge in layouts[number].edges})
    above = dict[int, _Cell]()
    grid = [_row(layouts[number], texts, columns, above) for number, texts in rows]
    spanning = ([SpanningCell(cell.text, cell.rows, cell.columns) for cell in row] for row in grid)
    return even_rows(filled_rows(spanning, 1))


def _columns(edges: set[int]) -> dict[int, int]:
    """Return the number of the column that ends at each edge, counted from 1."""
    columns, number, last = dict[int, int](), 0, -NEAR_EDGES
    for edge in sorted(edges):
        number, last = (number, last) if edge - last < NEAR_EDGES else (number + 1, edge)
        columns[edge] = number
    return columns


def _row(
    layout: RowLayout, texts: Sequence[str], columns: dict[int, int], above: dict[int, _Cell]
) -> list[_Cell]:
    """Return a row's own cells; those that go on from `above`, by their first column, grow."""
    row, left = list[_Cell](), 0
    last: _Cell | None = None
    for at, text in enumerate(texts):
        is_laid = at < len(layout.edges)
        right = max(columns[layout.edges[at]] if is_laid else 0, left + 1)
        if last and is_laid and layout.beside[at]:
            last.columns += right - left if row and last is row[-1] else 0
        elif is_laid and layout.above[at] and left in above:
            last = above[left]
            last.rows += 1
        else:
            last = above[left] = _Cell("", right - left)
            row.append(last)
        last.text = f"{last.text} {text}".strip()
        left = right
    return row
