"""Sheets: merged cells, hidden rows and columns, comments."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.load import load
from lexichord.ingest.load.marks import LoadOptions
from tests.documents import save_ods

CREATOR = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'


def written(file: Path, **options: Any) -> tuple[str, list[str]]:
    loaded = load(file, LoadOptions(**options))
    return loaded.text, list(loaded.metadata.get("flags", []))


def table(*rows: str) -> str:
    head, *body = (f"| {row.replace('/', ' | ')} |" for row in rows)
    return "\n".join([head, f"|{' --- |' * head.count(' | ')} --- |", *body])


def make_merged(file: Path) -> Path:
    book = xlsxwriter.Workbook(str(file))
    sheet = book.add_worksheet("Berths")
    sheet.merge_range(2, 1, 3, 1, "Coast")
    sheet.merge_range(2, 2, 2, 3, "Boats")
    sheet.write_row(3, 2, ["old", "new"])
    sheet.merge_range(4, 1, 6, 1, "North")
    for row in range(4, 8):
        sheet.write_row(row, 2, [row, row * 2])
    sheet.merge_range(7, 1, 8, 1, "South")
    sheet.merge_range(9, 1, 10, 3, "closed")
    book.close()
    return file


def test_a_merged_value_stands_in_each_row_and_in_a_header_once(tmp_path: Path) -> None:
    text, _ = written(make_merged(tmp_path / "a.xlsx"))
    rows = ("Coast/Boats/", "/old/new", *(f"North/{row}/{row * 2}" for row in (4, 5, 6)))
    rows += ("South/7/14",)
    closed = "closed"  # of its rows, none holds anything besides
    assert text == f"Sheet Berths\n\n{table(*rows)}\n\n{closed}"


def make_hidden(file: Path) -> Path:
    book = xlsxwriter.Workbook(str(file))
    sheet = book.add_worksheet("Berths")
    for row in range(6):
        cells = ["Boat", "Rent", "Margin"] if row == 0 else [f"boat {row}", row, row / 8]
        sheet.write_row(row, 0, cells)
    sheet.set_row(2, None, None, {"hidden": True})
    sheet.set_column(2, 2, None, None, {"hidden": True})
    book.close()
    return file


def test_hidden_rows_and_columns_are_marked(tmp_path: Path) -> None:
    file = make_hidden(tmp_path / "a.xlsx")
    body = [f"boat {row}/{row}/{row / 8}" for row in range(1, 6)]
    body[1] += " (hidden)"
    assert written(file)[0] == "Sheet Berths\n\n" + table("Boat/Rent/Margin (hidden)", *body)
    assert "hidden" not in written(file, hidden="keep")[0]
    shown = table("Boat/Rent", *(f"boat {row}/{row}" for row in (1, 3, 4, 5)))
    assert written(file, hidden="drop") == (
        f"Sheet Berths\n\n{shown}",
        ["left out: 1 hidden column", "left out: 1 hidden row"],
    )


def make_half_hidden(file: Path) -> Path:
    book = xlsxwriter.Workbook(str(file))
    sheet = book.add_worksheet("Berths")
    sheet.write_row(0, 0, ["Boat", "Rent", "Margin", "Pier"])
    sheet.merge_range(1, 1, 1, 3, "closed")
    sheet.write(1, 0, "Gull")
    sheet.merge_range(2, 0, 3, 0, "Tern")
    sheet.write_row(2, 1, [8, 2, "East"])
    sheet.merge_range(4, 0, 4, 3, "All on land")
    sheet.set_column(0, 2, None, None, {"hidden": True})
    sheet.set_row(2, None, None, {"hidden": True})
    book.close()
    return file


def make_half_hidden_ods(file: Path) -> Path:
    def cell(text: str, spans: str = "") -> str:
        return (
            f'<table:table-cell office:value-type="string"{spans}><text:p>{text}</text:p>'
            "</table:table-cell>"
        )

    wide, covered = ' table:number-columns-spanned="{}"', "<table:covered-table-cell/>"
    rows = (
        "".join(map(cell, ("Boat", "Rent", "Margin", "Pier"))),
        cell("Gull") + cell("closed", wide.format(3)) + covered * 2,
        cell("Tern", ' table:number-rows-spanned="2"') + "".join(map(cell, ("8", "2", "East"))),
        covered,
        cell("All on land", wide.format(4)) + covered * 3,
    )
    hidden = ' table:visibility="collapse"'
    columns = f'<table:table-column{hidden} table:number-columns-repeated="3"/>'
    lines = "".join(
        f"<table:table-row{hidden if 'East' in row else ''}>{row}</table:table-row>" for row in rows
    )
    return save_ods(file, "Berths", f"{columns}<table:table-column/>{lines}")


@pytest.mark.parametrize("make", [make_half_hidden, make_half_hidden_ods])
def test_a_merged_cell_stands_where_it_shows(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    file = make(tmp_path / ("a.ods" if "ods" in make.__name__ else "a.xlsx"))
    shown = f"{table('///Pier', '///closed')}\n\n|  |  |  | All on land |"
    assert written(file, hidden="drop") == (
        f"Sheet Berths\n\n{shown}",
        ["left out: 3 hidden columns", "left out: 1 hidden row"],
    )
    text, _ = written(file)
    assert "| Gull |  |  | closed |" in text
    assert "| Tern | 8 | 2 | East (hidden) |" in text


def make_hidden_top(file: Path) -> Path:
    book = xlsxwriter.Workbook(str(file))
    sheet = book.add_worksheet("Berths")
    sheet.merge_range(0, 0, 2, 0, "North")
    sheet.write_column(0, 1, ["Gull", "Tern", "Skua"])
    sheet.merge_range(3, 0, 4, 1, "All on land")
    for row in (0, 3):
        sheet.set_row(row, None, None, {"hidden": True})
    book.close()
    return file


def test_a_merged_cell_of_a_hidden_row_stands_in_the_rows_that_show(tmp_path: Path) -> None:
    file = make_hidden_top(tmp_path / "a.xlsx")
    shown = table("North/Tern", "North/Skua", "All on land/")
    assert written(file, hidden="drop")[0] == f"Sheet Berths\n\n{shown}"


def test_a_chunk_far_below_the_header_says_that_a_column_is_hidden(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(str(tmp_path / "a.xlsx"))
    sheet = book.add_worksheet("Berths")
    sheet.write_row(0, 0, ["Boat", "Margin"])
    for row in range(1, 400):
        sheet.write_row(row, 0, [f"boat number {row}", row])
    sheet.set_column(1, 1, None, None, {"hidden": True})
    book.close()
    chunks = split(load(tmp_path / "a.xlsx"))
    assert len(chunks) > 5
    assert all("Margin (hidden)" in chunk.heading + chunk.content for chunk in chunks[1:])


def make_commented(file: Path, thread: bool) -> Path:
    book = xlsxwriter.Workbook(str(file))
    sheet = book.add_worksheet("Berths")
    sheet.write_row(0, 0, ["Boat", "Rent"])
    sheet.write_row(1, 0, ["Gull", 9])
    author = "tc={1}" if thread else "Ada Berg"
    sheet.write_comment("B2", "Ada Berg:\nToo low", {"author": author})
    book.close()
    return add_thread(file) if thread else file


def add_thread(file: Path) -> Path:
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    links = "xl/worksheets/_rels/sheet1.xml.rels"
    kind = "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment"
    target = "../threadedComments/threadedComment1.xml"
    link = f'<Relationship Id="rId9" Type="{kind}" Target="{target}"/></Relationships>'
    parts[links] = parts[links].replace(b"</Relationships>", link.encode())
    space = 'xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"'
    said = '<threadedComment ref="B2" dT="2026-03-0{}T10:00:00.00" personId="{}"><text>{}</text>'
    replies = (said.format(*reply) for reply in ((4, "{P1}", "Why 9?"), (5, "{P2}", "Yes")))
    thread = "</threadedComment>".join([*replies, ""])
    parts["xl/threadedComments/threadedComment1.xml"] = (
        f"<ThreadedComments {space}>{thread}</ThreadedComments>".encode()
    )
    person = '<person displayName="{}" id="{}"/>'
    people = person.format("Ada", "{P1}") + person.format("Bo", "{P2}")
    parts["xl/persons/person.xml"] = f"<personList {space}>{people}</personList>".encode()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file


@pytest.mark.parametrize(
    ("thread", "comments"),
    [
        (False, ["Comment by Ada Berg: on B2: Too low"]),
        (
            True,
            ["Comment by Ada, 2026-03-04: on B2: Why 9?", "Comment by Bo, 2026-03-05: on B2: Yes"],
        ),
    ],
)  # fmt: skip
def test_comments_old_and_threaded_follow_the_sheet(
    tmp_path: Path, thread: bool, comments: list[str]
) -> None:
    file = make_commented(tmp_path / "a.xlsx", thread)
    cells = f"Sheet Berths\n\n{table('Boat/Rent', 'Gull/9')}"
    assert written(file)[0].split("\n\n") == [*cells.split("\n\n"), *comments]
    left_out = f"left out: {len(comments)} comment{'s' * thread}"
    assert written(file, comments="drop") == (cells, [left_out])
    assert load(file).headings[-1].name == "comments"


def make_ods(file: Path) -> Path:
    cell = '<table:table-cell office:value-type="string"{}><text:p>{}</text:p>{}</table:table-cell>'
    said = (
        f"<office:annotation {CREATOR}><dc:creator>Ada</dc:creator><dc:date>2026-03-04T10:00:00"
        "</dc:date><text:p>Too low</text:p></office:annotation>"
    )
    covered = "<table:covered-table-cell/>"
    rows = [
        cell.format("", "Coast", "") + cell.format("", "Boat", "") + cell.format("", "Rent", ""),
        cell.format(' table:number-rows-spanned="2"', "North", "")
        + cell.format("", "Gull", "")
        + cell.format("", "9", said),
        covered + cell.format("", "Tern", "") + cell.format("", "8", ""),
        cell.format("", "South", "") + cell.format("", "Skua", "") + cell.format("", "7", ""),
    ]
    hidden = ' table:visibility="filter"'
    lines = "".join(
        f"<table:table-row{hidden if 'Skua' in row else ''}>{row}</table:table-row>" for row in rows
    )
    columns = (
        '<table:table-column table:number-columns-repeated="2"/>'
        '<table:table-column table:visibility="collapse"/>'
    )
    return save_ods(file, "Berths", f"{columns}{lines}")


def test_open_document_sheets_are_marked_alike(tmp_path: Path) -> None:
    cells = table(
        "Coast/Boat/Rent (hidden)", "North/Gull/9", "North/Tern/8", "South/Skua/7 (hidden)"
    )
    comment = "Comment by Ada, 2026-03-04: on C2: Too low"
    assert written(make_ods(tmp_path / "a.ods"))[0] == f"Sheet Berths\n\n{cells}\n\n{comment}"


def make_formulas(file: Path, cells: str) -> Path:
    """Write a sheet whose first row is named, and whose others are as given."""
    plain = file.with_name("plain.xlsx")
    book = xlsxwriter.Workbook(str(plain))
    book.add_worksheet("Bills").write_row(0, 0, ["Net", "Gross"])
    book.close()
    with zipfile.ZipFile(plain) as given, zipfile.ZipFile(file, "w") as made:
        for name in given.namelist():
            data = given.read(name)
            if name == "xl/worksheets/sheet1.xml":
                data = data.replace(b"</sheetData>", f"{cells}</sheetData>".encode())
                data = data.replace(b'ref="A1:B1"', b'ref="A1:B3"')
            made.writestr(name, data)
    return file


def test_formulas_without_values_are_flagged(tmp_path: Path) -> None:
    cells = (
        '<row r="2"><c r="A2"><v>7</v></c><c r="B2"><f>A2*2</f><v></v></c></row>'
        '<row r="3"><c r="A3"><f t="shared" si="0"/></c>'
        '<c r="B3" t="str"><f>""</f><v></v></c></row>'
    )
    text, flags = written(make_formulas(tmp_path / "a.xlsx", cells))
    assert text == "Sheet Bills\n\n" + table("Net/Gross", "7/")
    again = "without a value: open the file and save it again"
    assert flags == [f"left out: 2 formulas {again}"]
    one = '<row r="2"><c r="A2"><v>7</v></c><c r="B2"><f>A2*2</f></c></row>'
    assert written(make_formulas(tmp_path / "b.xlsx", one))[1] == [f"left out: 1 formula {again}"]
    done = '<row r="2"><c r="A2"><v>7</v></c><c r="B2"><f>A2*2</f><v>14</v></c></row>'
    assert written(make_formulas(tmp_path / "c.xlsx", done))[1] == []


def test_errors_are_shown(tmp_path: Path) -> None:
    cells = (
        '<row r="2"><c r="A2"><v>7</v></c><c r="B2" t="e"><f>A2/0</f><v>#DIV/0!</v></c></row>'
        '<row r="3"><c r="A3" t="e"><v>#N/A</v></c></row>'
    )
    text, flags = written(make_formulas(tmp_path / "a.xlsx", cells))
    assert text.replace(" ", "").splitlines()[-2:] == ["|7|#DIV/0!|", "|#N/A||"]
    assert flags == []


def test_each_digit_of_a_whole_number_is_shown(tmp_path: Path) -> None:
    cells = (
        '<row r="2"><c r="A2"><v>1234567890123456</v></c><c r="B2"><v>-0</v></c></row>'
        '<row r="3"><c r="A3"><v>1E+21</v></c><c r="B3"><v>0.30000000000000004</v></c></row>'
    )
    text, _ = written(make_formulas(tmp_path / "a.xlsx", cells))
    assert text == "Sheet Bills\n\n" + table("Net/Gross", "1234567890123456/0", "1e+21/0.3")


def test_wide_gaps_between_columns_are_left_out(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(str(tmp_path / "a.xlsx"))
    sheet = book.add_worksheet("Far")
    for row, cells in enumerate((("Boat", "Rent", "Note"), ("Gull", "due", "x"), ("Tern", "", ""))):
        for column, cell in zip((1, 12, 15000), cells, strict=True):
            sheet.write(row, column, cell)
    book.close()
    near = "/" * 11
    rows = (f"Boat{near}Rent/Note", f"Gull{near}due/x", f"Tern{near}/")
    assert written(tmp_path / "a.xlsx")[0] == "Sheet Far\n\n" + table(*rows)
