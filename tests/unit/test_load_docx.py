"""Reading Word files: headings, numbers of lists, tables, changes, what is refused."""

from pathlib import Path
from typing import Any

import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml.ns import nsdecls

from lexichord.errors import IngestError
from lexichord.ingest.load import load
from lexichord.types import LoadedText
from tests.documents import Block, add_item, add_list, add_number, make_docx, repacked, xml

LEGAL = [("decimal", "%1."), ("decimal", "%1.%2"), ("lowerLetter", "(%3)"), ("lowerRoman", "(%4)")]


def written(tmp_path: Path, document: Any) -> LoadedText:
    document.save(str(tmp_path / "some_lease.docx"))
    return load(tmp_path / "some_lease.docx")


def test_headings_are_known_by_their_styles(tmp_path: Path, document: Any) -> None:
    document.add_heading("Office Lease", 0)
    document.add_heading("Term", 1)
    document.add_paragraph("Five years.\nNo more.")
    own = document.styles.add_style("Clause", WD_STYLE_TYPE.PARAGRAPH)
    own.base_style = document.styles["Heading 2"]
    document.add_paragraph("Start", style=own)
    outlined = document.add_paragraph("Outlined")
    outlined._p.get_or_add_pPr().append(xml('<w:outlineLvl w:val="2"/>'))
    loaded = written(tmp_path, document)
    assert loaded.text == "Office Lease\n\nTerm\n\nFive years.\nNo more.\n\nStart\n\nOutlined"
    assert [(mark.name, mark.level) for mark in loaded.headings] == [
        ("Office Lease", 1),
        ("Term", 1),
        ("Start", 2),
        ("Outlined", 3),
    ]
    assert all(loaded.text[mark.start : mark.end] == mark.name for mark in loaded.headings)
    assert loaded.title == "Office Lease"


def test_the_title_may_be_the_file_s_own_or_its_name(tmp_path: Path, document: Any) -> None:
    document.add_paragraph("Text")
    assert written(tmp_path, document).title == "some lease"
    document.core_properties.title = "Office Lease"
    assert written(tmp_path, document).title == "Office Lease"


def test_numbers_of_three_levels_are_written_out(tmp_path: Path, document: Any) -> None:
    number = add_list(document, LEGAL)
    for level in (0, 1, 1, 2, 2, 3, 1, 2, 0, 1, 2):
        add_item(document, number, level, "x")
    assert written(tmp_path, document).text.replace(" x", "").split() == [
        *("1.", "1.1", "1.2", "(a)", "(b)", "(i)", "1.3", "(a)", "2.", "2.1", "(a)")
    ]


def test_a_list_starts_again_only_where_it_says_so(tmp_path: Path, document: Any) -> None:
    first = add_list(document, [("decimal", "%1)")])
    root = document.part.numbering_part.element
    abstract = root.num_lst[-1].abstractNumId.val
    again = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="{}"/></w:lvlOverride>'
    same = add_number(document, str(abstract))
    restarted = add_number(document, str(abstract), again.format(1))
    fifth = add_number(document, str(abstract), again.format(5))
    for number in (first, first, same, restarted, restarted, fifth, fifth):
        add_item(document, number, 0, "x")
    add_item(document, "0", 0, "none")
    numbers = written(tmp_path, document).text.replace(" x", "").split()
    assert numbers == ["1)", "2)", "3)", "1)", "2)", "5)", "6)", "none"]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("upperLetter", "A B Z AA"),
        ("upperRoman", "I II XXVI XXVII"),
        ("decimalZero", "01 02 26 27"),
        ("bullet", "• • • •"),
    ],
)
def test_numbers_have_the_form_of_their_list(
    tmp_path: Path, document: Any, form: str, expected: str
) -> None:
    number = add_list(document, [(form, "%1")])
    for _ in range(27):
        add_item(document, number, 0, "x")
    numbers = written(tmp_path, document).text.replace(" x", "").split()
    assert [numbers[index] for index in (0, 1, 25, 26)] == expected.split()


def test_numbered_headings_and_styles_of_lists(tmp_path: Path, document: Any) -> None:
    number = add_list(document, LEGAL)
    style = document.styles["Heading 1"].element
    style.get_or_add_pPr().append(xml(f'<w:numPr><w:numId w:val="{number}"/></w:numPr>'))
    document.add_heading("Term", 1)
    document.add_heading("Rent", 1)
    document.add_paragraph("point", style="List Bullet")
    loaded = written(tmp_path, document)
    assert loaded.text == "1. Term\n\n2. Rent\n\n• point"
    assert [mark.name for mark in loaded.headings] == ["1. Term", "2. Rent"]


def test_a_table_is_a_line_a_row(tmp_path: Path, document: Any) -> None:
    document.add_paragraph("Before")
    table = document.add_table(3, 3)
    cells = [["A", "B", ""], ["x\ny", "1", "2"], ["", "3", "4"]]
    for row, texts in zip(table.rows, cells, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 0).merge(table.cell(2, 0))
    document.add_paragraph("After")
    loaded = written(tmp_path, document)
    rows = "A\tB\nx y\t1\t2\nx y\t3\t4"
    assert loaded.text == f"Before\n\n{rows}\n\nAfter"
    (table,) = loaded.tables
    assert loaded.text[table.start : table.end] == rows
    assert loaded.text[table.start : table.header_end] == "A\tB\n"


def test_the_rows_that_are_marked_are_a_table_s_head(tmp_path: Path, document: Any) -> None:
    table = document.add_table(4, 2)
    for row in table.rows:
        row.cells[0].text, row.cells[1].text = "a", "b"
    for row in list(table.rows)[:2]:
        row._tr.get_or_add_trPr().append(xml("<w:tblHeader/>"))
    loaded = written(tmp_path, document)
    assert loaded.text[: loaded.tables[0].header_end] == "a\tb\na\tb\n"


def test_a_table_of_one_row_only_sets_out_its_cells(tmp_path: Path, document: Any) -> None:
    table = document.add_table(1, 2)
    table.cell(0, 0).text = "The landlord"
    table.cell(0, 1).text = "The tenant"
    loaded = written(tmp_path, document)
    assert (loaded.text, loaded.tables) == ("The landlord\n\nThe tenant", ())


def test_what_was_inserted_stays_and_what_was_deleted_goes(tmp_path: Path, document: Any) -> None:
    paragraph = document.add_paragraph("Rent is ")
    run = "<w:r><w:t>{}</w:t></w:r>"
    deleted = '<w:del w:id="1" w:author="a"><w:r><w:delText>100</w:delText></w:r></w:del>'
    moved = '<w:moveFrom w:id="2" w:author="a"><w:r><w:t>gone</w:t></w:r></w:moveFrom>'
    inserted = f'<w:ins w:id="3" w:author="a">{run.format("200")}</w:ins>'
    for change in (deleted, moved, inserted):
        paragraph._p.append(xml(change))
    table = document.add_table(3, 1)
    for cell, text in zip(table.columns[0].cells, ("head", "gone", "kept"), strict=True):
        cell.text = text
    list(table.rows)[1]._tr.get_or_add_trPr().append(xml('<w:del w:id="4" w:author="a"/>'))
    assert written(tmp_path, document).text == "Rent is 200\n\nhead\nkept"


def test_content_controls_boxes_and_signs_are_read(tmp_path: Path, document: Any) -> None:
    inner = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
    control = xml(f"<w:sdt><w:sdtContent>{inner.format('controlled')}</w:sdtContent></w:sdt>")
    document.element.body.insert(0, control)
    paragraph = document.add_paragraph("anchor\tnon")
    paragraph._p.append(xml("<w:r><w:noBreakHyphen/><w:t>stop</w:t></w:r>"))
    box = f"<w:txbxContent>{inner.format('boxed')}</w:txbxContent>"
    paragraph._p.append(xml(f"<w:r><w:pict>{box}</w:pict></w:r>"))
    assert written(tmp_path, document).text == "controlled\n\nanchor\tnon-stop\n\nboxed"


def test_footnotes_follow_the_text(tmp_path: Path) -> None:
    file = make_docx(tmp_path / "a.docx", [Block("The rent"), Block("is due.")])
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    link = f'<Relationship Id="rId99" Type="{kind}" Target="footnotes.xml"/></Relationships>'
    note = '<w:footnote w:id="2"><w:p><w:r><w:t>Monthly.</w:t></w:r></w:p></w:footnote>'
    reference = b'The rent</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
    repacked(
        file,
        "word/_rels/document.xml.rels",
        lambda old: old.replace(b"</Relationships>", link.encode()),
    )
    repacked(
        file,
        "word/footnotes.xml",
        lambda _: f"<w:footnotes {nsdecls('w')}>{note}</w:footnotes>".encode(),
    )
    repacked(file, "word/document.xml", lambda old: old.replace(b"The rent</w:t></w:r>", reference))
    assert load(file).text == "The rent[1]\n\nis due.\n\n[1] Monthly."


@pytest.mark.parametrize(
    ("part", "content"), [("word/document.xml", b"<w:document"), ("word/styles.xml", b"nonsense")]
)
def test_a_broken_part_is_refused(tmp_path: Path, part: str, content: bytes) -> None:
    file = make_docx(tmp_path / "a.docx", [Block("Text")])
    with pytest.raises(IngestError, match=r"^is no DOCX, or a broken one"):
        load(repacked(file, part, lambda _: content))


@pytest.mark.timeout(20)
def test_an_xml_bomb_is_refused(tmp_path: Path) -> None:
    entities = '<!ENTITY a0 "lol">' + "".join(
        f'<!ENTITY a{index} "{f"&a{index - 1};" * 10}">' for index in range(1, 10)
    )
    file = make_docx(tmp_path / "a.docx", [Block("Text")])

    def change(old: bytes) -> bytes:
        head, _, body = old.partition(b"?>")
        bomb = f"<!DOCTYPE lolz [{entities}]>".encode()
        return head + b"?>" + bomb + body.replace(b"Text", b"&a9;")

    with pytest.raises(IngestError, match=r"^is no DOCX, or a broken one"):
        load(repacked(file, "word/document.xml", change))


def test_an_empty_document_holds_no_text(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"^holds no text$"):
        load(make_docx(tmp_path / "a.docx", [Block("  ")]))
