"""Puts a text together from paragraphs and tables, and keeps where they stand."""

from collections.abc import Iterable, Sequence

from lexichord.types import Heading, Table


class TextBuilder:
    """Paragraphs and tables, parted by blank lines."""

    def __init__(self) -> None:
        self.headings = list[Heading]()
        self.tables = list[Table]()
        self._parts = list[str]()
        self._length = 0

    @property
    def text(self) -> str:
        """Return all that was put in."""
        return "".join(self._parts)

    def paragraph(self, text: str, level: int | None = None) -> None:
        """Add a paragraph, or a heading of a level."""
        start, end = self._add(text)
        if level is not None:
            self.headings.append(Heading(start, end, level, " ".join(text.split())))

    def table(self, rows: Iterable[Sequence[str]], header_rows: int) -> None:
        """Add a table, a line a row; empty rows are left out."""
        head, body = table_lines(rows, header_rows)
        if head or body:
            start, end = self._add("".join(head + body).removesuffix("\n"))
            self.tables.append(Table(start, end, min(start + len("".join(head)), end)))

    def _add(self, text: str) -> tuple[int, int]:
        if self._parts:
            text = f"\n\n{text}"
        start = self._length + (2 if self._parts else 0)
        self._parts.append(text)
        self._length += len(text)
        return start, self._length


def table_lines(rows: Iterable[Sequence[str]], header_rows: int) -> tuple[list[str], list[str]]:
    """Return the lines of a table's head and of its body, their ends included."""
    lines = ["\t".join(row) for row in rows]
    head, body = lines[:header_rows], lines[header_rows:]
    return [f"{line}\n" for line in head if line.strip()], [
        f"{line}\n" for line in body if line.strip()
    ]
