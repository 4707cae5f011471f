"""Files that grow, in which many parts ask for one of many, or for the same one."""

import re
import zipfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import docx
from docx.enum.section import WD_HEADER_FOOTER
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.package import Part as SlidePart
from pptx.opc.packuri import PackURI as SlideUri
from xlsxwriter import Workbook

from lexichord.ingest.load.odf.styles import OPEN_DOCUMENT
from tests.documents import add_footnotes, add_item, add_list, repacked, xml


def save_odt(file: Path, styles: str, words: str) -> None:
    """Write an OpenDocument text of styles and a body that are given as XML."""
    spaces = (f'xmlns:{name}="{OPEN_DOCUMENT}{name}:1.0"' for name in ("office", "text", "style"))
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content {' '.join(spaces)}><office:automatic-styles>"
            f"{styles}</office:automatic-styles><office:body><office:text>"
            f"{words}</office:text></office:body></office:document-content>",
        )


def write_check_boxes(file: Path, amount: int) -> None:
    """Write check boxes whose fields have no end."""
    document = docx.Document()
    box = "<w:r><w:fldChar><w:ffData><w:checkBox/></w:ffData></w:fldChar></w:r>"
    document.element.body.insert(0, xml(f"<w:p>{box * amount}</w:p>"))
    document.save(str(file))


def write_linked_lists(file: Path, amount: int) -> None:
    """Write items of one list among many that styles have."""
    document = docx.Document()
    number = add_list(document, [("decimal", "%1")])
    for n in range(amount):
        link = f'<w:styleLink w:val="s{n}"/>'
        linked = xml(f'<w:abstractNum w:abstractNumId="x{n}">{link}</w:abstractNum>')
        document.part.numbering_part.element.insert(0, linked)
        add_item(document, number, 0, "x")
    document.save(str(file))


def write_labels(file: Path, amount: int) -> None:
    """Write items of a list that has a long pattern."""
    document = docx.Document()
    number = add_list(document, [("none", "%1" * amount)])
    for _ in range(amount):
        add_item(document, number, 0, "x")
    document.save(str(file))


def write_odt_labels(file: Path, amount: int) -> None:
    """Write the same in OpenDocument."""
    form = f'text:level="1" style:num-format="1" style:num-prefix="{"%1" * amount}"'
    level = f"<text:list-level-style-number {form}/>"
    item = "<text:list-item><text:p>x</text:p></text:list-item>"
    words = f'<text:list text:style-name="a">{item * amount}</text:list>'
    save_odt(file, f'<text:list-style style:name="a">{level}</text:list-style>', words)


def write_odt_pages(file: Path, amount: int) -> None:
    """Begin the pages of a long chain over and over."""
    header = "<style:header><text:p>x</text:p></style:header>"
    pages = (
        f'<style:master-page style:name="p{n}" style:next-style-name="p{n + 1}">{header}'
        "</style:master-page>"
        for n in range(amount)
    )
    styles = f'<style:style style:name="a" style:master-page-name="p0"/>{"".join(pages)}'
    save_odt(file, styles, '<text:p text:style-name="a">x</text:p>' * amount)


def write_merged(file: Path, columns: str, rows: int, merged: str) -> None:
    """Write a sheet of rows, its columns and merged cells given as XML."""
    with Workbook(str(file)) as book:
        sheet = book.add_worksheet("a")
        for n in range(rows):
            sheet.write(n, 0, f"part {n}.")
    start, end = b"<sheetData>", b"</sheetData>"
    before, after = columns.encode() + start, end + f"<mergeCells>{merged}</mergeCells>".encode()
    part = "xl/worksheets/sheet1.xml"
    repacked(file, part, lambda old: old.replace(start, before).replace(end, after))


def write_hidden_columns(file: Path, amount: int) -> None:
    """Hide a column over and over, then all, and merge cells of them over and over."""
    hidden = '<col min="1" max="1" hidden="1"/>' * amount
    columns = f'<cols>{hidden}<col min="1" max="99" hidden="1"/></cols>'
    write_merged(file, columns, amount, '<mergeCell ref="A2:T3"/>' * amount)


def write_slides(file: Path, amount: int) -> None:
    """Name a slide of many boxes over and over."""
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    for n in range(amount):
        slide.shapes.add_textbox(0, 0, 1, 1).text_frame.text = f"part {n}."
    named = deck.slides._sldIdLst
    named.extend(deepcopy(named[0]) for _ in range(amount))
    deck.save(str(file))


def write_charts(file: Path, amount: int) -> None:
    """Show a chart of many numbers over and over."""
    deck = Presentation()
    shapes = deck.slides.add_slide(deck.slide_layouts[6]).shapes
    numbers: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    numbers.categories = [f"part {n}." for n in range(amount)]
    numbers.add_series("a", range(amount))
    frame = shapes.add_chart(XL_CHART_TYPE.PIE, 0, 0, 1, 1, numbers)
    shapes._spTree.extend(deepcopy(frame._element) for _ in range(amount))
    deck.save(str(file))


def write_comments(file: Path, amount: int) -> None:
    """Name a slide's comments over and over."""
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    said = "".join(f"<cm><text>part {n}.</text></cm>" for n in range(amount))
    content = f"<cmLst>{said}</cmLst>".encode()
    part = SlidePart(SlideUri("/ppt/comments/a.xml"), "application/xml", deck.part.package, content)
    for _ in range(amount):
        slide.part.rels._add_relationship(RELATIONSHIP_TYPE.COMMENTS, part)
    deck.save(str(file))


def write_notes(file: Path, amount: int) -> None:
    """Refer to a footnote of many words over and over."""
    document = docx.Document()
    add_footnotes(document, ["</w:t><w:t> ".join(f"part {n}." for n in range(amount))])
    references = '<w:r><w:footnoteReference w:id="1"/></w:r>' * amount
    document.element.body.insert(0, xml(f"<w:p>{references}</w:p>"))
    document.save(str(file))


def write_diagrams(file: Path, amount: int) -> None:
    """Show a diagram of many shapes over and over."""
    document = docx.Document()
    space = 'xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    shapes = "".join(f"<d:pt><d:t>part {n}.</d:t></d:pt>" for n in range(amount))
    content = f"<d:dataModel {space}>{shapes}</d:dataModel>".encode()
    part = Part(PackURI("/word/data.xml"), "application/xml", content, document.part.package)
    link = document.part.relate_to(part, "diagramData")
    shown = f'<w:r><d:relIds {space} r:dm="{link}"/></w:r>' * amount
    document.element.body.insert(0, xml(f"<w:p>{shown}</w:p>"))
    document.save(str(file))


def write_headers(file: Path, amount: int) -> None:
    """Let each section have the same header, under another name."""
    document = docx.Document()
    header = document.sections[0].header
    for n in range(amount):
        header.add_paragraph(f"part {n}.")
    for n in range(amount):
        document.part.rels.add_relationship(RELATIONSHIP_TYPE.HEADER, header.part, f"again{n}")
        section = document.add_section()
        section._sectPr.add_headerReference(WD_HEADER_FOOTER.PRIMARY, f"again{n}")
    document.save(str(file))


def write_sheets(file: Path, amount: int) -> None:
    """Name a sheet of many rows over and over."""
    with Workbook(str(file)) as book:
        sheet = book.add_worksheet("a")
        for n in range(amount):
            sheet.write(n, 0, f"part {n}.")
    named = '<sheet name="{}" sheetId="{}" r:id="rId1"/>'
    more = "".join(named.format(f"b{n}", n + 2) for n in range(amount))
    end = b"</sheets>"
    repacked(file, "xl/workbook.xml", lambda old: old.replace(end, more.encode() + end))


def write_cell_comments(file: Path, amount: int) -> None:
    """Name a sheet's comments over and over."""
    with Workbook(str(file)) as book:
        sheet = book.add_worksheet("a")
        for n in range(amount):
            sheet.write_comment(n, 0, f"part {n}.")
    link = rb'<Relationship Id="\w+" Type="[^"]+/comments"[^>]+/>'
    part = "xl/worksheets/_rels/sheet1.xml.rels"
    repacked(file, part, lambda old: re.sub(link, lambda found: found[0] * amount, old))


def write_shared_comments(file: Path, amount: int) -> None:
    """Name a part of comments in each sheet."""
    with Workbook(str(file)) as book:
        sheet = book.add_worksheet()
        for n in range(amount):
            sheet.write_comment(n, 0, f"part {n}.")
            book.add_worksheet()
    folder = "xl/worksheets/_rels"
    with zipfile.ZipFile(file, "a") as archive:
        links = archive.read(f"{folder}/sheet1.xml.rels")
        for n in range(amount):
            archive.writestr(f"{folder}/sheet{n + 2}.xml.rels", links)
