"""Words of a PDF page and where they stand, in the order in which the file draws them."""

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pypdfium2
from pypdfium2 import raw

LINE_END_HYPHEN = "\ufffe"  # ends a word that goes on in the next line
HYPHEN_CODES = {2, 0xFFFE}  # how pdfium marks it
MAX_LETTER_GAP = 0.5  # of the height of a character: farther apart, two are not of one word
MAX_WORD_GAP = 1.2  # of the height: farther apart, two words are of different columns or cells

Rectangle = tuple[float, float, float, float]


@dataclass(slots=True)
class PdfPiece:
    """A word, or words of one line, and its box; `top` is less than `bottom`."""

    left: float
    top: float
    right: float
    bottom: float
    text: str

    @property
    def height(self) -> float:
        """Return the height of the line."""
        return self.bottom - self.top

    def beside(self, other: "PdfPiece") -> bool:
        """Return whether the two stand in one line."""
        shared = min(self.bottom, other.bottom) - max(self.top, other.top)
        return shared > min(self.height, other.height) / 2

    def add(self, other: "PdfPiece", between: str) -> None:
        """Take in what follows in the line."""
        self.text += between + other.text
        self.left, self.right = min(self.left, other.left), max(self.right, other.right)
        self.top, self.bottom = min(self.top, other.top), max(self.bottom, other.bottom)


def read_pieces(page: pypdfium2.PdfPage) -> list[PdfPiece]:
    """Return the words of a page, joined where they follow each other in a line."""
    joined = list[PdfPiece]()
    for word in _words(page):
        if joined and _follows(joined[-1], word):
            joined[-1].add(word, " ")
        else:
            joined.append(word)
    return joined


def _follows(piece: PdfPiece, word: PdfPiece) -> bool:
    if piece.text.endswith(LINE_END_HYPHEN) or not piece.beside(word):
        return False
    gap = word.left - piece.right
    return -MAX_LETTER_GAP * word.height < gap < MAX_WORD_GAP * word.height


def _words(page: pypdfium2.PdfPage) -> Iterator[PdfPiece]:
    word: PdfPiece | None = None
    for code, box in _characters(page):
        character = (
            PdfPiece(*box, LINE_END_HYPHEN if code in HYPHEN_CODES else chr(code)) if box else None
        )
        if word and character and _continues(word, character):
            word.add(character, "")
            continue
        if word:
            yield word
        word = character
    if word:
        yield word


def _continues(word: PdfPiece, character: PdfPiece) -> bool:
    if word.text.endswith(LINE_END_HYPHEN) or not word.beside(character):
        return False
    return abs(character.left - word.right) < MAX_LETTER_GAP * max(word.height, character.height)


def _characters(page: pypdfium2.PdfPage) -> Iterator[tuple[int, Rectangle | None]]:
    """Yield each character with its box; white space has none."""
    turned = PAGE_ROTATIONS[page.get_rotation()]
    box = raw.FS_RECTF()
    place = ctypes.byref(box)
    text = page.get_textpage()
    try:
        for index in range(text.count_chars()):
            code = raw.FPDFText_GetUnicode(text, index)
            if _is_blank(code) or not raw.FPDFText_GetLooseCharBox(text, index, place):
                yield code, None
            else:
                yield code, turned(box.left, box.bottom, box.right, box.top)
    finally:
        text.close()


def _is_blank(code: int) -> bool:
    """Return whether a character is white space or a control character."""
    return code not in HYPHEN_CODES and (
        code <= 0x20 or 0x7F <= code <= 0xA0 or chr(code).isspace()
    )


# Turn a box as the page is turned for its reader, and count from the top.
PAGE_ROTATIONS: dict[int, Callable[[float, float, float, float], Rectangle]] = {
    0: lambda left, bottom, right, top: (left, -top, right, -bottom),
    90: lambda left, bottom, right, top: (bottom, left, top, right),
    180: lambda left, bottom, right, top: (-right, bottom, -left, top),
    270: lambda left, bottom, right, top: (-top, -right, -bottom, -left),
}
