"""Tables as TeX writes them: cells parted by &, rows by a double backslash."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lexichord.ingest.load.spans import even_rows

MAX_SPAN = 100  # columns or rows
MAX_EVEN_CELLS = 1_000_000


@dataclass(slots=True)
class TexTable:
    """The rows so far. A cell that spans rows holds for each that has words of its own.

    What spans columns is in the first.
    """

    rows: list[list[str]] = field(default_factory=list)
    captions: list[str] = field(default_factory=list)
    columns: int = 1  # that the open cell spans
    depth: int = 1  # rows that it spans
    header_rows: int = 0
    _row: list[str] = field(default_factory=list)
    _has_words: bool = False
    _below: dict[int, tuple[int, str]] = field(default_factory=dict)
    _head: int | None = None
    _feet: list[list[str]] = field(default_factory=list)

    def end_cell(self, text: str) -> None:
        """End the open cell."""
        place, flat = len(self._row), " ".join(text.split())
        self._has_words |= bool(flat)
        rows, above = self._below.pop(place, (0, ""))
        if rows and not flat:
            flat, self.depth = above, rows
        if self.depth > 1:
            self._below[place] = (self.depth - 1, flat)
        self._row += [flat, *[""] * (min(self.columns, MAX_SPAN) - 1)]
        self.columns = self.depth = 1

    def end_row(self, text: str) -> None:
        """End the open row; one without a word is none."""
        self.end_cell(text)
        if self._has_words:
            self.rows.append(self._row)
        self._row, self._has_words = [], False

    def rule(self) -> None:
        """Note a line: the first below a row ends the header."""
        if self.rows and not self.header_rows:
            self.header_rows = len(self.rows)

    def end_first_head(self) -> None:
        """End the head of the first page; what comes up to `end_head` is the same, for others."""
        self._head = self.header_rows = len(self.rows)

    def end_head(self) -> None:
        """End the head of further pages."""
        if self._head is not None:
            del self.rows[self._head :]
            self._head = None
        self.header_rows = len(self.rows)

    def end_foot(self) -> None:
        """End the foot of a page, which is written above the rows and stands below them."""
        self._feet += self.rows[self.header_rows :]
        del self.rows[self.header_rows :]

    def even_rows(self) -> list[list[str]]:
        """Return the rows, all of them as wide as the widest, unless that were too many cells."""
        rows = [*self.rows, *self._feet]
        width = max(map(len, rows), default=0)
        if width * len(rows) > MAX_EVEN_CELLS:
            return rows
        return even_rows(rows)

    @property
    def has_header(self) -> bool:
        """Whether the first row names columns: one line or two stand below it, and then rows."""
        return 0 < self.header_rows < len(self.rows)


def in_a_line(rows: Sequence[Sequence[str]]) -> str:
    """Return a table that stands within another's cell, or within words."""
    return "; ".join(" | ".join(cell for cell in row if cell) for row in rows)
