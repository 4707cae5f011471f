"""Cells of tables in real PDFs stand in their row and column, by tables marked by hand."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lexichord.ingest.load import load
from lexichord.types import LoadedText
from tests.end_to_end.test_pdf_agreement import FILES, PDFS

MARKED = json.loads(Path(__file__).with_name("pdf_tables.json").read_text())
MIN_SHARE = 0.9  # of all cells, over all tables

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not PDFS, reason=f"no files in {FILES}")]


def cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def tables_of(loaded: LoadedText, page: int) -> Iterator[list[list[str]]]:
    """Yield the rows of the tables that begin on a page, without the lines below headers."""
    for table in loaded.tables:
        if bisect_right(loaded.pages, table.start) == page:
            rows = [cells(line) for line in loaded.text[table.start : table.end].split("\n")]
            yield [rows[0], *rows[2:]]


def plain(cell: str) -> str:
    """Leave out what a reader does not see: dot leaders, the kind and amount of white space."""
    return " ".join(re.sub(r"\.{4,}", "", cell).split())


def right_cells(wanted: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> int:
    """Count the cells that stand in a row with their neighbours, and in their column."""
    total = 0
    for row in wanted:
        total += max(
            (
                sum(
                    plain(cell) == plain(other) for cell, other in zip(row, candidate, strict=False)
                )
                for candidate in found
            ),
            default=0,
        )
    return total


def test_cells_of_real_tables_stand_in_their_row_and_column() -> None:
    files = {file.name: file for file in PDFS}
    loaded = {name: load(files[name]) for name in {table["file"] for table in MARKED}}
    right = {}
    for number, table in enumerate(MARKED):
        found = list(tables_of(loaded[table["file"]], table["page"]))
        best = max((right_cells(table["cells"], rows) for rows in found), default=0)
        right[number, table["file"]] = best, sum(map(len, table["cells"]))
    print(*(f"{name}: {share}" for name, share in right.items()), sep="\n")
    kept, amount = (sum(column) for column in zip(*right.values(), strict=True))
    assert kept >= MIN_SHARE * amount
