"""A document as it is read: a part of its text with its quotes marked, and an outline.

A PDF's pages are shown as they look, too, some at a time, with the quotes' lines in boxes.
"""

import asyncio
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from markupsafe import Markup

from lexichord.errors import ConfigError, NotFoundError
from lexichord.ingest.load import PDF_TYPE
from lexichord.serve.access import ScopedClient
from lexichord.serve.errors import public_error
from lexichord.serve.limits import MAX_BOXED_PLACES, MAX_PART_CHARS, MAX_SHOWN_PAGES
from lexichord.serve.page.blocks import CharRange, Mark, MarkWriter, is_code, line_starts
from lexichord.serve.page.language import say
from lexichord.serve.page.reading import place_in_words, show_passage, show_text, text_kind
from lexichord.types import PageBox, PageSize, ShownDocument, StoredChunk

HEADING_SEPARATOR = " › "  # parts the names of nested headings
TITLE_LEVEL = 1  # of the page's own heading, above those of the text

MIN_POINTS, MAX_POINTS = 1, 20_000  # of a side: what a file says may be nonsense


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


@dataclass(frozen=True, slots=True)
class BoxView:
    """A box: what it is of, and its name if it is a quote's first.

    `kind` is "current" of the quote that is opened, "answer" of a sentence of the answer in it,
    "" of another quote.
    """

    box: PageBox
    kind: str
    anchor: str


@dataclass(frozen=True, slots=True)
class SheetView:
    """A page: its number, the width and height that it is laid out with, and the boxes on it."""

    number: int
    width: int
    height: int
    boxes: list[BoxView]


@dataclass(frozen=True, slots=True)
class OriginalView:
    """The pages that are shown of `total`, and where the others, the quotes and the text are.

    `status` and `reason` say why there is nothing to see, `note` what is lacking.
    """

    text_address: str
    passage: Markup
    quotes: list[str]
    current: int | None
    outline: list[tuple[OutlineEntry, str]]
    status: int = 200
    reason: str = ""
    note: str = ""
    total: int = 0
    sheets: list[SheetView] = field(default_factory=list)
    before: str = ""
    after: str = ""


async def show_original(
    caller: ScopedClient, stored: ShownDocument, marked: MarkedPlaces, page: str
) -> OriginalView:
    """Return the pages around the quote that is opened, or from a page on."""
    quote, document = marked.quote, stored.document.document_id
    view = OriginalView(
        marked.address(document, quote),
        _passage(stored, marked),
        [marked.address(document, one, "/original") for one in marked.quotes],
        marked.current,
        [
            (entry, _page_address(document, entry.page, marked))
            for entry in outline(stored.chunks)
            if entry.page is not None
        ],
    )
    try:
        sizes = await caller.page_sizes(document)
        boxes = await caller.boxes(document, *quote) if quote else []
    except (NotFoundError, ConfigError) as error:
        public = public_error(error)
        return replace(view, status=public.status, reason=public.message)
    first = _first_page(page, len(sizes)) or max(_begins(stored, quote, boxes) - 1, 1)
    last = min(first + MAX_SHOWN_PAGES - 1, len(sizes))
    shown = _box_views(boxes, "current", "quote")
    shown += await _other_boxes(caller, stored, marked, (first, last))
    before = max(first - MAX_SHOWN_PAGES, 1)
    return replace(
        view,
        note=say("original.unmarked") if quote and not boxes else "",
        total=len(sizes),
        sheets=[_sheet(size, shown) for size in sizes[first - 1 : last]],
        before=_page_address(document, before, marked) if first > 1 else "",
        after=_page_address(document, last + 1, marked) if last < len(sizes) else "",
    )


def _passage(stored: ShownDocument, marked: MarkedPlaces) -> Markup:
    """Return the opened quote with the sentences of the answer marked, "" without a quote."""
    if marked.quote is None:
        return Markup()
    start, end = marked.quote
    sentences = [(one - start, other - start) for one, other in marked.answered]
    return show_passage(stored.text[start:end], stored.document.uri, sentences)


async def _other_boxes(
    caller: ScopedClient, stored: ShownDocument, marked: MarkedPlaces, pages: CharRange
) -> list[BoxView]:
    """Return the boxes of the answer's sentences in the opened quote, and of other quotes."""
    looks = [(one, "answer", "") for one in marked.answered]
    looks += [
        (marked.quotes[number], "", quote_anchor(number, marked.current))
        for number in _near(stored, marked, pages)
    ]
    looks = looks[:MAX_BOXED_PLACES]
    document = stored.document.document_id
    found = await asyncio.gather(*(caller.boxes(document, *place) for place, _, _ in looks))
    return [
        view
        for boxes, (_, kind, anchor) in zip(found, looks, strict=True)
        for view in _box_views(boxes, kind, anchor)
    ]


def _page_address(document: str, page: int | None, marked: MarkedPlaces) -> str:
    address = marked.address(document, marked.quote, "/original").partition("#")[0]
    return f"{address}{'&' if '?' in address else '?'}page={page}#page-{page}"


def _first_page(page: str, total: int) -> int | None:
    return min(int(page[:9]), total) or None if page.isascii() and page.isdigit() else None


def _begins(stored: ShownDocument, quote: CharRange | None, boxes: Sequence[PageBox]) -> int:
    """Return the page on which a quote begins: that of its first box, or of its chunk."""
    if boxes:
        return boxes[0].page
    start = quote[0] if quote else 0
    return max(
        (chunk.page for chunk in stored.chunks if chunk.page and chunk.start <= start), default=1
    )


def _near(stored: ShownDocument, marked: MarkedPlaces, pages: CharRange) -> list[int]:
    """Return the numbers of the other quotes that may be seen on some pages, the nearest first."""
    first, last = pages
    near = [
        number
        for number, quote in enumerate(marked.quotes)
        if number != marked.current and first - 1 <= _begins(stored, quote, ()) <= last
    ]
    return sorted(near, key=lambda number: abs(number - (marked.current or 0)))


def _box_views(boxes: Sequence[PageBox], kind: str, anchor: str) -> list[BoxView]:
    """Return the boxes of a place, the first with the place's name."""
    return [BoxView(box, kind, "" if at else anchor) for at, box in enumerate(boxes)]


def _sheet(size: PageSize, boxes: Sequence[BoxView]) -> SheetView:
    width, height = (
        round(min(max(side, MIN_POINTS), MAX_POINTS)) for side in (size.width, size.height)
    )
    return SheetView(size.page, width, height, [one for one in boxes if one.box.page == size.page])
