"""The straight lines that a PDF page draws, such as those between the cells of a table."""

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pypdfium2
from pypdfium2 import raw

from lexichord.ingest.load.pdf.words import Rectangle

MAX_RULE_WIDTH = 3.0  # points; what is wider is a box
MIN_RULE_LENGTH = 6.0  # points
MAX_PATHS = 4000  # of a page: more is a drawing
MAX_SEGMENTS = 400  # of a path


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal line at a height, or a vertical one at a distance from the left."""

    place: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Rules:
    """The lines of a page, turned as its words are."""

    horizontal: list[Rule]
    vertical: list[Rule]


def read_rules(page: pypdfium2.PdfPage, turned: Callable[..., Rectangle]) -> Rules:
    """Return the lines of a page, the edges of boxes among them."""
    horizontal, vertical = list[Rule](), list[Rule]()
    for box in _strokes(page):
        left, top, right, bottom = turned(*box)
        is_flat, is_thin = bottom - top <= MAX_RULE_WIDTH, right - left <= MAX_RULE_WIDTH
        if is_flat and is_thin:
            continue
        if not is_thin and right - left >= MIN_RULE_LENGTH:
            for place in {(top + bottom) / 2} if is_flat else (top, bottom):
                horizontal.append(Rule(place, left, right))
        if not is_flat and bottom - top >= MIN_RULE_LENGTH:
            for place in {(left + right) / 2} if is_thin else (left, right):
                vertical.append(Rule(place, top, bottom))
    return Rules(_merged(horizontal), _merged(vertical))


def _strokes(page: pypdfium2.PdfPage) -> Iterator[Rectangle]:
    """Yield the boxes of lines and of rectangles."""
    paths = 0
    for index in range(raw.FPDFPage_CountObjects(page)):
        drawn = raw.FPDFPage_GetObject(page, index)
        if raw.FPDFPageObj_GetType(drawn) != raw.FPDF_PAGEOBJ_PATH:
            continue
        paths += 1
        if paths > MAX_PATHS:
            return
        amount = raw.FPDFPath_CountSegments(drawn)
        if amount <= 6:
            yield from _bounds(drawn)
        elif amount <= MAX_SEGMENTS:
            yield from _segments(drawn, amount)


def _bounds(drawn: raw.FPDF_PAGEOBJECT) -> Iterator[Rectangle]:
    edges = [ctypes.c_float() for _ in range(4)]
    if raw.FPDFPageObj_GetBounds(drawn, *edges):
        left, bottom, right, top = (edge.value for edge in edges)
        yield left, bottom, right, top


def _segments(drawn: raw.FPDF_PAGEOBJECT, amount: int) -> Iterator[Rectangle]:
    """Yield the straight segments of a path, each as a box without width."""
    matrix = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(drawn, matrix):
        return
    x, y = ctypes.c_float(), ctypes.c_float()
    last: tuple[float, float] | None = None
    for index in range(amount):
        segment = raw.FPDFPath_GetPathSegment(drawn, index)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        is_line = raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_LINETO
        if is_line and last and min(abs(point[0] - last[0]), abs(point[1] - last[1])) < 1:
            yield (*map(min, point, last), *map(max, point, last))
        last = point


def _merged(rules: list[Rule]) -> list[Rule]:
    """Join what lies on one line, end to end."""
    joined = list[Rule]()
    for rule in sorted(rules, key=lambda rule: (round(rule.place), rule.start)):
        last = joined[-1] if joined else None
        is_on = last and abs(last.place - rule.place) <= 1.5 and rule.start <= last.end + 2
        if last and is_on:
            joined[-1] = Rule(last.place, last.start, max(last.end, rule.end))
        else:
            joined.append(rule)
    return joined
