"""Tables that reStructuredText and MyST write as lists or as rows parted by commas."""

import csv
import re
from collections.abc import Sequence

TABLE_DIRECTIVES = ("list-table", "csv-table")
ROW = re.compile(r"(?P<before> *[*-] +)-(?: +(?P<cell>.*))?")
HEADER_ROWS = re.compile(r"\s*:header-rows:\s*(?P<count>\d{1,3})\s*")
HEADER = re.compile(r"\s*:header:\s*(?P<cells>\S.*)")


def directive_table(
    name: str, options: Sequence[str], lines: Sequence[str]
) -> tuple[list[list[str]], int]:
    """Return the rows of a table's directive, and how many of them are its header."""
    rows = _listed_rows(lines) if name == "list-table" else _comma_rows(lines)
    counted = [match["count"] for line in options if (match := HEADER_ROWS.fullmatch(line))]
    header = [match["cells"] for line in options if (match := HEADER.fullmatch(line))]
    if header and name == "csv-table":
        return [*_comma_rows(header[:1]), *rows], 1
    return rows, int(counted[0]) if counted else 0


def _listed_rows(lines: Sequence[str]) -> list[list[str]]:
    """Return the rows of a list of lists; further lines of a cell belong to it."""
    rows, column = list[list[str]](), 0
    for line in lines:
        match = ROW.fullmatch(line)
        if match and (not rows or len(match["before"]) == column):
            column = len(match["before"])
            rows.append([match["cell"] or ""])
        elif rows and line[:column].isspace() and line[column : column + 1] == "-":
            rows[-1].append(line[column + 1 :].strip())
        elif rows and line.strip():
            rows[-1][-1] = f"{rows[-1][-1]} {line.strip()}".strip()
    return rows


def _comma_rows(lines: Sequence[str]) -> list[list[str]]:
    told = [line.strip() for line in lines if line.strip()]
    try:
        return [*csv.reader(told, skipinitialspace=True)]
    except csv.Error:  # a cell of more characters than a cell may have
        return [[line] for line in told]
