"""Reading PDF: order, pages, what is left out, what is refused."""

import re
import shutil
import socket
import textwrap
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest
from reportlab.lib import pdfencrypt
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from lexichord.errors import IngestError
from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.load import load
from lexichord.ingest.load.marks import LoadOptions
from lexichord.ingest.load.pdf import reading_order
from lexichord.ingest.load.pdf.words import PdfPiece
from lexichord.types import LoadedText
from tests.conftest import SAMPLES
from tests.documents import Block, Layout, draw_pdf, make_pdf, markdown, scanned

Place = tuple[float, float, str]
PROSE = (
    "The tenant shall pay the rent on",
    "the first day of each month and",
    "shall keep the premises in good",
    "repair, fair wear and tear being",
    "excepted, until the end of term.",
)


def column(left: float, top: float, lines: Sequence[str]) -> list[Place]:
    return [(left, top - 12 * index, line) for index, line in enumerate(lines)]


def drawn(tmp_path: Path, *pages: Sequence[Place]) -> LoadedText:
    return load(draw_pdf(tmp_path / "some_lease.pdf", pages))


def test_two_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    left, right = [f"{line} 1" for line in PROSE], [f"{line} 2" for line in PROSE]
    rows = zip(column(60, 700, left), column(300, 700, right), strict=True)
    page = [(150.0, 760.0, "A heading that stands above both of the columns"), *sum(rows, ())]
    places = [place for place in page if isinstance(place, tuple)]
    text = drawn(tmp_path, [page[0], *places[1:]]).text
    assert text == "\n\n".join([page[0][2], "\n".join(left), "\n".join(right)])


def test_what_spans_both_columns_parts_them(tmp_path: Path) -> None:
    page = [
        *column(60, 760, PROSE),
        *column(300, 760, [line.upper() for line in PROSE]),
        (60, 680, "This line spans the page from the left column over to the right one, wide."),
        *column(60, 660, [f"{line} 1" for line in PROSE]),
        *column(300, 660, [f"{line} 2" for line in PROSE]),
    ]
    lines = [line for line in drawn(tmp_path, page).text.split("\n") if line]
    assert lines[4:6] == [PROSE[4], PROSE[0].upper()]
    assert lines[10].startswith("This line spans")
    assert [line[-1] for line in lines[11:]] == ["1"] * 5 + ["2"] * 5


def test_a_line_that_is_set_in_opens_a_paragraph(tmp_path: Path) -> None:
    page = [*column(60, 700, [*PROSE, "Short end."]), (80, 628, "So it starts, as said there.")]
    page += column(60, 616, PROSE)
    assert "Short end.\n\nSo it starts, as said there.\nThe tenant" in drawn(tmp_path, page).text


def test_a_number_that_stands_apart_belongs_to_its_clause(tmp_path: Path) -> None:
    page = [(60, 700, "1.1"), *column(100, 700, PROSE), (60, 630, "1.2"), *column(100, 630, PROSE)]
    text = "\n".join(PROSE)
    assert drawn(tmp_path, page).text == f"1.1 {text}\n\n1.2 {text}"


def test_a_table_is_a_line_a_row(tmp_path: Path) -> None:
    rows = [("Record", "Period"), ("Vouchers and ledgers", "7 years"), ("Minutes", "Permanent")]
    content = [Block("Before."), Block(rows=tuple(rows)), Block("After.")]
    loaded = load(make_pdf(tmp_path / "a.pdf", content, Layout()))
    assert loaded.text == "Before.\n\n" + markdown(*rows) + "\n\nAfter."
    table = loaded.tables[0]
    assert loaded.text[table.start : table.end] == markdown(*rows)
    assert loaded.text[table.header_end :].startswith("| Vouchers")


def test_cells_of_several_lines_stay_in_their_row(tmp_path: Path) -> None:
    rows = [("Duty", "Who"), *[(f"{name} " + " ".join(PROSE), "Tenant") for name in "abc"]]
    text = load(make_pdf(tmp_path / "a.pdf", [Block(rows=tuple(rows))], Layout())).text
    assert text == markdown(*rows)


def draw_rows(
    canvas: Canvas, rows: Sequence[Sequence[str]], width: int, ruled: bool = True
) -> None:
    """Draw cells of a width, their first row at a height of 700, and perhaps lines around them."""
    for row, cells in enumerate(rows):
        for number, cell in enumerate(cells):
            canvas.drawString(62 + width * number, 700 - 14 * row, cell)
    if ruled:
        edges = [60 + width * number for number in range(len(rows[0]) + 1)]
        canvas.grid(edges, [710 - 14 * row for row in range(len(rows) + 1)])


def read_canvas(canvas: Canvas) -> str:
    canvas.save()
    return load(Path(canvas._filename)).text


@pytest.mark.parametrize(("ruled", "width"), [(True, 90), (False, 90), (True, 18)])
def test_empty_cells_keep_their_place(canvas: Canvas, ruled: bool, width: int) -> None:
    rows = [("a", "22", "23"), ("b", "", "12"), ("c", "80", ""), ("d", "9", "11")]
    draw_rows(canvas, rows, width, ruled)
    assert read_canvas(canvas) == markdown(*rows)


def test_a_title_across_a_table_stands_above_it(canvas: Canvas) -> None:
    rows = [("Fund", "Start", "End"), ("One", "100", "120"), ("Two", "90", "")]
    canvas.drawString(90, 714, "Growth of the funds in 2023")
    draw_rows(canvas, rows, 60)
    canvas.grid([60, 240], [710, 724])
    assert read_canvas(canvas) == "Growth of the funds in 2023\n\n" + markdown(*rows)


def test_a_note_across_columns_stays_in_one_cell(canvas: Canvas) -> None:
    rows = [("State", *"abcdefgh"), ("Ohio", *"12345678"), ("Utah", *"87654321")]
    note = "What is counted here is sold by shops alone."
    more = "Others are not counted, for they tell nobody."
    draw_rows(canvas, rows, 60)
    canvas.drawString(64, 654, "Note")
    canvas.drawString(124, 654, note)
    canvas.drawString(124 + canvas.stringWidth(note) + 10, 654, more)
    canvas.grid([60, 120, 600], [668, 646])
    assert f"| Note | {note} {more} |" in read_canvas(canvas)


def test_what_is_printed_over_other_cells_stays_together(tmp_path: Path) -> None:
    places = [
        (left, 700 - 14 * row, cell)
        for row, cells in enumerate(
            [("Day", "What", "Amount", "Rest"), ("May", "Rent", "120", "8")]
        )
        for left, cell in zip((60, 120, 300, 380), cells, strict=True)
    ]
    bills = "Bills 133, 132, 139, 138, 143, 140, 142, 150, 151"
    places += [(60, 672, "June"), (120, 672, bills), (300, 672, "26406576"), (380, 672, "70")]
    assert f"{bills} 26406576" in re.sub(r"[ |]+", " ", drawn(tmp_path, places).text)


def test_figures_that_the_file_joins_stand_in_their_cells(canvas: Canvas) -> None:
    draw_rows(canvas, [("Name", "2022", "2023"), ("Ohio", "", ""), ("Utah", "5", "6")], 90)
    line = canvas.beginText(154, 686)
    line.setCharSpace(84)
    line.textOut("00")
    canvas.drawText(line)
    assert "| Ohio | 0 | 0 |" in read_canvas(canvas)


def test_a_long_table_is_cut_at_rows_that_know_their_header(tmp_path: Path) -> None:
    rows = [("Record", "Period"), *[(f"Ledger number {n}", f"{n} years") for n in range(60)]]
    loaded = load(make_pdf(tmp_path / "a.pdf", [Block(rows=tuple(rows))], Layout(size=8)))
    chunks = split(loaded)
    assert len(chunks) > 2
    assert all(loaded.text[chunk.start : chunk.end] == chunk.content for chunk in chunks)
    assert all(line[:2] == "| " for chunk in chunks[1:] for line in chunk.content.split("\n"))
    assert {chunk.heading for chunk in chunks[1:]} == {"Record | Period"}


def test_words_that_a_line_end_parts_are_joined(tmp_path: Path) -> None:
    lines = ["A non-compete clause, and agree-", "ment on it. This non-", "compete is long."]
    text = drawn(tmp_path, column(60, 700, lines)).text
    assert text == "A non-compete clause, and agreement on it. This non-compete is long."


def test_headers_footers_and_page_numbers_are_left_out(tmp_path: Path) -> None:
    pages = [
        [
            (60, 800, "Lease Agreement"),
            (450, 800, "Confidential"),
            *column(60, 700, [f"{line} {number}" for line in PROSE]),
            (60, 40, f"Page {number} of 4"),
        ]
        for number in range(1, 5)
    ]
    loaded = drawn(tmp_path, *pages)
    assert "Page" not in loaded.text
    assert "Confidential" not in loaded.text
    assert loaded.text.count("The tenant shall pay") == 4
    assert [loaded.text[start:].split("\n")[0][-1] for start in loaded.pages] == list("1234")


def test_what_repeats_in_the_text_stays(tmp_path: Path) -> None:
    """The same first line in the text of each page, as in a table, is no header."""
    pages = [column(60, 700, ["Name and address", *PROSE]) for _ in range(5)]
    assert drawn(tmp_path, *pages).text.count("Name and address") == 5


def test_numbers_that_do_not_count_pages_stay(tmp_path: Path) -> None:
    pages = [[(60, 800, f"Schedule {2**n}"), *column(60, 700, PROSE)] for n in range(5)]
    text = drawn(tmp_path, *pages).text
    assert [f"Schedule {2**n}" in text for n in range(5)] == [True] * 5


def test_a_bare_page_number_is_left_out_of_one_page(tmp_path: Path) -> None:
    assert drawn(tmp_path, [*column(60, 700, PROSE), (300, 40, "- 1 -")]).text == "\n".join(PROSE)
    assert "1984" in drawn(tmp_path, [*column(60, 700, PROSE), (300, 40, "1984")]).text


def test_a_sentence_goes_on_over_pages(tmp_path: Path) -> None:
    loaded = drawn(tmp_path, column(60, 700, PROSE[:2]), column(60, 700, PROSE[2:]), [], [])
    assert loaded.text == "\n".join(PROSE)
    assert loaded.pages == (0, loaded.text.index("shall keep"), *[len(loaded.text)] * 2)
    flag = "pages 3–4 of 4: no text, probably scans, which need OCR"
    assert loaded.metadata == {"flags": [flag]}


@pytest.mark.parametrize(("page", "text"), [(90, 90), (270, 270), (0, 90)])
def test_a_turned_page_is_read_as_it_runs(tmp_path: Path, page: int, text: int) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(600, 600))
    canvas.setPageRotation(page)
    canvas.translate(300, 300)
    canvas.rotate(text)
    for left, bottom, line in column(-200, 100, PROSE):
        canvas.drawString(left, bottom, line)
    assert read_canvas(canvas) == "\n".join(PROSE)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Office Lease", "Office Lease"),
        ("Microsoft Word - office lease.docx", "office lease"),
        ("untitled", "some lease"),
        ("  ", "some lease"),
    ],
)
def test_the_title_is_the_file_s_own_or_its_name(
    tmp_path: Path, written: str, expected: str
) -> None:
    file = tmp_path / "some_lease.pdf"
    assert load(make_pdf(file, [Block("Text.")], Layout(), title=written)).title == expected


def test_a_scan_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"^holds no text: it is probably a scan"):
        drawn(tmp_path, [], [])


def test_an_encrypted_file_is_refused(tmp_path: Path) -> None:
    file, page = tmp_path / "a.pdf", [column(60, 700, PROSE)]
    draw_pdf(file, page, encrypt=pdfencrypt.StandardEncryption("secret", strength=128))
    with pytest.raises(IngestError, match=r"^is encrypted: save it without a password, or"):
        load(file)
    with pytest.raises(IngestError, match=r"^is encrypted: the password .* does not open it$"):
        load(file, LoadOptions(password="guess"))
    assert load(file, LoadOptions(password="secret")).text == "\n".join(PROSE)
    draw_pdf(file, page, encrypt=pdfencrypt.StandardEncryption("", "owner", canCopy=0))
    assert load(file).text == "\n".join(PROSE)  # anyone may open it


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_truncated_file_gives_its_text_or_one_clear_line(tmp_path: Path, share: float) -> None:
    content = draw_pdf(tmp_path / "a.pdf", [column(60, 700, PROSE)] * 3).read_bytes()
    (tmp_path / "a.pdf").write_bytes(content[: int(len(content) * share)])
    try:
        text = load(tmp_path / "a.pdf").text
    except IngestError as error:
        text = f"{PROSE[0]} {error}"
    assert text.startswith(PROSE[0])


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7\n" + b"\0\xff" * 999])
def test_what_is_no_pdf_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.pdf").write_bytes(content)
    with pytest.raises(IngestError, match=r"^is no PDF, or a broken one"):
        load(tmp_path / "a.pdf")


def test_words_that_are_drawn_nowhere_are_left_out(tmp_path: Path) -> None:
    """Numbers too large for a matrix leave boxes that are not numbers."""
    many = "9" * 38
    canvas = Canvas(str(tmp_path / "a.pdf"), pageCompression=0)
    canvas.drawString(72, 700, PROSE[0])
    canvas._code.append(
        f"q 12 0 -1 .0000000000000000001 -{many} 0 cm BT /F1 12 Tf 12 Tz 9999999999 Tc "
        f"1 -{many} -1 .0000000000000000001 12 9999999999999999999 Tm (far away) Tj ET Q"
    )
    assert read_canvas(canvas) == PROSE[0]


def glyphs(tmp_path: Path, *places: Place) -> Path:
    """Draw lines in a font that has ligatures and Arabic letters."""
    import matplotlib

    font = Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")
    pdfmetrics.registerFont(TTFont("Wide", str(font)))
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.setFont("Wide", 10)
    for left, bottom, line in places:
        canvas.drawString(left, bottom, line)
    canvas.save()
    return tmp_path / "a.pdf"


def test_ligatures_are_letters_of_their_word(tmp_path: Path) -> None:
    file = glyphs(
        tmp_path, (60, 700, "An e\ufb03cient o\ufb03ce o\ufb00ers a \ufb01nal a\ufb04uent.")
    )
    assert load(file).text == "An efficient office offers a final affluent."


ARABIC = (
    "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق.",
    "وقد وهبوا عقلاً وضميرًا وعليهم أن يعامل بعضهم بعضًا",
    "بروح الإخاء.",
    "تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت",
    "و حقوق با هم برابرند.",
)


def test_words_of_arabic_and_persian_keep_their_marks(tmp_path: Path) -> None:
    places = [(200, 700 - 14 * index, line[::-1]) for index, line in enumerate(ARABIC)]
    found = load(glyphs(tmp_path, *places)).text.split()
    assert found == " ".join(ARABIC).split()


@pytest.mark.parametrize("turn", [90, -90])
def test_a_stamp_at_the_side_stays_out_of_the_lines(canvas: Canvas, turn: int) -> None:
    for left, bottom, line in column(60, 700, PROSE):
        canvas.drawString(left, bottom, line)
    canvas.translate(50, 640)
    canvas.rotate(turn)
    canvas.drawString(-40, 0, "Received on 3 May 2024")
    assert read_canvas(canvas) == "\n".join(PROSE) + "\n\nReceived on 3 May 2024"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["It is a chat-", "optimized one. We chat of optimized things."], "a chat-optimized one."),
        (["Pre-trained and pre-", "filled, as they filled it."], "pre-filled"),
        (["We under-", "stand what under and stand mean, and understanding."], "We understand"),
    ],
)
def test_the_document_s_own_words_tell_what_keeps_its_hyphen(
    tmp_path: Path, lines: list[str], expected: str
) -> None:
    assert expected in drawn(tmp_path, column(60, 700, lines)).text


def test_columns_whose_lines_stand_side_by_side_are_no_table(tmp_path: Path) -> None:
    """As in papers: their paragraphs begin and end at the same heights."""
    body = [*column(60, 700, PROSE), *column(60, 620, PROSE), *column(60, 540, PROSE)]
    page = [*body, *[(left + 240, top, line.upper()) for left, top, line in body]]
    text = drawn(tmp_path, page).text
    assert text == "\n\n".join(["\n".join(PROSE)] * 3 + ["\n".join(PROSE).upper()] * 3)


def test_narrow_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    lines = textwrap.wrap(" ".join(PROSE), 14)
    page = [place for number in range(4) for place in column(60 + 85 * number, 700, lines)]
    assert drawn(tmp_path, page).text == "\n\n".join(["\n".join(lines)] * 4)


def test_what_a_form_s_fields_hold_is_read(canvas: Canvas) -> None:
    canvas.drawString(60, 700, "Name of the tenant:")
    canvas.acroForm.textfield(
        name="tenant", value="Acme Holdings Ltd", x=180, y=694, width=200, height=16, fontSize=10
    )
    assert " ".join(read_canvas(canvas).split()) == "Name of the tenant: Acme Holdings Ltd"


def shifted(text: str) -> str:
    """Write a text as a font does that has an encoding of its own."""
    return "".join(chr(ord(sign) - 29) if sign.isalpha() else sign for sign in text)


def test_a_page_of_cipher_is_flagged(tmp_path: Path) -> None:
    source = (SAMPLES / "policies" / "remote-work-policy.md").read_text()
    lines = [line[:90] for line in source.splitlines() if line.strip()][:40]
    clear = column(40, 780, lines)
    cipher = column(40, 780, [shifted(line) for line in lines])
    flag = "pages 2–3 of 4: cipher, the font does not say its letters"
    assert drawn(tmp_path, clear, cipher, cipher, clear).metadata == {"flags": [flag]}
    assert drawn(tmp_path, clear).metadata == {}


@pytest.mark.skipif(not shutil.which("tesseract"), reason="no tesseract on PATH")
def test_a_scan_is_recognized_where_ocr_is_configured(tmp_path: Path) -> None:
    file = scanned(tmp_path, column(60, 700, PROSE), column(60, 700, PROSE))
    with pytest.raises(IngestError, match=r"^holds no text: it is probably a scan"):
        load(file)
    loaded = load(file, LoadOptions(ocr="tesseract/eng"))
    assert loaded.text == "\n\n".join(["\n".join(PROSE)] * 2)
    assert loaded.pages == (0, len(loaded.text) // 2 + 1)
    assert set(loaded.metadata) == {"ocr_confidence"}
    assert all(0.8 < share <= 1 for share in loaded.metadata["ocr_confidence"].values())


def test_a_scan_is_recognized_by_models_that_come_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is fetched for it."""
    pytest.importorskip("rapidocr", reason="no rapidocr: extra ocr")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something was fetched")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    loaded = load(scanned(tmp_path, column(60, 700, PROSE)), LoadOptions(ocr="rapidocr"))
    same = SequenceMatcher(None, loaded.text.split(), " ".join(PROSE).split()).ratio()
    assert same > 0.9, loaded.text
    assert loaded.metadata["ocr_confidence"]["1"] > 0.9


def test_only_what_has_no_text_is_recognized_and_a_missing_command_is_named(tmp_path: Path) -> None:
    options = LoadOptions(ocr="no-such-command")
    assert load(draw_pdf(tmp_path / "a.pdf", [column(60, 700, PROSE)]), options).metadata == {}
    with pytest.raises(IngestError, match=r"^needs OCR, but there is no no-such-command on PATH"):
        load(scanned(tmp_path, column(60, 700, PROSE)), options)


def repeat_page(file: Path, times: int) -> Path:
    """Name the one page of a PDF so many times."""
    kids = b"3 0 R " * times
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%b]/Count %d>>" % (kids, times),
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]>>",
    ]
    parts = (b"%d 0 obj%b endobj\n" % item for item in enumerate(objects, 1))
    file.write_bytes(b"%PDF-1.5\n" + b"".join(parts) + b"trailer<</Root 1 0 R>>")
    return file


def test_more_pages_than_documents_have_are_refused_before_any_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexichord.ingest.load.pdf._page", None)
    with pytest.raises(IngestError, match=r"^has more than 20,000 pages: split it$"):
        load(repeat_page(tmp_path / "a.pdf", 20_001))


def test_a_page_without_words_that_is_named_again_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="holds no text: it is probably a scan"):
        load(repeat_page(tmp_path / "a.pdf", 20))


def test_columns_are_not_sought_among_the_letters_of_a_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each edge that letters begin at is tried over all of them."""
    tried = list[int]()
    part = reading_order._parted

    def count_letters(pieces: Sequence[PdfPiece], edge: float) -> Any:
        tried.append(len(pieces))
        return part(pieces, edge)

    monkeypatch.setattr(reading_order, "_parted", count_letters)
    amount = reading_order.MAX_COLUMN_PIECES + 1
    letters = [(20.0 + index * 7 % 560, 20.0 + index * 13 % 790, "a") for index in range(amount)]
    canvas = Canvas(str(tmp_path / "map.pdf"))
    canvas.setFont("Helvetica", 1)
    for place in letters:
        canvas.drawString(*place)
    canvas.save()
    assert load(tmp_path / "map.pdf").text.count("a") == amount
    assert sum(tried) <= 2 * amount
