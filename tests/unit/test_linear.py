"""Files are read in steps that grow as they do: counted, for a clock tells the load, too."""

import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from time import process_time
from types import FrameType
from typing import Any

import docx
import pytest
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table

from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.load import load
from lexichord.ingest.load.markup import _read_asciidoc_table
from lexichord.ingest.load.parts import MarkupPage, directive_table
from lexichord.ingest.load.tex.reader import taken_in_by_tex
from lexichord.retrieve.evidence.splitting import LIST_ITEM
from lexichord.retrieve.understand.linking import _tidy
from lexichord.serve.errors import public_line
from lexichord.serve.page.reading import answer_patterns, show_line
from tests.documents import repacked, xml
from tests.grown import (
    save_odt,
    write_cell_comments,
    write_charts,
    write_check_boxes,
    write_comments,
    write_diagrams,
    write_headers,
    write_hidden_columns,
    write_labels,
    write_linked_lists,
    write_merged,
    write_notes,
    write_odt_labels,
    write_odt_pages,
    write_shared_comments,
    write_sheets,
    write_slides,
)

FEW, MANY = 200, 800
SHAPES = {
    "headings": "# Heading {n}\n\nText {n} of it.\n\n",
    "headings alone": "# Heading {n}\n",
    "levels": "#{marks} Heading {n}\n\nText.\n\n",
    "underlined": "Heading {n}\n---\n\nText.\n\n",
    "clauses": "# {n}.1 Term\n\n(a) one\n\n(b) two\n\n",
    "links": "# [Heading {n}][name{n}]\n\n[name{n}]: https://example.com/{n}\n\n",
    "never closed": "# Heading {n}\n\n:::{{note}}\n<!-- a comment\n\n",
    "code and tables": "# Heading {n}\n\n```\nx\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n",
}


def steps(work: Callable[[], object]) -> int:
    """Count the calls that some work makes, those of Python's own functions among them."""
    count = 0

    def see(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def check_growth(file: Path, write: Callable[[Path, int], object], few: int, many: int) -> None:
    """Check that a file of many parts takes no more steps for each than one of few."""

    def read(amount: int) -> int:
        write(file, amount)
        return steps(lambda: [*split(load(file))])

    read(few)  # imports what it needs
    before, after = read(few), read(many)
    assert before > few
    assert after < 1.2 * many / few * before


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_four_times_the_headings_take_four_times_the_steps(tmp_path: Path, shape: str) -> None:
    def write(file: Path, amount: int) -> None:
        lines = (shape.format(n=n, marks="#" * (n % 6)) for n in range(amount))
        file.write_text("".join(lines))

    check_growth(tmp_path / "a.md", write, FEW, MANY)


NEVER_CLOSED = {
    "a.org": "* Heading {n}\n#+BEGIN_SRC\n:LOGBOOK:\n#+begin_x{n}\n",
    "a.adoc": "Text {n}.\n\n```lang{n}\n\n////{n}\n\n",
}


@pytest.mark.parametrize(("name", "shape"), NEVER_CLOSED.items(), ids=NEVER_CLOSED)
def test_the_end_of_what_is_never_closed_is_not_sought_from_each_place(
    tmp_path: Path, name: str, shape: str
) -> None:
    def write(file: Path, amount: int) -> None:
        file.write_text("".join(shape.format(n=n) for n in range(amount)))

    check_growth(tmp_path / name, write, FEW, MANY)


def write_docx(file: Path, amount: int) -> None:
    """Write a paragraph for each style of a chain in which each is based on the next."""
    document = docx.Document()
    for n in range(amount):
        name = f'<w:name w:val="s{n}"/><w:basedOn w:val="s{n + 1}"/>'
        style = xml(f'<w:style w:type="paragraph" w:styleId="s{n}">{name}</w:style>')
        document.styles.element.append(style)
        paragraph = f'<w:p><w:pPr><w:pStyle w:val="s{n}"/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>'
        document.element.body.insert(0, xml(paragraph))
    document.save(str(file))


def write_odt(file: Path, amount: int) -> None:
    """Write the same in OpenDocument."""
    styles = (
        f'<style:style style:name="s{n}" style:parent-style-name="s{n + 1}"/>'
        for n in range(amount)
    )
    words = (f'<text:p text:style-name="s{n}">x</text:p>' for n in range(amount))
    save_odt(file, "".join(styles), "".join(words))


NAMED_AGAIN = {
    "slides.pptx": write_slides,
    "charts.pptx": write_charts,
    "comments.pptx": write_comments,
    "notes.docx": write_notes,
    "headers.docx": write_headers,
    "diagrams.docx": write_diagrams,
    "sheets.xlsx": write_sheets,
    "comments.xlsx": write_cell_comments,
    "shared.xlsx": write_shared_comments,
}


@pytest.mark.parametrize(("name", "write"), NAMED_AGAIN.items(), ids=NAMED_AGAIN)
def test_a_part_that_is_named_over_and_over_is_read_once(
    tmp_path: Path, name: str, write: Callable[[Path, int], object]
) -> None:
    check_growth(tmp_path / name, write, 20, 80)
    assert load(tmp_path / name).text.count("part 79.") == 1


SAID_OFTEN = {
    "styles.docx": write_docx,  # a long chain of them, each followed from its paragraph
    "styles.odt": write_odt,
    "boxes.docx": write_check_boxes,
    "linked.docx": write_linked_lists,
    "labels.docx": write_labels,
    "labels.odt": write_odt_labels,
    "pages.odt": write_odt_pages,
    "columns.xlsx": write_hidden_columns,
}


@pytest.mark.parametrize(("name", "write"), SAID_OFTEN.items(), ids=SAID_OFTEN)
def test_what_is_asked_of_each_part_is_not_sought_among_all(
    tmp_path: Path, name: str, write: Callable[[Path, int], object]
) -> None:
    check_growth(tmp_path / name, write, FEW, MANY)


def test_the_entries_of_a_feed_are_laid_out_without_copying_the_styles(tmp_path: Path) -> None:
    def write(file: Path, amount: int) -> None:
        entries = "<item><title>a</title><description>word</description></item>" * amount
        file.write_text(f"<rss><channel>{entries}</channel></rss>")

    file = tmp_path / "a.rss"
    check_growth(file, write, FEW, MANY)
    assert steps(lambda: load(file)) < 2000 * MANY


def blanks(before: str, after: str) -> Callable[[int], str]:
    """Return what writes many blanks between two texts."""
    return lambda amount: f"{before}{' ' * amount}{after}\n"


def again(text: str) -> Callable[[int], str]:
    """Return what writes a text over and over."""
    return lambda amount: text * (amount // len(text))


def wide_row(amount: int) -> str:
    """Return a row of many cells above as many rows of one, in RTF."""
    return r"\trowd " + r"a\cell " * amount + r"\row " + r"\trowd b\cell \row " * amount


# What a search of a pattern reads, or a join copies, is no step that can be counted.
SEARCHED = {
    "ticks.md": lambda amount: "".join("`" * n + "a" for n in range(1, int(amount**0.5))),
    "link.md": blanks("`a", "b"),
    "note.md": blanks("!!! note a", '"b\n\n    text'),
    "colons.md": blanks("::: note a", '"b\ntext\n:::'),
    "slashes.md": blanks("/// note | a", '"b\ntext\n///'),
    "attributes.md": blanks("Text {.a", "b"),
    "option.md": blanks("```{note}\n:a: b", "c\n```"),
    "yaml.md": blanks("```{note}\n---\na: b", "c\n---\n```"),
    "rule.md": blanks("```{note}\n---", "a\n```"),
    "literal.md": blanks("```{parsed-literal}\n/// | a", '"b\n```'),
    "a.org": blanks("* a", "b"),
    "heading.adoc": blanks("= a", "b"),
    "quote.adoc": blanks("[quote,", "="),
    "picture.adoc": blanks("a image:a[", "=]"),
    "pictures.adoc": again("image:a["),
    "links.adoc": again("a["),
    "anchors.adoc": again("["),
    "references.adoc": again("<<"),
    "words.adoc": again("<<a, "),
    "link.rst": blanks("a `", "b"),
    "toctree.rst": blanks("Text\n\n.. toctree::\n\n   a", "b"),
    "option.rst": blanks(".. note::\n   :a: b", "c\n\ntext"),
    "directives.rst": lambda amount: "a\n=\n\n.. note:: b\n\n   " * amount,
    "include.rst": blanks(".. include:: a\n   :a: b", "c\n\ntext"),
    "a.rtf": blanks(r"{\rtf1 a{\shp{\sp{\sn wzDescription}{\sv", "{}}}}}"),
    "fields.rtf": lambda amount: r"{\rtf1 a " + r"{\field{\*\fldinst{ " * amount,
    "wide.rtf": lambda amount: r"{\rtf1 " + wide_row(amount // 10),
    "wide.csv": lambda amount: "a," * (amount // 10) + "z\n" + "b,c\n" * (amount // 10),
    "signs.tex": lambda amount: rf"\NewDocumentCommand\a{{{'+' * amount}}}{{b}}\begin{{document}}a",
    "digits.csv": lambda amount: f"{'1' * amount}x,2\na,b\n",
    "numbers.csv": lambda amount: f"{'1 ' * (amount // 2)}x,2\na,b\n",
    "hidden.html": lambda amount: "<p>Text</p>" + "<i hidden></i>words here " * amount,
    "formulas.html": lambda amount: "<p>Text<div>" + "<math></math>" * (amount // 4),
    "copies.html": lambda amount: (
        "<p>Text<div>" + "<math></math><b aria-hidden='true'>x</b>" * (amount // 8)
    ),
    "authors.tex": lambda amount: rf"\author{{{'Ann ' * 50}}}" * amount + r"\begin{document}a",
    "edges.rtf": lambda amount: (
        r"{\rtf1 \trowd" + r"\cellx9" * amount + r"\intbl x\cell\row " * amount + "}"
    ),
}


def check_seconds(work: Callable[[int], object]) -> None:
    """Check that work on sixteen times as much takes far less than the square of it, 256 times.

    Beside other work what no cache holds takes twice as long.
    """

    def seconds(amount: int) -> float:
        before = process_time()
        work(amount)
        return process_time() - before

    seconds(100)  # imports what it needs
    few, many = (min(seconds(amount) for _ in range(3)) for amount in (1_000, 16_000))
    assert many < 64 * few


@pytest.mark.parametrize(("name", "shape"), SEARCHED.items(), ids=SEARCHED)
def test_a_pattern_does_not_search_to_the_end_from_each_place(
    tmp_path: Path, name: str, shape: Callable[[int], str]
) -> None:
    def read(amount: int) -> None:
        (tmp_path / name).write_text(shape(amount))
        split(load(tmp_path / name))

    check_seconds(read)


LINE = f"    {'word ' * 40}"
CELLS: dict[str, Callable[[int], object]] = {
    "list": lambda amount: directive_table("list-table", {}, ["* - a", *[LINE] * amount]),
    "asciidoc": lambda amount: _read_asciidoc_table(
        MarkupPage(str), ["|===", "|a", *[LINE] * amount], 0
    ),
}


@pytest.mark.parametrize("read", CELLS.values(), ids=CELLS)
def test_a_cell_is_not_written_anew_for_each_line(read: Callable[[int], object]) -> None:
    check_seconds(read)


def test_a_row_s_properties_are_not_looked_for_behind_all_its_cells(tmp_path: Path) -> None:
    def read(amount: int) -> None:
        document = docx.Document()
        document.add_paragraph("a")
        row = document.add_table(1, 1).rows[0]._tr
        row.extend(deepcopy(row[-1]) for _ in range(amount))
        document.save(str(tmp_path / "a.docx"))
        load(tmp_path / "a.docx")

    check_seconds(read)


@pytest.mark.parametrize("row", [b"<row ", b'<row hidden="1" '])
def test_merged_cells_are_not_looked_through_for_each_row(tmp_path: Path, row: bytes) -> None:
    def read(amount: int) -> None:
        file, rows = tmp_path / "a.xlsx", amount // 4
        write_merged(
            file, "", rows, f'<mergeCell ref="A1:A{rows}"/><mergeCell ref="A2:A{rows}"/>' * rows
        )
        repacked(file, "xl/worksheets/sheet1.xml", lambda old: old.replace(b"<row ", row))
        load(file)

    check_seconds(read)


def test_a_header_is_not_looked_through_for_each_section(tmp_path: Path) -> None:
    def read(amount: int) -> None:
        document = docx.Document()
        header = document.sections[0].header
        header.paragraphs[0].text = "1234" * amount
        section = deepcopy(document.sections[0]._sectPr)
        for _ in range(amount // 8):
            document.add_paragraph("a")._p.get_or_add_pPr().append(deepcopy(section))
        document.save(str(tmp_path / "a.docx"))
        load(tmp_path / "a.docx")

    check_seconds(read)


def write_long_word(file: Path, amount: int) -> None:
    """Write a long word into a PDF, and one that a line's end parts."""
    canvas = Canvas(str(file), pagesize=(amount + 100, 800))
    canvas.setFont("Courier", 1)
    canvas.drawString(10, 700, "a" * amount)
    canvas.setFont("Courier", 10)
    canvas.drawString(10, 600, "some words to read here and foo-")
    canvas.drawString(10, 588, "bar that goes on with text")
    canvas.save()


def write_long_number(file: Path, amount: int) -> None:
    """Write a table into a PDF, with a cell that begins like a number."""
    width = amount // 16
    canvas = Canvas(str(file), pagesize=(width + 800, 800))
    rows = [["Name", "Sum"], ["a", f"1{'-' * width}xyz"], ["b", "2"]]
    style = [("GRID", (0, 0), (-1, -1), 1, "black"), ("FONT", (0, 0), (-1, -1), "Courier", 1)]
    table = Table(rows, style=style)
    table.wrapOn(canvas, width + 700, 700)
    table.drawOn(canvas, 10, 400)
    canvas.save()


@pytest.mark.parametrize("write", [write_long_word, write_long_number])
def test_the_end_of_a_word_of_a_pdf_is_not_sought_from_each_letter(
    tmp_path: Path, write: Callable[[Path, int], None]
) -> None:
    def read(amount: int) -> None:
        write(tmp_path / "a.pdf", amount)
        split(load(tmp_path / "a.pdf"))

    check_seconds(read)


def test_what_tex_takes_in_is_not_sought_from_each_blank(tmp_path: Path) -> None:
    def read(amount: int) -> None:
        (tmp_path / "a.tex").write_text(f"\\input{' ' * amount}%")
        taken_in_by_tex(tmp_path / "a.tex")

    check_seconds(read)


def test_the_sign_of_an_item_is_not_sought_from_each_blank() -> None:
    check_seconds(lambda amount: LIST_ITEM.match(" " * amount))


@pytest.mark.parametrize("sign", [" ", "\n"])
@pytest.mark.parametrize("show", [show_line, answer_patterns])
def test_what_parts_a_shown_line_is_not_sought_from_each_blank(
    show: Callable[[str], object], sign: str
) -> None:
    check_seconds(lambda amount: show(f"some{sign * amount}words"))


def test_an_address_in_an_error_is_not_sought_from_each_letter() -> None:
    check_seconds(lambda amount: public_line("a" * amount))


@pytest.mark.parametrize("sign", [";", ": "])
def test_the_end_of_a_question_is_not_sought_from_each_sign(sign: str) -> None:
    check_seconds(lambda amount: _tidy(f"a{sign * amount}b"))


BESIDE_EACH_OTHER = {
    "captions": lambda amount: (
        "<p>Text<figure>" + "<img alt='a cat'>" * amount + "<figcaption>b</figcaption>" * amount
    ),
    "headlines": lambda amount: (
        f"<header>{'<h1>Name</h1><p>a b</p>' * amount}</header><main>{'<p>text</p>' * amount}"
    ),
}


@pytest.mark.parametrize("shape", BESIDE_EACH_OTHER.values(), ids=BESIDE_EACH_OTHER)
def test_what_stands_beside_is_not_looked_for_from_each_of_its_kind(
    tmp_path: Path, shape: Callable[[int], str]
) -> None:
    def write(file: Path, amount: int) -> None:
        file.write_text(shape(amount))

    check_growth(tmp_path / "a.html", write, FEW, MANY)
