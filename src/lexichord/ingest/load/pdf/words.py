"""Words of a PDF page and where they stand: as pdfium parts them, or recognized on a scan."""

import ctypes
import math
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pypdfium2
from pypdfium2 import raw

from lexichord.errors import IngestError

LINE_END_HYPHEN = "\ufffe"  # ends a word that goes on in the next line
UNKNOWN_LETTER = "\ufffd"  # within a word: the file does not say what its glyph means
UNCERTAIN_MARK = re.compile(LINE_END_HYPHEN)  # pdfium's sign for both
MAX_OVERLAP = 0.5  # of the height of a line: what overlaps more stands in one place, twice
MAX_WORD_GAP = 1.2  # of the height: farther apart, two words are of different columns or cells
MAX_LETTER_GAP = 0.15  # of the height: nearer, a comma belongs to the word before
MAX_LETTER_PITCH = 3.0  # of the height, from letter to letter: a spaced-out title is below 2
MAX_SLANT_DEGREES = 10  # from upright or sideways, at most: what is slanted more is a watermark
FLAT_SAMPLES = 16  # letters of a page that are asked whether their font says its height
USUAL_REACH = 0.22, 0.93  # of a font's size, below its line and above
WORD = re.compile(
    # no white space, no control characters; a hyphen at a line's end ends the word
    r"[^\s\x00-\x20\x7f-\xa0\ufffe]+\ufffe?|\ufffe"
)
CLOSING_MARK = re.compile(r"[,.;:!?)\]}’”]")
RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")

Rectangle = tuple[float, float, float, float]


@dataclass(slots=True)
class PdfPiece:
    """A word, or words of one line, and its box; `top` is less than `bottom`.

    `place` counts the words of the page in the order in which they are drawn.
    """

    left: float
    top: float
    right: float
    bottom: float
    text: str
    place: int = 0
    parts: list["PdfPiece"] = field(default_factory=list)

    @property
    def words(self) -> list["PdfPiece"]:
        """Return the words one by one."""
        return self.parts or [self]

    @property
    def height(self) -> float:
        """Return the height of the line."""
        return self.bottom - self.top

    @property
    def is_right_to_left(self) -> bool:
        """Return whether it holds letters of Hebrew, Arabic or the like."""
        return RIGHT_TO_LEFT.search(self.text) is not None

    def beside(self, other: "PdfPiece") -> bool:
        """Return whether the two stand in one line."""
        shared = min(self.bottom, other.bottom) - max(self.top, other.top)
        return shared > min(self.height, other.height) / 2

    def add(self, other: "PdfPiece", between: str) -> None:
        """Take in what follows in the line."""
        if not self.parts:
            box = self.left, self.top, self.right, self.bottom
            self.parts.append(PdfPiece(*box, self.text, self.place))
        self.parts += other.words
        self.text += between + other.text
        self.left, self.right = min(self.left, other.left), max(self.right, other.right)
        self.top, self.bottom = min(self.top, other.top), max(self.bottom, other.bottom)


@dataclass(slots=True)
class PdfWord(PdfPiece):
    """A word, in which direction it runs, and whether pdfium sees it open a line."""

    direction: int = 0  # degrees against the clock; -1: slanted
    opens_line: bool = False


def make_pieces(words: Iterable[PdfWord]) -> list[PdfPiece]:
    """Return words joined where they follow each other in a line."""
    lines = list[PdfPiece]()
    for piece in _joined(words):
        if lines and not piece.opens_line and _follows_leftwards(lines[-1], piece):
            lines[-1].add(piece, " ")
        else:
            lines.append(piece)
    return lines


def _joined(words: Iterable[PdfWord]) -> Iterator[PdfWord]:
    """Join what runs from left to right; each piece is the word that it begins with."""
    piece: PdfWord | None = None
    for word in words:
        gap = _gap(piece, word) if piece else None
        if piece is None or gap is None:
            if piece:
                yield piece
            piece = word
        else:
            is_near = gap < MAX_LETTER_GAP * word.height and CLOSING_MARK.match(word.text)
            piece.add(word, "" if is_near and word.opens_line else " ")
    if piece:
        yield piece


def _gap(piece: PdfPiece, word: PdfPiece) -> float | None:
    """Return the room between a piece and the word that follows in its line, if it does."""
    gap = word.left - piece.right
    height = word.bottom - word.top
    if not -MAX_OVERLAP * height < gap < MAX_WORD_GAP * height:
        return None
    return gap if piece.text[-1] != LINE_END_HYPHEN and piece.beside(word) else None


def _follows_leftwards(line: PdfPiece, piece: PdfPiece) -> bool:
    """Return whether two stand side by side in a line that runs from right to left."""
    if not (line.is_right_to_left or piece.is_right_to_left) or not line.beside(piece):
        return False
    gap = max(line.left - piece.right, piece.left - line.right)
    return -MAX_OVERLAP * piece.height < gap < MAX_WORD_GAP * piece.height


def read_words(page: pypdfium2.PdfPage) -> tuple[list[PdfWord], int]:
    """Return the words of a page, and the amount of glyphs of which it does not say the meaning."""
    with closing(page.get_textpage()) as text:
        content = _content(text)
        return list(_words(text, content)), content.count("\0")


def _words(text: pypdfium2.PdfTextPage, content: str) -> Iterator[PdfWord]:
    box_of = _box_reader(text)
    end = 0
    for place, match in enumerate(WORD.finditer(content)):
        opens_line = end == 0 or "\n" in content[end : match.start()]
        end = match.end()
        direction = _direction(raw.FPDFText_GetCharAngle(text, match.start()))
        for word in filter(_is_somewhere, _placed(match, direction, box_of)):
            word.place, word.opens_line = place, opens_line
            yield word


def _is_somewhere(word: PdfPiece) -> bool:
    """Return whether a word's box is of numbers: a broken matrix draws its words nowhere."""
    return all(map(math.isfinite, (word.left, word.top, word.right, word.bottom)))


def _content(text: pypdfium2.PdfTextPage) -> str:
    """Return the text of a page, one character for each that pdfium counts."""
    amount = text.count_chars()
    buffer = (ctypes.c_ushort * (amount + 1))()
    raw.FPDFText_GetText(text, 0, amount, buffer)
    content = bytes(buffer)[: 2 * amount].decode("utf-16-le", "surrogatepass")
    if len(content) != amount or content.endswith("\0"):  # it left some out
        content = "".join(chr(raw.FPDFText_GetUnicode(text, index)) for index in range(amount))
    content = content.replace("\0", LINE_END_HYPHEN).replace("\x02", LINE_END_HYPHEN)
    return UNCERTAIN_MARK.sub(lambda match: _mark(text, match), content)


def _mark(text: pypdfium2.PdfTextPage, match: re.Match[str]) -> str:
    """Return a hyphen at a line's end, or what stands for a glyph without a meaning."""
    if raw.FPDFText_IsHyphen(text, match.start()) == 1:
        return LINE_END_HYPHEN
    around = match.string[max(match.start() - 1, 0) : match.end() + 1]
    return UNKNOWN_LETTER if len(around) == 3 and around[::2].isalpha() else "\0"


def _box_reader(text: pypdfium2.PdfTextPage) -> Callable[[int], Rectangle]:
    box = raw.FS_RECTF()
    place = ctypes.byref(box)
    amount = text.count_chars()
    samples = range(0, amount, max(amount // FLAT_SAMPLES, 1))
    has_flat = any(_flat_size(text, index) for index in samples)

    def box_of(index: int) -> Rectangle:
        raw.FPDFText_GetLooseCharBox(text, index, place)
        size = _flat_size(text, index) if has_flat else 0.0
        if size == 0.0:
            return box.left, box.bottom, box.right, box.top
        bottom, top = _line_height(text, index, size)
        return box.left, bottom, box.right, top

    return box_of


def _flat_size(text: pypdfium2.PdfTextPage, index: int) -> float:
    """Return the size of an upright letter whose font does not say how far it reaches down, else 0.

    Its box is as high as its ink, so that letters of one line would differ in height.
    """
    drawn = raw.FPDFText_GetTextObject(text, index)
    font = raw.FPDFTextObj_GetFont(drawn) if drawn else None
    descent, matrix = ctypes.c_float(), raw.FS_MATRIX()
    if not font or not raw.FPDFFont_GetDescent(font, 1.0, descent) or descent.value < 0:
        return 0.0
    if not raw.FPDFText_GetMatrix(text, index, matrix) or matrix.b or matrix.c or matrix.d <= 0:
        return 0.0
    return float(raw.FPDFText_GetFontSize(text, index) * matrix.d)


def _line_height(text: pypdfium2.PdfTextPage, index: int, size: float) -> tuple[float, float]:
    """Return the bottom and the top of a letter as most fonts say them."""
    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(text, index, x, y)
    down, up = USUAL_REACH
    return y.value - down * size, y.value + up * size


def _placed(
    match: re.Match[str], direction: int, box_of: Callable[[int], Rectangle]
) -> Iterator[PdfWord]:
    """Yield a word with the box of its first and last letter; letters, where these are no line."""
    turned = turn(direction)
    first, last = (
        PdfPiece(*turned(*box_of(index)), "") for index in (match.start(), match.end() - 1)
    )
    if first.beside(last) and not _is_stretched(first, last, len(match[0])):
        left, right = min(first.left, last.left), max(first.right, last.right)
        box = left, min(first.top, last.top), right, max(first.bottom, last.bottom)
        yield PdfWord(*box, match[0], direction=direction)
        return
    for index, letter in enumerate(match[0], match.start()):
        yield PdfWord(*turned(*box_of(index)), letter, direction=direction)


def _is_stretched(first: PdfPiece, last: PdfPiece, letters: int) -> bool:
    """Return whether letters stand as far apart as cells do: pdfium joins figures of a table."""
    return last.left - first.left > MAX_LETTER_PITCH * (letters - 1) * first.height


def _direction(angle: float) -> int:
    """Return the direction of a letter in degrees, or -1; pdfium turns with the clock."""
    degrees = -math.degrees(angle) % 360
    nearest = round(degrees / 90) * 90
    return nearest % 360 if abs(degrees - nearest) <= MAX_SLANT_DEGREES else -1


def turn(direction: int) -> Callable[[float, float, float, float], Rectangle]:
    """Return what turns a box of the page upright for what runs in a direction."""
    return TURNS[direction]


TURNS: dict[int, Callable[[float, float, float, float], Rectangle]] = {
    0: lambda left, bottom, right, top: (left, -top, right, -bottom),
    90: lambda left, bottom, right, top: (bottom, left, top, right),
    180: lambda left, bottom, right, top: (-right, bottom, -left, top),
    270: lambda left, bottom, right, top: (-top, -right, -bottom, -left),
    -1: lambda left, bottom, right, top: (left, -top, right, -bottom),
}


def group_rows(pieces: Sequence[PdfPiece]) -> list[list[PdfPiece]]:
    """Group what stands in one line, top to bottom and left to right."""
    lines = list[list[PdfPiece]]()
    for piece in sorted(pieces, key=lambda piece: (piece.top + piece.bottom, piece.left)):
        if lines and lines[-1][-1].beside(piece):
            lines[-1].append(piece)
        else:
            lines.append([piece])
    return [as_read(row) for row in lines]


def as_read(row: list[PdfPiece]) -> list[PdfPiece]:
    """Order a line from its left to its right, or the other way where its script runs so.

    What is drawn word by word stays together, also where something else is printed over it.
    """
    if run_right_to_left(row):
        return sorted(row, key=lambda piece: -piece.right)
    runs = list[list[PdfPiece]]()
    for piece in sorted(row, key=lambda piece: piece.place):
        last = runs[-1][-1] if runs else None
        is_next = last and piece.place == last.place + 1 and _gap(last, piece) is not None
        if is_next:
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return [piece for run in sorted(runs, key=lambda run: run[0].left) for piece in run]


def run_right_to_left(pieces: Sequence[PdfPiece]) -> bool:
    """Return whether most of the letters are of a script that runs from right to left."""
    leftwards = sum(len(piece.text) for piece in pieces if piece.is_right_to_left)
    return 2 * leftwards > sum(len(piece.text) for piece in pieces)


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
    return _recognized_words(_ask_tesseract(_picture(page, scale), ocr), scale)


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


def _recognized_words(table: str, scale: float) -> Iterator[tuple[PdfWord, float]]:
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
