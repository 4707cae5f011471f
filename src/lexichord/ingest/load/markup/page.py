"""What is read of a file: paragraphs as they end, headings, code and tables."""

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lexichord.ingest.load.includes import Options
from lexichord.ingest.load.tables import even_rows
from lexichord.ingest.load.text import TextBuilder, fenced


@dataclass
class MarkupPage:
    """The text so far; `inline` takes the marks off words, `facts` is said of the document."""

    inline: Callable[[str], str]
    built: TextBuilder = field(default_factory=TextBuilder)
    facts: dict[str, str] = field(default_factory=dict)
    not_taken: list[str] = field(default_factory=list)  # files that the page would take in
    _open: list[str] = field(default_factory=list)

    def line(self, text: str) -> None:
        """Add a line to the paragraph that is open; an empty one ends it."""
        if text.strip():
            self._open.append(text)
        else:
            self.end()

    def end(self) -> None:
        """End the paragraph."""
        if self._open and (text := self.inline("\n".join(self._open))).strip():
            self.built.paragraph(text)
        self._open = []

    def heading(self, text: str, level: int) -> None:
        """Add a heading."""
        self.end()
        if text := self.inline(text).strip():
            self.built.paragraph(text, level)

    def code(self, lines: Sequence[str]) -> None:
        """Add code as it stands, moved to the margin, between fences: it is read as code."""
        self.end()
        if text := "\n".join(moved(lines)).strip("\n"):
            self.built.lines(fenced(text))

    def table(self, rows: Sequence[Sequence[str]], header_rows: int) -> None:
        """Add a table; empty rows are left out."""
        self.end()
        clean = [[self.inline(cell).strip() for cell in row] for row in rows]
        kept = [row for row in clean if any(row)]
        if not kept:
            return
        self.built.markdown_table(even_rows(kept), min(header_rows, 1), None)


def moved(lines: Sequence[str]) -> list[str]:
    """Return lines without the white space that all begin with."""
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[margin:].rstrip() for line in lines]


def indented(lines: Sequence[str], at: int, margin: int) -> int:
    """Return where the lines end that are empty or set in by more than a margin."""
    end = at
    for place in range(at, len(lines)):
        line = lines[place]
        if line.strip():
            if len(line) - len(line.lstrip()) <= margin:
                break
            end = place + 1
    return end


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
