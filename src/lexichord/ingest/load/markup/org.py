"""Org, as Emacs writes it."""

import re
from collections.abc import Sequence

from lexichord.ingest.load.markup.page import MarkupPage

ORG_HEADING = re.compile(
    r"(?P<stars>\*+) +(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED) +)?(?:\[#\w\] +)?"
    r"(?P<name>.*?)(?: +:[\w@:]+:)?\s*$"
)
SETTING = re.compile(r"\s*#\+(?P<name>[\w-]+):\s*(?P<value>.*)$")
BEGIN = re.compile(r"\s*#\+begin_(?P<name>\w+)", re.IGNORECASE)
ORG_COMMENT = re.compile(r"\s*#(?: |$)")
DRAWER = re.compile(r"\s*:(?:PROPERTIES|LOGBOOK):\s*$", re.IGNORECASE)
DRAWER_END = re.compile(r"\s*:END:\s*$", re.IGNORECASE)
RULE = re.compile(r"\s*\|[-+|]+\s*$")
CODE_BLOCKS = ("src", "example", "export")
ORG_FACTS = {"title": "title", "author": "author", "date": "created", "language": "language"}
ORG_LINK = re.compile(r"\[\[(?P<target>[^\]\[]+)\](?:\[(?P<text>[^\]\[]+)\])?\]")
VERBATIM = re.compile(r"(?<![\w~=])(?P<mark>[~=])(?P<text>\S(?:[^\n~=]*\S)?)(?P=mark)(?![\w~=])")


def read_org(lines: Sequence[str]) -> MarkupPage:
    """Read the lines of a file."""
    page = MarkupPage(inline_org)
    at = 0
    while at < len(lines):
        at = _read_block(page, lines, at)
    page.end()
    return page


def inline_org(text: str) -> str:
    """Return text without the marks of links and code."""
    text = ORG_LINK.sub(lambda match: match["text"] or match["target"], text)
    return VERBATIM.sub(lambda match: match["text"], text)


def _read_block(page: MarkupPage, lines: Sequence[str], at: int) -> int:
    line = lines[at]
    if match := ORG_HEADING.match(line):
        page.heading(match["name"], len(match["stars"]))
    elif match := BEGIN.match(line):
        return _read_marked(page, lines, at, match["name"].lower())
    elif match := SETTING.match(line):
        _note(page, match["name"].lower(), match["value"].strip())
    elif DRAWER.match(line):
        return _end(lines, at, DRAWER_END)
    elif line.lstrip().startswith("|"):
        return _read_table(page, lines, at)
    elif not ORG_COMMENT.match(line):
        page.line(line.rstrip())
    return at + 1


def _note(page: MarkupPage, name: str, value: str) -> None:
    page.end()
    if name in ORG_FACTS and value:
        page.facts.setdefault(ORG_FACTS[name], value)
    elif name == "include":
        page.not_taken.append(value)
    elif name == "caption":
        page.line(value)


def _read_marked(page: MarkupPage, lines: Sequence[str], at: int, name: str) -> int:
    """Read what stands between the begin and the end of a block."""
    page.end()
    end = _end(lines, at, re.compile(rf"\s*#\+end_{re.escape(name)}\b", re.IGNORECASE))
    inner = lines[at + 1 : max(end - 1, at + 1)]
    if name in CODE_BLOCKS:
        page.code(inner)
    elif name != "comment":
        for line in inner:
            page.line(line.rstrip())
        page.end()
    return end


def _end(lines: Sequence[str], at: int, pattern: re.Pattern[str]) -> int:
    """Return the place after the next line of a pattern; of one that is never closed, the next."""
    ends = (place + 1 for place in range(at + 1, len(lines)) if pattern.match(lines[place]))
    return next(ends, at + 1)


def _read_table(page: MarkupPage, lines: Sequence[str], at: int) -> int:
    rows: list[list[str]] = []
    header_rows, end = 0, at
    while end < len(lines) and lines[end].lstrip().startswith("|"):
        if RULE.match(lines[end]):
            header_rows = header_rows or len(rows)
        else:
            rows.append([cell.strip() for cell in lines[end].strip().strip("|").split("|")])
        end += 1
    page.table(rows, header_rows)
    return end
