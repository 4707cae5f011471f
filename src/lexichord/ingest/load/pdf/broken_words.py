"""Words that are not whole: parted by the end of a line, or with a ligature that means nothing.

The document's own words tell what they are.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from lexichord.ingest.load.pdf.order import PageLine
from lexichord.ingest.load.pdf.words import LINE_END_HYPHEN, UNKNOWN_LETTER

PART_WORD = re.compile(r"\w+")
COMPOUND_WORD = re.compile(r"\w+(?:-\w+)+")
LAST_PART = re.compile(rf"(\w*){LINE_END_HYPHEN}\Z")
FIRST_PART = re.compile(r"\w*")
LIGATURES = ("ffi", "fi", "ff", "fl", "ffl")
DAMAGED_WORD = re.compile(rf"\w+{UNKNOWN_LETTER}\w+")
MIN_PART_LETTERS = 3  # of a word that may be half of a compound


class OwnWords:
    """The words of a document, those apart that stand at a line's end and are not whole."""

    def __init__(self, lines: Sequence[PageLine]) -> None:
        texts = [line.text for line in lines]
        self.compounds = {word.lower() for text in texts for word in COMPOUND_WORD.findall(text)}
        self.words = {word.lower() for text in _whole(texts) for word in PART_WORD.findall(text)}
        self.sorted = sorted(self.words)
        self.heads = {word.split("-")[0] for word in self.compounds}

    def is_compound(self, first: str, second: str) -> bool:
        """Return whether a hyphen belongs between two halves, as in "chat-optimized".

        It does where the document writes it so elsewhere; else where both halves are words of it,
        or one is and the other opens compounds of it, and nothing in it begins with them joined.
        """
        if second[:1].isupper() or not second[:1].isalpha() or not first[-1:].isalpha():
            return True
        first, second = first.lower(), second.lower()
        if f"{first}-{second}" in self.compounds:
            return True
        if self._begins(first + second) or second not in self.words:
            return False
        is_known = first in self.words and len(first) >= MIN_PART_LETTERS
        return len(second) >= MIN_PART_LETTERS and (is_known or first in self.heads)

    def _begins(self, word: str) -> bool:
        """Return whether a word of the document is this one, or begins with it."""
        place = bisect_left(self.sorted, word)
        return place < len(self.sorted) and self.sorted[place].startswith(word)


def _whole(texts: Sequence[str]) -> Iterator[str]:
    """Yield lines without the words that go on in the next, or come from the one before."""
    is_parted = False
    for text in texts:
        yield LAST_PART.sub("", FIRST_PART.sub("", text, count=1) if is_parted else text)
        is_parted = text.endswith(LINE_END_HYPHEN)


def join_words(lines: Sequence[PageLine]) -> None:
    """Put together words that a line's end parts; what is written with a hyphen keeps it."""
    parted = [(line, below) for line, below in pairwise(lines) if LAST_PART.search(line.text)]
    if not parted:
        return
    own = OwnWords(lines)
    for line, below in parted:
        first, second = LAST_PART.search(line.text), FIRST_PART.match(below.text)
        keeps = own.is_compound(first[1] if first else "", second[0] if second else "")
        line.text = line.text[:-1] + ("-" if keeps else "")
        below.before = ""


def fill_ligatures(lines: Sequence[PageLine]) -> None:
    """Write out ligatures that the file does not explain, where it has the same word elsewhere."""
    if not any(UNKNOWN_LETTER in line.text for line in lines):
        return
    words = {word.lower() for line in lines for word in PART_WORD.findall(line.text)}

    def whole(damaged: re.Match[str]) -> str:
        tries = (damaged[0].replace(UNKNOWN_LETTER, ligature) for ligature in LIGATURES)
        return next((word for word in tries if word.lower() in words), damaged[0])

    for line in lines:
        line.text = DAMAGED_WORD.sub(whole, line.text)
