"""What is read of a file: paragraphs as they end, headings, code and tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lexichord.ingest.load.spans import even_rows
from lexichord.ingest.load.text import TextBuilder


@dataclass
class MarkupPage:
    """The text so far; `inline` takes the marks off words, `facts` is said of the document."""

    inline: Callable[[str], str]
    built: TextBuilder = field(default_factory=TextBuilder)
    facts: dict[str, str] = field(default_factory=dict)
    not_taken: list[str] = field(default_factory=list)  # files that the page would take in
    _open: list[str] = field(default_factory=list)

    def line(self, text: str) -> None:
        """Add a line to the paragraph that is open; an empty one ends it."""
        if text.strip():
            self._open.append(text)
        else:
            self.end()

    def end(self) -> None:
        """End the paragraph."""
        if self._open and (text := self.inline("\n".join(self._open))).strip():
            self.built.paragraph(text)
        self._open = []

    def heading(self, text: str, level: int) -> None:
        """Add a heading."""
        self.end()
        if text := self.inline(text).strip():
            self.built.paragraph(text, level)

    def code(self, lines: Sequence[str]) -> None:
        """Add code as it stands, moved to the margin."""
        self.end()
        if text := "\n".join(moved(lines)).strip("\n"):
            self.built.lines(text)

    def table(self, rows: Sequence[Sequence[str]], header_rows: int) -> None:
        """Add a table; empty rows are left out."""
        self.end()
        clean = [[self.inline(cell).strip() for cell in row] for row in rows]
        kept = [row for row in clean if any(row)]
        if not kept:
            return
        self.built.markdown_table(even_rows(kept), min(header_rows, 1), None)


def moved(lines: Sequence[str]) -> list[str]:
    """Return lines without the white space that all begin with."""
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[margin:].rstrip() for line in lines]


def indented(lines: Sequence[str], at: int, margin: int) -> int:
    """Return where the lines end that are empty or set in by more than a margin."""
    end = at
    for place in range(at, len(lines)):
        line = lines[place]
        if line.strip():
            if len(line) - len(line.lstrip()) <= margin:
                break
            end = place + 1
    return end
