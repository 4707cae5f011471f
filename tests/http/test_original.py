"""The pages of a PDF on the page: what is shown of them, to whom, and what is said without."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest

from lexichord import SyncLexichord
from lexichord.serve.limits import MAX_SHOWN_PAGES
from lexichord.serve.page import CONTENT_SECURITY_POLICY, KEY_COOKIE
from tests.conftest import new_database
from tests.documents import clause_pages, draw_pdf
from tests.http.pages import LEASE, between
from tests.http.served import Served, new_client, serve

PAGES = 45
RENT = "The tenant of the zebra house shall pay the rent monthly"
ROWS = ("| part | cost |", "| --- | --- |", "| seal | EUR 9 |")
MAX_BYTES = 150_000  # of a page without its pictures
ORIGINAL = "/document/lease.pdf/original"


@pytest.fixture(scope="module")
def served(bare: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    pages = clause_pages(PAGES)
    pages[29].append((60.0, 300.0, RENT))
    pages[29] += [(60.0, 270.0 - 14 * at, row) for at, row in enumerate(ROWS)]
    file = draw_pdf(tmp_path_factory.mktemp("pdf") / "lease.pdf", pages)
    with new_database(bare, copy_of=bare) as dsn:
        with SyncLexichord(dsn=dsn) as core:
            core.ingest([file], dataset="closed")
            core.ingest(documents=[LEASE], dataset="open")
        with serve(dsn) as served:
            yield served


@pytest.fixture
def client(served: Served) -> httpx.Client:
    return served.by()


@pytest.fixture(scope="module")
def text(served: Served) -> str:
    return served.lexichord.show("lease.pdf").text


@pytest.fixture(scope="module")
def start(text: str) -> int:
    """Where the rent is spoken of."""
    return text.index(RENT)


def test_a_passage_leads_to_its_page_where_its_line_is_in_a_box(
    client: httpx.Client, start: int
) -> None:
    found = client.get("/", params={"q": "rent of the zebra house", "mode": "keyword"}).text
    links = re.findall(r'href="(/document/[^"]+/original[^"]*)">Show on the page</a>', found)
    assert not any("/original" in link for link in re.findall(r'href="([^"]+)" data-act', found))
    assert '<rect id="quote" class="current"' in client.get(unescape(links[0])).text
    page = client.get(f"{ORIGINAL}?start={start}&end={start + len(RENT)}")
    assert page.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert " style=" not in page.text
    assert page.text.count("<img ") == page.text.count('alt="Page ') == 45 - 28
    assert len(page.content) < MAX_BYTES
    (box,) = re.findall(r'<rect id="quote" class="current" x="([^"]+)" y="([^"]+)"', page.text)
    assert float(box[0]) == pytest.approx(60 / 595.28, abs=0.01)
    assert float(box[1]) == pytest.approx(1 - 310 / 841.89, abs=0.01)
    picture = client.get(re.findall(r'<img src="([^"]+)"', page.text)[0])
    assert (picture.headers["content-type"], picture.content[1:4]) == ("image/png", b"PNG")
    assert picture.headers["cache-control"] == "no-store"


def test_every_quote_is_in_a_box_and_the_opened_one_stands_out(
    client: httpx.Client, text: str, start: int
) -> None:
    clause = text.index("Clause", start)
    also = f"also={clause}-{clause + 30}&also=0-20"  # the second is on a page that is not shown
    page = client.get(f"{ORIGINAL}?start={start}&end={start + len(RENT)}&{also}").text
    boxes = re.findall(r"<rect(?: id=\"([^\"]+)\")?( class=\"current\")?", page)
    assert [name for name, _ in boxes if name] == ["quote", "quote-3"]
    assert all(name in ("quote", "") for name, current in boxes if current)
    assert page.count('aria-label="Quote ') == 3


def test_the_sentence_that_answers_stands_out_in_its_quote(
    client: httpx.Client, text: str, start: int
) -> None:
    place = f"start={start}&end={text.index('Clause', start) + 9}"
    page = client.get(f"{ORIGINAL}?{place}&answer={start}-{start + len(RENT)}").text
    assert page.count('class="answer"') == 1
    assert page.count('class="current"') > 1
    assert f"<mark>{RENT}</mark>" in between(page, "<blockquote", "</blockquote>")


def test_the_passage_beside_the_pages_is_read_as_one_that_was_found(
    client: httpx.Client, text: str
) -> None:
    place = f"start={text.index(ROWS[0])}&end={text.index(ROWS[-1]) + len(ROWS[-1])}"
    passage = between(client.get(f"{ORIGINAL}?{place}").text, "<blockquote", "</blockquote>")
    assert re.findall(r"<t[hd](?: [^>]*)?>([^<]*)<", passage) == ["part", "cost", "seal", "EUR 9"]
    assert "|" not in passage


def test_pages_are_turned(client: httpx.Client) -> None:
    page = client.get(ORIGINAL)
    shown = re.findall(r'<figure id="page-(\d+)"', page.text)
    assert shown == [str(number) for number in range(1, MAX_SHOWN_PAGES + 1)]
    assert "Pages before" not in page.text
    turned = client.get(f"{ORIGINAL}?page=41").text
    assert re.findall(r'<figure id="page-(\d+)"', turned) == ["41", "42", "43", "44", "45"]
    assert "page=21#page-21" in turned
    assert "Pages after" not in turned


def test_text_and_original_lead_to_each_other(client: httpx.Client, start: int) -> None:
    text = client.get(f"/document/lease.pdf?start={start}&end={start + len(RENT)}").text
    (there,) = re.findall(r'href="([^"]+)">Original</a>', text)
    (back,) = re.findall(r'href="([^"]+)">Text</a>', client.get(unescape(there)).text)
    assert f">{RENT}</mark>" in client.get(unescape(back)).text
    assert "Original</a>" not in client.get("/document/lease.txt").text


def test_what_cannot_be_shown_is_said_and_its_text_is_there(client: httpx.Client) -> None:
    page = client.get("/document/lease.txt/original?start=0&end=5")
    assert page.status_code == 404
    assert "is no PDF: it has no pages to show" in page.text
    assert "Read its text" in page.text
    assert client.get("/document/lease.txt/pages/1.png").status_code == 404
    assert client.get("/document/lease.pdf/pages/46.png").status_code == 400
    assert client.get("/document/nothing/original").status_code == 404
    for nonsense in ("0", "-1", "x", "²", "9" * 30):
        assert client.get(f"/document/lease.pdf/pages/{nonsense}.png").status_code == 404
        assert client.get(f"{ORIGINAL}?page={nonsense}").status_code == 200


def test_an_original_is_seen_by_whom_its_text_is(served: Served) -> None:
    keys = {name: {"datasets": [name]} for name in ("open", "closed")}
    with serve(served.dsn, keys) as guarded:
        secrets = (None, "lx_wrong", guarded.keys["open"], guarded.keys["closed"])
        for secret, status in zip(secrets, (401, 401, 404, 200), strict=True):
            with new_client(guarded.url) as browser:
                browser.cookies.update({KEY_COOKIE: secret} if secret else {})
                page = browser.get(ORIGINAL)
                assert (page.status_code, "Clause" in page.text) == (status, False)
                picture = browser.get("/document/lease.pdf/pages/1.png")
                assert (picture.status_code, b"PNG" in picture.content) == (status, status == 200)


def test_a_file_that_changed_is_said(fresh: str, tmp_path: Path) -> None:
    own = draw_pdf(tmp_path / "own.pdf", clause_pages(1))
    with serve(fresh) as served:
        served.lexichord.ingest([own])
        own.write_bytes(b"%PDF-1.4 something else")
        page = served.by().get("/document/own.pdf/original")
    assert page.status_code == 404
    assert "ingest it again" in page.text
    assert str(tmp_path) not in page.text.partition("The pages cannot be shown")[2]
