"""Tables of PDFs without lines between their columns, and what only looks like one."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from reportlab.lib import pagesizes
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

from lexichord.ingest.load import load
from lexichord.types import LoadedText
from tests.documents import markdown

HEAD = ("Article", "Grade", "Weight", "Price")
ROWS = [(f"Bolt {n}", f"Grade {n % 3}", f"{3 * n} kg", f"{7 * n}.50") for n in range(1, 9)]
LONG = "delivered to the northern depot before noon"


@pytest.fixture
def canvas(tmp_path: Path) -> Canvas:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.setFont("Helvetica", 9)
    return canvas


def read(canvas: Canvas) -> LoadedText:
    canvas.save()
    return load(Path(canvas._filename))


def draw(
    canvas: Canvas, rows: Sequence[Sequence[str]], lefts: Sequence[float], leading: float = 13
) -> None:
    """Draw cells of which each begins at its column's left, the first row at a height of 700."""
    for number, row in enumerate(rows):
        for left, cell in zip(lefts, row, strict=True):
            canvas.drawString(left, 700 - leading * number, cell)


def lay_out(
    tmp_path: Path, rows: Sequence[Sequence[str]], *style: tuple[object, ...]
) -> LoadedText:
    """Set rows as reportlab does, long cells as paragraphs of a width."""
    body = ParagraphStyle("body", fontSize=10, leading=12)
    cells = [[Paragraph(c, body) if len(c) > 30 else c for c in row] for row in rows]
    widths = [100 if any(len(row[c]) > 30 for row in rows) else None for c in range(len(rows[0]))]
    usual = [("LEFTPADDING", (0, 0), (-1, -1), 4), ("RIGHTPADDING", (0, 0), (-1, -1), 4)]
    table = Table(cells, colWidths=widths, repeatRows=1, style=[*usual, *style])
    SimpleDocTemplate(str(tmp_path / "a.pdf"), pagesize=pagesizes.A4).build([table])
    return load(tmp_path / "a.pdf")


@pytest.mark.parametrize("align", ["LEFT", "CENTER", "RIGHT", "DECIMAL"])
def test_columns_stand_close_and_each_is_aligned_otherwise(tmp_path: Path, align: str) -> None:
    loaded = lay_out(tmp_path, [HEAD, *ROWS], ("ALIGN", (1, 0), (-1, -1), align))
    assert loaded.text == markdown(HEAD, *ROWS)


def test_a_table_over_pages_is_one_and_names_its_columns_once(tmp_path: Path) -> None:
    rows = [(f"Bolt {n}", f"Grade {n % 3}", f"{3 * n} kg", f"{7 * n}.50") for n in range(90)]
    loaded = lay_out(tmp_path, [HEAD, *rows])
    assert len(loaded.pages) > 1
    assert len(loaded.tables) == 1
    assert loaded.text == markdown(HEAD, *rows)


def test_one_row_on_the_next_page_belongs_to_its_table(canvas: Canvas) -> None:
    for rows in (ROWS, [("Bolt 9", "Grade 0", "27 kg", "63.50")]):
        canvas.setFont("Helvetica", 9)
        draw(canvas, [HEAD, *rows], (60, 94, 134, 170))
        canvas.showPage()
    last = ("Bolt 9", "Grade 0", "27 kg", "63.50")
    assert read(canvas).text == markdown(HEAD, *ROWS, last)


def test_a_row_that_a_page_s_end_cuts_is_one(canvas: Canvas) -> None:
    head, rows = ("Article", "Remark", "Price"), [(f"Bolt {n}", "none", f"{n}.5") for n in range(6)]
    cut = ("Bolt 6", "as it was seen", "6.5"), ("", "before noon", "")
    for part in ([*rows, cut[0]], [cut[1], *rows]):
        canvas.setFont("Helvetica", 9)
        draw(canvas, [head, *part], (60, 100, 170))
        canvas.showPage()
    whole = ("Bolt 6", "as it was seen before noon", "6.5")
    assert read(canvas).text == markdown(head, *rows, whole, *rows)


def test_cells_that_are_wrapped_stay_in_their_row(tmp_path: Path) -> None:
    rows = [
        (name, LONG, "", amount) for name, amount in (("Bolt", "9"), ("Nut", "12"), ("Pin", ""))
    ]
    head = ("Article", "Remark", "Place", "Amount")
    rows += [("Rod", "none", "Oslo", "3"), ("Bar", "none", "Lund", "4")]
    for padding in (0, 4):
        style = [(f"{side}PADDING", (0, 0), (-1, -1), padding) for side in ("TOP", "BOTTOM")]
        assert lay_out(tmp_path, [head, *rows], *style).text == markdown(head, *rows)


def test_cells_in_the_middle_of_their_row_stay_in_it(tmp_path: Path) -> None:
    rows = [(f"Bolt {n}", f"{LONG} and seen by two", f"{n}.50") for n in range(5)]
    loaded = lay_out(tmp_path, [HEAD[:3], *rows], ("VALIGN", (0, 0), (-1, -1), "MIDDLE"))
    assert loaded.text == markdown(HEAD[:3], *rows)


def test_empty_cells_keep_their_column(canvas: Canvas) -> None:
    rows = [("a", "", "23", ""), ("b", "7", "", "1.5"), ("c", "", "", "2.5"), ("d", "8", "4", "")]
    draw(canvas, [HEAD, *rows], (60, 98, 132, 170))
    assert read(canvas).text == markdown(HEAD, *rows)


def test_what_stands_over_columns_names_each_of_them(canvas: Canvas) -> None:
    head = ("Article", "Net", "Gross", "Net", "Gross")
    rows = [(f"Bolt {n}", *(f"{n * k}.25" for k in range(2, 6))) for n in range(11, 17)]
    draw(canvas, [head, *rows], (60, 130, 170, 220, 260))
    canvas.drawCentredString(165, 713, "2023")
    canvas.drawCentredString(255, 713, "2024")
    names = ("Article", "2023 Net", "2023 Gross", "2024 Net", "2024 Gross")
    assert read(canvas).text == markdown(names, *rows)


def test_a_name_over_the_white_between_columns_is_no_column(canvas: Canvas) -> None:
    rows = [(f"Bolt {n}", "steel", "zinc", f"{n}.5") for n in range(11, 17)]
    draw(canvas, [("Article", "Core", "Skin", "Price"), *rows], (60, 120, 220, 300))
    canvas.drawCentredString(179, 713, "Made of")
    assert read(canvas).text == markdown(
        ("Article", "Made of Core", "Made of Skin", "Price"), *rows
    )


def test_the_lines_of_a_head_are_joined(canvas: Canvas) -> None:
    head = [("Article", "Net", "Price", "Day of"), ("", "weight", "EUR", "entry")]
    rows = [(f"Bolt {n}", f"{n}.2", f"{n}.50", "3.5.2024") for n in range(11, 17)]
    draw(canvas, [*head, *rows], (60, 110, 150, 190))
    names = ("Article", "Net weight", "Price EUR", "Day of entry")
    assert read(canvas).text == markdown(names, *rows)


def test_rules_above_and_below_the_head_part_it(canvas: Canvas) -> None:
    head = [("Name", "Net", "Place"), ("", "weight", "of origin")]
    rows = [("Bolt", "steel", "Oslo"), ("Nut", "brass", "Lund"), ("Pin", "zinc", "Cork")] * 2
    draw(canvas, [*head, *rows], (60, 110, 160))
    for height in (712, 684, 580):
        canvas.line(58, height, 220, height)
    assert read(canvas).text == markdown(("Name", "Net weight", "Place of origin"), *rows)


def test_a_name_beside_two_rows_is_said_of_both(canvas: Canvas) -> None:
    rows = [("", f"way {n}", f"{n}.5", f"{n}.25") for n in range(1, 7)]
    draw(canvas, [("Kind", "Way", "Top", "Low"), *rows], (60, 100, 150, 200))
    for number, name in enumerate("ABC"):
        canvas.drawString(60, 680.5 - 26 * number, name)
    named = [("AABBCC"[n], *row[1:]) for n, row in enumerate(rows)]
    assert read(canvas).text == markdown(("Kind", "Way", "Top", "Low"), *named)


def test_signs_that_stand_apart_belong_to_their_numbers(canvas: Canvas) -> None:
    rows = [
        ("Rent", "$", "1,200", "4.5", "%"),
        *[(f"Item {n}", "", f"{n}00", "2.5", "%") for n in "1234"],
    ]
    draw(canvas, [("Item", "", "Paid", "Share", ""), *rows], (60, 110, 130, 170, 195))
    joined = [(a, f"{b} {c}".strip(), f"{d} {e}") for a, b, c, d, e in rows]
    assert read(canvas).text == markdown(("Item", "Paid", "Share"), *joined)


def test_text_around_a_table_stays_as_it_is(canvas: Canvas) -> None:
    above = ["Prices hold until the end of the year, and who", "orders more may ask for a rebate:"]
    below = ["The office grants it by letter alone, and", "nobody else can bind the house."]
    for number, line in enumerate(above):
        canvas.drawString(60, 728 - 12 * number, line)
    draw(canvas, [HEAD, *ROWS], (60, 100, 150, 190), 12)
    for number, line in enumerate(below):
        canvas.drawString(60, 592 - 12 * number, line)
    text = "\n\n".join(["\n".join(above), markdown(HEAD, *ROWS), "\n".join(below)])
    assert read(canvas).text == text


def test_what_the_rows_below_are_about_stays_in_the_table(canvas: Canvas) -> None:
    labels = ("Red fruit of the northern orchards", "Yellow fruit of the islands and coasts")
    head, first, second = (
        ("Fruit", "Price", "Stock"),
        ("Apple", "1.20", "33"),
        ("Lemon", "0.9", "7"),
    )
    rows = [(labels[0], "", ""), first, first, (labels[1], "", ""), second, second]
    draw(canvas, [head, *rows], (60, 130, 180))
    assert read(canvas).text == markdown(head, *rows)


def test_a_line_that_runs_across_columns_loses_no_word(canvas: Canvas) -> None:
    draw(canvas, [HEAD, *ROWS], (60, 100, 150, 190))
    canvas.drawString(60, 583, "Sum of all that was sold last year")
    canvas.drawString(230, 583, "252.00")
    text = read(canvas).text
    assert text.startswith(markdown(HEAD, *ROWS))
    assert "Sum of all that was sold last year 252.00" in " ".join(text.replace("|", " ").split())


def test_a_font_that_does_not_say_how_far_it_reaches_down(canvas: Canvas) -> None:
    import matplotlib

    path = Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSerif.ttf")
    font = TTFont("Flat", str(path))
    font.face.descent = 0
    pdfmetrics.registerFont(font)
    canvas.setFont("Flat", 9)
    draw(canvas, [HEAD, *ROWS], (60, 110, 170, 220), 11)
    assert read(canvas).text == markdown(HEAD, *ROWS)


NO_TABLES = {
    "names and values": [("Name:", "Ada Berg"), ("Town:", "Lund"), ("Born:", "1990"), ("Id:", "7")],
    "contents": [("Terms", "3"), ("Rent and deposit", "5"), ("Repairs", "9"), ("End", "12")],
    "labels": [
        ("[1]", "A. Berg, On rents that are paid in advance, Lund 1990"),
        ("[2]", "I. Marin, On what a landlord may ask of others"),
        ("[3]", "L. Roth, Who bears the loss where a pipe has burst"),
        ("[4]", "T. Hale, Of notices that came a day after the time"),
    ],
    "who says what": [
        ("ADA", "I have seen him on the stair before noon, and he"),
        ("", "carried the keys of the cellar with him, as he had"),
        ("IVO", "That was not me, for I was at the gate until one"),
        ("", "and nobody came in or went out while I stood there"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", ["names and values", "contents"])
def test_lists_are_no_tables(canvas: Canvas, kind: str) -> None:
    draw(canvas, NO_TABLES[kind], (60, 180))
    loaded = read(canvas)
    assert loaded.tables == ()
    assert loaded.text.split("\n") == [" ".join(row) for row in NO_TABLES[kind]]


@pytest.mark.parametrize("kind", ["labels", "who says what"])
def test_sentences_beside_labels_are_no_table(canvas: Canvas, kind: str) -> None:
    draw(canvas, NO_TABLES[kind], (60, 84), 12)
    assert read(canvas).tables == ()


def test_addresses_side_by_side_are_read_one_after_the_other(canvas: Canvas) -> None:
    sides = ["Ada Berg", "12 Mill Lane", "22100 Lund"], ["Ivo Marin", "4 High Street", "Cork"]
    for left, side in zip((60, 300), sides, strict=True):
        for number, line in enumerate(side):
            canvas.drawString(left, 700 - 12 * number, line)
    assert read(canvas).text == "\n\n".join("\n".join(side) for side in sides)


def test_code_is_no_table(canvas: Canvas) -> None:
    lines = [
        "def total(rows, rate=0.2):",
        "    count   = 0     # how many",
        "    amount  = 0.0   # cost",
        "    for row in rows:",
        "        count  += 1",
        "        amount += row.price * row.number",
    ]
    canvas.setFont("Courier", 9)
    for number, line in enumerate(lines):
        canvas.drawString(60, 700 - 11 * number, line)
    loaded = read(canvas)
    assert loaded.tables == ()
    assert loaded.text.split() == " ".join(lines).split()
