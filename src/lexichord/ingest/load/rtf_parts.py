"""The parts of an RTF file that are no running text: margins, notes, comments, hidden passages.

The library leaves them out or does not tell them apart. Here they are taken out of the source, and
signs put in their place, which stay in what the library makes of the rest.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from striprtf.striprtf import remove_pict_groups

PART_START = re.compile(
    r"\{\s*(?:\\\*\s*)?\\(?P<kind>header|footer|footnote|annotation|atnauthor|shppict|pict|shp)"
    r"[lrf]?(?![a-z])"
)
TOKEN = re.compile(r"\\(?P<word>[a-z]{1,32})(?P<number>-?\d{1,10})?|\\.|[{}]", re.DOTALL)
ANY_PART = re.compile(r"\\(?:header|footer|footnote|annotation|shptxt|v(?![a-z]))|Description")
BOX_START = re.compile(r"\{\s*\\shptxt(?![a-z])")
COLUMN_END = re.compile(r"\\column(?![a-z])")  # which the library does not know
DESCRIPTION = re.compile(r"\\sn\s+\w*Description\s*\}\s*\{\\sv\s+(?P<words>[^{}]{1,5000})\}")
DATE = re.compile(r"\{\s*\\\*\s*\\atndate\s+(\d{1,10})\s*\}")
NO_SIGNS = dict.fromkeys(range(2, 7), "?")  # what the signs are made of
PLACE = re.compile("\x02(\\d+)\x03")
HIDDEN = re.compile("\x04([^\x04]*)\x05", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RtfPart:
    """A part: its kind, its source and, of a comment, who made it and when."""

    kind: str
    source: str
    author: str = ""
    day: str = ""


def part_rtf(source: str) -> tuple[str, list[RtfPart]]:
    """Return the source of the running text, with signs where parts were taken out, and these."""
    source = remove_pict_groups(source).translate(NO_SIGNS)  # type: ignore[no-untyped-call]
    source, parts = COLUMN_END.sub(r"\\line", source), list[RtfPart]()
    if "\\deleted" in source:
        source = "".join(_without_deletions(source))
    if ANY_PART.search(source):
        source = "".join(_with_hidden_signs(source))
        source = "".join(_body(source, parts))
    return source, parts


def _with_hidden_signs(source: str) -> Iterator[str]:
    r"""Yield the source with signs around what \v hides: up to \v0, \plain or its group's end."""
    place, depth = 0, 0
    opened: int | None = None
    for token in TOKEN.finditer(source):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        shows = token["word"] == "plain" or (token["word"] == "v" and token["number"] == "0")
        if opened is not None and (shows or depth < opened):
            yield f"{source[place : token.start()]}\x05"
            place, opened = token.start(), None
        elif opened is None and token["word"] == "v" and not shows:
            yield f"{source[place : token.end()]} \x04"
            place, opened = token.end() + source.startswith(" ", token.end()), depth
    yield source[place:]


def _without_deletions(source: str) -> Iterator[str]:
    r"""Yield the source without what \deleted marks: up to \deleted0, \plain or its group's end."""
    place, depth = 0, 0
    opened: int | None = None
    for token in TOKEN.finditer(source):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        word, is_off = token["word"], token["number"] == "0"
        if opened is None and word == "deleted" and not is_off:
            yield source[place : token.start()]
            opened = depth
        elif opened is not None and (
            depth < opened
            or (depth == opened and (word == "plain" or (word == "deleted" and is_off)))
        ):
            place, opened = token.start(), None
    yield "" if opened is not None else source[place:]


def _body(source: str, parts: list[RtfPart]) -> Iterator[str]:
    """Yield the source without its parts, which are added to `parts`."""
    place, author = 0, ""
    while start := PART_START.search(source, place):
        end = _group_end(source, start.start())
        inner = source[start.end() : end - 1]
        yield source[place : start.start()]
        place = end
        kind = start["kind"]
        if kind == "atnauthor":
            author = inner
        elif kind in ("shppict", "pict", "shp"):
            found = [RtfPart("box", box) for box in _boxes(inner)]
            if said := DESCRIPTION.search(inner):
                found.append(RtfPart("picture", said["words"]))
            for part in found:
                parts.append(part)
                yield f"\x02{len(parts) - 1}\x03"
        else:
            dated = DATE.search(inner)
            parts.append(RtfPart(kind, inner, author, _day(int(dated[1])) if dated else ""))
            yield f"\x02{len(parts) - 1}\x03"
    yield source[place:]


def _boxes(shape: str) -> Iterator[str]:
    """Yield the sources of the text in a shape."""
    place = 0
    while start := BOX_START.search(shape, place):
        place = _group_end(shape, start.start())
        yield shape[start.end() : place - 1]


def _group_end(source: str, start: int) -> int:
    depth = 0
    for token in TOKEN.finditer(source, start):
        if token[0] in "{}":
            depth += 1 if token[0] == "{" else -1
            if depth == 0:
                return token.end()
    return len(source)


def _day(packed: int) -> str:
    """Read a day as Word packs it, bit by bit."""
    year, month, day = 1900 + (packed >> 20 & 0x1FF), packed >> 16 & 0xF, packed >> 11 & 0x1F
    return f"{year}-{month:02}-{day:02}"
