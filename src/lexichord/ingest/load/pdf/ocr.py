"""Words of a scanned page, recognized by an installed tesseract or by RapidOCR's own models."""

import math
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pypdfium2

from lexichord.errors import IngestError
from lexichord.ingest.load.pdf.words import PdfPiece, PdfWord, make_pieces

RAPIDOCR = "rapidocr"
DOTS_PER_INCH = 300  # what tesseract reads best
RAPIDOCR_DOTS_PER_INCH = 150  # its models make pictures smaller themselves
MAX_LINE_WORDS = 10_000
LINE_WORD = re.compile(r"\S+")
MAX_PIXELS = 40_000_000  # of a page; a larger one is drawn smaller
POINTS_PER_INCH = 72
PAGE_SECONDS = 120.0
WORD_LEVEL = "5"  # of tesseract's table of pages, blocks, paragraphs, lines and words


@dataclass(frozen=True, slots=True)
class RecognizedPage:
    """The pieces of a page, and how sure their letters are on average, from 0 to 1."""

    pieces: list[PdfPiece]
    confidence: float


def recognize(page: pypdfium2.PdfPage, ocr: str) -> RecognizedPage | None:
    """Return what stands on the picture of a page; None where nothing does. Raises IngestError.

    `ocr` is tesseract or, with the languages that it shall expect, tesseract/eng+deu; or rapidocr.
    """
    words, confidences = list[PdfWord](), list[float]()
    found = _rapid_words(page) if ocr == RAPIDOCR else _tesseract_words(page, ocr)
    for word, confidence in found:
        words.append(word)
        confidences += [confidence] * len(word.text)
    if not words:
        return None
    return RecognizedPage(make_pieces(words), sum(confidences) / len(confidences))


def _scale(page: pypdfium2.PdfPage, dots_per_inch: int) -> float:
    """Return how large a page is drawn, in pixels a point."""
    width, height = page.get_size()
    inches = max(float(width * height), 1.0) / POINTS_PER_INCH**2
    return min(float(dots_per_inch), math.sqrt(MAX_PIXELS / inches)) / POINTS_PER_INCH


def _tesseract_words(page: pypdfium2.PdfPage, ocr: str) -> Iterator[tuple[PdfWord, float]]:
    scale = _scale(page, DOTS_PER_INCH)
    return _words(_ask_tesseract(_picture(page, scale), ocr), scale)


def _rapid_words(page: pypdfium2.PdfPage) -> Iterator[tuple[PdfWord, float]]:
    """Yield the words of the lines that RapidOCR finds, each over its share of the line."""
    scale = _scale(page, RAPIDOCR_DOTS_PER_INCH)
    image = page.render(scale=scale).to_numpy()[:, :, :3].copy()
    found = _rapidocr()(image)
    if found.txts is None or found.boxes is None:
        return
    for line, (text, box, sure) in enumerate(
        zip(found.txts, found.boxes, found.scores, strict=True)
    ):
        xs, ys = [point[0] / scale for point in box], [point[1] / scale for point in box]
        left, letter = min(xs), (max(xs) - min(xs)) / max(len(text), 1)
        for number, match in enumerate(LINE_WORD.finditer(text)):
            start, end = left + match.start() * letter, left + match.end() * letter
            place = line * MAX_LINE_WORDS + number
            word = PdfWord(start, min(ys), end, max(ys), match[0], place, opens_line=number == 0)
            yield word, float(sure)


@cache
def _rapidocr() -> Any:  # noqa: ANN401
    """Load the models that come in the package; nothing is fetched. Raises IngestError."""
    try:
        from rapidocr import RapidOCR  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ModuleNotFoundError as error:
        needed = f"needs {error.name}: pip install 'lexichord[ocr]'"
        raise IngestError(f"a page without text {needed}") from None
    return RapidOCR(params={"Global.log_level": "error"})


def _picture(page: pypdfium2.PdfPage, scale: float) -> bytes:
    """Return a page as a portable graymap."""
    image = page.render(scale=scale, grayscale=True).to_numpy()
    height, width = image.shape[:2]
    return b"P5 %d %d 255\n" % (width, height) + bytes(image.tobytes())


def _ask_tesseract(picture: bytes, ocr: str) -> str:
    command, _, languages = ocr.partition("/")
    program = shutil.which(command)
    if program is None:
        raise IngestError(f"needs OCR, but there is no {command} on PATH: install it")
    options = ["-l", languages] if languages else []
    try:
        done = subprocess.run(  # noqa: S603
            [program, "stdin", "stdout", *options, "tsv"],
            input=picture,
            capture_output=True,
            timeout=PAGE_SECONDS,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},  # more threads make it slower
        )
    except subprocess.TimeoutExpired:
        raise IngestError(f"a page took longer than {PAGE_SECONDS:g} s to recognize") from None
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().split("\n")[-1]
        raise IngestError(f"{command} failed: {reason}")
    return done.stdout.decode(errors="replace")


def _words(table: str, scale: float) -> Iterator[tuple[PdfWord, float]]:
    """Yield the words of tesseract's table, with how sure it is of each."""
    previous: Sequence[str] = ()
    for place, row in enumerate(table.splitlines()[1:]):
        fields = row.split("\t")
        if fields[0] != WORD_LEVEL or not fields[11].strip():
            continue
        left, top, width, height = (int(field) / scale for field in fields[6:10])
        box = left, top, left + width, top + height
        line = fields[1:5]
        word = PdfWord(*box, fields[11].strip(), place, opens_line=line != previous)
        yield word, max(float(fields[10]), 0) / 100
        previous = line
