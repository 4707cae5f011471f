"""The picture of a PDF page, with a passage of its text marked."""

import ctypes
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pypdfium2
from pypdfium2 import raw

from lexichord.errors import IngestError
from lexichord.ingest.load.marks import LoadOptions
from lexichord.ingest.load.pdf.words import (
    LINE_END_HYPHEN,
    PdfWord,
    Rectangle,
    group_rows,
    read_words,
)
from lexichord.types import PageBox, PageSize

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
