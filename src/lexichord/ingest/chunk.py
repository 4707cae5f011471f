"""Cut a text into chunks: at headings, then recursively at paragraphs, lines, sentences, words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lexichord.ingest.load import CLOSING
from lexichord.types import Chunk

LIMIT = 800  # characters of a chunk at most
SEPARATORS = [
    re.compile(pattern) for pattern in (r"\n[ \t\r]*\n+", r"\n", r"(?<=[.;:!?])\s+", r"\s+")
]
HEADING = re.compile(
    r"^\ufeff?(?:(?P<marks>#{1,6})[ \t]+(?P<markdown>\S[^\n]{0,200})"
    r"|(?P<plain>(?:ARTICLE|SECTION)[ \t]+[IVXLC\d]+\b[^\n]{0,80}"
    r"|\d{1,3}(?:\.\d{1,3})*\.?[ \t]+[A-Z][A-Z ,&/'’()-]{2,80}))\r?$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of text under one heading."""

    start: int
    end: int
    path: str


def split(text: str, limit: int = LIMIT) -> list[Chunk]:
    """Cut `text` into chunks of at most `limit` characters, in order.

    Every character that is no white space is in exactly one chunk, and
    `text[chunk.start:chunk.end] == chunk.content`. `chunk.heading` is the path of headings above,
    joined by " › ".
    """
    return [
        Chunk(start, end, text[start:end], section.path)
        for section in _sections(text)
        for start, end in _pieces(text, section.start, section.end, limit)
    ]


def _sections(text: str) -> Iterator[Section]:
    """Cut at headings; one with nothing of its own under it opens the section that follows."""
    headings = list(HEADING.finditer(text))
    bounds = [0, *(match.start() for match in headings), len(text)]
    ends = [0, *(match.end() for match in headings)]
    path: list[tuple[int, str]] = []
    opening = len(text) - len(text.lstrip())
    start = 0
    for index, end in enumerate(ends):
        if index:
            path = _under(path, headings[index - 1], is_title=bounds[index] <= opening)
        following = bounds[index + 1]
        if text[end:following].strip() or following == len(text):
            yield Section(start, following, " › ".join(name for _, name in path))
            start = following


def _under(
    path: list[tuple[int, str]], match: re.Match[str], is_title: bool
) -> list[tuple[int, str]]:
    """Put a heading in its place in the path; a document's own title is not part of it."""
    if is_title and match["marks"] == "#":
        return []
    level = len(match["marks"] or "#")
    name = CLOSING.sub("", (match["markdown"] or match["plain"]).strip())
    return [*(above for above in path if above[0] < level), (level, name)]


def _pieces(
    text: str, start: int, end: int, limit: int, level: int = 0
) -> Iterator[tuple[int, int]]:
    """Cut text[start:end] at the coarsest separators that do, joining pieces up to the limit."""
    if end - start <= limit:
        yield from _trimmed(text, start, end)
        return
    if level == len(SEPARATORS):
        for cut in range(start, end, limit):
            yield from _trimmed(text, cut, min(cut + limit, end))
        return
    last = start
    for match in SEPARATORS[level].finditer(text, start, end):
        if match.end() - start > limit and last > start:
            yield from _pieces(text, start, last, limit, level + 1)
            start = last
        last = match.end()
    if end - start > limit and last > start:
        yield from _pieces(text, start, last, limit, level + 1)
        start = last
    yield from _pieces(text, start, end, limit, level + 1)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if piece.strip():
        yield start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
