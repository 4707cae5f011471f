"""A document cut into blocks, its quotes marked, with an outline of its headings."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lexichord.types import ShownDocument, StoredChunk

LEVEL = " › "  # parts the names of nested headings

type Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text: of which quote it is, None if of none, and the chunk that begins there.

    `opens`: the quote begins here.
    """

    text: str
    quote: int | None
    opens: bool
    anchor: int | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A heading, how deep it lies, from 0, and the chunk and the page where it begins."""

    name: str
    depth: int
    anchor: int
    page: int | None


@dataclass(frozen=True, slots=True)
class Shown:
    """A document for a page: its blocks, the quotes marked in them, and its outline.

    `current` is the number of the quote that it is opened at, None without one.
    """

    blocks: list[list[Piece]]
    quotes: list[Span]
    current: int | None
    outline: list[Entry]


def show_document(found: ShownDocument, place: str, others: Iterable[str] = ()) -> Shown:
    """Cut a document up; places are start-end, and what is none is passed over."""
    given = [_span(each, len(found.text)) for each in (place, *others)]
    current, kept = given[0], list[Span]()
    for span in filter(None, given):
        if all(span[1] <= one[0] or one[1] <= span[0] for one in kept):
            kept.append(span)
    quotes = sorted(kept)
    number = quotes.index(current) if current else None
    return Shown(_blocks(found, quotes), quotes, number, _outline(found.chunks))


def _span(place: str, length: int) -> Span | None:
    match = re.fullmatch(r"(\d{1,9})-(\d{1,9})", place, re.ASCII)
    if match is None:
        return None
    start, end = int(match[1]), min(int(match[2]), length)
    return (start, end) if start < end else None


def _blocks(found: ShownDocument, quotes: Sequence[Span]) -> list[list[Piece]]:
    """Cut a text where chunks and quotes begin and end; a block begins with a chunk and a line.

    A browser lays out only those blocks that are in sight.
    """
    text, anchors = found.text, {chunk.start: chunk.ordinal for chunk in reversed(found.chunks)}
    cuts = {0, len(text), *anchors, *(place for quote in quotes for place in quote)}
    starts = [start for start, _ in quotes]
    blocks: list[list[Piece]] = [[]]
    for start, end in pairwise(sorted(cuts)):
        if start in anchors and blocks[-1] and text[start - 1] == "\n":
            blocks.append([])
        number = bisect_right(starts, start) - 1
        quote = number if number >= 0 and start < quotes[number][1] else None
        opens = quote is not None and starts[quote] == start
        blocks[-1].append(Piece(text[start:end], quote, opens, anchors.get(start)))
    return blocks


def _outline(chunks: Iterable[StoredChunk]) -> list[Entry]:
    entries, last = list[Entry](), ""
    for chunk in chunks:
        if chunk.heading and chunk.heading != last:
            *above, name = chunk.heading.split(LEVEL)
            entries.append(Entry(name, len(above), chunk.ordinal, chunk.page))
        last = chunk.heading
    return entries
