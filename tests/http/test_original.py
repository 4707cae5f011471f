"""The pages of a PDF on the page: what is shown of them, to whom, and what is said without."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.serve.limits import MAX_SHOWN_PAGES
from lexichord.serve.page.render import CONTENT_SECURITY_POLICY, KEY_COOKIE
from tests.conftest import SPACE, new_database
from tests.documents import clause_pages, draw_pdf
from tests.http.served_page import LEASE, served

PAGES = 45
RENT = "The tenant of the zebra house shall pay the rent monthly"
ROWS = ("| part | cost |", "| --- | --- |", "| seal | EUR 9 |")
MAX_BYTES = 150_000  # of a page without its pictures


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = clause_pages(PAGES)
    pages[29].append((60.0, 300.0, RENT))
    pages[29] += [(60.0, 270.0 - 14 * at, row) for at, row in enumerate(ROWS)]
    return draw_pdf(tmp_path_factory.mktemp("pdf") / "lease.pdf", pages)


@pytest.fixture(scope="module")
def filled(embedded_dsn: str, file: Path) -> Iterator[str]:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with SyncLexichord(dsn=dsn) as core:
            core.ingest([file], dataset="closed")
            core.ingest(documents=[LEASE], dataset="open")
        yield dsn


@pytest.fixture(scope="module")
def address(filled: str) -> Iterator[str]:
    with served(filled) as address:
        yield address


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client


def quote(dsn: str) -> str:
    with SyncLexichord(dsn=dsn) as core:
        text = core.show("lease.pdf").text
    start = text.index(RENT)
    return f"start={start}&end={start + len(RENT)}"


def test_a_passage_leads_to_its_page_where_its_line_is_in_a_box(
    client: httpx.Client, filled: str
) -> None:
    found = client.get("/", params={"q": "rent of the zebra house", "mode": "keyword"}).text
    links = re.findall(r'href="(/document/[^"]+/original[^"]*)"', found)
    assert links
    assert ">Show on the page</a>" in found
    assert not any("/original" in link for link in re.findall(r'href="([^"]+)" data-act', found))
    assert '<rect id="quote" class="current"' in client.get(links[0].replace("&amp;", "&")).text
    page = client.get(f"/document/lease.pdf/original?{quote(filled)}")
    assert page.status_code == 200
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


def test_every_quote_on_the_pages_is_in_a_box_and_the_opened_one_stands_out(
    client: httpx.Client, filled: str
) -> None:
    with SyncLexichord(dsn=filled) as core:
        text = core.show("lease.pdf").text
    clause = text.index("Clause", text.index(RENT))
    also = f"&also={clause}-{clause + 30}&also=0-20"  # the second is on a page that is not shown
    page = client.get(f"/document/lease.pdf/original?{quote(filled)}{also}").text
    boxes = re.findall(r"<rect(?: id=\"([^\"]+)\")?( class=\"current\")?", page)
    assert [name for name, _ in boxes if name] == ["quote", "quote-3"]
    assert all(name in ("quote", "") for name, current in boxes if current)
    assert page.count('aria-label="Quote ') == 3


def test_the_sentence_that_answers_stands_out_in_its_quote(
    client: httpx.Client, filled: str
) -> None:
    with SyncLexichord(dsn=filled) as core:
        text = core.show("lease.pdf").text
    start = text.index(RENT)
    place = f"start={start}&end={text.index('Clause', start) + 9}"
    sentence = f"answer={start}-{start + len(RENT)}"
    page = client.get(f"/document/lease.pdf/original?{place}&{sentence}").text
    assert page.count('class="answer"') == 1
    assert page.count('class="current"') > 1
    passage = page.partition("<blockquote")[2].partition("</blockquote>")[0]
    assert f"<mark>{RENT}</mark>" in passage


def test_the_passage_beside_the_pages_is_read_as_one_that_was_found(
    client: httpx.Client, filled: str
) -> None:
    with SyncLexichord(dsn=filled) as core:
        text = core.show("lease.pdf").text
    place = f"start={text.index(ROWS[0])}&end={text.index(ROWS[-1]) + len(ROWS[-1])}"
    page = client.get(f"/document/lease.pdf/original?{place}").text
    passage = page.partition("<blockquote")[2].partition("</blockquote>")[0]
    assert re.findall(r"<t[hd](?: [^>]*)?>([^<]*)<", passage) == ["part", "cost", "seal", "EUR 9"]
    assert "|" not in passage


def test_pages_are_turned(client: httpx.Client) -> None:
    page = client.get("/document/lease.pdf/original")
    shown = re.findall(r'<figure id="page-(\d+)"', page.text)
    assert shown == [str(number) for number in range(1, MAX_SHOWN_PAGES + 1)]
    assert "Pages before" not in page.text
    turned = client.get("/document/lease.pdf/original?page=41").text
    assert re.findall(r'<figure id="page-(\d+)"', turned) == ["41", "42", "43", "44", "45"]
    assert "page=21#page-21" in turned
    assert "Pages after" not in turned
    for nonsense in ("0", "-1", "x", "²", "9" * 30):
        assert client.get(f"/document/lease.pdf/original?page={nonsense}").status_code == 200


def test_text_and_original_lead_to_each_other(client: httpx.Client, filled: str) -> None:
    place = quote(filled)
    text = client.get(f"/document/lease.pdf?{place}").text
    (there,) = re.findall(r'href="([^"]+)">Original</a>', text)
    (back,) = re.findall(r'href="([^"]+)">Text</a>', client.get(there.replace("&amp;", "&")).text)
    assert f">{RENT}</mark>" in client.get(back.replace("&amp;", "&")).text
    assert "Original</a>" not in client.get("/document/lease.txt").text


def test_what_cannot_be_shown_is_said_and_its_text_is_there(client: httpx.Client) -> None:
    page = client.get("/document/lease.txt/original?start=0&end=5")
    assert page.status_code == 404
    assert "is no PDF: it has no pages to show" in page.text
    assert "Read its text" in page.text
    assert client.get("/document/lease.txt/pages/1.png").status_code == 404
    assert client.get("/document/lease.pdf/pages/46.png").status_code == 400
    for nonsense in ("0", "-1", "x", "²", "9" * 30):
        assert client.get(f"/document/lease.pdf/pages/{nonsense}.png").status_code == 404
    assert client.get("/document/nothing/original").status_code == 404


@pytest.mark.parametrize("path", ["original", "pages/1.png"])
def test_an_original_is_seen_by_whom_its_text_is(filled: str, path: str) -> None:
    with SyncLexichord(dsn=filled) as core:
        secrets = {
            name: core.create_key(name, datasets=[name]).secret for name in ("open", "closed")
        }
    address_of = f"/document/lease.pdf/{path}"
    with served(filled, allowed_hosts="search.example.com") as address:
        for secret, status in ((None, 401), ("lx_wrong", 401), ("open", 404), ("closed", 200)):
            key = secrets.get(str(secret), secret)
            cookies = {KEY_COOKIE: key} if key else {}
            answer = httpx.get(address + address_of, cookies=cookies, timeout=60)
            assert answer.status_code == status, (secret, answer.text[:500])
            assert ("Clause" in answer.text or b"PNG" in answer.content) == (
                status == 200 and path != "original"
            )


def test_a_file_that_changed_or_went_is_said(embedded_dsn: str, tmp_path: Path, file: Path) -> None:
    own = tmp_path / "own.pdf"
    own.write_bytes(file.read_bytes())
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with SyncLexichord(dsn=dsn) as core:
            core.ingest([own])
        with served(dsn) as address:
            own.write_bytes(b"%PDF-1.4 something else")
            page = httpx.get(f"{address}/document/own.pdf/original", timeout=60)
            assert page.status_code == 404
            assert "ingest it again" in page.text
            assert str(tmp_path) not in page.text.partition("The pages cannot be shown")[2]
