"""Markdown: its headings, tables and fenced blocks."""

import re
from collections.abc import Iterator

from lexichord.display.plain_text import plain_text
from lexichord.types import Heading, Table

# Behind anchors, as MyST has them: (name)=
OPENING_HEADING = re.compile(
    r"\A\ufeff?\s*(?:\([^()\n]{1,200}\)=\s+)*# +(\S[^\n]{0,200})$", re.MULTILINE
)
CLOSING_HASHES = re.compile(r"[ \t]+#+$")  # of a heading
CODE_FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*$", re.MULTILINE)
BACKTICKS = re.compile("`+")
HEADING_LINE = re.compile(
    r"^\ufeff? {0,3}(?P<marks>#{1,6})[ \t]+(?P<name>\S[^\n]{0,200})$"
    r"|^(?P<under>\S[^\n]{0,200})\n(?P<line>=+|-{2,})[ \t]*\r?$",
    re.MULTILINE,
)
TABLE_RULE = re.compile(r"^[ \t|:-]+$", re.MULTILINE)  # what parts a table's header from its rows
TABLE_BODY = re.compile(r"(?:[^\n|]*\|[^\n]*(?:\n|\Z))*")


def markdown_headings(text: str) -> Iterator[Heading]:
    """Yield the headings in order."""
    fenced = fenced_blocks(text)
    for match in _outside(HEADING_LINE, text, fenced):
        level = len(match["marks"]) if match["marks"] else 1 + match["line"].startswith("-")
        name = heading_name(match["name"] or match["under"])
        yield Heading(match.start(), match.end(), level, name)


def heading_name(line: str) -> str:
    """Return a heading's words: without closing signs, links' addresses and the like."""
    return plain_text(CLOSING_HASHES.sub("", line.strip()))


def markdown_tables(text: str) -> Iterator[Table]:
    """Yield the tables in order; the line below the header belongs to it.

    A further such line amid the rows is a row.
    """
    fenced, end = fenced_blocks(text), 0
    for match in _outside(TABLE_RULE, text, fenced):
        start = text.rfind("\n", 0, max(0, match.start() - 1)) + 1
        is_rule = "|" in match[0] and "-" in match[0]
        if start >= end and is_rule and "|" in text[start : match.start()]:
            body = min(match.end() + 1, len(text))
            rows = TABLE_BODY.match(text, body)
            end = rows.end() if rows else body
            yield Table(start, end, body)


def fenced_blocks(text: str) -> list[tuple[int, int]]:
    """Return where fenced blocks begin and end; one that is never closed ends with the text."""
    blocks: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for match in CODE_FENCE.finditer(text):
        if opened is None:
            opened = match
        elif match[0].strip() == match["fence"] and match["fence"].startswith(opened["fence"]):
            blocks.append((opened.start(), match.end()))
            opened = None
    return [*blocks, (opened.start(), len(text))] if opened else blocks


def fenced(code: str) -> str:
    """Return code between fences that are longer than any row of backticks in it."""
    longest = max(map(len, BACKTICKS.findall(code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{code}\n{fence}"


def part_by_fences(text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before each fenced block with the block; what follows the last with ""."""
    start = 0
    for at, end in [*fenced_blocks(text), (len(text), len(text))]:
        yield text[start:at], text[at:end]
        start = end


def _outside(
    pattern: re.Pattern[str], text: str, blocks: list[tuple[int, int]]
) -> Iterator[re.Match[str]]:
    start = 0
    for block_start, block_end in [*blocks, (len(text), len(text))]:
        yield from pattern.finditer(text, start, block_start)
        start = block_end
