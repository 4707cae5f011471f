"""A document as it is read: a part of its text with its quotes marked, and an outline."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from markupsafe import Markup

from lexichord.ingest.load.kinds import PDF_TYPE
from lexichord.serve.limits import MAX_PART_CHARS
from lexichord.serve.page.blocks import CharRange, Mark, MarkWriter
from lexichord.serve.page.code import is_code, line_starts
from lexichord.serve.page.passages import place_in_words
from lexichord.serve.page.reading import show_text, text_kind
from lexichord.types import ShownDocument, StoredChunk

HEADING_SEPARATOR = " › "  # parts the names of nested headings
TITLE_LEVEL = 1  # of the page's own heading, above those of the text


@dataclass(frozen=True, slots=True)
class MarkedPlaces:
    """What is marked in a document: quotes, and the sentences of an answer in them.

    Both stand apart and in order; `current` is the number of the quote that the document is opened
    at, None without one.
    """

    quotes: list[CharRange]
    current: int | None
    answer: list[CharRange]

    @property
    def quote(self) -> CharRange | None:
        """The quote that the document is opened at."""
        return None if self.current is None else self.quotes[self.current]

    @property
    def answered(self) -> list[CharRange]:
        """The sentences of the answer that lie in the opened quote."""
        start, end = self.quote or (0, 0)
        return [one for one in self.answer if start <= one[0] and one[1] <= end]

    def address(self, document: str, quote: CharRange | None, part: str = "") -> str:
        """Return where a document is opened at one of the quotes, with the same marked."""
        return document_address(document, quote, self.quotes, part, self.answer)


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A heading, how deep it lies, from 0, and the chunk and the page where it begins."""

    name: str
    depth: int
    anchor: int
    page: int | None


@dataclass(frozen=True, slots=True)
class PartView:
    """Which part of a long document is shown, of how many, and where those beside it are.

    An address is "" where there is none.
    """

    number: int
    total: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document for a page: a part of it as HTML, its quotes marked, and its outline.

    `current` is the number of the quote that it is opened at, None without one; `jumps` lead to
    each quote, in this part or another, `places` say in words where it is; `original` is where the
    document's pages are seen as they look, "" if it has none.
    """

    text: Markup
    part: PartView
    quotes: list[CharRange]
    current: int | None
    jumps: list[str]
    places: list[str]
    outline: list[OutlineEntry]
    original: str


def show_document(document: ShownDocument, marked: MarkedPlaces, part: str = "") -> DocumentView:
    """Show the part that is asked for, else that of the quote that the document is opened at."""
    cuts = part_cuts(document.text)
    number = _part_number(part, cuts) or _part_of(marked.quote[0] if marked.quote else 0, cuts)
    start, end = cuts[number - 1], cuts[number]
    row = document.document
    pages = marked.address(row.document_id, marked.quote, "/original")
    return DocumentView(
        _show_part(document, (start, end), marked),
        _part_view(row.document_id, marked, number, len(cuts) - 1),
        marked.quotes,
        marked.current,
        [
            f"#{quote_anchor(at, marked.current)}"
            if start <= one[0] < end
            else marked.address(row.document_id, one)
            for at, one in enumerate(marked.quotes)
        ],
        [_place_in_words(document.chunks, one) for one in marked.quotes],
        outline(chunk for chunk in document.chunks if start <= chunk.start < end),
        pages if row.media_type == PDF_TYPE else "",
    )


def quote_anchor(number: int, current: int | None) -> str:
    """Return the name of a quote's place on its page."""
    return "quote" if number == current else f"quote-{number + 1}"


def _place_in_words(chunks: Sequence[StoredChunk], quote: CharRange) -> str:
    """Return the page and the section of the chunk that a quote begins in."""
    last = next((chunk for chunk in reversed(chunks) if chunk.start <= quote[0]), None)
    return place_in_words(last.page, last.heading) if last else ""


def part_cuts(text: str) -> list[int]:
    """Return where the parts of a text begin, and its end; a part ends with a paragraph or a line.

    Only a line that is longer than a part is cut.
    """
    cuts = [0]
    while len(text) - cuts[-1] > MAX_PART_CHARS:
        earliest, latest = cuts[-1] + MAX_PART_CHARS // 2, cuts[-1] + MAX_PART_CHARS
        ends = (text.rfind(sign, earliest, latest) + len(sign) for sign in ("\n\n", "\n"))
        cuts.append(next((end for end in ends if end > earliest), latest))
    return [*cuts, len(text)]


def _part_number(part: str, cuts: Sequence[int]) -> int | None:
    """Return the part that is asked for; None if none is."""
    if not (part.isascii() and part.isdigit()):
        return None
    return min(int(part[:9]), len(cuts) - 1) or None


def _part_of(place: int, cuts: Sequence[int]) -> int:
    return min(bisect_right(cuts, place), len(cuts) - 1)


def _part_view(document: str, marked: MarkedPlaces, number: int, total: int) -> PartView:
    def address(part: int) -> str:
        if not 1 <= part <= total:
            return ""
        whole = marked.address(document, marked.quote).partition("#")[0]
        return f"{whole}{'&' if '?' in whole else '?'}part={part}"

    return PartView(number, total, address(number - 1), address(number + 1))


def _show_part(document: ShownDocument, part: CharRange, marked: MarkedPlaces) -> Markup:
    (start, end), kind = part, text_kind(document.document.media_type, document.document.uri)
    chunks = [chunk for chunk in document.chunks if start <= chunk.start < end]
    anchors = [
        (chunk.start - start, Markup('<a id="chunk-{}"></a>').format(chunk.ordinal))
        for chunk in chunks
    ]
    if is_code(kind):
        anchors += _line_anchors(document.text, part)
    writer = MarkWriter(list(_marks(marked, part)), sorted(anchors, key=lambda anchor: anchor[0]))
    headings = {place - start: level for place, level in _headings(document.text, chunks)}
    return show_text(document.text[start:end], kind, writer, headings, TITLE_LEVEL)


def _marks(marked: MarkedPlaces, part: CharRange) -> Iterator[Mark]:
    """Yield the marks of a part: each quote, in pieces where sentences of the answer part it."""
    for number, (start, end) in enumerate(marked.quotes):
        first, last = max(start, part[0]), min(end, part[1])
        for piece, is_answer in _pieces((first, last), marked.answer):
            kinds = ["current"] * (number == marked.current) + ["answer"] * is_answer
            css = Markup(' class="{}"').format(" ".join(kinds)) if kinds else ""
            again = Markup('<mark data-quote="{}"{}>').format(number, css)
            opening = Markup('<mark data-quote="{}" id="{}" data-passage tabindex="-1"{}>').format(
                number, quote_anchor(number, marked.current), css
            )
            place = piece[0] - part[0], piece[1] - part[0]
            yield Mark(*place, opening if piece[0] == first else again, again)


def _pieces(quote: CharRange, answer: Iterable[CharRange]) -> Iterator[tuple[CharRange, bool]]:
    """Yield the pieces of a quote in order, and whether each is a sentence of the answer."""
    place, last = quote
    for start, end in answer:
        if place < last and (first := max(start, place)) < (until := min(end, last)):
            if place < first:
                yield (place, first), False
            yield (first, until), True
            place = until
    if place < last:
        yield (place, last), False


def _line_anchors(text: str, part: CharRange) -> list[tuple[int, Markup]]:
    """Return the number of each line of a part, which the line can be linked to by."""
    before = text.count("\n", 0, part[0])
    tag = Markup(
        '<a id="L{0}" class="line" href="#L{0}" data-line="{0}" tabindex="-1" aria-hidden="true">'
        "</a>"
    )
    starts = enumerate(line_starts(text[slice(*part)]), before + 1)
    return [(start, tag.format(number)) for number, start in starts if start < part[1] - part[0]]


def _headings(text: str, chunks: Iterable[StoredChunk]) -> Iterator[CharRange]:
    """Yield where a chunk begins with the name of its heading, and how deep that lies, from 1."""
    for chunk in chunks:
        path = chunk.heading.split(HEADING_SEPARATOR)
        line = re.compile(r"\s*([^\n]*)").match(text, chunk.start)
        if line and chunk.heading and " ".join(line[1].split()) == path[-1]:
            yield line.start(1), len(path)


def read_places(
    text: str, place: str, others: Iterable[str] = (), answer: Iterable[str] = ()
) -> MarkedPlaces:
    """Read places, start-end, of the quote that is opened, other quotes, and an answer's sentences.

    What is no place, or overlaps one before it, is passed over.
    """
    ranges = [_char_range(one, len(text)) for one in (place, *others)]
    quotes = _apart(ranges)
    current = quotes.index(ranges[0]) if ranges[0] else None
    return MarkedPlaces(quotes, current, _apart(_char_range(one, len(text)) for one in answer))


def _apart(ranges: Iterable[CharRange | None]) -> list[CharRange]:
    """Return in order what overlaps nothing that was given before it."""
    kept = list[CharRange]()
    for one in filter(None, ranges):
        if all(one[1] <= other[0] or other[1] <= one[0] for other in kept):
            kept.append(one)
    return sorted(kept)


def document_address(
    document: str,
    quote: CharRange | None,
    others: Iterable[CharRange],
    part: str = "",
    answer: Iterable[CharRange] = (),
) -> str:
    """Return where a document, or its part "/original", is opened at a quote.

    The other quotes are marked, too, and the sentences of an answer.
    """
    if quote is None:
        return f"/document/{document}{part}"
    also = [("also", f"{start}-{end}") for start, end in others if (start, end) != quote]
    sentences = [("answer", f"{start}-{end}") for start, end in answer]
    params = [("start", quote[0]), ("end", quote[1]), *also, *sentences]
    return f"/document/{document}{part}?{urlencode(params)}#quote"


def _char_range(place: str, length: int) -> CharRange | None:
    match = re.fullmatch(r"(\d{1,9})-(\d{1,9})", place, re.ASCII)
    if match is None:
        return None
    start, end = int(match[1]), min(int(match[2]), length)
    return (start, end) if start < end else None


def outline(chunks: Iterable[StoredChunk]) -> list[OutlineEntry]:
    """Return the headings of a document, each once in a row."""
    entries, last = list[OutlineEntry](), ""
    for chunk in chunks:
        if chunk.heading and chunk.heading != last:
            *above, name = chunk.heading.split(HEADING_SEPARATOR)
            entries.append(OutlineEntry(name, len(above), chunk.ordinal, chunk.page))
        last = chunk.heading
    return entries
