"""A PDF page: its words in lines, its tables, its running headers, what people said about it."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import create_string_buffer
from dataclasses import dataclass, field, replace
from typing import Any

import pypdfium2
from pypdfium2 import raw

from lexichord.ingest.load.marks import Marks, described, picture
from lexichord.ingest.load.pdf.tables import Rule, read_rules, take_tables
from lexichord.ingest.load.pdf.words import (
    PdfPiece,
    PdfWord,
    group_rows,
    make_pieces,
    read_words,
    turn,
)
from lexichord.ingest.load.text import storable_text


@dataclass(slots=True)
class PdfPage:
    """The pieces of a page that run as most of it does, and the others, direction by direction."""

    pieces: list[PdfPiece] = field(default_factory=list)
    asides: list[list[PdfPiece]] = field(default_factory=list)
    confidence: float | None = None  # from 0 to 1, of what OCR recognized
    unknown: int = 0  # glyphs of which the file does not say what they mean
    notes: list[str] = field(default_factory=list)  # comments, descriptions of pictures
    rules: list[Rule] = field(default_factory=list)  # from left to right, as the pieces run

    @property
    def all_pieces(self) -> list[PdfPiece]:
        """Return every piece."""
        return [*self.pieces, *(piece for aside in self.asides for piece in aside)]


def read_page(page: pypdfium2.PdfPage) -> PdfPage:
    """Return the tables of a page and its words, joined where they follow each other in a line."""
    words, unknown = read_words(page)
    runs = dict[int, list[PdfWord]]()
    for word in words:
        runs.setdefault(word.direction, []).append(word)
    if not runs:
        return PdfPage(unknown=unknown)
    usual, *others = sorted(runs, key=lambda run: -sum(len(word.text) for word in runs[run]))
    rules = read_rules(page, turn(usual))
    tables, rest = take_tables(runs[usual], rules)
    asides = [make_pieces(runs[direction]) for direction in others]
    pieces = [*make_pieces(rest), *tables]
    return PdfPage(pieces, asides, unknown=unknown, rules=rules.horizontal)


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


# Annotations that are no comments: links, windows of others, fields of forms.
OTHER_KINDS = {
    *(raw.FPDF_ANNOT_UNKNOWN, raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP),
    *(raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_XFAWIDGET, raw.FPDF_ANNOT_PRINTERMARK),
}
DAY = re.compile(r"(?:D:)?(\d{4})(\d\d)(\d\d)")
FIGURES = ("Figure", "Formula")
MAX_ELEMENTS = 10_000  # of a page's structure
MAX_STRING_BYTES = 1 << 20  # of what an annotation or a figure says


@dataclass(frozen=True, slots=True)
class PdfComment:
    """What somebody said about a page."""

    text: str
    author: str
    day: str
    is_hidden: bool


def read_comments(page: pypdfium2.PdfPage) -> list[PdfComment]:
    """Return what people said about a page, before it is flattened."""
    return [
        comment
        for index in range(raw.FPDFPage_GetAnnotCount(page))
        if (comment := _comment(page, index)) is not None
    ]


def marked_comments(comments: Iterable[PdfComment], shown: str, marks: Marks) -> Iterator[str]:
    """Yield comments, marked, without those that stand in the page's text, as free text does."""
    bare = "".join(shown.split())
    for each in comments:
        if "".join(each.text.split()) in bare:
            continue
        if marked := marks.comment(each.text, each.author, each.day):
            marked = marks.hidden(marked, "comment") if each.is_hidden else marked
            yield from [marked] if marked else []


def _comment(page: pypdfium2.PdfPage, index: int) -> PdfComment | None:
    annotation = raw.FPDFPage_GetAnnot(page, index)
    try:
        if raw.FPDFAnnot_GetSubtype(annotation) in OTHER_KINDS:
            return None
        text, author = _said(annotation, "Contents"), _said(annotation, "T")
        written = DAY.match(_said(annotation, "M"))
        is_hidden = bool(raw.FPDFAnnot_GetFlags(annotation) & raw.FPDF_ANNOT_FLAG_HIDDEN)
    finally:
        raw.FPDFPage_CloseAnnot(annotation)
    day = "-".join(written.groups()) if written else ""
    return PdfComment(text, author, day, is_hidden) if text else None


def figure_descriptions(page: pypdfium2.PdfPage) -> Iterator[str]:
    """Yield what a tagged page says of its pictures and formulas to those who do not see them."""
    tree = raw.FPDF_StructTree_GetForPage(page)
    if not tree:
        return
    try:
        for element in _elements(tree):
            if _of_element(raw.FPDF_StructElement_GetType, element) in FIGURES and (
                said := described(_of_element(raw.FPDF_StructElement_GetAltText, element))
            ):
                yield picture(said)
    finally:
        raw.FPDF_StructTree_Close(tree)


def _said(annotation: Any, key: str) -> str:  # noqa: ANN401
    def read(buffer: Any, length: int) -> int:  # noqa: ANN401
        return int(raw.FPDFAnnot_GetStringValue(annotation, key.encode(), buffer, length))

    return _string(read, raw.FPDF_WCHAR)


def _of_element(getter: Callable[..., int], element: Any) -> str:  # noqa: ANN401
    return _string(lambda buffer, length: int(getter(element, buffer, length)), None)


def _string(read: Callable[[Any, int], int], cast: Any) -> str:  # noqa: ANN401
    """Return a string of UTF-16 that the library writes, once asked how long it is."""
    length = read(None, 0)
    if not 2 < length <= MAX_STRING_BYTES:  # it ends with a zero
        return ""
    buffer = create_string_buffer(length)
    target = raw.cast(buffer, raw.POINTER(cast)) if cast else buffer
    read(target, length)
    text = buffer.raw[: length - 2].decode("utf-16-le", errors="replace")
    return storable_text(text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def _elements(tree: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield the elements of a page's structure, in order."""
    count = raw.FPDF_StructTree_CountChildren(tree)
    waiting = [raw.FPDF_StructTree_GetChildAtIndex(tree, n) for n in reversed(range(count))]
    for _ in range(MAX_ELEMENTS):
        if not waiting:
            return
        if element := waiting.pop():
            yield element
            count = raw.FPDF_StructElement_CountChildren(element)
            waiting += [
                raw.FPDF_StructElement_GetChildAtIndex(element, n)
                for n in reversed(range(min(count, MAX_ELEMENTS)))
            ]
