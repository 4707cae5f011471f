"""Parts of a text that formats share: paragraphs, headings, code and tables; numbers of lists."""

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lexichord.ingest.load.includes import Options
from lexichord.ingest.load.tables import even_rows
from lexichord.ingest.load.text import TextBuilder, fenced

ROMAN_NUMERALS = {
    **{1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc"},
    **{50: "l", 40: "xl", 10: "x", 9: "ix", 5: "v", 4: "iv", 1: "i"},
}
ROMAN_END = 4000  # the first number that has none
# Up to 99: what stands before a clause is seldom higher, and other letters are words or lists.
SMALL_ROMAN = re.compile(r"(?=.)(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})\Z")
ROMAN_DIGITS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def letters(number: int) -> str:
    """Return a to z, then aa, bb, as word processors count."""
    if number < 1:
        return str(number)
    return chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 9)


def letters_value(text: str) -> int | None:
    """Read what `letters` writes, small letters; None for anything else."""
    if len(set(text)) != 1:
        return None
    return 26 * (len(text) - 1) + ord(text[0]) - ord("a") + 1


def roman(number: int) -> str:
    """Return i, ii, iii, iv; digits where there is no numeral."""
    if not 0 < number < ROMAN_END:
        return str(number)
    written = ""
    for value, numeral in ROMAN_NUMERALS.items():
        written += numeral * (number // value)
        number %= value
    return written


def roman_value(text: str) -> int | None:
    """Read a roman numeral up to 99 in small letters; None for anything else."""
    if not SMALL_ROMAN.match(text):
        return None
    values = [ROMAN_DIGITS[letter] for letter in text]
    following = [*values[1:], 0]
    return sum(-v if v < after else v for v, after in zip(values, following, strict=True))


LIST_LEVELS = 9
BULLET = "•"
NUMBER_FORMS: dict[str, Callable[[int], str]] = {
    "decimalZero": lambda number: f"{number:02}",
    "lowerLetter": letters,
    "upperLetter": lambda number: letters(number).upper(),
    "lowerRoman": roman,
    "upperRoman": lambda number: roman(number).upper(),
    "none": lambda number: "",
}
LEVEL_PLACEHOLDER = re.compile(r"%([1-9])")
MAX_LABEL_CHARS = 255  # of what stands before an item: RTF counts them in a byte


@dataclass(frozen=True, slots=True)
class ListLevel:
    """How a level of a list is numbered; forms have the names that Word gives them."""

    form: str
    pattern: str
    start: int
    restarts: bool = True
    all_decimal: bool = False
    style: str | None = None


@dataclass(slots=True)
class ListCounter:
    """A list: its levels, and how far each was counted."""

    levels: dict[int, ListLevel]
    reached: list[int | None] = field(default_factory=lambda: [None] * LIST_LEVELS)

    def count(self, level: int) -> None:
        """Count an item of a level; those above that have none yet begin, those below restart."""
        reached = self.reached
        for above in range(level):
            if reached[above] is None and above in self.levels:
                reached[above] = self.levels[above].start
        before = reached[level]
        reached[level] = self.levels[level].start if before is None else before + 1
        for below in range(level + 1, LIST_LEVELS):
            if below not in self.levels or self.levels[below].restarts:
                reached[below] = None

    def label(self, level: int) -> str:
        """Return what stands before the item that was counted last; "" where that is too long."""
        here = self.levels[level]
        if here.form == "bullet":
            return BULLET
        if len(here.pattern) > MAX_LABEL_CHARS:
            return ""

        def number(place: re.Match[str]) -> str:
            index = int(place[1]) - 1
            if index not in self.levels:
                return ""
            form = "decimal" if here.all_decimal else self.levels[index].form
            return NUMBER_FORMS.get(form, str)(self.reached[index] or 0)

        label = LEVEL_PLACEHOLDER.sub(number, here.pattern).strip()
        return label if len(label) <= MAX_LABEL_CHARS else ""


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
    rows, column = list[list[list[str]]](), 0  # of each cell, its lines
    for line in lines:
        match = ROW.fullmatch(line)
        if match and (not rows or len(match["before"]) == column):
            column = len(match["before"])
            rows.append([[match["cell"] or ""]])
        elif rows and line[:column].isspace() and line[column : column + 1] == "-":
            rows[-1].append([line[column + 1 :].strip()])
        elif rows and line.strip():
            rows[-1][-1].append(line.strip())
    return [[" ".join(cell).strip() for cell in row] for row in rows]


def _parted_rows(lines: Sequence[str], options: Options) -> list[list[str]]:
    """Return the rows of lines whose cells are parted by commas, or by what the options say."""
    told = [line.strip(" \n") for line in lines if line.strip()]
    written = options.get("delim", "")
    try:
        delimiter = NAMED_DELIMITERS.get(written, written or ",")
        return [*csv.reader(told, delimiter=delimiter, skipinitialspace=True)]
    except (csv.Error, TypeError, ValueError):  # too long a cell, or no sign to part by
        return [[line] for line in told]
