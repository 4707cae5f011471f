"""What a PDF's page holds besides its text: what people said about it, and of its pictures."""

import re
from collections.abc import Callable, Iterable, Iterator
from ctypes import create_string_buffer
from dataclasses import dataclass
from typing import Any

import pypdfium2
from pypdfium2 import raw

from lexichord.ingest.load.marks import Marks, described, picture
from lexichord.ingest.load.text import storable_text

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
