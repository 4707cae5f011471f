"""Papers in TeX of drawn parts."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hypothesis import strategies as st

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

PIECES = "plain bold emphasis link cite note remark macro maths verb unknown group"
DIRECTIVES = directives("input input_by_macro noted_heading figure quote drawing abstract")
BLOCKS = blocks(
    PIECES,
    HEADINGS,
    lists(),
    grids(extras="bold note maths verb cite remark"),
    CODES,
    PICTURES,
    DIRECTIVES,
    asides("plain bold note", lists(2)),
)
HAS_TITLE = st.booleans()
LEVELS = ("section", "subsection", "subsubsection", "paragraph")


class TexWriter(Writer):
    """Writes one paper, and the files that it takes in."""

    def write(self, file: Path, parts: Sequence[Block], has_title: bool) -> None:
        said = self.said
        front = made = ""
        if has_title:
            front = f"\\title{{{said.heading()}}}\\author{{{said.text()}}}\n"
            made = "\\maketitle\n"
        body = self.blocks(parts, "\n\n")
        preamble = f"\\documentclass{{article}} % {said.gone('comments')}\n"
        preamble += f"\\hypersetup{{pdfkeywords={{{said.gone('preamble')}}}}}\n"
        preamble += "\\newcommand{\\own}[1]{\\textbf{#1}}\n\\newcommand{\\taken}[1]{\\input{#1}}\n"
        self.save(file, f"{preamble}{front}\\begin{{document}}\n{made}{body}\n\\end{{document}}\n")

    def _block(self, block: Block) -> str:
        said = self.said
        if isinstance(block, Paragraph):
            return " ".join(map(self._piece, block.pieces))
        if isinstance(block, Heading):
            return f"\\{LEVELS[block.level - 1]}{{{said.heading()}}}"
        if isinstance(block, Items):
            return self._list(block)
        if isinstance(block, Code):
            lines = "\n".join(said.text() for _ in range(block.lines))
            return f"\\begin{{verbatim}}\n{lines}\n\\end{{verbatim}}"
        if isinstance(block, Grid):
            return self._table(block)
        if isinstance(block, Picture):
            return f"\\includegraphics[alt={{the {said.picture()}}}]{{a.png}}"
        if isinstance(block, Aside):
            inner = self.blocks(block.blocks, "\n\n")
            return f"\\begin{{center}}\n{inner}\n\\end{{center}}"
        assert isinstance(block, Directive)
        return str(getattr(self, f"_{block.name}")())

    def _piece(self, kind: str) -> str:
        said = self.said
        if kind == "remark":
            return f"% {said.gone('comments')}\n"
        if kind == "note":
            return f"\\footnote{{{said.text(in_order=False)}}}"
        tags = {
            "plain": "{}",
            "bold": "\\textbf{{{}}}",
            "emphasis": "{{\\em {}}}",
            "link": "\\href{{http://x.example}}{{{}}}",
            "cite": "\\cite{{{}}}",
            "macro": "\\own{{{}}}",
            "maths": "$\\mathrm{{{}}} \\leq 1$",
            "verb": "\\verb|{}|",
            "unknown": "\\unknown{{{}}}",
            "group": "{{\\small {}}}",
        }
        return tags[kind].format(said.text())

    def _list(self, items: Items) -> str:
        name = "enumerate" if items.is_ordered else "itemize"
        inner = "\n".join(
            f"\\item {self.said.text()}\n{self._list(item) if item else ''}" for item in items.items
        )
        return f"\\begin{{{name}}}\n{inner}\n\\end{{{name}}}"

    def _table(self, grid: Grid) -> str:
        words = words_of(grid, self.said)
        rows = (" & ".join(self._cells(grid, row, words)) for row in range(grid.rows))
        body = " \\\\\n".join(rows)
        columns = "l" * grid.columns
        return f"\\begin{{tabular}}{{{columns}}}\n{body} \\\\\n\\end{{tabular}}"

    def _cells(self, grid: Grid, row: int, words: dict[Area, str]) -> Iterator[str]:
        column = 0
        while column < grid.columns:
            top, left, bottom, right = area = grid.area(row, column)
            word = words[area] if top == row else ""
            cell = (
                f"\\multirow{{{bottom - top}}}{{*}}{{{word}}}"
                if bottom - top > 1 and word
                else word
            )
            if piece := grid.extra(area):
                cell += f" {self._extra(piece)}"
            yield f"\\multicolumn{{{right - left}}}{{l}}{{{cell}}}" if right - left > 1 else cell
            column = right

    def _part(self, content: str) -> str:
        return self._take(".tex", content).removesuffix(".tex")

    def _input(self) -> str:
        inner = self._part(f"{self.said.text()}\n")
        return f"\\input{{{self._part(f'\\input {inner}\n\n{self.said.text()}')}}}"

    def _input_by_macro(self) -> str:
        return f"\\taken{{{self._part(self.said.text())}}}"

    def _noted_heading(self) -> str:
        said = self.said
        heading, note = said.heading(), said.text()
        return f"\\section[Short]{{{heading}\\footnote{{{note}}}}}\n{said.text()}"

    def _figure(self) -> str:
        picture = f"\\includegraphics[alt={{the {self.said.picture()}}}]{{a}}"
        return f"\\begin{{figure}}{picture}\\caption{{{self.said.text()}}}\\end{{figure}}"

    def _quote(self) -> str:
        return f"\\begin{{quote}}{self.said.text()}\\end{{quote}}"

    def _drawing(self) -> str:
        drawn = f"\\draw[{self.said.gone('source of drawings')}] (0,0) -- (1,1);"
        return f"\\begin{{tikzpicture}}{drawn}\\end{{tikzpicture}}"

    def _abstract(self) -> str:
        return f"\\begin{{abstract}}{self.said.text()}\\end{{abstract}}"
