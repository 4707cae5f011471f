"""A document cut into blocks, its quotes marked, with an outline of its headings."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lexichord.types import ShownDocument, StoredChunk

HEADING_SEPARATOR = " › "  # parts the names of nested headings

type CharRange = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A stretch of text: of which quote it is, None if of none, and the chunk that begins there.

    `opens`: the quote begins here.
    """

    text: str
    quote: int | None
    opens: bool
    anchor: int | None


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A heading, how deep it lies, from 0, and the chunk and the page where it begins."""

    name: str
    depth: int
    anchor: int
    page: int | None


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document for a page: its blocks, the quotes marked in them, and its outline.

    `current` is the number of the quote that it is opened at, None without one.
    """

    blocks: list[list[TextPiece]]
    quotes: list[CharRange]
    current: int | None
    outline: list[OutlineEntry]


def show_document(document: ShownDocument, place: str, others: Iterable[str] = ()) -> DocumentView:
    """Cut a document up; places are start-end, and what is none is passed over."""
    ranges = [_char_range(text, len(document.text)) for text in (place, *others)]
    current, kept = ranges[0], list[CharRange]()
    for one in filter(None, ranges):
        if all(one[1] <= other[0] or other[1] <= one[0] for other in kept):
            kept.append(one)
    quotes = sorted(kept)
    number = quotes.index(current) if current else None
    return DocumentView(_blocks(document, quotes), quotes, number, _outline(document.chunks))


def _char_range(place: str, length: int) -> CharRange | None:
    match = re.fullmatch(r"(\d{1,9})-(\d{1,9})", place, re.ASCII)
    if match is None:
        return None
    start, end = int(match[1]), min(int(match[2]), length)
    return (start, end) if start < end else None


def _blocks(document: ShownDocument, quotes: Sequence[CharRange]) -> list[list[TextPiece]]:
    """Cut a text where chunks and quotes begin and end; a block begins with a chunk and a line.

    A browser lays out only those blocks that are in sight.
    """
    text = document.text
    anchors = {chunk.start: chunk.ordinal for chunk in reversed(document.chunks)}
    cuts = {0, len(text), *anchors, *(place for quote in quotes for place in quote)}
    starts = [start for start, _ in quotes]
    blocks: list[list[TextPiece]] = [[]]
    for start, end in pairwise(sorted(cuts)):
        if start in anchors and blocks[-1] and text[start - 1] == "\n":
            blocks.append([])
        number = bisect_right(starts, start) - 1
        quote = number if number >= 0 and start < quotes[number][1] else None
        opens = quote is not None and starts[quote] == start
        blocks[-1].append(TextPiece(text[start:end], quote, opens, anchors.get(start)))
    return blocks


def _outline(chunks: Iterable[StoredChunk]) -> list[OutlineEntry]:
    entries, last = list[OutlineEntry](), ""
    for chunk in chunks:
        if chunk.heading and chunk.heading != last:
            *above, name = chunk.heading.split(HEADING_SEPARATOR)
            entries.append(OutlineEntry(name, len(above), chunk.ordinal, chunk.page))
        last = chunk.heading
    return entries
