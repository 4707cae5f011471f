"""PDF and Word files made from the sample corpus give the same text as their source."""

import re
from pathlib import Path

import pytest
from reportlab.lib import pagesizes

from lexichord.ingest.load import load
from lexichord.types import LoadedText
from tests.conftest import SAMPLES
from tests.documents import (
    Block,
    Layout,
    bare,
    blocks,
    make_docx,
    make_pdf,
    plain,
)

SOURCES = sorted([*SAMPLES.glob("agreements/*"), *SAMPLES.glob("policies/*")])
LAYOUTS = [
    Layout(),
    Layout(columns=2, justified=True),
    Layout(margins=True, size=11, font="Helvetica"),
    Layout(columns=2, margins=True, size=9, page=pagesizes.letter),
    Layout(size=9, page=pagesizes.A5, justified=True, margins=True, space_after=4),
    Layout(size=12, page=pagesizes.letter, justified=True, font="Helvetica", space_after=12),
    Layout(columns=2, size=8, font="Helvetica", space_after=8),
    Layout(indent=18, space_after=0, size=11, margins=True),
    Layout(columns=3, size=8, page=pagesizes.landscape(pagesizes.A4)),
]
PDFS = [
    pytest.param(source, LAYOUTS[(2 * index + turn) % len(LAYOUTS)], id=f"{source.stem}-{turn}")
    for index, source in enumerate(SOURCES)
    for turn in (0, 1)
]
TABLE_RULE = re.compile(r"^\|( --- \|)+$", re.MULTILINE)


def read(source: Path) -> list[Block]:
    return list(blocks(source.read_text()))


def assert_pages(loaded: LoadedText) -> None:
    assert list(loaded.pages) == sorted(loaded.pages)
    assert loaded.pages[0] == 0
    for start in loaded.pages:
        assert not loaded.text[start].isspace()


@pytest.mark.parametrize(("source", "layout"), PDFS)
def test_a_pdf_gives_the_text_of_its_source(tmp_path: Path, source: Path, layout: Layout) -> None:
    content = read(source) * (3 if layout.margins else 1)  # a running line runs over three pages
    loaded = load(make_pdf(tmp_path / "a.pdf", content, layout))
    assert bare(TABLE_RULE.sub("", loaded.text).replace("|", "")) == plain(content)
    assert_pages(loaded)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_a_word_file_gives_the_text_of_its_source(tmp_path: Path, source: Path) -> None:
    content = read(source)
    loaded = load(make_docx(tmp_path / "a.docx", content))
    assert bare(loaded.text) == plain(content)
    assert [(loaded.text[mark.start : mark.end], mark.name) for mark in loaded.headings] == [
        (block.text, block.text) for block in content if block.level
    ]
    tables = ["\n".join("\t".join(row) for row in block.rows) for block in content if block.rows]
    assert [loaded.text[table.start : table.end] for table in loaded.tables] == tables
