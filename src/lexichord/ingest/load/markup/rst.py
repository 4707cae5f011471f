"""reStructuredText, with the directives of Sphinx."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from types import MappingProxyType
from unicodedata import east_asian_width

from lexichord.ingest.load.includes import Options, read_options, seen_options
from lexichord.ingest.load.marks import described, picture, within
from lexichord.ingest.load.parts import (
    TABLE_DIRECTIVES,
    MarkupPage,
    directive_table,
    indented,
    moved,
)
from lexichord.ingest.load.tables import SpanningCell, filled_rows

ADORNMENT = re.compile(r"([^\w\s])\1{2,}\s*")
DIRECTIVE = re.compile(
    r"(?P<margin> *)\.\. (?P<named>\|[^|]+\| )?(?P<name>[\w:+.-]+?):: ?(?P<given>.*)"
)
FOOTNOTE = re.compile(r" *\.\. \[(?P<mark>[^\]]+)\] (?P<text>.*)")
RST_COMMENT = re.compile(r"(?P<margin> *)\.\.(?: .*)?$")
CODE_DIRECTIVES = (
    *("code", "code-block", "sourcecode", "parsed-literal", "doctest", "testcode"),
    *("ipython", "prompt", "console"),
)
# What a page holds for the program that lays it out.
LEFT_OUT_DIRECTIVES = (
    *("image", "include", "literalinclude", "toctree", "contents", "highlight", "meta", "raw"),
    *("index", "role", "default-role", "currentmodule", "module", "sectnum", "target-notes"),
    *("only", "ifconfig", "replace", "unicode", "date", "title", "tabularcolumns"),
)
ADMONITIONS = (
    *("note", "warning", "tip", "hint", "important", "caution", "danger", "attention", "error"),
    "seealso",
)
TOCTREE_ENTRY = re.compile(r"\s*(?P<title>[^\s<>][^<>]*)<[^<>\s]+>")
SINCE = {
    "versionadded": "Added in version {given}:",
    "versionchanged": "Changed in version {given}:",
    "versionremoved": "Removed in version {given}:",
    "deprecated": "Deprecated since version {given}:",
    "seealso": "See also: {given}",
}
ROLE = re.compile(r":[\w:+.-]{1,60}:`(?:[!~])?(?P<text>[^`<]*)(?:<(?P<target>[^`>]*)>)?`")
RST_LINK = re.compile(r"`(?P<text>[^`<]*)(?:<(?P<target>[^`>]*)>)?`__?")
LITERAL = re.compile(r"``(?P<text>[^`]+)``")
ESCAPE = re.compile(r"\\(?:[ \t]|(?=[*`_|\\]))")  # of a blank, which goes too, or of a sign
SUBSTITUTION = re.compile(r"(?<![\w|])\|(?P<text>\w[^|\n]{0,60})\|(?:__?)?(?![\w|])")
REPLACE = re.compile(r" *\.\. \|(?P<name>[^|\n]{1,60})\| replace:: *(?P<words>\S.{0,1000})")
MAX_DIRECTIVE_DEPTH = 100  # in each other; calls nest with them
NAMED_PICTURE = re.compile(r" *\.\. \|(?P<name>[^|\n]{1,60})\| image::.*")
NO_SUBSTITUTIONS: Mapping[str, str] = MappingProxyType({})


def read_rst(lines: Sequence[str]) -> MarkupPage:
    """Read the lines of a file."""
    words = substitutions(lines)
    page = MarkupPage(lambda text: inline_rst(text, words))
    _read(page, lines, [])
    page.end()
    return page


def substitutions(lines: Sequence[str]) -> dict[str, str]:
    """Return the words that stand for |names|, where the lines say so."""
    found = dict[str, str]()
    for at, line in enumerate(lines):
        if match := REPLACE.fullmatch(line):
            found[match["name"]] = inline_rst(match["words"]).strip()
        elif match := NAMED_PICTURE.fullmatch(line):
            said = described(read_options(lines, at + 1)[0].get("alt", ""))
            found[match["name"]] = within(picture(said)) if said else ""
    return found


def inline_rst(text: str, words: Mapping[str, str] = NO_SUBSTITUTIONS) -> str:
    """Return text without roles, links without where they lead, and words for their names."""
    parts = LITERAL.split(text)  # every second one is a literal's, which stays as it is
    return "".join(part if n % 2 else _outside(part, words) for n, part in enumerate(parts))


def _outside(text: str, words: Mapping[str, str]) -> str:
    text = ROLE.sub(lambda match: (match["text"] or match["target"] or "").strip(), text)
    text = RST_LINK.sub(lambda match: match["text"].rstrip() or match["target"] or "", text)
    text = SUBSTITUTION.sub(lambda match: words.get(match["text"], match["text"]), text)
    return ESCAPE.sub("", text)


def _read(page: MarkupPage, lines: Sequence[str], styles: list[str], depth: int = 0) -> None:
    """Read lines; `styles` are the adornments of headings so far, the outermost first.

    What stands deeper than directives may is read as lines.
    """
    at = len(lines) if depth > MAX_DIRECTIVE_DEPTH else 0
    for line in lines[:at]:
        page.line(line.strip())
    while at < len(lines):
        at = _read_heading(page, lines, at, styles) or _read_block(page, lines, at, styles, depth)


def _read_heading(page: MarkupPage, lines: Sequence[str], at: int, styles: list[str]) -> int:
    """Read a heading; return where it ends, or 0 where there is none."""
    over = bool(ADORNMENT.fullmatch(lines[at])) and at + 2 < len(lines)
    name = at + over
    if name + 1 >= len(lines) or not lines[name].strip() or ADORNMENT.fullmatch(lines[name]):
        return 0
    rule = lines[name + 1].rstrip()
    if not ADORNMENT.fullmatch(rule) or len(rule) < min(len(lines[name].strip()), 4):
        return 0
    if (over and lines[at].rstrip() != rule) or (not over and lines[name][0] == " "):
        return 0
    style = f"{rule[0]}{over}"
    if style not in styles:
        styles.append(style)
    page.heading(lines[name], styles.index(style) + 1)
    return name + 2


def _read_block(
    page: MarkupPage, lines: Sequence[str], at: int, styles: list[str], depth: int
) -> int:
    """Read a directive, a comment, a table, or a line; return where it ends."""
    line = lines[at]
    if match := DIRECTIVE.match(line):
        return _read_directive(page, lines, at, match, styles, depth)
    if match := FOOTNOTE.match(line):
        page.end()
        page.line(f"[{match['mark']}] {match['text']}")
        return at + 1
    if match := RST_COMMENT.match(line):
        page.end()
        return indented(lines, at + 1, len(match["margin"]))
    if GRID_RULE.match(line):
        return _read_table(page, *read_grid(lines, at))
    if SIMPLE_RULE.match(line):
        return _read_table(page, *read_simple(lines, at))
    if ADORNMENT.fullmatch(line.strip()) and not line.startswith(" "):
        page.end()  # a line between paragraphs
        return at + 1
    if line.rstrip().endswith("::"):
        return _read_literal(page, lines, at)
    page.line(line.rstrip())
    return at + 1


def _read_table(page: MarkupPage, rows: list[list[str]], header_rows: int, end: int) -> int:
    page.table(rows, header_rows)
    return end


def _read_literal(page: MarkupPage, lines: Sequence[str], at: int) -> int:
    """Read a paragraph's end and the literal block that it announces."""
    line = lines[at].rstrip()
    page.line(line[:-1] if line.strip() != "::" else "")
    end = indented(lines, at + 1, len(line) - len(line.lstrip()))
    page.code(lines[at + 1 : end])
    return max(end, at + 1)


def _read_directive(
    page: MarkupPage,
    lines: Sequence[str],
    at: int,
    match: re.Match[str],
    styles: list[str],
    depth: int,
) -> int:
    page.end()
    end = max(indented(lines, at + 1, len(match["margin"])), at + 1)
    name = match["name"].lower()
    options, inner = read_options(lines, at + 1, end)
    if name == "toctree":
        page.line("\n".join(toctree_titles(lines[inner:end])))
    if not match["named"] and name not in TABLE_DIRECTIVES:
        _add_seen(page, options)
    if name in LEFT_OUT_DIRECTIVES and name not in ("only", "ifconfig"):
        return end
    if name in CODE_DIRECTIVES:
        page.code(lines[inner:end])
        return end
    if name in TABLE_DIRECTIVES:
        page.line(match["given"] or options.get("caption", ""))
        page.table(*directive_table(name, options, moved(lines[inner:end])))
        return end
    page.line(_label(name, match["given"], has_text=inner < end))
    _read(page, moved(lines[inner:end]), styles, depth + 1)
    page.end()
    return end


def _add_seen(page: MarkupPage, options: Options) -> None:
    for line in seen_options(options):
        page.line(line)
        page.end()


def _label(name: str, given: str, has_text: bool) -> str:
    """Return what stands above the text of a directive, as readers see it."""
    if name in SINCE:
        words = since_label(name, given)
        return words if has_text else words.removesuffix(":")
    if name in ADMONITIONS:
        return f"{name.capitalize()}: {given}".rstrip()
    return "" if name in ("only", "ifconfig", "figure") else given


def since_label(name: str, given: str) -> str:
    """Return what stands above the text of one of SINCE."""
    return SINCE[name].replace(" {given}", f" {given}" if given else "")


def toctree_titles(lines: Sequence[str]) -> list[str]:
    """Return the titles that a list of pages gives them itself, an item each."""
    found = (TOCTREE_ENTRY.fullmatch(line.rstrip()) for line in lines)
    return [f"- {match['title'].rstrip()}" for match in found if match]


SIMPLE_RULE = re.compile(r" *=+(?: +=+)+ *$")
GRID_RULE = re.compile(r" *\+(?:[-=]+\+)+ *$")
RULED = re.compile(r"\+[-=][-=+]*\+")
SPAN_RULE = re.compile(r" *-+(?: +-+)* *")  # below cells that span columns
FILLER = "\ufffe"  # behind a letter that is two columns wide
WIDE = "WF"

type Rows = list[list[str]]


@dataclass
class _Cell:
    """A cell of a grid: its first row and columns, how many rows it has, and its lines."""

    row: int
    columns: range
    rows: int = 1
    lines: list[str] = field(default_factory=list)

    def spanning(self) -> SpanningCell:
        words = " ".join(" ".join(self.lines).replace(FILLER, "").split())
        return SpanningCell(words, self.rows, len(self.columns))


def read_grid(lines: Sequence[str], at: int) -> tuple[Rows, int, int]:
    """Return a grid's rows, how many of them are its header, and where it ends."""
    end = at
    while end < len(lines) and lines[end].strip().startswith(("+", "|")):
        end += 1
    margin = len(lines[at]) - len(lines[at].lstrip())
    drawn = ["".join(_columns(line[margin:].rstrip())) for line in lines[at:end]]
    grid = _Grid(drawn)
    if any(len(line) > grid.width for line in drawn):  # badly drawn: its edges tell nothing
        cells = (line.strip("|").split("|") for line in lines[at:end] if "--+" not in line)
        return [[cell.strip(" +") for cell in row] for row in cells], 0, end
    rows = (
        [cell.spanning() for cell in sorted(row, key=lambda cell: cell.columns.start)]
        for _, row in groupby(sorted(grid.closed, key=lambda cell: cell.row), lambda cell: cell.row)
    )
    return [*filled_rows(rows, grid.header_rows)], grid.header_rows, end


def _columns(line: str) -> Iterator[str]:
    for sign in line:
        yield sign
        if east_asian_width(sign) in WIDE:
            yield FILLER


class _Grid:
    """Follows the cells of a grid line by line; `edges` are the places between its columns."""

    def __init__(self, lines: Sequence[str]) -> None:
        runs = (match for line in lines for match in RULED.finditer(line))
        self._edges = sorted(
            {run.start() + n for run in runs for n, s in enumerate(run[0]) if s == "+"}
        )
        self.width = self._edges[-1] + 1
        self._open = dict[int, _Cell]()
        self._row = -1
        self.closed = list[_Cell]()
        self.header_rows = 0
        for line in lines:
            self._take(line.ljust(self.width))
        self.closed += self._open.values()

    def _take(self, line: str) -> None:
        ruled = self._ruled(line)
        if ruled:
            self._end_cells(ruled)
            if "=" in line and len(ruled) == len(self._edges) - 1:
                self.header_rows = self._row
        column = 0
        while column < len(self._edges) - 1:
            column = column + 1 if column in ruled else self._take_cell(line, column)

    def _ruled(self, line: str) -> set[int]:
        """Return the columns above or below which a line draws a rule."""
        spans = (match.span() for match in RULED.finditer(line))
        return {
            column
            for start, end in spans
            for column in range(bisect_left(self._edges, start), bisect_left(self._edges, end) - 1)
        }

    def _end_cells(self, ruled: set[int]) -> None:
        """Close the cells that a rule ends, and begin a row, into which the others reach."""
        for column in [column for column in self._open if column in ruled]:
            self.closed.append(self._open.pop(column))
        self._row += 1
        for cell in self._open.values():
            cell.rows += 1

    def _take_cell(self, line: str, column: int) -> int:
        """Add a line to the cell at a column; return the column behind it."""
        if column not in self._open:
            edges = range(column + 1, len(self._edges))
            last = next((edge for edge in edges if line[self._edges[edge]] in "|+"), edges[-1])
            self._open[column] = _Cell(max(self._row, 0), range(column, last))
        cell = self._open[column]
        edge = self._edges[cell.columns.stop]
        cell.lines.append(line[self._edges[column] + 1 : edge])
        return cell.columns.stop


def read_simple(lines: Sequence[str], at: int) -> tuple[Rows, int, int]:
    """Return the rows of a table whose columns are told by the rules above and below it.

    A line that leaves its first column free goes on with the row above.
    """
    columns = [match.start() for match in re.finditer("=+", lines[at])]
    end, rules = at + 1, 1
    while end < len(lines) and (lines[end].strip() or rules < 2):
        rules += bool(SIMPLE_RULE.match(lines[end]))
        end += 1
    rows: Rows = []
    header_rows, begins = 0, True
    for line in lines[at + 1 : end]:
        if SIMPLE_RULE.match(line):
            header_rows, begins = header_rows or len(rows), True
        elif SPAN_RULE.fullmatch(line):
            begins = True
        elif cells := _cells(line, columns):
            if begins or cells[0]:
                rows.append(cells)
            else:
                rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], cells, strict=True)]
            begins = False
    return rows, header_rows if rules > 2 else 0, end


def _cells(line: str, columns: Sequence[int]) -> list[str]:
    """Return the cells of a line; what reaches over an edge belongs to the cell before it."""
    wide = "".join(_columns(line))
    edges = [0, *(edge for edge in columns[1:] if not wide[edge - 1 : edge].strip()), len(wide)]
    found = {left: wide[left:right].replace(FILLER, "").strip() for left, right in pairwise(edges)}
    cells = [found.get(column if number else 0, "") for number, column in enumerate(columns)]
    return cells if any(cells) else []
