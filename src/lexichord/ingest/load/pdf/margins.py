"""Running headers and footers of a PDF: what stands at the edge of many pages."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lexichord.ingest.load.pdf.page import PdfPage
from lexichord.ingest.load.pdf.words import PdfPiece, group_rows

MAX_MARGIN_LINES = 3  # lines of a header or footer at most
MIN_RUNNING_SHARE = 0.3  # of the pages, and three of them, have the same line
MIN_MARGIN_GAP = 0.8  # of a line's height between it and the text
DIGIT_RUN = re.compile(r"\d+")
PAGE_NUMBER = re.compile(r"\W*(?:page |p\. ?)?(\d{1,4})(?: ?(?:of|/) ?\d{1,4})?\W*", re.IGNORECASE)

TextRow = Sequence[PdfPiece]


def without_margins(pages: Sequence[PdfPage]) -> list[PdfPage]:
    """Leave out headers, footers, page numbers, and what is stamped on many pages."""
    lines = [group_rows(page.pieces) for page in pages]
    asides = [[group_rows(aside) for aside in page.asides] for page in pages]
    seen = Counter(
        key
        for index, page in enumerate(lines)
        for key in {key for row in _apart(page, asides[index]) for key in _keys(row, index)}
    )
    min_pages = max(3, MIN_RUNNING_SHARE * len(pages))
    running = {key for key, amount in seen.items() if amount >= min_pages}
    return [
        replace(
            page,
            pieces=_trimmed(lines[index], index, running),
            asides=[_unstamped(aside, index, running) for aside in asides[index]],
        )
        for index, page in enumerate(pages)
    ]


def _apart(page: Sequence[TextRow], asides: Sequence[Sequence[TextRow]]) -> Iterator[TextRow]:
    """Yield the lines of a page that may be running ones."""
    yield from _edges(page)
    for aside in asides:
        yield from aside


def _unstamped(aside: Sequence[TextRow], index: int, running: set[str]) -> list[PdfPiece]:
    return [piece for row in aside if not _is_running(row, index, running) for piece in row]


def _edges(page: Sequence[TextRow]) -> Sequence[TextRow]:
    return (
        page
        if len(page) <= 2 * MAX_MARGIN_LINES
        else [*page[:MAX_MARGIN_LINES], *page[-MAX_MARGIN_LINES:]]
    )


def _keys(row: TextRow, index: int) -> Iterator[str]:
    """Yield the line as it is, and with each number less the page's own, which counts it."""
    text = " ".join(piece.text for piece in row)
    yield text
    for number in DIGIT_RUN.finditer(text):
        if len(number[0]) < 5:
            counted = int(number[0]) - index
            yield f"{text[: number.start()]}#{counted}{text[number.end() :]}"


def _trimmed(page: Sequence[TextRow], index: int, running: set[str]) -> list[PdfPiece]:
    kept = list(page)
    top, bottom = _amount(kept, index, running), _amount(kept[::-1], index, running)
    inside = kept[top : len(kept) - bottom]
    return [piece for row in inside for piece in row]


def _amount(page: Sequence[TextRow], index: int, running: set[str]) -> int:
    """Count the lines, from the edge, that are running ones and stand apart from the text."""
    amount = 0
    while amount < min(MAX_MARGIN_LINES, len(page)) and _is_running(page[amount], index, running):
        amount += 1
    while 0 < amount < len(page) and not _stand_apart(page[amount - 1], page[amount]):
        amount -= 1
    return amount


def _is_running(row: TextRow, index: int, running: set[str]) -> bool:
    number = PAGE_NUMBER.fullmatch(" ".join(piece.text for piece in row))
    if number and int(number[1]) == index + 1:
        return True
    return any(key in running for key in _keys(row, index))


def _stand_apart(outer: TextRow, inner: TextRow) -> bool:
    above, below = sorted((outer, inner), key=lambda row: row[0].top)
    gap = min(piece.top for piece in below) - max(piece.bottom for piece in above)
    return gap > MIN_MARGIN_GAP * outer[0].height
