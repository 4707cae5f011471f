"""A PDF page: its tables, and its words, joined to lines.

Words that run in another direction than most of the page, as a stamp at its side does, are kept
apart.
"""

from dataclasses import dataclass, field

import pypdfium2

from lexichord.ingest.load.pdf.rules import Rule, read_rules
from lexichord.ingest.load.pdf.tables import take_tables
from lexichord.ingest.load.pdf.words import PdfPiece, PdfWord, make_pieces, read_words, turn


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
