"""Pages of reStructuredText of drawn parts."""

from collections.abc import Sequence
from pathlib import Path

from tests.walked.shapes import (
    CODES,
    HEADINGS,
    PICTURES,
    Area,
    Aside,
    Block,
    Code,
    Directive,
    Grid,
    Heading,
    Items,
    Paragraph,
    Picture,
    asides,
    blocks,
    directives,
    grids,
    lists,
    words_of,
)
from tests.walked.writer import Writer

PIECES = "plain bold literal link role substitution picture note"
DIRECTIVES = directives(
    "remark literal_block code_block simple_table list_table csv_table csv_file figure include"
    " part literal toctree versionadded unknown only field_list definition"
)
BLOCKS = blocks(
    PIECES,
    HEADINGS,
    lists(),
    grids(),
    CODES,
    PICTURES,
    DIRECTIVES,
    asides("plain bold", CODES, lists(2), grids()),
)
ADORNMENTS = "=-~^"
CELL_CHARS = 10


class RstWriter(Writer):
    """Writes one page, and the files that it takes in."""

    def write(self, file: Path, parts: Sequence[Block]) -> None:
        body = self.blocks(parts, "\n\n")
        self.save(file, "\n\n".join([body, *self.behind]) + "\n")

    def _block(self, block: Block) -> str:
        said = self.said
        if isinstance(block, Paragraph):
            return " ".join(map(self._piece, block.pieces))
        if isinstance(block, Heading):
            return f"{said.heading()}\n{ADORNMENTS[block.level - 1] * 12}"
        if isinstance(block, Items):
            return self._list(block, "")
        if isinstance(block, Code):
            lines = "\n".join(f"   {said.text()}" for _ in range(block.lines))
            return f".. code-block:: python\n\n{lines}"
        if isinstance(block, Grid):
            return draw(block, words_of(block, said))
        if isinstance(block, Picture):
            return f".. image:: a.png\n   :alt: the {said.picture()}\n   :width: 3"
        if isinstance(block, Aside):
            opening = f".. tip:: {said.text() if block.title else ''}\n\n"
            return opening + _set_in(self.blocks(block.blocks, "\n\n"))
        assert isinstance(block, Directive)
        return str(getattr(self, f"_{block.name}")())

    def _list(self, items: Items, indent: str) -> str:
        lines = list[str]()
        for number, inner in enumerate(items.items, 1):
            mark = f"{number}." if items.is_ordered else "-"
            lines.append(f"{indent}{mark} {self.said.text()}")
            lines += ["", self._list(inner, f"{indent}   "), ""] if inner else []
        return "\n".join(lines)

    def _piece(self, kind: str) -> str:
        said = self.said
        if kind in ("substitution", "picture"):
            name = said.word()
            if kind == "picture":
                behind = f".. |{name}| image:: a.png\n   :alt: the {said.picture()}"
            else:
                behind = f".. |{name}| replace:: {said.text()}"
            self.behind.append(behind)
            return f"|{name}|"
        if kind == "note":
            number = len(self.behind) + 1
            self.behind.append(f".. [{number}] {said.text(in_order=False)}")
            return f"[{number}]_"
        tags = {
            "plain": "{}",
            "bold": "**{}**",
            "literal": "``{}``",
            "link": "`{} <http://x.example>`_",
            "role": ":ref:`{} <x>`",
        }
        return tags[kind].format(said.text())

    def _remark(self) -> str:
        return f".. {self.said.gone('comments')}\n   {self.said.gone('comments')}"

    def _literal_block(self) -> str:
        return f"{self.said.text()}::\n\n   {self.said.text()}"

    def _code_block(self) -> str:
        said = self.said
        options = f"   :name: {self._own()}\n   :caption: {said.text()}"
        return f".. code-block:: python\n{options}\n\n   {said.text()} = 1"

    def _simple_table(self) -> str:
        rule = "==========  ==========  ========"
        spanning = f"{self.said.text()} over all\n--------------------------------"
        rows = ["{:<12}{:<12}{}".format(*self._row(3)) for _ in range(3)]
        return "\n".join([rule, spanning, rows[0], rule, *rows[1:], rule])

    def _list_table(self) -> str:
        rows = (f"   * - {one}\n     - {other}" for one, other in (self._row(2), self._row(2)))
        title = f".. list-table:: {self.said.text(in_order=False)}"
        return "\n".join([title, "   :header-rows: 1", f"   :name: {self._own()}", "", *rows])

    def _csv_table(self) -> str:
        title = f".. csv-table:: {self.said.text()}"
        rows = ["|".join(f'"{word}"' for word in self._row(3)) for _ in range(3)]
        lines = (f"   {row}" for row in rows[1:])
        return "\n".join([title, f"   :header: {rows[0]}", "   :delim: |", "", *lines])

    def _csv_file(self) -> str:
        rows = ["\t".join(self._row(2)) for _ in range(2)]
        name = self._take(".tsv", "\n".join(rows))
        return f".. csv-table::\n   :file: {name}\n   :delim: tab"

    def _figure(self) -> str:
        said = self.said
        options = f"   :alt: the {said.picture()}\n      and more\n   :name: {self._own()}"
        return f".. figure:: a.png\n{options}\n\n   {said.text()}\n\n   {said.text()}"

    def _include(self) -> str:
        inner = self._take(".txt", f"{self.said.text()}\n")
        outer = self._take(".rst", f".. include:: {inner}\n\n{self.said.text()}\n")
        return f".. include:: {outer}"

    def _part(self) -> str:
        absent, said = self.said.word(), self.said
        said.absent.add(absent)
        name = self._take(".rst", f"{absent}\n\n.. begin\n\n{said.text()}\n\n.. end\n\n{absent}\n")
        return f".. include:: {name}\n   :start-after: .. begin\n   :end-before: .. end"

    def _literal(self) -> str:
        absent = self.said.word()
        self.said.absent.add(absent)
        name = self._take(".py", f"{absent}\n{self.said.text()} = 1\n{absent}\n")
        return f".. literalinclude:: {name}\n   :lines: 2"

    def _toctree(self) -> str:
        entry = f"{self.said.text()} <{self._own()}>"
        return f".. toctree::\n   :maxdepth: 2\n\n   {entry}\n   {self._own()}"

    def _versionadded(self) -> str:
        return f".. versionadded:: 2.0\n   {self.said.text()}"

    def _unknown(self) -> str:
        return f".. unknown:: {self.said.text()}\n   :own: 1\n\n   {self.said.text()}"

    def _only(self) -> str:
        return f".. only:: html\n\n   {self.said.text()}"

    def _field_list(self) -> str:
        return f":{self.said.text()}: {self.said.text()}"

    def _definition(self) -> str:
        return f"{self.said.text()}\n   {self.said.text()}"


def _set_in(text: str) -> str:
    return "\n".join(f"   {line}" if line else "" for line in text.split("\n"))


def draw(grid: Grid, words: dict[Area, str]) -> str:
    """Draw a table with lines around its cells."""
    lines = list[str]()
    for row in range(grid.rows + 1):
        lines.append(_rule(grid, row))
        if row < grid.rows:
            lines.append(_cells(grid, row, words))
    return "\n".join(lines)


def _rule(grid: Grid, row: int) -> str:
    sign = "=" if row == 1 else "-"
    line = ""
    for column in range(grid.columns + 1):
        corner = {_at(grid, r, c) for r in (row - 1, row) for c in (column - 1, column)}
        left = _at(grid, row - 1, column - 1) != _at(grid, row, column - 1)
        right = _at(grid, row - 1, column) != _at(grid, row, column)
        above = _at(grid, row - 1, column - 1) != _at(grid, row - 1, column)
        below = _at(grid, row, column - 1) != _at(grid, row, column)
        if len(corner) == 1:
            line += " "
        elif not above and not below:
            line += sign
        else:
            line += "+" if left or right else "|"
        line += (sign if right else " ") * CELL_CHARS if column < grid.columns else ""
    return line


def _at(grid: Grid, row: int, column: int) -> Area | None:
    is_inside = 0 <= row < grid.rows and 0 <= column < grid.columns
    return grid.area(row, column) if is_inside else None


def _cells(grid: Grid, row: int, words: dict[Area, str]) -> str:
    line = "|"
    for column in range(grid.columns):
        area = grid.area(row, column)
        word = words[area] if area[:2] == (row, column) else ""
        is_edge = column + 1 == grid.columns or grid.area(row, column + 1) != area
        line += f" {word}".ljust(CELL_CHARS) + ("|" if is_edge else " ")
    return line
