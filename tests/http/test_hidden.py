"""What a file hides is found as hidden: on the page, on the command line, over HTTP, in Python."""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import docx
import pytest
import xlsxwriter
from pptx import Presentation

from tests.conftest import new_database
from tests.end_to_end.processes import run_cli
from tests.http.served import Served, serve

HIDDEN_WORDS = "the zebra is for sale"


@pytest.fixture(scope="module")
def served(bare: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server of slides with a hidden shape and a sheet with a hidden row."""
    folder = tmp_path_factory.mktemp("files")
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "The stable opens at six."
    shape = slide.shapes.add_textbox(0, 0, 9000, 9000)
    shape.text_frame.text = f"Tell nobody that {HIDDEN_WORDS}."
    shape._element.nvSpPr.cNvPr.set("hidden", "1")
    deck.save(str(folder / "stable.pptx"))
    book = xlsxwriter.Workbook(str(folder / "animals.xlsx"))
    sheet = book.add_worksheet("Animals")
    for row, cells in enumerate((["Animal", "Price"], ["gnu", "low"], ["zebra", "high"])):
        sheet.write_row(row, 0, cells)
    sheet.set_row(2, None, None, {"hidden": True})
    book.close()
    with new_database(bare, copy_of=bare) as dsn, serve(dsn) as served:
        report = served.lexichord.ingest([folder])
        assert (report.inserted, report.flagged) == (2, {})
        yield served


def test_what_is_hidden_is_found_as_hidden_everywhere(served: Served, tmp_path: Path) -> None:
    hits = served.lexichord.search("zebra", mode="keyword").hits
    body = {"query": "zebra", "mode": "keyword"}
    answer = served.by().post("/v1/search", json=body).json()
    told = json.loads(run_cli(served.dsn, tmp_path, "search", "zebra", "--json").stdout)
    for contents in (
        [hit.content for hit in hits],
        [hit["content"] for hit in answer["hits"]],
        [hit["content"] for hit in told["hits"]],
    ):
        (sentence,) = (content for content in contents if HIDDEN_WORDS in content)
        assert f"{HIDDEN_WORDS} (hidden)." in sentence
        (row,) = (content for content in contents if "| zebra" in content)
        assert "| zebra | high (hidden) |" in row


def test_the_page_and_the_terminal_show_the_mark(served: Served, tmp_path: Path) -> None:
    page = served.by().get("/", params={"q": "who is the zebra for"}).text
    shown = " ".join(re.sub("<[^>]*>", "", html.unescape(page)).split())
    terminal = run_cli(served.dsn, tmp_path, "search", "who is the zebra for").stdout
    for text in (shown, " ".join(terminal.split())):
        assert HIDDEN_WORDS in text
        assert text.count(HIDDEN_WORDS) == text.count(f"{HIDDEN_WORDS} (hidden)")
        assert "high (hidden)" in text


def test_no_answer_quotes_it_as_if_it_were_shown(served: Served, tmp_path: Path) -> None:
    asked = ("query", "What should I tell nobody about the zebra?", "--json")
    answer = run_cli(served.dsn, tmp_path, *asked).stdout
    assert HIDDEN_WORDS in answer
    assert answer.count(HIDDEN_WORDS) == answer.count(f"{HIDDEN_WORDS} (hidden)")


def test_an_ingest_tells_what_it_left_out(bare: str, tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("The stable opens at six.")
    document.add_paragraph().add_run(f"Tell nobody that {HIDDEN_WORDS}.").font.hidden = True
    document.save(str(tmp_path / "stable.docx"))
    with new_database(bare, copy_of=bare) as dsn:
        asked = ("ingest", str(tmp_path / "stable.docx"))
        first = run_cli(dsn, tmp_path, *asked, "--hidden", "keep", "--json")
        assert json.loads(first.stdout)["flagged"] == {}
        assert "Tell nobody" in run_cli(dsn, tmp_path, "show", "stable.docx").stdout
        done = run_cli(dsn, tmp_path, *asked)
        assert "1 replaced" in done.output
        assert "stable.docx: left out: 1 hidden passage" in done.output
        assert "Tell nobody" not in run_cli(dsn, tmp_path, "show", "stable.docx").stdout
        again = run_cli(dsn, tmp_path, *asked)
        assert "1 skipped" in again.output
        run_cli(dsn, tmp_path, "reread", "stable.docx")
        assert "Tell nobody" not in run_cli(dsn, tmp_path, "show", "stable.docx").stdout
