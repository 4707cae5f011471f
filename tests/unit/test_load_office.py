"""Slides, sheets and rows: what is kept of them, and where it stands."""

import re
import zipfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from lexichord.errors import IngestError
from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.load import load
from lexichord.ingest.load.sheets.sizes import check_archived_sizes
from lexichord.ingest.sandbox import Sandbox
from lexichord.types import LoadedText
from tests.documents import Block, repacked, save_ods
from tests.documents import make_docx as write_docx

BOX = (Inches(1), Inches(1), Inches(4), Inches(2))


def places(loaded: LoadedText) -> list[tuple[int | None, str, str]]:
    """Return each chunk's page, heading and first line; check that it stands in the text."""
    chunks = split(loaded)
    for chunk in chunks:
        assert loaded.text[chunk.start : chunk.end] == chunk.content
    return [(chunk.page, chunk.heading, chunk.content.split("\n")[0]) for chunk in chunks]


def make_pptx(file: Path, title: str = "") -> Path:
    deck = Presentation()
    deck.core_properties.author = "Ada"
    deck.core_properties.title = title
    opening = deck.slides.add_slide(deck.slide_layouts[1])
    opening.shapes.title.text = "Plan for 2027"
    opening.placeholders[1].text = "Grow\nHire"
    opening.placeholders[1].text_frame.paragraphs[1].level = 1
    opening.notes_slide.notes_text_frame.text = "Mention the ferry."
    blank = deck.slides.add_slide(deck.slide_layouts[6])
    group = blank.shapes.add_group_shape()
    group.shapes.add_textbox(*BOX).text_frame.text = "grouped words"
    table = blank.shapes.add_table(2, 3, *BOX).table
    for at, text in enumerate(("Item", "", "Cost | EUR", "Boat", "", "12")):
        table.cell(at // 3, at % 3).text = text
    numbers: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    numbers.categories = ["North", "South"]
    numbers.add_series("Sales", (1.5, 20))
    blank.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *BOX, numbers)
    hidden = deck.slides.add_slide(deck.slide_layouts[6])
    hidden.element.set("show", "0")
    hidden.shapes.add_textbox(*BOX).text_frame.text = "not shown"
    deck.save(str(file))
    return file


def test_a_chart_has_the_points_that_are_there(tmp_path: Path) -> None:
    """Not as many as it says; and many are read in a second, not by the square in two minutes."""
    deck = Presentation()
    numbers: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    numbers.categories = [f"day {n}" for n in range(2_000)]
    numbers.add_series("Sales", range(2_000))
    shapes = deck.slides.add_slide(deck.slide_layouts[6]).shapes
    chart = shapes.add_chart(XL_CHART_TYPE.LINE, *BOX, numbers).chart
    for count in chart._chartSpace.iter("{*}ptCount"):
        count.set("val", str(2_000_000_000))
    deck.save(str(tmp_path / "days.pptx"))
    text = load(tmp_path / "days.pptx").text
    assert text.endswith("| day 1999 | 1999 |")
    assert len(text.splitlines()) == 2_002


def test_a_slide_is_a_section_and_a_page(tmp_path: Path) -> None:
    loaded = load(make_pptx(tmp_path / "plan.pptx"))
    assert loaded.title == "Plan for 2027"
    assert loaded.metadata["author"] == "Ada"
    assert places(loaded) == [
        (1, "Slide 1: Plan for 2027", "Plan for 2027"),
        (2, "Slide 2", "grouped words"),
        (3, "Slide 3 (hidden)", "Slide 3 (hidden)"),
    ]
    assert "Grow\n  Hire\n\nSpeaker notes\n\nMention the ferry." in loaded.text
    assert "| Item |  | Cost \\| EUR |\n| --- | --- | --- |\n| Boat |  | 12 |" in loaded.text
    assert "|  | Sales |\n| --- | --- |\n| North | 1.5 |\n| South | 20 |" in loaded.text


@pytest.mark.parametrize(
    ("written", "title"), [("Q3 review", "Q3 review"), ("PowerPoint Presentation", "Plan for 2027")]
)
def test_a_title_that_a_program_wrote_is_none(tmp_path: Path, written: str, title: str) -> None:
    assert load(make_pptx(tmp_path / "plan.pptx", written)).title == title


def make_xlsx(file: Path) -> Path:
    book = xlsxwriter.Workbook(str(file))
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    budget = book.add_worksheet("Budget")
    budget.write_row(0, 0, ["Budget of the harbour"])
    budget.write_row(2, 0, ["Item", "Cost", "Due", "Paid"])
    for row in range(3, 203):
        budget.write_row(row, 0, [f"Boat {row}", row * 1.5])
        budget.write_datetime(row, 2, datetime(2027, 1, 1 + row % 28), day)
        budget.write_boolean(row, 3, row % 2 == 0)
    budget.write_formula(203, 1, "=SUM(B4:B203)", value=30750)
    book.add_worksheet("Empty")
    other = book.add_worksheet("Notes")
    other.hide()
    other.write_row(4, 1, ["a\nb", "c|d"])
    book.close()
    return file


def test_a_sheet_is_a_section_and_its_rows_are_numbered_as_in_the_file(tmp_path: Path) -> None:
    loaded = load(make_xlsx(tmp_path / "harbour.xlsx"))
    found = places(loaded)
    assert found[0][1:] == ("Sheet Budget › row 1", "Sheet Budget")
    rows = [(heading, line) for _, heading, line in found if "Item | Cost" in heading]
    for heading, line in rows:
        numbers = heading.split(" › ")[1]
        first = int(numbers.removeprefix("rows ").removeprefix("row ").split("–")[0])
        cost = f"{(first - 1) * 1.5:g}"
        assert line.startswith(f"| Boat {first - 1} | {cost} | 2027-01-") or first == 204
    assert len(rows) > 5
    assert "| Boat 4 | 6 | 2027-01-05 | TRUE |" in loaded.text
    assert "|  | 30750 |  |  |" in loaded.text
    assert found[-1] == (None, "Sheet Notes (hidden) › row 5", "Sheet Notes (hidden)")
    assert "| a b | c\\|d |" in loaded.text.replace("|  | a b", "| a b")
    assert "Empty" not in loaded.text


def test_percents_and_money_are_written_as_they_are_shown(tmp_path: Path) -> None:
    formats = {
        "0%": (0.125, "12%"),
        "0.0%": (-0.125, "-12.5%"),
        '"$"#,##0.00': (1234.5, "$1,234.50"),
        "#,##0.00 [$€-407]": (1234.5, "1,234.50 €"),
        "[$CHF] #,##0;[Red]-[$CHF] #,##0": (-7200.4, "-CHF 7,200"),
        '_("$"* #,##0.00_);_("$"* (#,##0.00)': (5, "$5.00"),
        "#,##0": (1234567, "1234567"),
        '"$"#,##0,,"M"': (5_000_000, "5000000"),
        '0 "pieces"': (3, "3"),
        "General": (0.5, "0.5"),
        "00000": (1234, "01234"),
        "[<=99999]00000;00000-0000": (123456789, "123456789"),
        "[h]:mm": (1.2604166666666667, "30:15:00"),
    }
    book = xlsxwriter.Workbook(str(tmp_path / "a.xlsx"))
    sheet = book.add_worksheet("Sums & more")
    for row, (code, (value, _)) in enumerate(formats.items()):
        sheet.write_row(row + 4, 2, [code, "is"])
        sheet.write_number(row + 4, 4, value, book.add_format({"num_format": code}))
    book.close()
    lines = load(tmp_path / "a.xlsx").text.split("\n")
    shown = {line.rsplit(" | ", 2)[0].strip("| "): line for line in lines if " | is | " in line}
    for code, (_, expected) in formats.items():
        assert shown[code].endswith(f" | is | {expected} |"), code


CELLS = """<table:table-row><table:table-cell office:value-type="string"><text:p>{}</text:p>
</table:table-cell><table:table-cell office:value-type="string"><text:p>{}</text:p>
</table:table-cell></table:table-row>"""


def make_ods(file: Path) -> Path:
    rows = CELLS.format("Team", "City") + CELLS.format("Blues", "St. Louis")
    return save_ods(file, "Cups", rows)


def test_open_document_sheets_are_read_too(tmp_path: Path) -> None:
    loaded = load(make_ods(tmp_path / "cups.ods"))
    table = "| Team | City |\n| --- | --- |\n| Blues | St. Louis |"
    assert loaded.text == f"Sheet Cups\n\n{table}"


ROWS = '| name | note | n |\n| --- | --- | --- |\n| Ann | a, "b" c | 1 |\n| Bob |  | 2 |'
PRICES = "| name | price, EUR |\n| --- | --- |\n| Kiwi | 1,50 |\n| Pear | 2,75 |"


@pytest.mark.parametrize(
    ("name", "content", "text", "rows"),
    [
        ("a.csv", 'name,note,n\nAnn,"a, ""b""\nc",1\nBob,,2\n', ROWS, "rows 1–3"),
        ("a.csv", '\ufeffname;note;n\r\nAnn;"a, ""b""\nc";1\r\nBob;;2\r\n', ROWS, "rows 1–3"),
        ("a.tsv", 'name\tnote\tn\nAnn\t"a, ""b""\nc"\t1\nBob\t\t2\n', ROWS, "rows 1–3"),
        ("a.csv", "sep=;\nname;price, EUR\nKiwi;1,50\nPear;2,75\n", PRICES, "rows 2–4"),
        ("a.csv", "1,2\n3,4\n", "| 1 | 2 |\n| 3 | 4 |", "rows 1–2"),  # without a header
    ],
)
def test_rows_become_a_table_whatever_parts_their_cells(
    tmp_path: Path, name: str, content: str, text: str, rows: str
) -> None:
    (tmp_path / name).write_text(content, newline="")
    loaded = load(tmp_path / name)
    assert loaded.text == text
    assert [heading for _, heading, _ in places(loaded)] == [rows]


def test_a_chunk_of_several_blocks_names_its_first_and_last_row(tmp_path: Path) -> None:
    """A sheet that is one chunk, and blocks that share one, say which rows they hold."""
    file = tmp_path / "a.csv"
    blocks = ["a,b\nc,1\nd,2", "e,f\ng,3", "h,i\nj,4"]
    file.write_text("\n\n".join(blocks))
    assert [heading for _, heading, _ in places(load(file))] == ["rows 1–9"]
    file.write_text("\n\n".join([*blocks, "k,l\n" + "m,5\n" * 200]))
    found = [heading for _, heading, _ in places(load(file))]
    assert found[0] == "rows 1–9"
    assert found[1].startswith("rows 12–")


def test_long_tables_are_cut_between_rows_under_their_header(tmp_path: Path) -> None:
    lines = ["town,people", *(f"town {n},{n * 1000}" for n in range(2, 400))]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    found = places(load(tmp_path / "a.csv"))
    assert found[0][1].startswith("rows 2–")
    assert found[1][1].endswith(" › town | people")
    first = int(found[1][1].split("–")[0].removeprefix("rows "))
    assert found[1][2] == f"| town {first} | {first * 1000} |"


def test_a_header_that_a_blank_row_parts_belongs_to_its_table(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("Ship,Berths\n\n\nAnna,12\nBob,30\n\nPort,Town\n\nx,y\nz,w\n")
    loaded = load(file)
    assert loaded.text.startswith("| Ship | Berths |\n| --- | --- |\n| Anna | 12 |\n| Bob | 30 |")
    assert loaded.tables[0].first_row == 4
    assert "| Port | Town |\n\n| x | y |" in loaded.text  # which may be a header itself


def test_json_lines_are_cut_between_records(tmp_path: Path) -> None:
    text = "\n".join(f'{{"n": {n}, "words": "{"w " * 100}"}}' for n in range(1, 12))
    (tmp_path / "a.ndjson").write_text(text)
    found = places(load(tmp_path / "a.ndjson"))
    assert [line[6:8] for _, _, line in found] == ["1,", "4,", "7,", "10"]
    assert found[1][1] == "rows 4–6"


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def make_docx(file: Path) -> Path:
    return write_docx(file, [Block("Text")])


@pytest.mark.parametrize("make", [make_pptx, make_xlsx, make_ods, make_docx])
@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (cut, "broken one|holds no text"),
        (lambda data: b"", "broken one|holds no text"),
        (lambda data: b"\xd0\xcf\x11\xe0" + data, "is encrypted"),
        (lambda data: b"name,cost\nBoat,3\n", "broken one"),
    ],
    ids=["truncated", "empty", "encrypted", "another kind"],
)
def test_what_is_broken_is_refused_with_the_reason(
    tmp_path: Path, make: Any, spoil: Any, reason: str
) -> None:
    file = make(tmp_path / f"a.{make.__name__[-4:].lstrip('_')}")
    file.write_bytes(spoil(file.read_bytes()))
    with pytest.raises(IngestError, match=reason):
        load(file)


HEADER = bytes.fromhex(
    "d0cf11e0a1b11ae1000000000000000000000000000000003b000300feff0900060000000000000000000000"
    "010000001d00000000000000001000001b00000001000000feffffff0000000000000000"
)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            b"<html><table><tr><td>1</td></tr></table></html>",
            r"a web page or a text that is only named \.xls",
        ),
        (HEADER.ljust(512, b"\xff").ljust(1009, b"\0"), "or a broken one"),  # the library panics
    ],
)
def test_what_is_no_xls_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "a.xls").write_bytes(content)
    with pytest.raises(IngestError, match=reason):
        load(tmp_path / "a.xls")


@pytest.mark.parametrize("make", [make_xlsx, make_docx])
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, make: Any) -> None:
    file = make(tmp_path / f"a.{make.__name__[-4:]}")
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("media/zeros", b"\0" * 201_000_000)
    with pytest.raises(IngestError, match="unpacks to 201 MB"):
        load(file)


def test_a_cell_far_from_the_rest_is_said_before_memory_runs_out(tmp_path: Path) -> None:
    """One without a value is no size."""
    for name, value in (("far", "far"), ("blank", None)):
        book = xlsxwriter.Workbook(str(tmp_path / f"{name}.xlsx"))
        book.add_worksheet("Near").write(0, 0, "near")
        sheet = book.add_worksheet("Far")
        sheet.write(0, 0, "near")
        sheet.write(1_048_575, 16_383, value, book.add_format({"bold": True}))
        book.close()
    with (
        Sandbox() as sandbox,
        pytest.raises(IngestError, match='sheet "Far" reaches over more than'),
    ):
        sandbox.read(tmp_path / "far.xlsx")
    assert load(tmp_path / "blank.xlsx").text.endswith("near")


def test_the_cells_of_all_sheets_are_counted(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(str(tmp_path / "a.xlsx"))
    for name in ("North", "South"):
        sheet = book.add_worksheet(name)
        sheet.write(0, 0, "near")
        sheet.write(699_999, 19, "far")
    book.close()
    ods = save_ods(tmp_path / "a.ods", "Far", f"{EMPTY_ROWS.format(699_999)}{WIDE_ROW.format(29)}")
    for file, which in ((tmp_path / "a.xlsx", "its sheets together reach"), (ods, 'sheet "Far"')):
        with pytest.raises(IngestError, match=f"^{which}.* over more than 20 million cells: "):
            load(file)
    near = save_ods(tmp_path / "b.ods", "Near", f"{WIDE_ROW.format(29)}{EMPTY_ROWS.format(9)}")
    assert load(near).text.startswith("Sheet Near\n\n| near | near |")


EMPTY_ROWS = (
    '<table:table-row table:number-rows-repeated="{}"><table:table-cell '
    'table:number-columns-repeated="16384"/></table:table-row>'
)
WIDE_ROW = (
    '<table:table-row><table:table-cell table:number-columns-repeated="{}" '
    'office:value-type="string"><text:p>near</text:p></table:table-cell></table:table-row>'
)


@pytest.mark.parametrize(
    "cells",
    [
        '<row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>1</v></c></row>'
        '<row r="1048576"><c r="A1048576"><v>1</v></c></row>',
        '<row r="9"><c r="XFC9"><v>1</v></c><c><v>1</v></c></row>'
        '<row r="1048575"/><row><c s="0"><v>1</v></c></row>',
        '<row r="9"><c r="XFD9"><v>1</v></c></row><row r="9999"><c r="A9999"><v>1</v></c></row>',
    ],
)
def test_cells_further_than_a_sheet_says_end_its_reading_alone(tmp_path: Path, cells: str) -> None:
    book = xlsxwriter.Workbook(str(tmp_path / "a.xlsx"))
    book.add_worksheet("Far").write(0, 0, 1)
    book.close()

    def put(old: bytes) -> bytes:
        assert b'<dimension ref="A1"/>' in old
        return re.sub(b"<row .*</row>", cells.encode(), old)

    repacked(tmp_path / "a.xlsx", "xl/worksheets/sheet1.xml", put)
    with Sandbox() as sandbox, pytest.raises(IngestError, match="open it and save it again"):
        sandbox.read(tmp_path / "a.xlsx")


def test_an_encrypted_workbook_is_said_to_be(tmp_path: Path) -> None:
    file = save_ods(tmp_path / "a.ods", "Secret", "")
    said = '<manifest><file-entry><manifest:encryption-data checksum="x"/></file-entry></manifest>'
    with zipfile.ZipFile(file) as archive:
        kept = archive.read("mimetype")
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", kept)
        archive.writestr("META-INF/manifest.xml", said)
        archive.writestr("content.xml", b"\x07\xff" * 99)
    with pytest.raises(IngestError, match="is encrypted: save it without a password"):
        load(file)


def test_rows_below_the_last_that_a_sheet_may_have_are_flagged(tmp_path: Path) -> None:
    rows = f"{WIDE_ROW.format(1)}{EMPTY_ROWS.format(1_048_574)}{WIDE_ROW.format(1)}"
    assert check_archived_sizes(save_ods(tmp_path / "a.ods", "Long", rows), "", "") == 0
    file = save_ods(tmp_path / "a.ods", "Long", rows + WIDE_ROW.format(1) * 2)
    assert load(file).metadata["flags"] == [
        "left out: 2 rows of a sheet below its 1,048,576th: split it"
    ]


def test_a_part_that_cannot_be_unpacked_is_a_broken_file(tmp_path: Path) -> None:
    file = make_xlsx(tmp_path / "a.xlsx")
    with zipfile.ZipFile(file) as archive:
        part = archive.getinfo("xl/styles.xml")
    data = bytearray(file.read_bytes())
    start = part.header_offset + 30 + len(part.filename)
    data[start : start + 40] = b"\xff" * 40
    file.write_bytes(data)
    with pytest.raises(IngestError, match="broken one"):
        load(file)


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    file = make_ods(tmp_path / "a.ods")
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    bomb = b'<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;&x;"><!ENTITY z "&y;&y;&y;">]>'
    parts["content.xml"] = bomb + parts["content.xml"].replace(b"Blues", b"&z;")
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    try:
        text = load(file).text
    except IngestError:
        return
    assert "haha" not in text


def test_dates_without_a_time_are_days() -> None:
    from lexichord.ingest.load.sheets import _shown

    assert [_shown(datetime(2027, 1, 2)), _shown(datetime(2027, 1, 2, 3, 4)), _shown(2.0)] == [
        "2027-01-02",
        "2027-01-02 03:04:00",
        "2",
    ]
    assert (_shown(date(2027, 1, 2)), _shown(True), _shown(0.1)) == ("2027-01-02", "TRUE", "0.1")
