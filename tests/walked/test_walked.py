"""Files of drawn parts: all that is written into one is found where the guide says.

How many are drawn of each kind says LEXICHORD_TEST_EXAMPLES.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lexichord.errors import IngestError
from lexichord.ingest.load import load
from lexichord.ingest.load.marks import LoadOptions
from tests.walked import (
    docx_files,
    html_files,
    markdown_files,
    odf_files,
    other_files,
    rst_files,
    rtf_files,
    sheet_files,
    slide_files,
    tex_files,
)
from tests.walked.said import Said, check
from tests.walked.shapes import OPTIONS

EXAMPLES = settings(
    max_examples=int(os.environ.get("LEXICHORD_TEST_EXAMPLES", "30")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def walk(said: Said, name: str, write: Callable[[Path], Any]) -> None:
    """Write a file, read it, and look for all that was written."""
    with TemporaryDirectory() as folder:
        file = Path(folder, name)
        write(file)
        if said.texts:
            check(load(file, said.options), said)
            return
        with pytest.raises(IngestError, match="holds no text") as refused:
            load(file, said.options)
        assert all(name in str(refused.value) for name in said.dropped)


@EXAMPLES
@given(OPTIONS, docx_files.BLOCKS, docx_files.MARGINS)
def test_word_files(options: LoadOptions, blocks: Any, margins: Any) -> None:
    said = Said("Word", options)
    walk(said, "a.docx", lambda file: docx_files.DocxWriter(said).write(file, blocks, margins))


@EXAMPLES
@given(OPTIONS, sheet_files.SHEETS)
def test_xlsx_files(options: LoadOptions, sheets: Any) -> None:
    said = Said("sheets", options)
    walk(said, "a.xlsx", lambda file: sheet_files.make_xlsx(file, said, sheets))


@EXAMPLES
@given(OPTIONS, sheet_files.SHEETS)
def test_ods_files(options: LoadOptions, sheets: Any) -> None:
    said = Said("sheets", options)
    walk(said, "a.ods", lambda file: sheet_files.make_ods(file, said, sheets))


@EXAMPLES
@given(OPTIONS, odf_files.BLOCKS, odf_files.MARGINS)
def test_odt_files(options: LoadOptions, blocks: Any, margins: Any) -> None:
    said = Said("OpenDocument", options)
    walk(said, "a.odt", lambda file: odf_files.OdfWriter(said).make_odt(file, blocks, margins))


@EXAMPLES
@given(OPTIONS, odf_files.SLIDES)
def test_odp_files(options: LoadOptions, slides: Any) -> None:
    said = Said("slides", options)
    walk(said, "a.odp", lambda file: odf_files.OdfWriter(said).make_odp(file, slides))


@EXAMPLES
@given(OPTIONS, slide_files.SLIDES)
def test_pptx_files(options: LoadOptions, slides: Any) -> None:
    said = Said("slides", options)
    walk(said, "a.pptx", lambda file: slide_files.PptxWriter(said).write(file, slides))


@EXAMPLES
@given(OPTIONS, rtf_files.BLOCKS, rtf_files.MARGINS)
def test_rtf_files(options: LoadOptions, blocks: Any, margins: Any) -> None:
    said = Said("RTF", options)
    walk(said, "a.rtf", lambda file: rtf_files.RtfWriter(said).write(file, blocks, margins))


HTML = "HTML, books, mails in HTML"


@EXAMPLES
@given(html_files.BLOCKS, html_files.AROUND)
def test_web_pages(blocks: Any, around: Any) -> None:
    said = Said(HTML)
    page = html_files.HtmlWriter(said).page(blocks, around)
    walk(said, "a.html", lambda file: file.write_text(page))


@EXAMPLES
@given(st.lists(html_files.BLOCKS, min_size=1, max_size=3))
def test_books(pages: Any) -> None:
    said = Said(HTML)
    walk(said, "a.epub", lambda file: html_files.make_epub(file, said, pages))


@EXAMPLES
@given(html_files.BLOCKS, st.booleans())
def test_mails_in_html(blocks: Any, has_plain: bool) -> None:
    said = Said(HTML)
    walk(said, "a.eml", lambda file: html_files.make_eml(file, said, blocks, has_plain))


@EXAMPLES
@given(markdown_files.BLOCKS, markdown_files.FRONT)
def test_markdown_files(blocks: Any, has_front: bool) -> None:
    said = Said("Markdown, other markup")
    writer = markdown_files.MarkdownWriter(said)
    walk(said, "a.md", lambda file: writer.write(file, blocks, has_front))


@EXAMPLES
@given(rst_files.BLOCKS)
def test_rst_files(blocks: Any) -> None:
    said = Said("Markdown, other markup")
    walk(said, "a.rst", lambda file: rst_files.RstWriter(said).write(file, blocks))


@EXAMPLES
@given(tex_files.BLOCKS, tex_files.HAS_TITLE)
def test_tex_files(blocks: Any, has_title: bool) -> None:
    said = Said("TeX")
    walk(said, "a.tex", lambda file: tex_files.TexWriter(said).write(file, blocks, has_title))


DATA = "text, data, code"


@EXAMPLES
@given(other_files.MAIL_LINES, st.tuples(st.booleans(), st.booleans(), st.booleans()))
def test_plain_mails(lines: Any, headers: Any) -> None:
    said = Said(HTML)
    walk(said, "a.eml", lambda file: other_files.make_plain_mail(file, said, lines, headers))


@EXAMPLES
@given(other_files.ROWS)
def test_files_of_rows(rows: Any) -> None:
    said = Said(DATA)
    name = "a.tsv" if "\t" in rows else "a.csv"
    walk(said, name, lambda file: other_files.make_rows(file, said, *rows))


@EXAMPLES
@given(st.lists(other_files.VALUES, min_size=1, max_size=3), st.booleans())
def test_data(values: Any, by_line: bool) -> None:
    said = Said(DATA)
    data = [said.text(), *(other_files.value(said, value) for value in values)]
    lines = "\n".join(map(json.dumps, data)) if by_line else json.dumps(data, indent=1)
    walk(said, "a.jsonl" if by_line else "a.json", lambda file: file.write_text(lines))


@EXAMPLES
@given(other_files.CELLS)
def test_notebooks(kinds: Any) -> None:
    said = Said("notebooks")
    walk(said, "a.ipynb", lambda file: other_files.make_notebook(file, said, kinds))


@EXAMPLES
@given(OPTIONS, other_files.PAGES)
def test_pdfs(options: LoadOptions, pages: Any) -> None:
    said = Said("PDF", options)
    walk(said, "a.pdf", lambda file: other_files.make_pdf(file, said, pages))
