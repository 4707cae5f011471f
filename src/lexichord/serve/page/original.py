"""The pages of a PDF as they look, some at a time, with the quotes' lines in boxes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from markupsafe import Markup

from lexichord.errors import ConfigError, NotFoundError
from lexichord.serve.access import ScopedClient
from lexichord.serve.errors import public_error
from lexichord.serve.limits import MAX_BOXED_QUOTES, MAX_SHOWN_PAGES
from lexichord.serve.page.document import (
    OutlineEntry,
    document_address,
    outline,
    quote_anchor,
    read_quotes,
)
from lexichord.serve.page.language import say
from lexichord.serve.page.marks import CharRange
from lexichord.serve.page.passages import show_passage
from lexichord.types import PageBox, PageSize, ShownDocument

MIN_POINTS, MAX_POINTS = 1, 20_000  # of a side: what a file says may be nonsense


@dataclass(frozen=True, slots=True)
class BoxView:
    """A box: whether it is of the quote that is opened, and its name if it is a quote's first."""

    box: PageBox
    is_current: bool
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
    caller: ScopedClient, stored: ShownDocument, place: str, others: Sequence[str], page: str
) -> OriginalView:
    """Return the pages around a quote, or from a page on; places are start-end."""
    quotes, current = read_quotes(stored.text, place, others)
    quote = None if current is None else quotes[current]
    document = stored.document.document_id
    view = OriginalView(
        document_address(document, quote, quotes),
        show_passage(stored.text[slice(*quote)], stored.document.uri) if quote else Markup(),
        [document_address(document, one, quotes, "/original") for one in quotes],
        current,
        [
            (entry, _page_address(document, entry.page, quote, quotes))
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
    shown = _box_views(boxes, current, current)
    near = _near(stored, quotes, current, (first, last))
    found = await asyncio.gather(*(caller.boxes(document, *quotes[number]) for number in near))
    for number, others_boxes in zip(near, found, strict=True):
        shown += _box_views(others_boxes, number, current)
    before = max(first - MAX_SHOWN_PAGES, 1)
    return replace(
        view,
        note=say("original.unmarked") if quote and not boxes else "",
        total=len(sizes),
        sheets=[_sheet(size, shown) for size in sizes[first - 1 : last]],
        before=_page_address(document, before, quote, quotes) if first > 1 else "",
        after=_page_address(document, last + 1, quote, quotes) if last < len(sizes) else "",
    )


def _page_address(
    document: str, page: int | None, quote: CharRange | None, quotes: Sequence[CharRange]
) -> str:
    address = document_address(document, quote, quotes, "/original").partition("#")[0]
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


def _near(
    stored: ShownDocument, quotes: Sequence[CharRange], current: int | None, pages: CharRange
) -> list[int]:
    """Return the numbers of the other quotes that may be seen on some pages, the nearest ones."""
    first, last = pages
    near = [
        number
        for number, quote in enumerate(quotes)
        if number != current and first - 1 <= _begins(stored, quote, ()) <= last
    ]
    return sorted(near, key=lambda number: abs(number - (current or 0)))[:MAX_BOXED_QUOTES]


def _box_views(boxes: Sequence[PageBox], number: int | None, current: int | None) -> list[BoxView]:
    """Return the boxes of a quote, the first with the quote's name."""
    return [
        BoxView(box, number == current, quote_anchor(number or 0, current) if at == 0 else "")
        for at, box in enumerate(boxes)
    ]


def _sheet(size: PageSize, boxes: Sequence[BoxView]) -> SheetView:
    width, height = (
        round(min(max(side, MIN_POINTS), MAX_POINTS)) for side in (size.width, size.height)
    )
    return SheetView(size.page, width, height, [one for one in boxes if one.box.page == size.page])
