"""Tables that reStructuredText and MyST write as lists or as rows parted by commas."""

import csv
import re
from collections.abc import Sequence

from lexichord.ingest.load.directive_options import Options

TABLE_DIRECTIVES = ("list-table", "csv-table")
ROW = re.compile(r"(?P<before> *[*-] +)-(?: +(?P<cell>.*))?")
NAMED_DELIMITERS = {"tab": "\t", "space": " "}


def directive_table(
    name: str, options: Options, lines: Sequence[str]
) -> tuple[list[list[str]], int]:
    """Return the rows of a table's directive, and how many of them are its header."""
    written = options.get("header-rows", "")
    counted = int(written) if re.fullmatch(r"\d{1,3}", written) else 0
    if name == "list-table":
        return _listed_rows(lines), counted
    header = _parted_rows([options.get("header", "")], options)
    return [*header, *_parted_rows(lines, options)], 1 if header else counted


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


def _parted_rows(lines: Sequence[str], options: Options) -> list[list[str]]:
    """Return the rows of lines whose cells are parted by commas, or by what the options say."""
    told = [line.strip(" \n") for line in lines if line.strip()]
    written = options.get("delim", "")
    try:
        delimiter = NAMED_DELIMITERS.get(written, written or ",")
        return [*csv.reader(told, delimiter=delimiter, skipinitialspace=True)]
    except (csv.Error, TypeError, ValueError):  # too long a cell, or no sign to part by
        return [[line] for line in told]
