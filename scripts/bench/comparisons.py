"""Comparisons asked of a whole corpus: rows, columns and cells that are right, by kind.

python scripts/bench/comparisons.py tests/everyday/tables/chosen.jsonl [--wrong]

The database that LEXICHORD_DSN names holds the documents that data/everyday.py laid out. Rows and
columns count where they are exactly those expected, whatever small words a column begins with;
a cell where a quote of it holds the value, or where nothing was to be found and none is quoted.
"""

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from lexichord import SyncLexichord
from lexichord.evaluate.metrics import fold
from lexichord.types.evidence import Cell, Comparison

SMALL_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
        "of",
        "for",
        "in",
        "on",
        "to",
        "by",
        "they",
        "their",
        "what",
        "which",
        "who",
        "how",
        "when",
        "many",
        "much",
        "long",
    ]
)


class Judged(NamedTuple):
    """Of one table whether its rows and columns are right, and each cell."""

    kind: str
    rows: bool
    columns: bool
    cells: list[bool]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--wrong", action="store_true", help="show what is wrong")
    arguments = parser.parse_args()
    lines = arguments.questions.read_text(encoding="utf-8").splitlines()
    with SyncLexichord() as lexichord:
        tables = []
        for question in map(json.loads, lines):
            tables.append(judge(question, lexichord.query(question["query"]).comparison))
            if arguments.wrong and not (tables[-1].rows and all(tables[-1].cells)):
                print(question["id"], question["query"], tables[-1][1:])
    print("kind | tables | rows | columns | cells")
    for kind, group in [*_by_kind(tables), ("all", tables)]:
        cells = [cell for table in group for cell in table.cells]
        rows = [table.rows for table in group]
        columns = [table.columns for table in group]
        print(kind, len(group), *(_percent(part) for part in (rows, columns, cells)), sep=" | ")


def judge(question: dict[str, Any], table: Comparison | None) -> Judged:
    files = {cell["file"] for cell in question["cells"]}
    names = {} if table is None else {_file(d.uri, files): d.document_id for d in table.documents}
    columns = [] if table is None else [_words(aspect) for aspect in table.aspects]
    return Judged(
        question["kind"],
        names.keys() == files,
        sorted(columns) == sorted(map(_words, question["columns"])),
        [_is_right(expected, names, table) for expected in question["cells"]],
    )


def _file(uri: str, files: set[str]) -> str:
    return next((file for file in files if uri.endswith(file)), uri)


def _is_right(expected: dict[str, Any], names: dict[str, str], table: Comparison | None) -> bool:
    """Judge the cell of the expected document whose column shares most words with the aspect."""
    row: Sequence[Cell] = (
        [cell for cell in table.cells if cell.document_id == names.get(expected["file"])]
        if table
        else []
    )
    wanted = {*_words(expected["aspect"])}
    cell = max(row, key=lambda one: len(wanted & {*_words(one.aspect)}), default=None)
    if cell is None or not wanted & {*_words(cell.aspect)}:
        return False
    if expected["value"] is None:
        return not cell.found
    return any(fold(expected["value"]) in fold(quote.text) for quote in cell.quotes)


def _words(aspect: str) -> list[str]:
    words = re.findall(r"\w+", aspect.lower())
    return sorted(word for word in words if word not in SMALL_WORDS)


def _by_kind(tables: Sequence[Judged]) -> Iterator[tuple[str, list[Judged]]]:
    groups: dict[str, list[Judged]] = defaultdict(list)
    for table in tables:
        groups[table.kind].append(table)
    yield from groups.items()


def _percent(parts: Sequence[bool]) -> str:
    return f"{100 * mean(parts):.1f} of {len(parts)}"


if __name__ == "__main__":
    main()
