"""Text in the lines that an answer has: a paragraph or an item on one, code as it is stored."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from textwrap import dedent, indent

from lexichord.display.plain_text import CODE_BLOCK

MAX_CODE_LINES = 12  # with something on them
WHOLE_LINE = re.compile(r"\s*(?:#{1,6}\s|\|)")  # a heading and a row end with their line
CUT = "…"  # stands for the rest of code
CODE = re.compile(CODE_BLOCK, re.M)
FENCE = re.compile(r"(?P<margin>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*\{?\.?(?P<language>[\w+#.-]*)")
ITEM = r"(?:[-*+•–]\s|(?:\d{1,3}|[A-Za-z]|[ivxlc]{2,5})[.)]\s|\(\w{1,4}\))"
# What begins a line of its own: an item, a heading, a row, a quotation.
LINE_OPENING = re.compile(rf"\s*(?:{ITEM}|#{{1,6}}\s|\||>)")
ITEM_OR_CODE = re.compile(rf"\s*(?:`{{3}}|~{{3}}|{ITEM})")


def lay_out(text: str) -> list[str]:
    """Return the lines of a text; long code is cut, and closed where it is not."""
    parts = part_by_code(text)
    return [line for words, code in parts for line in (*_paragraphs(words), *_code(code))]


def part_by_code(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words before each block of code with it; the last ones with ""."""
    parts = CODE.split(text)  # words, a block and its fence in turn
    return zip_longest(parts[::3], parts[1::3], fillvalue="")


def _paragraphs(text: str) -> Iterator[str]:
    """Yield each paragraph, item, heading and row in one line, items as far set in as they are."""
    kept = ""
    for line in [*text.splitlines(), ""]:
        if kept and (not line.strip() or LINE_OPENING.match(line) or WHOLE_LINE.match(kept)):
            yield kept
            kept = ""
        kept = f"{kept} {' '.join(line.split())}" if kept else line.rstrip()


def _code(block: str) -> Iterator[str]:
    """Yield a block's lines, unless it is empty, behind its fence no more than the language."""
    fence = FENCE.match(block)
    if fence is None:
        return
    lines = block.splitlines()[1:]
    if lines and lines[-1].strip().startswith(fence["fence"]):
        lines.pop()
    shown = dedent("\n".join(lines)).rstrip().splitlines()
    said = [number for number, line in enumerate(shown) if line.strip()]
    if len(said) > MAX_CODE_LINES + 1:
        shown = [*shown[: said[MAX_CODE_LINES - 1] + 1], CUT]
    if said:
        opening = f"{fence['fence']}{fence['language']}"
        yield from (indent(line, fence["margin"]) for line in (opening, *shown, fence["fence"]))
