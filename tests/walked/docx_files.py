"""Word files of drawn parts."""

from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from hypothesis import strategies as st
from PIL import Image

from tests.documents import add_footnotes, xml
from tests.walked.said import Said
from tests.walked.shapes import (
    HEADINGS,
    Block,
    Grid,
    Heading,
    Items,
    Paragraph,
    asides,
    blocks,
    grids,
    lists,
    row_words,
)

PIECES = (
    "plain bold link hidden note comment picture inserted deleted control field box ruby diagram"
)
BLOCKS = blocks(
    PIECES,
    HEADINGS,
    lists(),
    grids(hides=True, extras="bold hidden note comment picture deleted nested box"),
    asides("plain hidden", HEADINGS, grids(merges=False)),
)
DRAWN = (
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)
DIAGRAM_DATA = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/diagramData"
MARGINS = st.tuples(st.booleans(), st.booleans(), st.booleans())


@cache
def png() -> bytes:
    stream = BytesIO()
    Image.new("RGB", (4, 4)).save(stream, "PNG")
    return stream.getvalue()


class DocxWriter:
    """Writes one Word file."""

    def __init__(self, said: Said) -> None:
        self.said = said
        self.document = docx.Document()
        self.notes = list[str]()
        self.paragraph: Any = None

    def write(self, file: Path, parts: Sequence[Block], margins: tuple[bool, ...]) -> None:
        said, document = self.said, self.document
        for part in parts:
            self.block(part, document)
        document.core_properties.author = said.fact("author")
        document.core_properties.subject = said.fact("subject")
        self._write_margins(margins)
        if self.notes:
            add_footnotes(document, self.notes)
        document.save(str(file))

    def _write_margins(self, margins: tuple[bool, ...]) -> None:
        section, said = self.document.sections[0], self.said
        if margins[0]:
            section.header.paragraphs[0].text = said.marked(r"Header: {}\b")
        if margins[1]:
            section.footer.paragraphs[0].text = said.marked(r"Footer: {}\b")
        if margins[2]:
            pattern = r"Header: {} \(hidden\)"
            section.first_page_header.paragraphs[0].text = said.hidden_part("header", pattern)

    def block(self, block: Block, holder: Any) -> None:
        said = self.said
        if isinstance(block, Paragraph):
            self.paragraph = holder.add_paragraph()
            for piece in block.pieces:
                getattr(self, f"_{piece}")()
        elif isinstance(block, Heading):
            self.document.add_heading(said.heading(), block.level)
        elif isinstance(block, Items):
            self._list(block, 1)
        elif isinstance(block, Grid):
            self._table(block)
        else:
            self._aside(block)

    def _run(self, text: str) -> Any:
        return self.paragraph.add_run(f" {text} ")

    def _plain(self) -> None:
        self._run(self.said.text())

    def _bold(self) -> None:
        self._run(self.said.text()).bold = True

    def _hidden(self) -> None:
        self.paragraph.add_run(" ")
        self.paragraph.add_run(self.said.passage()).font.hidden = True
        self.paragraph.add_run(" ")

    def _wrap(self, opening: str) -> None:
        """Put a run into an element of its own."""
        run = self.paragraph.runs[-1]._r
        holder = xml(opening)
        run.addprevious(holder)
        holder.find(".//{*}sdtContent").append(run) if "sdt" in opening else holder.append(run)

    def _link(self) -> None:
        self._plain()
        self._wrap('<w:hyperlink w:anchor="a"/>')

    def _inserted(self) -> None:
        self._plain()
        self._wrap('<w:ins w:id="1" w:author="a"/>')

    def _control(self) -> None:
        self._plain()
        self._wrap("<w:sdt><w:sdtContent/></w:sdt>")

    def _field(self) -> None:
        run = '<w:r xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">{}</w:r>'
        code = '<w:fldChar w:fldCharType="begin"/>', "<w:instrText>DATE</w:instrText>"
        for part in (*code, '<w:fldChar w:fldCharType="separate"/>'):
            self.paragraph._p.append(parse_xml(run.format(part)))
        self._plain()
        self.paragraph._p.append(parse_xml(run.format('<w:fldChar w:fldCharType="end"/>')))

    def _deleted(self) -> None:
        word = self.said.gone("tracked deletions")
        deleted = f'<w:del w:id="1" w:author="a"><w:r><w:delText>{word}</w:delText></w:r></w:del>'
        self.paragraph._p.append(xml(deleted))

    def _note(self) -> None:
        self.notes.append(self.said.marked(r"\n\[\d+\] {}"))
        reference = xml(f'<w:footnoteReference w:id="{len(self.notes)}"/>')
        self.paragraph.add_run()._r.append(reference)

    def _comment(self) -> None:
        text = self.said.comment("Ada Berg")
        self.document.add_comment(self.paragraph.runs[-1], text, author="Ada Berg")

    def _picture(self) -> None:
        shape = self.paragraph.add_run().add_picture(BytesIO(png()))
        shape._inline.docPr.set("descr", f"the {self.said.picture()}")

    def _diagram(self) -> None:
        """Write SmartArt of two shapes."""
        words = "".join(
            f"<dgm:pt><dgm:t><a:p><a:r><a:t>{self.said.text(in_order=False)}</a:t></a:r></a:p>"
            "</dgm:t></dgm:pt>"
            for _ in range(2)
        )
        content = f"<dgm:dataModel {DRAWN}><dgm:ptLst>{words}</dgm:ptLst></dgm:dataModel>"
        package = self.document.part.package
        name = package.next_partname("/word/diagrams/data%d.xml")
        part = Part(name, "application/xml", content.encode(), package)
        link = self.document.part.relate_to(part, DIAGRAM_DATA)
        shown = f'<a:graphicData><dgm:relIds r:dm="{link}"/></a:graphicData>'
        drawing = f"<w:drawing><a:graphic>{shown}</a:graphic></w:drawing>"
        self.paragraph._p.append(parse_xml(f"<w:r {nsdecls('w', 'r')} {DRAWN}>{drawing}</w:r>"))

    def _ruby(self) -> None:
        self._plain()
        above, word = self.said.text(in_order=False), self.said.text()
        run = "<w:r><w:t>{}</w:t></w:r>"
        ruby = f"<w:rt>{run.format(above)}</w:rt><w:rubyBase>{run.format(word)}</w:rubyBase>"
        self.paragraph._p.append(xml(f"<w:r><w:ruby>{ruby}</w:ruby></w:r>"))
        self._plain()

    def _box(self) -> None:
        """Write a text box, as Word does: again for programs that know only the old form."""
        words = "".join(
            f"<w:p><w:r><w:t>{self.said.text(in_order=False)}</w:t></w:r></w:p>" for _ in range(2)
        )
        box = f"<w:txbxContent>{words}</w:txbxContent>"
        spaces = (
            f'{nsdecls("w", "r")} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
            ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
            ' xmlns:v="urn:schemas-microsoft-com:vml"'
        )
        shape = f"<w:drawing><wps:txbx>{box}</wps:txbx></w:drawing>"
        new = f'<mc:Choice Requires="wps">{shape}</mc:Choice>'
        old = f"<mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback>"
        content = f"<mc:AlternateContent>{new}{old}</mc:AlternateContent>"
        self.paragraph._p.append(parse_xml(f"<w:r {spaces}>{content}</w:r>"))

    def _list(self, items: Items, level: int) -> None:
        style = "List Number" if items.is_ordered else "List Bullet"
        for inner in items.items:
            name = style if level == 1 else f"{style} {min(level, 3)}"
            self.document.add_paragraph(self.said.text(), style=name)
            if inner:
                self._list(inner, level + 1)

    def _table(self, grid: Grid) -> None:
        """Write a table; where hidden rows are dropped, a merged cell stands in those that show."""
        said, table = self.said, self.document.add_table(grid.rows, grid.columns)
        is_dropped = said.options.hidden == "drop"
        words = {}
        for row in range(grid.rows):
            for area in grid.own(row):
                shown = [r for r in range(area[0], area[2]) if r not in grid.hidden_rows]
                top, left, bottom, right = area
                if is_dropped and not shown:
                    words[area] = said.word()
                    said.absent.add(words[area])
                else:
                    words[area] = said.text(1, in_order=False)
                    said.least.add(words[area])
                cell = table.cell(top, left).merge(table.cell(bottom - 1, right - 1))
                cell.text = words[area]
                self._extra(cell, grid.extra(area))
        for row in range(grid.rows):
            self._note_row(table.rows[row], grid, row, words, is_dropped)

    def _extra(self, cell: Any, piece: str) -> None:
        self.paragraph = cell.paragraphs[0]
        if piece == "nested":
            inner = cell.add_table(2, 2)
            for place in range(4):
                word = self.said.text(in_order=False)
                inner.cell(place // 2, place % 2).text = word
        elif piece:
            getattr(self, f"_{piece}")()

    def _note_row(self, drawn: Any, grid: Grid, row: int, words: Any, is_dropped: bool) -> None:
        is_hidden, said = row in grid.hidden_rows, self.said
        if is_hidden:
            drawn._tr.get_or_add_trPr().append(xml("<w:hidden/>"))
            for run in drawn._tr.iterfind(f".//{qn('w:r')}"):  # as Word does
                run.get_or_add_rPr().append(xml("<w:vanish/>"))
        if grid.own(row) and not (is_hidden and is_dropped):
            said.row(row_words(grid, row, words))
        if is_hidden and grid.own(row):
            if is_dropped:
                said.dropped["hidden row"] += 1
            if said.options.hidden == "mark":
                said.patterns.append(rf"{words[grid.own(row)[0]]}.*\(hidden\)")

    def _aside(self, aside: Any) -> None:
        """Put blocks into the one cell of a table, which only lays them out."""
        cell = self.document.add_table(1, 1).cell(0, 0)
        for block in aside.blocks:
            if isinstance(block, Grid):
                inner = cell.add_table(block.rows, block.columns)
                for row in range(block.rows):
                    words = [self.said.text() for _ in range(block.columns)]
                    for column, word in enumerate(words):
                        inner.cell(row, column).text = word
                    self.said.row(words)
            elif isinstance(block, Heading):
                cell.add_paragraph(self.said.heading(), style=f"Heading {block.level}")
            elif isinstance(block, Paragraph):
                self.block(block, cell)
