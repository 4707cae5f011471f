"""A document cut into blocks, its quotes marked, with an outline of its headings."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import urlencode

from lexichord.ingest.load.kinds import PDF_TYPE
from lexichord.serve.page.passages import CharRange
from lexichord.types import ShownDocument, StoredChunk

HEADING_SEPARATOR = " › "  # parts the names of nested headings


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A stretch of text: of which quote it is, None if of none, and the chunk that begins there.

    `opens`: the quote begins here; `line` is the number of the line of code that begins here.
    """

    text: str
    quote: int | None
    opens: bool
    anchor: int | None
    line: int | None = None


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

    `current` is the number of the quote that it is opened at, None without one; `original` is where
    its pages are seen as they look, "" if it has none.
    """

    blocks: list[list[TextPiece]]
    quotes: list[CharRange]
    current: int | None
    outline: list[OutlineEntry]
    original: str


def show_document(document: ShownDocument, place: str, others: Iterable[str] = ()) -> DocumentView:
    """Cut a document up; places are start-end, and what is none is passed over."""
    quotes, current = read_quotes(document.text, place, others)
    quote = None if current is None else quotes[current]
    row = document.document
    pages = document_address(row.document_id, quote, quotes, "/original")
    return DocumentView(
        _blocks(document, quotes),
        quotes,
        current,
        outline(document.chunks),
        pages if row.media_type == PDF_TYPE else "",
    )


def read_quotes(
    text: str, place: str, others: Iterable[str] = ()
) -> tuple[list[CharRange], int | None]:
    """Return the quotes that stand apart, in order, and the number of the one that is opened."""
    ranges = [_char_range(one, len(text)) for one in (place, *others)]
    current, kept = ranges[0], list[CharRange]()
    for one in filter(None, ranges):
        if all(one[1] <= other[0] or other[1] <= one[0] for other in kept):
            kept.append(one)
    quotes = sorted(kept)
    return quotes, quotes.index(current) if current else None


def document_address(
    document: str, quote: CharRange | None, others: Iterable[CharRange], part: str = ""
) -> str:
    """Return where a document, or its part "/original", is opened at a quote, others marked too."""
    if quote is None:
        return f"/document/{document}{part}"
    also = [("also", f"{start}-{end}") for start, end in others if (start, end) != quote]
    params = [("start", quote[0]), ("end", quote[1]), *also]
    return f"/document/{document}{part}?{urlencode(params)}#quote"


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
    text, lines = document.text, _lines_of_code(document)
    anchors = {chunk.start: chunk.ordinal for chunk in reversed(document.chunks)}
    cuts = {0, len(text), *anchors, *lines, *(place for quote in quotes for place in quote)}
    starts = [start for start, _ in quotes]
    blocks: list[list[TextPiece]] = [[]]
    for start, end in pairwise(sorted(cuts)):
        if start in anchors and blocks[-1] and text[start - 1] == "\n":
            blocks.append([])
        number = bisect_right(starts, start) - 1
        quote = number if number >= 0 and start < quotes[number][1] else None
        opens = quote is not None and starts[quote] == start
        anchor, line = anchors.get(start), lines.get(start)
        blocks[-1].append(TextPiece(text[start:end], quote, opens, anchor, line))
    return blocks


def _lines_of_code(document: ShownDocument) -> dict[int, int]:
    """Return where each line begins, with its number; nothing of what is no code."""
    if not document.document.media_type.startswith("text/x-"):
        return {}
    starts = [0, *(match.end() for match in re.finditer("\n", document.text))]
    return {start: number for number, start in enumerate(starts, 1) if start < len(document.text)}


def outline(chunks: Iterable[StoredChunk]) -> list[OutlineEntry]:
    """Return the headings of a document, each once in a row."""
    entries, last = list[OutlineEntry](), ""
    for chunk in chunks:
        if chunk.heading and chunk.heading != last:
            *above, name = chunk.heading.split(HEADING_SEPARATOR)
            entries.append(OutlineEntry(name, len(above), chunk.ordinal, chunk.page))
        last = chunk.heading
    return entries
