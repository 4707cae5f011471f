"""Rows of cells, as sheets and delimited files hold them, as tables with headers."""

import re
from collections.abc import Iterable, Iterator, Sequence

from lexichord.ingest.load.text import TextBuilder

NUMBER_CELL = re.compile(r"[-+(]?[\d.,\s]*\d[\d.,\s]*[%)]?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*")

MAX_EMPTY_COLUMNS = 10  # side by side: more are left out, a sheet may have thousands


def add_tables(built: TextBuilder, rows: Iterable[Sequence[str]], level: int) -> None:
    """Add each block of rows as a table, its place named by its rows; empty ones part blocks."""
    for first, block in _headed(_blocks(rows)):
        columns = _shown_columns(block)
        width = len(columns)
        cells = [[row[at] if at < len(row) else "" for at in columns] for row in block]
        last = first + len(block) - 1
        numbers = f"rows {first}–{last}" if last > first else f"row {first}"
        built.place(level, numbers)
        while len(cells) > 2 and width > 1 and sum(map(bool, map(str.strip, cells[0]))) == 1:
            built.paragraph(" ".join("".join(cells.pop(0)).split()))  # a title above the table
            first += 1
        if width == 1:
            built.lines("\n".join(" ".join(row[0].split()) for row in cells), first)
        else:
            built.markdown_table(cells, int(_has_header(cells)), first)


def _blocks(rows: Iterable[Sequence[str]]) -> Iterator[tuple[int, list[Sequence[str]]]]:
    """Yield each run of rows that are not empty, with the number of its first."""
    block: list[Sequence[str]] = []
    number = 0
    for number, row in enumerate(rows, 1):
        if any(cell.strip() for cell in row):
            block.append(row)
        elif block:
            yield number - len(block), block
            block = []
    if block:
        yield number + 1 - len(block), block


def _headed(
    blocks: Iterable[tuple[int, list[Sequence[str]]]],
) -> Iterator[tuple[int, list[Sequence[str]]]]:
    """Put a header that a blank row parts from its table to it."""
    waiting: tuple[int, list[Sequence[str]]] | None = None
    for first, block in blocks:
        if waiting and _is_header_of(waiting[1], block):
            yield first - 1, [*waiting[1], *block]
            waiting = None
            continue
        if waiting:
            yield waiting
        waiting = first, block
    if waiting:
        yield waiting


def _is_header_of(above: Sequence[Sequence[str]], block: Sequence[Sequence[str]]) -> bool:
    """Return whether one row of names stands above rows that have none, and fills their columns."""
    named = {place for place, cell in enumerate(above[0]) if cell.strip()}
    used = {place for row in block for place, cell in enumerate(row) if cell.strip()}
    is_alone = len(above) == 1 < min(len(named), len(block)) and used <= named
    names_columns = not any(NUMBER_CELL.fullmatch(cell.strip()) for cell in above[0])
    return is_alone and names_columns and not _has_header(block)


def _shown_columns(block: Iterable[Sequence[str]]) -> list[int]:
    """Return the columns of a block of rows, to the last that is used; without wide gaps."""
    used = sorted({place for row in block for place, cell in enumerate(row) if cell.strip()})
    columns, end = list[int](), 0
    for place in used:
        is_wide = place - end > MAX_EMPTY_COLUMNS
        columns += [place] if is_wide else range(end, place + 1)
        end = place + 1
    return columns


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names columns: more rows follow, and no cell is a number."""
    return len(rows) > 1 and not any(NUMBER_CELL.fullmatch(cell.strip()) for cell in rows[0])
