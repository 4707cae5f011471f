"""Word files: headers, footers, comments, hidden text and what is said of pictures."""

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from docx.enum.style import WD_STYLE_TYPE
from PIL import Image

from lexichord.errors import IngestError
from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.load import load
from lexichord.ingest.load.marks import LoadOptions
from lexichord.types import LoadedText
from tests.documents import add_footnotes, xml


def written(tmp_path: Path, document: Any, **options: Any) -> LoadedText:
    document.save(str(tmp_path / "lease.docx"))
    return load(tmp_path / "lease.docx", LoadOptions(**options))


def hide(run: Any) -> None:
    run.font.hidden = True


def test_headers_and_footers_stand_once_a_section(tmp_path: Path, document: Any) -> None:
    document.add_heading("Lease", 0)
    document.add_paragraph("One year.")
    document.settings.odd_and_even_pages_header_footer = True
    first = document.sections[0]
    first.different_first_page_header_footer = True
    first.first_page_header.paragraphs[0].text = "Harbour office"
    first.header.paragraphs[0].text = "Berth 12\tdraft"
    first.header.add_table(1, 2, 3000).cell(0, 1).text = "of the ferry"
    first.even_page_header.paragraphs[0].text = "Even berth"
    first.footer.paragraphs[0].text = "_____"
    first.footer.add_paragraph("Page 3")
    first.even_page_footer.paragraphs[0].text = "7"
    second = document.add_section()
    document.add_paragraph("Two years.")
    second.footer.is_linked_to_previous = False
    second.footer.paragraphs[0].text = "Annex"
    text = written(tmp_path, document).text
    assert text.split("\n\n") == [
        *("Lease", "Header: Harbour office", "Header: Berth 12 draft\nof the ferry"),
        *("Header: Even berth", "One year.", "Footer: Page 3", "Two years.", "Footer: Annex"),
    ]


def test_the_title_heads_no_path_though_a_header_stands_above(
    tmp_path: Path, document: Any
) -> None:
    document.add_heading("Lease", 0)
    document.add_heading("Term", 1)
    document.add_paragraph("It is one year. " * 100)
    document.sections[0].header.paragraphs[0].text = "Berth 12"
    assert split(written(tmp_path, document))[-1].heading == "Term"


def test_a_header_that_no_page_shows_is_hidden(tmp_path: Path, document: Any) -> None:
    document.add_paragraph("One year.")
    section = document.sections[0]
    section.first_page_header.paragraphs[0].text = "Old crest"
    assert written(tmp_path, document).text == "One year.\n\nHeader: Old crest (hidden)"
    dropped = written(tmp_path, document, hidden="drop")
    assert (dropped.text, dropped.metadata["flags"]) == ("One year.", ["left out: 1 hidden header"])


def test_a_comment_follows_its_paragraph_or_table(tmp_path: Path, document: Any) -> None:
    runs = document.add_paragraph("One year.").runs
    document.add_comment(runs, "Why so short?", author="Ada Berg", initials="AB")
    table = document.add_table(2, 1)
    table.cell(0, 0).text = "Rent"
    table.cell(1, 0).text = "9"
    document.add_comment(table.cell(1, 0).paragraphs[0].runs, "Too low", author="")
    document.add_paragraph("End.")
    marked = written(tmp_path, document)
    shape = r"One year\.\n\nComment by Ada Berg, \d{4}-\d\d-\d\d: Why so short\?\n\nRent\n9\n\n"
    assert re.fullmatch(shape + r"Comment, \d{4}-\d\d-\d\d: Too low\n\nEnd\.", marked.text)
    kept = written(tmp_path, document, comments="keep").text
    assert kept == "One year.\n\nWhy so short?\n\nRent\n9\n\nToo low\n\nEnd."
    dropped = written(tmp_path, document, comments="drop")
    assert dropped.text == "One year.\n\nRent\n9\n\nEnd."
    assert dropped.metadata["flags"] == ["left out: 2 comments"]


def test_a_comment_on_what_was_deleted_is_not_lost(tmp_path: Path, document: Any) -> None:
    paragraph = document.add_paragraph("One year.")
    document.add_comment(paragraph.runs, "Why?", author="Ada")
    reference = paragraph._p.xpath(".//w:commentReference")[0].getparent()
    deleted = xml('<w:del w:id="1" w:author="a"/>')
    paragraph._p.append(deleted)
    deleted.append(reference)
    assert written(tmp_path, document).text.endswith(": Why?")


def test_hidden_words_are_left_out_unless_all_is_kept(tmp_path: Path, document: Any) -> None:
    paragraph = document.add_paragraph("Rent is 9")
    for part in (" but may", " fall"):
        hide(paragraph.add_run(part))
    paragraph.add_run(", as agreed.")
    hide(document.add_paragraph().add_run("Ask for 12."))
    style = document.styles.add_style("Secret", WD_STYLE_TYPE.CHARACTER)
    style.font.hidden = True
    document.add_paragraph("Rent ").add_run("is low", style=style)
    own = document.styles.add_style("Aside", WD_STYLE_TYPE.PARAGRAPH)
    own.font.hidden = True
    beside = document.add_paragraph("Told to nobody", style=own)
    beside.add_run(" else").font.hidden = False
    kept = written(tmp_path, document, hidden="keep").text
    assert kept.split("\n\n")[:2] == ["Rent is 9 but may fall, as agreed.", "Ask for 12."]
    for choice in ("mark", "drop"):
        shown = written(tmp_path, document, hidden=choice)
        assert shown.text.split("\n\n") == ["Rent is 9, as agreed.", "Rent ", " else"]
        assert shown.metadata["flags"] == ["left out: 4 hidden passages"]


def test_where_all_is_hidden_the_error_says_so(tmp_path: Path, document: Any) -> None:
    hide(document.add_paragraph().add_run("Ask for 12."))
    with pytest.raises(IngestError, match="holds no text; left out: 1 hidden passage"):
        written(tmp_path, document)


def test_a_note_on_hidden_words_is_left_out_with_them(tmp_path: Path, document: Any) -> None:
    paragraph = document.add_paragraph("One year.")
    runs = [paragraph.add_run(text) for text in ("", " Or two.")]
    add_footnotes(document, ["Of twelve months.", "Of the lunar kind."])
    for number, run in enumerate(runs, 1):
        run._r.append(xml(f'<w:footnoteReference w:id="{number}"/>'))
    hide(runs[1])
    assert written(tmp_path, document).text == "One year.[1]\n\n[1] Of twelve months."
    kept = written(tmp_path, document, hidden="keep").text
    assert kept.endswith("Or two.[2]\n\n[1] Of twelve months.\n\n[2] Of the lunar kind.")


def test_a_hidden_row_is_marked(tmp_path: Path, document: Any) -> None:
    table = document.add_table(2, 2)
    for at, text in enumerate(("Boat", "Rent", "Gull", "")):
        table.cell(at // 2, at % 2).text = text
    hide(table.cell(1, 0).paragraphs[0].runs[0])  # as Word does, too
    list(table.rows)[1]._tr.get_or_add_trPr().append(xml("<w:hidden/>"))
    assert written(tmp_path, document).text == "Boat\tRent\nGull (hidden)\t"
    assert written(tmp_path, document, hidden="drop").text == "Boat\tRent"


def test_what_is_said_of_a_picture_is_text(tmp_path: Path, document: Any) -> None:
    stream = BytesIO()
    Image.new("RGB", (4, 4)).save(stream, "PNG")
    for described in ("Map of the\nberths", "berths.png", ""):
        run = document.add_paragraph("See below.").add_run()
        run.add_picture(stream)._inline.docPr.set("descr", described)
    cell = document.add_table(2, 1).cell(1, 0)
    cell.text = "Crest "
    cell.paragraphs[0].add_run().add_picture(stream)._inline.docPr.set("descr", "A gull")
    below = ["See below."] * 2
    assert written(tmp_path, document).text.split("\n\n") == [
        *("See below.", "Picture: Map of the berths", *below, "Crest [Picture: A gull]")
    ]


def test_merged_cells_hold_in_each_row_below_their_column(tmp_path: Path, document: Any) -> None:
    table = document.add_table(5, 3)
    texts = ("Coast", "Boats", "", "", "old", "new", "North", "1", "2", "", "3", "4", "", "", "")
    for at, text in enumerate(texts):
        table.cell(at // 3, at % 3).text = text
    for row in list(table.rows)[:2]:
        row._tr.get_or_add_trPr().append(xml("<w:tblHeader/>"))
    for first, last in (((0, 0), (1, 0)), ((0, 1), (0, 2)), ((2, 0), (4, 0))):
        table.cell(*first).merge(table.cell(*last))
    list(table.rows)[3]._tr.get_or_add_trPr().append(xml('<w:gridBefore w:val="nonsense"/>'))
    assert written(tmp_path, document).text.split("\n") == [
        *("Coast\tBoats", "\told\tnew", "North\t1\t2", "North\t3\t4")
    ]
