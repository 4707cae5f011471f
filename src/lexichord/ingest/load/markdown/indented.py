"""Markdown's code that is set in by four spaces, written between fences as all other code is."""

import re
from collections.abc import Iterator, Sequence

from lexichord.ingest.markdown import part_by_fences

SET_IN = re.compile(r"(?: {4}|\t)[ \t]*\S")
INDENT = re.compile(r" {4}|\t")
# What text that is set in belongs to: an item, a note, a definition, an element. It is no code.
HOLDER = re.compile(r" {0,3}(?:[-*+•:]\s|<|\d{1,9}[.)]|[A-Za-z][.)]\s|\[\^|!{3}|\?{3}|={3}|/{3})")


def fence_indented(text: str) -> str:
    """Return a text with its indented code between fences."""
    pieces, holder = list[str](), ""
    for words, block in part_by_fences(text):
        lines = words.split("\n")
        pieces += ["\n".join(_fenced(lines, holder)), block]
        holder = next((line for line in reversed(lines) if _is_at_margin(line)), holder)
    return "".join(pieces)


def _is_at_margin(line: str) -> bool:
    return bool(line.strip()) and not SET_IN.match(line)


def _fenced(lines: Sequence[str], holder: str) -> Iterator[str]:
    """Yield lines; `holder` is the last one before them that is not set in."""
    at = 0
    while at < len(lines):
        stands_apart = at > 0 and not lines[at - 1].strip() and not HOLDER.match(holder)
        if stands_apart and SET_IN.match(lines[at]):
            end = _code_end(lines, at)
            yield from ("```", *(INDENT.sub("", line, count=1) for line in lines[at:end]), "```")
            at = end
            continue
        holder = lines[at] if _is_at_margin(lines[at]) else holder
        yield lines[at]
        at += 1


def _code_end(lines: Sequence[str], at: int) -> int:
    """Return where lines that are set in end, empty ones between them included."""
    end = at
    while at < len(lines) and (SET_IN.match(lines[at]) or not lines[at].strip()):
        at += 1
        end = at if lines[at - 1].strip() else end
    return end
