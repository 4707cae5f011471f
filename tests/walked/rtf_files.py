"""RTF files of drawn parts."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.walked.docx_files import MARGINS
from tests.walked.shapes import (
    HEADINGS,
    Area,
    Block,
    Grid,
    Heading,
    Items,
    Paragraph,
    blocks,
    grids,
    lists,
    words_of,
)
from tests.walked.writer import Writer

__all__ = ["BLOCKS", "MARGINS", "RtfWriter"]

HEAD = r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss\fcharset0 Arial;}}"
PIECES = "plain bold link hidden shut note comment picture umlaut deleted box"
BLOCKS = blocks(PIECES, HEADINGS, lists(), grids(extras="bold hidden note comment picture deleted"))
DAY = (2026 - 1900) << 20 | 3 << 16 | 4 << 11
CELL_TWIPS = 1000


class RtfWriter(Writer):
    """Writes one RTF file."""

    def write(self, file: Path, parts: Sequence[Block], margins: tuple[bool, ...]) -> None:
        said = self.said
        info = rf"{{\info{{\title {said.fact('title')}}}{{\author {said.fact('author')}}}}}"
        begun = ""
        if margins[0]:
            begun += rf"{{\header \pard {said.marked(r'Header: {}')}\par}}"
        if margins[1]:
            begun += rf"{{\footer \pard {said.marked(r'Footer: {}')}\par}}"
        body = self.blocks(parts)
        file.write_text(f"{HEAD}{info}\\sectd{begun}{body}}}", "latin-1")

    def _block(self, block: Block) -> str:
        if isinstance(block, Grid):
            return self._table(block)
        if isinstance(block, Items):
            return self._list(block)
        if isinstance(block, Heading):
            return rf"\pard\s1\b {self.said.text()}\b0\par" + "\n"
        assert isinstance(block, Paragraph)
        return rf"\pard\plain {' '.join(map(self._piece, block.pieces))}\par" + "\n"

    def _piece(self, kind: str) -> str:
        said = self.said
        if kind in ("hidden", "shut"):
            word = said.passage()
            return rf"{{\v {word}}}" if kind == "hidden" else rf"\v {word}\v0 "
        if kind == "deleted":
            return rf"{{\deleted\revauthdel1 {said.gone('tracked deletions')}}}"
        if kind == "box":
            box = rf"{{\shptxt \pard {said.text(in_order=False)}\par}}"
            return rf"{{\shp{{\*\shpinst{{\sp{{\sn a}}{{\sv 1}}}}{box}}}}}"
        if kind == "note":
            word, hidden = said.text(), self._piece("hidden")
            return rf"{{\super\chftn}}{{\footnote \pard {{\super\chftn}} {word} {hidden}}}"
        if kind == "comment":
            dated = rf"{{\*\annotation{{\*\atndate {DAY}}}\pard {said.comment('Ada Berg')}}}"
            return rf"{{\*\atnid AB}}{{\*\atnauthor Ada Berg}}\chatn{dated}"
        if kind == "picture":
            shown = rf"{{\*\picprop{{\sp{{\sn wzDescription}}{{\sv the {said.picture()}}}}}}}"
            return rf"{{\*\shppict{{\pict{shown}\pngblip 0a0b}}}}"
        if kind == "link":
            code = r"{\*\fldinst HYPERLINK " + '"http://x.example"}'
            return rf"{{\field{code}{{\fldrslt {said.text()}}}}}"
        tags = {"plain": "{}", "bold": r"{{\b {}}}", "umlaut": r"\u233?t\'e9 {}"}
        return tags[kind].format(said.text())

    def _list(self, items: Items, depth: int = 0) -> str:
        lines = list[str]()
        for inner in items.items:
            lines.append(rf"\pard\li{depth * 360}{{\pntext\bullet\tab}}{self.said.text()}\par")
            lines += [self._list(inner, depth + 1)] if inner else []
        return "\n".join(lines)

    def _table(self, grid: Grid) -> str:
        words = words_of(grid, self.said)
        rows = "".join(
            rf"\trowd{''.join(_layout(grid, row))}\pard\intbl {self._cells(grid, row, words)}\row"
            for row in range(grid.rows)
        )
        return rf"{rows}\pard "

    def _cells(self, grid: Grid, row: int, words: dict[Area, str]) -> str:
        places = (grid.area(row, column)[:2] == (row, column) for column in range(grid.columns))
        texts = (
            f"{words[grid.area(row, column)]} {self._extra(grid.extra(grid.area(row, column)))}"
            if is_own
            else ""
            for column, is_own in enumerate(places)
        )
        return "".join(rf"{text}\cell " for text in texts)


def _layout(grid: Grid, row: int) -> Iterator[str]:
    for column in range(grid.columns):
        top, left, bottom, right = grid.area(row, column)
        if bottom - top > 1:
            yield r"\clvmgf" if row == top else r"\clvmrg"
        if right - left > 1:
            yield r"\clmgf" if column == left else r"\clmrg"
        yield rf"\cellx{(column + 1) * CELL_TWIPS}"
