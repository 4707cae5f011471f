"""Files such as people have, made from the sample corpus or from a few lines."""

import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docx
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from reportlab.lib import pagesizes
from reportlab.lib.enums import TA_JUSTIFY, TA_LEFT
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Table


def markdown(header: Sequence[str], *rows: Sequence[str]) -> str:
    """Write a table as a loader does."""
    lines = ["| " + " | ".join(row) + " |" for row in (header, *rows)]
    return "\n".join([lines[0], "|" + " --- |" * len(header), *lines[1:]])


def xml(inner: str) -> Any:
    """Read an element of Word's, whose namespaces are given it."""
    return parse_xml(re.sub(r"^<[\w:]+", rf"\g<0> {nsdecls('w', 'r')}", inner))


Place = tuple[float, float, str]  # from the left, from below, and a line


@dataclass(frozen=True)
class Block:
    """A paragraph, a heading where `level` is not 0, or a table."""

    text: str = ""
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Layout:
    """How a PDF is set."""

    columns: int = 1
    margins: bool = False
    size: float = 10
    page: tuple[float, float] = pagesizes.A4
    justified: bool = False
    font: str = "Times"
    space_after: float = 6
    indent: float = 0


def blocks(text: str) -> Iterator[Block]:
    """Read a sample: what a word processor would hold of it."""
    for part in re.split(r"\n\s*\n", text.strip()):
        part = part.replace("**", "")
        if match := re.match(r"(#+) (.*)", part):
            yield Block(match[2], len(match[1]))
        elif part.startswith("|"):
            lines = [line.strip("| ").split("|") for line in part.splitlines() if "---" not in line]
            yield Block(rows=tuple(tuple(cell.strip() for cell in line) for line in lines))
        else:
            yield Block(part)


def plain(content: Sequence[Block]) -> str:
    """Give all characters of a text but its white space."""
    cells = (cell for block in content for row in block.rows or ((block.text,),) for cell in row)
    return bare("".join(cells))


def bare(text: str) -> str:
    return "".join(text.split())


def make_pdf(file: Path, content: Sequence[Block], layout: Layout, **options: Any) -> Path:
    """Set blocks in columns on pages, some with headers and footers."""
    width, height = layout.page
    template = BaseDocTemplate(str(file), pagesize=layout.page, **options)
    gutter, margin = 18, 60
    column = (width - 2 * margin - gutter * (layout.columns - 1)) / layout.columns
    frames = [
        Frame(margin + index * (column + gutter), margin, column, height - 2 * margin, 0, 0, 0, 0)
        for index in range(layout.columns)
    ]
    decorate = _margins(layout) if layout.margins else _nothing
    template.addPageTemplates([PageTemplate(frames=frames, onPage=decorate)])
    template.build(list(_flowables(content, layout)))
    return file


def _nothing(canvas: Canvas, template: BaseDocTemplate) -> None:
    pass


def _margins(layout: Layout) -> Any:
    def draw(canvas: Canvas, template: BaseDocTemplate) -> None:
        width, height = layout.page
        canvas.setFont("Helvetica", 8)
        canvas.drawString(60, height - 35, "CONFIDENTIAL")
        canvas.drawRightString(width - 60, height - 35, "Draft of 3 May 2024")
        canvas.drawCentredString(width / 2, 30, f"Page {canvas.getPageNumber()} of 99")

    return draw


def _flowables(content: Sequence[Block], layout: Layout) -> Iterator[Any]:
    names = {"Times": ("Times-Roman", "Times-Bold"), "Helvetica": ("Helvetica", "Helvetica-Bold")}
    regular, bold = names[layout.font]
    body = ParagraphStyle(
        "body",
        fontName=regular,
        fontSize=layout.size,
        leading=layout.size * 1.2,
        alignment=TA_JUSTIFY if layout.justified else TA_LEFT,
        spaceAfter=layout.space_after,
        firstLineIndent=layout.indent,
    )
    heading = ParagraphStyle(
        "heading", body, fontName=bold, fontSize=layout.size + 2, spaceBefore=8
    )
    heading.leading = heading.fontSize * 1.2
    for block in content:
        if block.rows:
            cells = [[Paragraph(_escaped(cell), body) for cell in row] for row in block.rows]
            yield Table(cells, spaceAfter=8, spaceBefore=8)
        else:
            yield Paragraph(_escaped(block.text), heading if block.level else body)


def _escaped(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return text.replace("\n", "<br/>")


def draw_pdf(
    file: Path, pages: Sequence[Sequence[tuple[float, float, str]]], **options: Any
) -> Path:
    """Draw lines at places on pages, counted from below, at 10 points."""
    canvas = Canvas(str(file), pagesize=pagesizes.A4, **options)
    for page in pages:
        canvas.setFont("Helvetica", 10)
        for left, bottom, text in page:
            canvas.drawString(left, bottom, text)
        canvas.showPage()
    canvas.save()
    return file


def scanned(tmp_path: Path, *pages: Sequence[tuple[float, float, str]]) -> Path:
    """Draw pages of text as pictures."""
    import pypdfium2

    drawn_file = draw_pdf(tmp_path / "drawn.pdf", pages)
    with pypdfium2.PdfDocument(drawn_file) as document, pypdfium2.PdfDocument.new() as scan:
        for page in document:
            picture = pypdfium2.PdfImage.new(scan)
            picture.set_bitmap(page.render(scale=3))
            picture.set_matrix(pypdfium2.PdfMatrix().scale(*page.get_size()))
            new_page = scan.new_page(*page.get_size())
            new_page.insert_obj(picture)
            new_page.gen_content()
        scan.save(tmp_path / "scan.pdf")
    return tmp_path / "scan.pdf"


def clause_pages(amount: int) -> list[list[tuple[float, float, str]]]:
    """Give pages for `draw_pdf`, each full enough to be a chunk of its own."""
    line = "{0}.{1} Clause {0} of this contract says little in line {1} that is new."
    return [
        [(60.0, 700.0 - 20 * row, line.format(page, row)) for row in range(1, 13)]
        for page in range(1, amount + 1)
    ]


def make_docx(file: Path, content: Sequence[Block]) -> Path:
    """Write blocks with a word processor's headings and tables."""
    document = docx.Document()
    for block in content:
        if block.rows:
            table = document.add_table(len(block.rows), len(block.rows[0]))
            for row, cells in zip(table.rows, block.rows, strict=True):
                for cell, text in zip(row.cells, cells, strict=True):
                    cell.text = text
        elif block.level:
            document.add_heading(block.text, block.level - 1)
        else:
            document.add_paragraph(block.text)
    document.save(str(file))
    return file


def add_list(document: Any, levels: Sequence[tuple[str, str]], overrides: str = "") -> str:
    """Define a numbered list by the form and pattern of its levels; give its id."""
    root = document.part.numbering_part.element
    name = str(900 + len(root))
    written = "".join(
        f'<w:lvl w:ilvl="{index}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{pattern}"/></w:lvl>'
        for index, (form, pattern) in enumerate(levels)
    )
    abstract = f'<w:abstractNum {nsdecls("w")} w:abstractNumId="{name}">{written}</w:abstractNum>'
    root.insert(0, parse_xml(abstract))
    return add_number(document, name, overrides)


def add_number(document: Any, abstract: str, overrides: str = "") -> str:
    """Give a list another id, which may change it."""
    root = document.part.numbering_part.element
    name = str(900 + len(root))
    root.append(
        parse_xml(
            f'<w:num {nsdecls("w")} w:numId="{name}"><w:abstractNumId w:val="{abstract}"/>'
            f"{overrides}</w:num>"
        )
    )
    return name


def add_item(document: Any, number: str, level: int, text: str) -> Any:
    """Add a paragraph that is an item of a list."""
    paragraph = document.add_paragraph(text)
    paragraph._p.get_or_add_pPr().append(
        parse_xml(
            f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level}"/>'
            f'<w:numId w:val="{number}"/></w:numPr>'
        )
    )
    return paragraph


def add_footnotes(document: Any, texts: Sequence[str]) -> None:
    """Add a Word file's footnotes, whose ids are 1, 2 and so on."""
    notes = "".join(
        f'<w:footnote w:id="{number}"><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:footnote>'
        for number, text in enumerate(texts, 1)
    )
    content = f"<w:footnotes {nsdecls('w')}>{notes}</w:footnotes>".encode()
    part = Part(PackURI("/word/footnotes.xml"), "application/xml", content, document.part.package)
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)


def repacked(file: Path, part: str, change: Callable[[bytes], bytes]) -> Path:
    """Write a file again with one of its parts changed."""
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[part] = change(parts.get(part, b""))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file


def save_ods(file: Path, name: str, content: str) -> Path:
    """Write an OpenDocument spreadsheet of one table, whose columns and rows are given as XML."""
    spaces = " ".join(
        f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{prefix}:1.0"'
        for prefix in ("office", "table", "text")
    )
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="{name}">{content}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return file
