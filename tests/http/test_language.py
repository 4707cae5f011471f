"""The page in another language: a translation made here, by a setting."""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from lexichord.display.record_text import status_rows
from lexichord.errors import ConfigError
from lexichord.types import Json
from tests.documents import draw_pdf
from tests.http.pages import between
from tests.http.served import NAME, Keys, Served, serve, serve_documents
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
    bare: str, translation: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    keys: Keys = {"all": {"writes": True, "deletes": True}}
    settings = {
        "record": "text",
        "fetch_hosts": "900.12",  # no letter is in it
        "page_language": str(translation),
    }
    with serve_documents(bare, {"一": [LEASE]}, keys, **settings) as served:
        file = draw_pdf(tmp_path_factory.mktemp("files") / "12.pdf", PDF_TEXT)
        served.lexichord.ingest([file], dataset="二")
        yield served


def stored(managed: Served) -> set[str]:
    """Return the words of files' names."""
    return set(WORD.findall(" ".join(row.uri for row in managed.lexichord.list())))


def told(managed: Served) -> set[str]:
    """Return the words that the program itself says of a question and of the database."""
    core = managed.lexichord
    said = [core.query(QUESTION), core.query(QUESTION, k=1, mode="keyword")]
    texts = [json.dumps(each.to_dict(), default=str) for each in said]
    return set(WORD.findall(" ".join([*texts, repr(status_rows(core.status()))])))


def left(html: str, known: set[str]) -> set[str]:
    """Return the Latin words of a page that are not known."""
    latin = {word for word in words(read_texts(html)) if re.search(r"[A-Za-z]", word)}
    return latin - known - STAY


FOUND = (
    *("/", "/documents", "/documents?dataset=一", "/documents?dataset=一&page=2"),
    *("/documents/delete?document=ID", "/documents/delete-dataset?dataset=一"),
    *("/documents/metadata?document=ID", "/documents/move?document=ID"),
    *("/documents/reread?document=ID", "/documents/rename-dataset?dataset=一"),
    *("/documents/runs/RUN", "/document/ID?start=0&end=9&also=12-20", "/document/PDF"),
    *("/document/PDF/original?start=0&end=5", "/status", "/evaluations"),
    *("/judged?judgment=right&q=1", "/docs"),
)
WRONG = {
    **{"/evaluations/9": 404, "/documents/runs/x": 404},
    **{"/?q=租金&k=x": 400, "/?q=租金&year=20": 400},
}


@pytest.mark.parametrize(("path", "status"), [*dict.fromkeys(FOUND, 200).items(), *WRONG.items()])
def test_a_page_is_wholly_in_the_language(managed: Served, path: str, status: int) -> None:
    (document,), (pdf,) = (managed.lexichord.list(datasets=[name]) for name in ("一", "二"))
    run = managed.lexichord.status().runs[0].run_id
    ids = {"ID": document.document_id, "PDF": pdf.document_id, "RUN": str(run)}
    for name, value in ids.items():
        path = path.replace(name, value)
    answer = managed.by("all").get(path)
    assert answer.status_code == status
    assert '<html lang="de">' in answer.text
    known = told(managed) if path == "/status" else set()
    assert left(answer.text, known | stored(managed)) == set()


@pytest.mark.parametrize("options", ["", "&mode=keyword&k=1", "&answer=0&hint=租約&dataset=一"])
def test_what_was_found_is_told_in_the_language(managed: Served, options: str) -> None:
    html = managed.by("all").get(f"/?q=租金{options}").text
    # German's own word for the language of what is stored, as the page is German.
    assert left(html, told(managed) | stored(managed) | {"Chinesisch"}) == set()
    assert translate("Confidence") in html
    assert translate("page") + " 2" in html


def test_who_has_no_key_is_asked_in_the_language(managed: Served) -> None:
    answer = managed.by().get("/", headers={"host": NAME})
    assert (answer.status_code, left(answer.text, set())) == (401, set())


def test_scripts_and_stages_get_their_texts_in_the_language(managed: Served) -> None:
    html = managed.by("all").get("/documents").text
    texts = json.loads(unescape(between(html, "data-texts='", "'")))
    assert texts["try_again"] == {"other": translate("Try again")}
    assert set(texts["files"]) == {"one", "other"}
    lines = managed.by("all").get("/stages?q=租金").text
    assert f"{translate('Evidence')}: 1 {translate('passage')}" in lines


def test_an_unknown_language_is_refused_when_the_server_is_started(fresh: str) -> None:
    said = "page_language: there is no 'xx': give en, or a file of yours, CODE.toml"
    with pytest.raises(ConfigError, match=said), serve(fresh, page_language="xx"):
        pass
