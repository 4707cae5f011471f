"""What pages in Markdown of MyST take in from other files, between backticks or colons."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from lexichord.ingest.load.directive_options import read_myst_options, seen_options
from lexichord.ingest.load.includes import chosen, csv_lines, is_code
from lexichord.ingest.load.markdown.directives import (
    Directive,
    block_end,
    closes,
    open_directive,
)
from lexichord.ingest.load.nearby import NearbyFiles
from lexichord.ingest.markdown import part_by_fences

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
