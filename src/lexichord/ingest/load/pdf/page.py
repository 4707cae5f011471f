"""A PDF page: its words in lines, its tables, its running headers, what people said about it.

Also its picture, with a passage of its text marked.
"""

import ctypes
import re
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from ctypes import create_string_buffer
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pypdfium2
from pypdfium2 import raw

from lexichord.errors import IngestError
from lexichord.ingest.load.marks import LoadOptions, Marks, described, picture
from lexichord.ingest.load.pdf.tables import Rule, read_rules, take_tables
from lexichord.ingest.load.pdf.words import (
    LINE_END_HYPHEN,
    PdfPiece,
    PdfWord,
    Rectangle,
    group_rows,
    make_pieces,
    read_words,
    turn,
)
from lexichord.ingest.load.text import storable_text
from lexichord.types import PageBox, PageSize


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


SCALE = 2.0  # pixels a point
MAX_SIDE_PIXELS = 4000  # of a picture; a larger page is drawn smaller
MARK_COLOR = np.array([255, 235, 59])  # yellow
MIN_MATCH_WORDS = 3  # in a row, or all of a shorter passage: fewer may stand anywhere
TOKEN = re.compile(r"\w+")

SHARES = 100_000  # parts of a page's width or height

type Token = tuple[str, list[PdfWord]]


class Match(NamedTuple):
    """A run of words that stand on a page from `start` on, in a passage from `place` on."""

    start: int
    place: int
    size: int


def page_picture(file: Path, number: int, passage: str, options: LoadOptions) -> bytes:
    """Return a page as PNG, what it holds of a passage marked. Raises IngestError."""
    try:
        with pypdfium2.PdfDocument(file, password=options.password) as document:
            if not 1 <= number <= len(document):
                raise IngestError(f"has {len(document)} pages")
            with closing(document[number - 1]) as page:
                return _marked(page, passage)
    except (OSError, pypdfium2.PdfiumError) as error:
        raise IngestError(f"cannot be drawn: {error}") from error


def passage_boxes(file: Path, first: int, passage: str, options: LoadOptions) -> list[PageBox]:
    """Return where a passage stands that begins on a page, a box a line. Raises IngestError."""
    try:
        with pypdfium2.PdfDocument(file, password=options.password) as document:
            if not 1 <= first <= len(document):
                raise IngestError(f"has {len(document)} pages")
            return list(_boxes(document, first, TOKEN.findall(passage)))
    except (OSError, pypdfium2.PdfiumError) as error:
        raise IngestError(f"cannot be looked at: {error}") from error


def page_sizes(file: Path, options: LoadOptions) -> list[PageSize]:
    """Return how large each page is. Raises IngestError."""
    try:
        with pypdfium2.PdfDocument(file, password=options.password) as document:
            sizes = (document.get_page_size(index) for index in range(len(document)))
            return [PageSize(number, *size) for number, size in enumerate(sizes, 1)]
    except (OSError, pypdfium2.PdfiumError) as error:
        raise IngestError(f"cannot be looked at: {error}") from error


def _boxes(document: pypdfium2.PdfDocument, first: int, wanted: Sequence[str]) -> Iterator[PageBox]:
    """Yield the boxes of what is wanted, page by page, as long as some of it is left."""
    least = _least(wanted)
    for number in range(first, len(document) + 1):
        with closing(document[number - 1]) as page:
            words, end = _find(read_words(page)[0], wanted, least)
            yield from _lines(number, [_shares(page, word) for word in words])
        wanted = wanted[end:]
        if len(wanted) < least or not words:
            return


def _shares(page: pypdfium2.PdfPage, word: PdfWord) -> Rectangle:
    """Return where a word stands on its page, as shares of the width and the height."""
    left, top, right, bottom = _pixels(page, word, SHARES, SHARES)
    return left / SHARES, top / SHARES, right / SHARES, bottom / SHARES


def _lines(page: int, words: Sequence[Rectangle]) -> Iterator[PageBox]:
    """Yield a box for each run of words that stand beside each other."""
    run: list[Rectangle] = []
    for word in (*words, None):
        beside = word and run and min(word[3], run[-1][3]) - max(word[1], run[-1][1])
        if run and not (word and beside and beside > (word[3] - word[1]) / 2):
            lefts, tops, rights, bottoms = zip(*run, strict=True)
            yield PageBox(page, min(lefts), min(tops), max(rights), max(bottoms))
            run = []
        if word:
            run.append(word)


def _marked(page: pypdfium2.PdfPage, passage: str) -> bytes:
    scale = min(SCALE, MAX_SIDE_PIXELS / max(*page.get_size(), 1))
    image = page.render(scale=scale, rev_byteorder=True).to_numpy()[:, :, :3].copy()
    height, width = image.shape[:2]
    wanted = TOKEN.findall(passage)
    for word in _find(read_words(page)[0], wanted, _least(wanted))[0]:
        left, top, right, bottom = _pixels(page, word, width, height)
        part = image[top:bottom, left:right]
        image[top:bottom, left:right] = np.minimum(part, MARK_COLOR)
    return _png(image.tobytes(), width, height)


def _tokens(words: Sequence[PdfWord]) -> Iterator[Token]:
    """Yield the words' letters with their words; those that a line's end parts as one."""
    first: PdfWord | None = None
    for word in words:
        text, parts = word.text, [word]
        if first:
            text, parts = first.text.removesuffix(LINE_END_HYPHEN) + text, [first, word]
        first = word if word.text.endswith(LINE_END_HYPHEN) and not first else None
        if not first:
            yield from ((token, parts) for token in TOKEN.findall(text))


def _least(wanted: Sequence[str]) -> int:
    return min(MIN_MATCH_WORDS, max(len(wanted), 1))


def _find(words: Sequence[PdfWord], wanted: Sequence[str], least: int) -> tuple[list[PdfWord], int]:
    """Return what a page holds of what is wanted, and how far in that this goes.

    Text stands in the order of drawing or, in tables, row by row: what finds more counts.
    """
    rows = [word for row in group_rows(words) for word in row if isinstance(word, PdfWord)]
    orders = [list(_tokens(order)) for order in (words, rows)]
    matched = [list(_matches(tokens, wanted, least)) for tokens in orders]
    sizes = [sum(match.size for match in matches) for matches in matched]
    best = sizes.index(max(sizes))
    end = max((match.place + match.size for match in matched[best]), default=len(wanted))
    return list(_filled(orders[best], matched[best], wanted)), end


def _matches(tokens: Sequence[Token], wanted: Sequence[str], least: int) -> Iterator[Match]:
    """Yield the runs of wanted words that stand on a page."""
    matcher = SequenceMatcher(None, [text for text, _ in tokens], wanted, autojunk=False)
    for start, place, size in matcher.get_matching_blocks():
        if size >= least:
            yield Match(start, place, size)


def _filled(
    tokens: Sequence[Token], matches: Sequence[Match], wanted: Sequence[str]
) -> Iterator[PdfWord]:
    """Yield the words of the runs, and single words that are wanted and stand beside them."""
    runs = [place for match in matches for place in range(match.start, match.start + match.size)]
    found = set(runs)
    lacking = Counter(wanted) - Counter(tokens[place][0] for place in runs)
    lines = [word for place in runs for word in tokens[place][1]]
    for place, (text, words) in enumerate(tokens):
        if place in found:
            yield from words
        elif lacking[text] and any(words[0].beside(word) for word in lines):
            lacking[text] -= 1
            yield from words


def _pixels(page: pypdfium2.PdfPage, word: PdfWord, width: int, height: int) -> tuple[int, ...]:
    """Return where a word stands in the picture: left, top, right, bottom."""
    x, y = ctypes.c_int(), ctypes.c_int()
    corners = []
    left, bottom, right, top = _unturned(word)
    for corner in ((left, bottom), (right, top)):
        raw.FPDF_PageToDevice(page, 0, 0, width, height, 0, *corner, x, y)
        corners.append((min(max(x.value, 0), width), min(max(y.value, 0), height)))
    (x1, y1), (x2, y2) = corners
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


def _unturned(word: PdfWord) -> Rectangle:
    """Return a word's box as the page counts: left, bottom, right, top."""
    match word.direction:
        case 90:
            return word.top, word.left, word.bottom, word.right
        case 180:
            return -word.right, word.top, -word.left, word.bottom
        case 270:
            return -word.bottom, -word.right, -word.top, -word.left
    return word.left, -word.bottom, word.right, -word.top


def _png(pixels: bytes, width: int, height: int) -> bytes:
    stride = width * 3
    rows = (b"\0" + pixels[row * stride : (row + 1) * stride] for row in range(height))
    head = struct.pack("!2I5B", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"".join(rows), 6)
    chunks = [(b"IHDR", head), (b"IDAT", body), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack("!I", len(data)) + name + data + struct.pack("!I", zlib.crc32(name + data))
        for name, data in chunks
    )
