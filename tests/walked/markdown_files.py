"""Pages of Markdown and MyST of drawn parts."""

from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

from tests.walked.shapes import (
    CODES,
    HEADINGS,
    PICTURES,
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
)
from tests.walked.writer import Writer

PIECES = "plain bold link code image remark tag role reference note cells shown break"
DIRECTIVES = directives(
    "note admonition unknown_text code_block unknown_code list_table csv_table csv_file figure"
    " html_table image include include_colons literal include_part dropdown"
    " toctree versionadded eval_rst"
)
BLOCKS = blocks(
    PIECES,
    HEADINGS,
    lists(),
    grids(merges=False),
    CODES,
    PICTURES,
    DIRECTIVES,
    asides("plain bold", CODES, lists(2)),
)
FRONT = st.booleans()


class MarkdownWriter(Writer):
    """Writes one page, and the files that it takes in."""

    def write(self, file: Path, parts: Sequence[Block], has_front: bool) -> None:
        said = self.said
        front = ""
        if has_front:
            front = f"---\ntitle: {said.fact('title')}\ntags: [{said.fact('tags')}]\n---\n"
        body = self.blocks(parts, "\n\n")
        self.save(file, "\n\n".join([f"{front}(anchor)=\n", body, *self.behind]) + "\n")

    def _block(self, block: Block) -> str:
        said = self.said
        if isinstance(block, Paragraph):
            return " ".join(map(self._piece, block.pieces))
        if isinstance(block, Heading):
            word = said.text()
            said.patterns.append(rf"(^|\n)#+ {word}")
            return f"{'#' * block.level} {word}"
        if isinstance(block, Items):
            return self._list(block, "")
        if isinstance(block, Code):
            return "\n".join(["```python", *(said.text() for _ in range(block.lines)), "```"])
        if isinstance(block, Grid):
            rows = ["| " + " | ".join(self._row(block.columns)) + " |" for _ in range(block.rows)]
            return "\n".join([rows[0], "|" + " --- |" * block.columns, *rows[1:]])
        if isinstance(block, Picture):
            return f"![{said.text()}](a.png)"
        if isinstance(block, Aside):
            opening = f":::::{{tip}} {said.text() if block.title else ''}"
            return "\n".join([opening, self.blocks(block.blocks, "\n\n"), ":::::"])
        assert isinstance(block, Directive)
        return str(getattr(self, f"_{block.name}")())

    def _list(self, items: Items, indent: str) -> str:
        lines = list[str]()
        for number, inner in enumerate(items.items, 1):
            mark = f"{number}." if items.is_ordered else "-"
            lines.append(f"{indent}{mark} {self.said.text()}")
            lines += [self._list(inner, f"{indent}   ")] if inner else []
        return "\n".join(lines)

    def _piece(self, kind: str) -> str:
        said = self.said
        if kind == "remark":
            return f"<!-- {said.gone('comments')} -->"
        if kind == "note":
            name = said.word()
            self.behind.append(f"[^{name}]: {said.text(in_order=False)}")
            return f"[^{name}]"
        if kind == "shown":
            return f'<img src=a.png alt="the {said.picture()}">'
        if kind in ("cells", "break"):
            form = "<tr><td>{}</td><td>{}</td></tr>" if kind == "cells" else "{}<br>{}"
            return form.format(said.text(), said.text())
        if kind == "reference":
            name = said.word()
            self.behind.append(f"[{name}]: http://x.example")
            return f"[{said.text()}][{name}]"
        tags = {
            "plain": "{}",
            "bold": "**{}**",
            "link": "[{}](http://x.example)",
            "code": "`{}`",
            "image": "![{}](a.png)",
            "tag": "<b>{}</b>",
            "role": "{{sub}}`{}`",
        }
        return tags[kind].format(said.text())

    def _html_table(self) -> str:
        row = "<tr><td>{}</td><td>{}</td></tr>"
        return f"<table>\n{row.format(*self._row(2))}\n{row.format(*self._row(2))}\n</table>"

    def _note(self) -> str:
        return f"```{{note}}\n{self.said.text()}\n```"

    def _admonition(self) -> str:
        said = self.said
        return f":::{{admonition}} {said.text()}\n:class: {self._own()}\n{said.text()}\n:::"

    def _unknown_text(self) -> str:
        return f":::{{unknown}} {self.said.text()}\n{self.said.text()}\n:::"

    def _unknown_code(self) -> str:
        return f"```{{unknown}} {self.said.text()}\n{self.said.text()}\n```"

    def _code_block(self) -> str:
        said = self.said
        options = f":name: {self._own()}\n:caption: {said.text()}"
        return f"```{{code-block}} python\n{options}\n\n{said.text()} = 1\n```"

    def _list_table(self) -> str:
        rows = (f"* - {one}\n  - {other}" for one, other in (self._row(2), self._row(2)))
        title = f":::{{list-table}} {self.said.text(in_order=False)}"
        return "\n".join([title, ":header-rows: 1", "", *rows, ":::"])

    def _csv_table(self) -> str:
        title = f"```{{csv-table}} {self.said.text()}"
        rows = [", ".join(f'"{word}"' for word in self._row(3)) for _ in range(3)]
        return "\n".join([title, f":header: {rows[0]}", "", *rows[1:], "```"])

    def _csv_file(self) -> str:
        rows = [";".join(self._row(2)) for _ in range(2)]
        name = self._take(".csv", "\n".join(rows))
        return f":::{{csv-table}}\n:file: {name}\n:delim: ';'\n:::"

    def _figure(self) -> str:
        said = self.said
        options = f":alt: the {said.picture()}\n:name: {self._own()}"
        return f":::{{figure}} a.png\n{options}\n\n{said.text()}\n:::"

    def _image(self) -> str:
        return f"```{{image}} a.png\n---\nalt: the {self.said.picture()}\nwidth: 3\n---\n```"

    def _include(self) -> str:
        inner = self._take(".md", f"{self.said.text()}\n")
        outer = self._take(".md", f"```{{include}} {inner}\n```\n\n{self.said.text()}\n")
        return f"```{{include}} {outer}\n```"

    def _include_colons(self) -> str:
        return f":::{{include}} {self._take('.md', self.said.text())}\n:::"

    def _include_part(self) -> str:
        absent, said = self.said.word(), self.said
        said.absent.add(absent)
        name = self._take(".md", f"{absent}\n<!-- a -->\n{said.text()}\n<!-- b -->\n{absent}\n")
        options = ':start-after: "<!-- a -->"\n:end-before: "<!-- b -->"'
        return f"````{{note}}\n```{{include}} {name}\n{options}\n```\n````"

    def _literal(self) -> str:
        absent = self.said.word()
        self.said.absent.add(absent)
        name = self._take(".py", f"{absent}\n{self.said.text()} = 1\n{absent}\n")
        return f"```{{literalinclude}} {name}\n:lines: 2\n```"

    def _dropdown(self) -> str:
        said = self.said
        return f"::::{{dropdown}} {said.text()}\n:::{{note}}\n{said.text()}\n:::\n::::"

    def _toctree(self) -> str:
        entry = f"{self.said.text()} <{self._own()}>"
        return f"```{{toctree}}\n:hidden:\n\n{entry}\n{self._own()}\n```"

    def _versionadded(self) -> str:
        return f"```{{versionadded}} {self.said.text()}\n{self.said.text()}\n```"

    def _eval_rst(self) -> str:
        return f"```{{eval-rst}}\n.. note::\n\n   {self.said.text()}\n```"
