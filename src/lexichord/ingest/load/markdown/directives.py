"""MyST's directives: blocks that begin with ```{name} or :::{name}.

What such a block holds is text, as of a note, or code, or nothing to read, as of a list of pages.
A name that is not known here stands before code between backticks, and before text between colons
or where it has a colon itself, as that of a class has.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lexichord.display.plain_text import plain_text
from lexichord.ingest.load.includes import (
    NearbyFiles,
    Options,
    chosen,
    csv_lines,
    is_code,
    read_myst_options,
    seen_options,
)
from lexichord.ingest.load.markup.rst import (
    ADMONITIONS,
    CODE_DIRECTIVES,
    LEFT_OUT_DIRECTIVES,
    SINCE,
    read_rst,
    since_label,
    toctree_titles,
)
from lexichord.ingest.load.parts import TABLE_DIRECTIVES, MarkupPage, directive_table, moved
from lexichord.ingest.load.text import part_by_fences

OPENING = re.compile(
    r"(?P<margin>[ \t]*)(?P<fence>`{3,20}|~{3,20}|:{3,20})[ \t]*\{(?P<name>[A-Za-z][\w:.+-]*)"
    r"(?:[, \t][^{}\n]*)?\}(?P<given>[^\n]*)\n?"
)
CODE_NAMES = {*CODE_DIRECTIVES, "code-cell", "math", "mermaid", "graphviz"}
LEFT_OUT_NAMES = {*LEFT_OUT_DIRECTIVES, "tableofcontents", "bibliography", "button-ref"}
LEFT_OUT_NAMES -= {"only", "ifconfig"}
# What they are given is for the program alone; what the others are given is a title that is shown.
UNTITLED_NAMES = {
    *("figure", "figure-md", "list-table", "tab-set", "grid", "grid-item", "div", "margin"),
    *("epigraph", "pull-quote", "highlights", "glossary", "only", "ifconfig"),
}
TITLED_NAMES = {
    *("admonition", "topic", "sidebar", "rubric", "centered", "table"),
    *("dropdown", "card", "tab-item", "grid-item-card"),
}
TEXT_NAMES = {*ADMONITIONS, *SINCE, *UNTITLED_NAMES, *TITLED_NAMES}

# A page of MyST has an anchor or a directive; in such, lines of % are comments, +++ parts cells.
MYST = re.compile(r"^(?:\([^()\n]{1,200}\)=[ \t]*$|[ \t]*[`:]{3,20}[ \t]*\{[A-Za-z])", re.MULTILINE)
MYST_COMMENT = re.compile(r"^(?:%(?!%)[^\n]*|\+\+\+(?:[ \t][^\n]*)?)(?:\n|\Z)", re.MULTILINE)

type CleanText = Callable[[str], str]


class Directive(NamedTuple):
    """The opening of a block: its fence, its name in small letters, and what that is given."""

    margin: str
    fence: str
    name: str
    given: str

    @property
    def is_left_out(self) -> bool:
        """Whether it holds nothing to read."""
        return self.name in LEFT_OUT_NAMES

    @property
    def is_code(self) -> bool:
        """Whether it holds code."""
        if self.fence.startswith(":"):
            return self.name in CODE_NAMES
        return self.name not in TEXT_NAMES and ":" not in self.name


def without_comments(text: str) -> str:
    """Return a text without MyST's comments, if it is of MyST."""
    if not MYST.search(text):
        return text
    parts = part_by_fences(text)
    return "".join(f"{MYST_COMMENT.sub('', words)}{block}" for words, block in parts)


def open_directive(line: str) -> Directive | None:
    """Return the directive that a line opens."""
    match = OPENING.fullmatch(line)
    if match is None:
        return None
    return Directive(match["margin"], match["fence"], match["name"].lower(), match["given"].strip())


def label(directive: Directive) -> str:
    """Return what stands above a text, as readers see it; "" for nothing."""
    if directive.name in SINCE:
        return since_label(directive.name, directive.given)
    if directive.name in ADMONITIONS:
        return f"{directive.name.capitalize()}: {directive.given}".rstrip()
    return "" if directive.name in UNTITLED_NAMES else directive.given


def read_block(block: str, clean: CleanText) -> str:
    """Return what a fenced block holds: all of it, unless a directive opens it.

    One that is never closed stays as it is: who writes so may mean no block.
    """
    opening, *lines = block.splitlines(keepends=True) or [""]
    directive = open_directive(opening)
    if directive is None or not lines or not closes(lines[-1], directive.fence):
        return block
    closing = lines.pop()
    options, at = read_myst_options(lines, 0)
    if directive.name in TABLE_DIRECTIVES:
        return _read_table(directive, options, lines[at:], clean)
    seen = "".join(f"{directive.margin}{line}\n" for line in seen_options(options))
    return seen + _read(directive, lines[at:], closing, clean)


def closes(line: str, fence: str) -> bool:
    """Return whether a line ends what a fence opened."""
    signs = line.strip()
    return signs.startswith(fence) and set(signs) == {fence[0]}


def _read(directive: Directive, lines: Sequence[str], closing: str, clean: CleanText) -> str:
    if directive.name == "toctree":
        return "\n".join(toctree_titles(lines))
    if directive.is_left_out:
        return ""
    body = "".join(lines)
    if directive.name == "eval-rst":
        return read_rst(body.splitlines()).built.text
    if directive.is_code:
        body = plain_text(body) if directive.name == "parsed-literal" else body
        fence = directive.fence.replace(":", "`")
        is_known = directive.name in CODE_NAMES
        language = directive.given if is_known else directive.name
        title = "" if is_known or not directive.given else f"{directive.margin}{directive.given}\n"
        return f"{title}{directive.margin}{fence}{language}\n{body}{closing.replace(':', '`')}"
    above, text = label(directive), clean(body).rstrip()
    if not text:
        return directive.margin + above.removesuffix(":")
    return f"{directive.margin}{above}\n{text}" if above else text


def _read_table(
    directive: Directive, options: Options, lines: Sequence[str], clean: CleanText
) -> str:
    told = moved([line.rstrip("\n") for line in lines])
    page = MarkupPage(clean)
    page.line(directive.given or options.get("caption", ""))
    page.table(*directive_table(directive.name, options, told))
    return page.built.text


def colon_blocks(text: str, clean: CleanText) -> Iterator[str]:
    """Yield a text, cleaned, but the code that it holds between lines of colons.

    Text between them stays where it is, with its label above it; the last line is left to `clean`.
    """
    lines, at = text.splitlines(keepends=True), 0
    told = list[str]()
    while at < len(lines):
        directive = open_directive(lines[at])
        if directive is None or not directive.fence.startswith(":"):
            told.append(lines[at])
            at += 1
        elif directive.is_code or directive.is_left_out or directive.name in TABLE_DIRECTIVES:
            end = block_end(lines, at, directive.fence)
            yield clean("".join(told))
            block = read_block("".join(lines[at:end]), clean)
            yield f"{block}\n" if block and not block.endswith("\n") else block
            told, at = [], end
        else:
            options, at = read_myst_options(lines, at + 1)
            above = filter(None, [label(directive), *seen_options(options)])
            told += [f"{directive.margin}{line}\n" for line in above]
    yield clean("".join(told))


def block_end(lines: Sequence[str], at: int, fence: str) -> int:
    """Return where a block ends, its last line included; one that is never closed at the end."""
    inside = range(at + 1, len(lines))
    return next((n + 1 for n in inside if closes(lines[n], fence)), len(lines))


FRONT_MATTER = re.compile(r"\A---[ \t]*\n.{0,10000}?^---[ \t]*\n", re.DOTALL | re.MULTILINE)
TAKING_IN = ("include", "literalinclude")


def with_myst_includes(text: str, files: NearbyFiles, opened: Sequence[Path]) -> str:
    """Return a page with the text of those that it takes in."""
    pieces = list[str]()
    for words, block in part_by_fences(text):
        pieces += _between_colons(words, files, opened)
        lines = block.splitlines(keepends=True)
        directive = open_directive(lines[0]) if lines else None
        pieces.append(_with_parts(directive, lines, files, opened) if directive else block)
    return "".join(pieces)


def _between_colons(text: str, files: NearbyFiles, opened: Sequence[Path]) -> Iterator[str]:
    """Yield a text with what its directives between colons take in."""
    lines, at = text.splitlines(keepends=True), 0
    while at < len(lines):
        directive = open_directive(lines[at])
        end = at + 1
        if directive and directive.fence.startswith(":") and _takes_in(directive):
            end = block_end(lines, at, directive.fence)
            yield _with_parts(directive, lines[at:end], files, opened)
        else:
            yield lines[at]
        at = end


def _takes_in(directive: Directive) -> bool:
    return directive.name in (*TAKING_IN, "csv-table")


def _with_parts(
    directive: Directive, lines: Sequence[str], files: NearbyFiles, opened: Sequence[Path]
) -> str:
    """Return a directive's block with what it takes in, or what the text in it does."""
    if len(lines) < 2 or not closes(lines[-1], directive.fence):
        return "".join(lines)
    end = "\n" if lines[-1].endswith("\n") else ""
    if directive.name in TAKING_IN:
        return _part(directive, lines[1:-1], files, opened) + end
    if directive.name == "csv-table":
        options, at = read_myst_options(lines, 1)
        rows = "".join(f"{row}\n" for row in csv_lines(options, files, opened))
        return "".join([*lines[:at], rows, *lines[at:]])
    if directive.is_code or directive.is_left_out:
        return "".join(lines)
    inner = with_myst_includes("".join(lines[1:-1]), files, opened)
    return f"{lines[0]}{inner}{lines[-1]}"


def _part(
    directive: Directive, lines: Sequence[str], files: NearbyFiles, opened: Sequence[Path]
) -> str:
    found = files.read(directive.given, opened)
    if found is None:
        return ""
    options, _ = read_myst_options(lines, 0)
    part = chosen(found[0], options).strip("\n")
    if is_code(directive.name, options):
        fence = directive.fence.replace(":", "`")
        return "\n".join([*seen_options(options), fence, part, fence])
    return with_myst_includes(FRONT_MATTER.sub("", part), files, (*opened, found[1]))
