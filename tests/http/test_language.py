"""The page in another language: a translation made here, by a setting."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.display.text import status_rows
from lexichord.types import Json
from tests.conftest import SPACE, new_database
from tests.documents import draw_pdf
from tests.http.served_page import served
from tests.http.test_manage import Managed
from tests.http.translated import translate, write_translation
from tests.read_page import WORD, read_texts, words

# What is stored has no Latin letter, so that those that show are the page's or the program's.
LEASE: Json = {
    "uri": "契約/租約",
    "title": "租約書",
    "chunks": [
        {"content": "1. 租金\n租金每月 900 元。", "heading": "1. 租金", "page": 2},
        {"content": "2. 終止\n租約九十日後終止。", "heading": "2. 終止"},
    ],
}
STAY = {"MB", "zh"}  # a unit, and the code of what the lease is written in
QUESTION = "租金"
PDF_TEXT = [[(60.0, 700.0, "900 30 12")], [(60.0, 700.0, "42")]]


@pytest.fixture(scope="module")
def translation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_translation(tmp_path_factory.mktemp("languages"))


@pytest.fixture(scope="module")
def managed(
    embedded_dsn: str, translation: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Managed]:
    folder = tmp_path_factory.mktemp("files")
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with SyncLexichord(dsn=dsn, record="text") as core:
            core.ingest(documents=[LEASE], dataset="一")
            core.ingest([draw_pdf(folder / "12.pdf", PDF_TEXT)], dataset="二")
            key = core.create_key("a", writes=True, deletes=True)
            settings = {
                "allowed_hosts": "search.example.com",
                "fetch_hosts": "900.12",  # no letter is in it
                "page_language": str(translation),
            }
            with served(dsn, **settings) as address:
                yield Managed(address, core, {"all": key.secret})


def stored(managed: Managed) -> set[str]:
    """Return the words of files' names."""
    return set(WORD.findall(" ".join(row.uri for row in managed.core.list())))


def told(managed: Managed) -> set[str]:
    """Return the words that the program itself says of a question and of the database."""
    core = managed.core
    said = [core.query(QUESTION), core.query(QUESTION, k=1, mode="keyword")]
    texts = [json.dumps(each.to_dict(), default=str) for each in said]
    return set(WORD.findall(" ".join([*texts, repr(status_rows(core.status()))])))


def left(html: str, known: set[str]) -> set[str]:
    """Return the Latin words of a page that are not known."""
    latin = {word for word in words(read_texts(html)) if re.search(r"[A-Za-z]", word)}
    return latin - known - STAY


PAGES = [
    ("/", 200),
    ("/documents", 200),
    ("/documents?dataset=一", 200),
    ("/documents?dataset=一&page=2", 200),
    ("/documents/delete?document=ID", 200),
    ("/documents/delete-dataset?dataset=一", 200),
    ("/documents/metadata?document=ID", 200),
    ("/documents/move?document=ID", 200),
    ("/documents/reread?document=ID", 200),
    ("/documents/rename-dataset?dataset=一", 200),
    ("/documents/runs/RUN", 200),
    ("/document/ID?start=0&end=9&also=12-20", 200),
    ("/document/PDF", 200),
    ("/document/PDF/original?start=0&end=5", 200),
    ("/status", 200),
    ("/evaluations", 200),
    ("/judged?judgment=right&q=1", 200),
    ("/docs", 200),
    ("/evaluations/9", 404),
    ("/documents/runs/x", 404),
    ("/?q=租金&k=x", 400),
    ("/?q=租金&year=20", 400),
]


@pytest.mark.parametrize(("path", "status"), PAGES)
def test_a_page_is_wholly_in_the_language(managed: Managed, path: str, status: int) -> None:
    (document,), (pdf,) = (managed.core.list(datasets=[name]) for name in ("一", "二"))
    run = managed.core.status().runs[0].run_id
    for name, value in {
        "ID": document.document_id,
        "PDF": pdf.document_id,
        "RUN": str(run),
    }.items():
        path = path.replace(name, value)
    with managed.client("all") as client:
        answer = client.get(path)
    assert answer.status_code == status
    assert '<html lang="de">' in answer.text
    known = told(managed) if path == "/status" else set()
    assert left(answer.text, known | stored(managed)) == set()


@pytest.mark.parametrize("options", ["", "&mode=keyword&k=1", "&answer=0&hint=租約&dataset=一"])
def test_what_was_found_is_told_in_the_language(managed: Managed, options: str) -> None:
    with managed.client("all") as client:
        html = client.get(f"/?q=租金{options}").text
    # German's own word for the language of what is stored, as the page is German.
    assert left(html, told(managed) | stored(managed) | {"Chinesisch"}) == set()
    assert translate("Confidence") in html
    assert translate("page") + " 2" in html


def test_who_has_no_key_is_asked_in_the_language(managed: Managed) -> None:
    answer = httpx.get(f"{managed.address}/", headers={"host": "search.example.com"})
    assert answer.status_code == 401
    assert left(answer.text, set()) == set()


def test_the_scripts_get_their_texts_in_the_language(managed: Managed) -> None:
    with managed.client("all") as client:
        html = client.get("/documents").text
    found = re.search(r"data-texts='([^']*)'", html)
    assert found is not None
    texts = json.loads(unescape(found[1]))
    assert texts["try_again"] == {"other": translate("Try again")}
    assert set(texts["files"]) == {"one", "other"}


def test_stages_are_told_in_the_language(managed: Managed) -> None:
    with managed.client("all") as client:
        lines = client.get("/stages?q=租金").text
    assert f"{translate('Evidence')}: 1 {translate('passage')}" in lines


def test_an_unknown_language_is_refused_when_the_server_is_started(fresh: str, home: Path) -> None:
    settings = {
        "LEXICHORD_DSN": fresh,
        "LEXICHORD_HOME": str(home),
        "LEXICHORD_PAGE_LANGUAGE": "xx",
    }
    done = subprocess.run(
        [sys.executable, "-m", "lexichord", "serve", "--port", "0"],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "page_language: there is no 'xx': give en, or a file of yours, CODE.toml" in done.stderr
