"""What is read of a TeX file, by what is open: a group, maths, an environment, a table's cell."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lexichord.ingest.load.parts import moved
from lexichord.ingest.load.tables import even_rows
from lexichord.ingest.load.tex.commands import printed
from lexichord.ingest.load.text import TextBuilder

MAX_SPAN = 100  # columns or rows


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
        """Return the rows, those of the foot last."""
        return even_rows([*self.rows, *self._feet])

    @property
    def has_header(self) -> bool:
        """Whether the first row names columns: one line or two stand below it, and then rows."""
        return 0 < self.header_rows < len(self.rows)


def in_a_line(rows: Sequence[Sequence[str]]) -> str:
    """Return a table that stands within another's cell, or within words."""
    return "; ".join(" | ".join(cell for cell in row if cell) for row in rows)


MAX_CAPTURES = 500  # groups whose text is put elsewhere, in each other

type EndScope = Callable[[str], None]


@dataclass(slots=True)
class Scope:
    """What is open. Where it has an `end`, its text is not written but given to that."""

    kind: str
    end: EndScope | None = None
    outer: list[str] | None = None  # where the text goes that is written behind it
    was_math: bool = False
    table: TexTable | None = None
    is_heading: bool = False
    behind: Sequence[str] = ()  # tokens that an environment of the paper's own ends with


BRACE = Scope("{")  # of a group that only holds together


@dataclass
class TexPage:
    """The text so far; nothing is written while it is silent, as before the document begins."""

    built: TextBuilder = field(default_factory=TextBuilder)
    facts: dict[str, list[str]] = field(default_factory=dict)  # each author is named alone
    is_silent: bool = False
    is_math: bool = False
    is_too_deep: bool = False
    scopes: list[Scope] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    note_count: int = 0
    _base: list[str] = field(default_factory=list)
    _captures: int = 0
    _names: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._buffer = self._base
        self.space_follows = False  # before a letter or a digit

    def silence(self) -> None:
        """Take back what is written in the open paragraph, and write no more for now."""
        self._base.clear()
        self.is_silent = True

    def fact(self, name: str) -> str:
        """Return what is said of the paper under a name; "" where nothing is."""
        return ", ".join(self.facts.get(name, ()))

    @property
    def is_base(self) -> bool:
        """Whether text goes to the document, and not to a note, a heading or a cell."""
        return self._buffer is self._base

    @property
    def table(self) -> TexTable | None:
        """The table whose cell is open, if no group in it is."""
        return self.scopes[-1].table if self.scopes else None

    @property
    def ends_with_digit(self) -> bool:
        """Whether a digit was written last."""
        return bool(self._buffer) and self._buffer[-1][-1:].isdigit()

    def write(self, text: str) -> None:
        """Write words."""
        if self.is_silent and self.is_base:
            return
        if self.space_follows and text:
            self.space_follows = False
            text = f" {text}" if text[0].isalnum() else text
        self._buffer.append(text)

    def write_run(self, text: str) -> None:
        """Write words as they are printed; in maths as they stand."""
        self.write(text if self.is_math else printed(text))

    def open(self, scope: Scope, is_math: bool | None = None) -> None:
        """Open a scope; in one that has an end, text is kept for that."""
        scope.was_math = self.is_math
        self.is_math = self.is_math if is_math is None else is_math
        if scope.end and self._captures >= MAX_CAPTURES:
            scope.end = scope.table = None
            self.is_too_deep = True
        if scope.end:
            self._captures += 1
            scope.outer, self._buffer = self._buffer, []
        self.scopes.append(scope)
        self._names[scope.kind] = self._names.get(scope.kind, 0) + 1

    def open_brace(self) -> None:
        """Open a group that only holds together."""
        self.scopes.append(BRACE)

    def close_brace(self) -> None:
        """Close a group; a brace that closes none is no text."""
        if self.scopes and self.scopes[-1] is BRACE:
            self.scopes.pop()
        elif self.scopes and self.scopes[-1].kind == BRACE.kind:
            self.close()

    def close(self) -> None:
        """Close the innermost scope."""
        scope = self.scopes.pop()
        if scope is BRACE:
            return
        self._names[scope.kind] -= 1
        self.is_math = scope.was_math
        if scope.outer is not None and scope.end:
            self._captures -= 1
            text, self._buffer = self.taken(), scope.outer
            scope.end(text)

    def close_to(self, kind: str) -> bool:
        """Close the scope of a kind, and all within it; return whether there is one."""
        if not self.is_open(kind):
            return False
        while self.scopes[-1].kind != kind:
            self.close()
        self.close()
        return True

    def is_open(self, kind: str) -> bool:
        """Return whether a scope of a kind is open."""
        return self._names.get(kind, 0) > 0

    def taken(self) -> str:
        """Take what is written in the open scope."""
        text = "".join(self._buffer)
        self._buffer.clear()
        return text

    def end_paragraph(self) -> None:
        """End the paragraph; its notes follow it."""
        if self.end_text():
            notes, self.notes = self.notes, []
            for note in notes:
                self.built.paragraph(note)

    def end_text(self) -> bool:
        """End the paragraph, before its notes; return whether this is where text goes."""
        if not self.is_base or self.is_silent:
            return False
        self.space_follows = False
        if text := tidy(self.taken()):
            self.built.paragraph(text)
        return True

    def heading(self, text: str, level: int) -> None:
        """Write a heading; within a note or a cell its words."""
        flat = " ".join(text.split())
        if not self.is_base:
            self.write(f" {flat} ")
        elif flat and not self.is_silent:
            self.end_text()
            self.built.paragraph(flat, level)
            self.end_paragraph()

    def paragraph(self, text: str) -> None:
        """Write words that stand alone; within a note or a cell among the others."""
        self.end_paragraph()
        self.write(text if self.is_base else f" {text} ")
        self.end_paragraph()

    def note(self, text: str, is_marked: bool = True) -> None:
        """Keep a footnote for the end of the paragraph, and its number where it is called for."""
        flat = " ".join(text.split())
        if not flat:
            return
        self.note_count += is_marked
        if is_marked:
            self.write(f"[{self.note_count}]")
        self.notes.append(f"[{self.note_count}] {flat}" if is_marked else flat)

    def code(self, text: str) -> None:
        """Write code as it stands."""
        lines = "\n".join(moved(text.split("\n"))).strip("\n")
        if self.is_base and not self.is_silent and lines:
            self.end_paragraph()
            self.built.lines(lines)
        else:
            self.write(" ".join(lines.split()))

    def end_table(self, table: TexTable, text: str) -> None:
        """Write a table, its last cell included."""
        table.end_row(text)
        rows = table.even_rows()
        if not self.is_base:
            self.write(f" {' '.join([*table.captions, in_a_line(rows)])} ")
        elif rows and not self.is_silent:
            self.end_text()
            for caption in table.captions:
                self.built.paragraph(caption)
            self.built.markdown_table(rows, int(table.has_header), None)
            self.end_paragraph()


def tidy(text: str) -> str:
    """Return a paragraph's lines, with one space between words."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
