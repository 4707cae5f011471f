"""The pages of a PDF as they look, some at a time, with the quotes' lines in boxes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from markupsafe import Markup

from lexichord.errors import ConfigError, NotFoundError
from lexichord.serve.access import ScopedClient
from lexichord.serve.errors import public_error
from lexichord.serve.limits import MAX_BOXED_PLACES, MAX_SHOWN_PAGES
from lexichord.serve.page.blocks import CharRange
from lexichord.serve.page.document import (
    MarkedPlaces,
    OutlineEntry,
    outline,
    quote_anchor,
)
from lexichord.serve.page.language import say
from lexichord.serve.page.passages import show_passage
from lexichord.types import PageBox, PageSize, ShownDocument

MIN_POINTS, MAX_POINTS = 1, 20_000  # of a side: what a file says may be nonsense


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
