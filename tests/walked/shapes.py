"""What files are made of, drawn without words: paragraphs, lists, tables, code, pictures."""

from dataclasses import dataclass
from typing import Any, get_args

from hypothesis import strategies as st

from lexichord.ingest.load.marks import LoadOptions
from lexichord.types.query_options import Marking
from tests.walked.said import Said

type Area = tuple[int, int, int, int]  # top, left, and the first row and column behind it


@dataclass(frozen=True)
class Paragraph:
    """A paragraph, by the kinds of its pieces."""

    pieces: tuple[str, ...]


@dataclass(frozen=True)
class Heading:
    """A heading of a level, from 1 on."""

    level: int


@dataclass(frozen=True)
class Items:
    """A list; an item may hold another."""

    is_ordered: bool
    items: tuple["Items | None", ...]


@dataclass(frozen=True)
class Code:
    """Lines of code."""

    lines: int


@dataclass(frozen=True)
class Picture:
    """A picture that stands alone."""

    has_caption: bool


@dataclass(frozen=True)
class Aside:
    """A note, a section or a box that holds blocks of its own."""

    title: bool
    blocks: tuple["Block", ...]


@dataclass(frozen=True)
class Grid:
    """A table: its size, what is merged in it, and which rows and columns are hidden."""

    rows: int
    columns: int
    merged: tuple[Area, ...] = ()
    hidden_rows: frozenset[int] = frozenset()
    hidden_columns: frozenset[int] = frozenset()
    extras: tuple[str, ...] = ()  # pieces that stand in cells, besides a word

    def area(self, row: int, column: int) -> Area:
        """Return the cell that a place belongs to."""
        for top, left, bottom, right in self.merged:
            if top <= row < bottom and left <= column < right:
                return top, left, bottom, right
        return row, column, row + 1, column + 1

    def extra(self, area: Area) -> str:
        """Return the piece that stands in a cell besides its word; "" for one that is merged."""
        top, left, bottom, right = area
        is_one = bottom - top == right - left == 1 and top not in self.hidden_rows
        place = top * self.columns + left
        return self.extras[place] if is_one and place < len(self.extras) else ""

    def own(self, row: int) -> list[Area]:
        """Return the cells that begin in a row."""
        areas = dict.fromkeys(self.area(row, column) for column in range(self.columns))
        return [area for area in areas if area[0] == row]

    def stands(self, area: Area) -> int:
        """Return in how many rows a cell stands: the first, and those with cells of their own."""
        return 1 + sum(1 for row in range(area[0] + 1, area[2]) if self.own(row))


@dataclass(frozen=True)
class Directive:
    """A block of a language's own, by its name."""

    name: str


type Block = Paragraph | Heading | Items | Code | Picture | Aside | Grid | Directive


@st.composite
def grids(draw: st.DrawFn, hides: bool = False, merges: bool = True, extras: str = "") -> Grid:
    """Draw a table; what is merged downwards begins below the header."""
    rows, columns = draw(st.integers(2, 5)), draw(st.integers(2, 4))
    merged = list[Area]()
    for _ in range(draw(st.integers(0, 3)) if merges else 0):
        top, left = draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1))
        bottom = top + 1 if top == 0 else draw(st.integers(top + 1, rows))
        right = draw(st.integers(left + 1, columns))
        area = top, left, bottom, right
        if (bottom - top) * (right - left) > 1 and not any(_meets(area, one) for one in merged):
            merged.append(area)
    hidden_rows = draw(st.frozensets(st.integers(0, rows - 1), max_size=2)) if hides else ()
    hidden_columns = draw(st.frozensets(st.integers(0, columns - 1), max_size=2)) if hides else ()
    places = st.sampled_from(("", *extras.split()))
    drawn = tuple(draw(st.lists(places, max_size=rows * columns))) if extras else ()
    hidden = frozenset(hidden_rows), frozenset(hidden_columns)
    return Grid(rows, columns, tuple(merged), *hidden, drawn)


def _meets(one: Area, other: Area) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def lists(depth: int = 3) -> st.SearchStrategy[Items]:
    """Draw a list of lists."""
    inner: st.SearchStrategy[Items | None] = st.none()
    for _ in range(depth):
        items = st.lists(inner, min_size=1, max_size=3).map(tuple)
        inner = st.none() | st.builds(Items, st.booleans(), items)
    return st.builds(Items, st.booleans(), st.lists(inner, min_size=1, max_size=3).map(tuple))


def paragraphs(pieces: str) -> st.SearchStrategy[Paragraph]:
    """Draw a paragraph of pieces of these kinds; it begins with plain words."""
    kinds = st.lists(st.sampled_from(pieces.split()), max_size=5)
    return kinds.map(lambda drawn: Paragraph(("plain", *drawn)))


def blocks(pieces: str, *others: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Block]]:
    """Draw what a file holds."""
    return st.lists(st.one_of(paragraphs(pieces), *others), min_size=1, max_size=6)


HEADINGS = st.builds(Heading, st.integers(1, 4))
CODES = st.builds(Code, st.integers(1, 3))
PICTURES = st.builds(Picture, st.booleans())
MARKINGS = st.sampled_from(get_args(Marking))
OPTIONS = st.builds(
    lambda hidden, comments: LoadOptions(hidden=hidden, comments=comments), MARKINGS, MARKINGS
)


def directives(names: str) -> st.SearchStrategy[Directive]:
    """Draw a directive of these names."""
    return st.sampled_from(names.split()).map(Directive)


def asides(pieces: str, *others: st.SearchStrategy[Any]) -> st.SearchStrategy[Aside]:
    """Draw what holds blocks."""
    inner = st.lists(st.one_of(paragraphs(pieces), *others), min_size=1, max_size=3)
    return st.builds(Aside, st.booleans(), inner.map(tuple))


def words_of(grid: Grid, said: Said, in_order: bool = False) -> dict[Area, str]:
    """Return a word for each cell of a table of which nothing is hidden; note its rows."""
    words = {
        area: said.text(grid.stands(area), in_order=in_order and grid.stands(area) == 1)
        for row in range(grid.rows)
        for area in grid.own(row)
    }
    for row in range(grid.rows):
        if grid.own(row):
            said.row(row_words(grid, row, words))
    return words


def row_words(grid: Grid, row: int, words: dict[Area, str]) -> list[str]:
    """Return the words of a row, those that reach into it from above among them."""
    return [words[area] for area in dict.fromkeys(grid.area(row, c) for c in range(grid.columns))]
