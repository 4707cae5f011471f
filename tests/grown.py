"""Files that grow, in which each of many parts asks for what is one of many."""

import zipfile
from pathlib import Path

import docx
from xlsxwriter import Workbook

from lexichord.ingest.load.odf.styles import OPEN_DOCUMENT
from tests.documents import add_item, add_list, repacked, xml


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
