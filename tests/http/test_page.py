"""The pages over a real socket: what they show, to whom, and that no text of others can act."""

import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser

import httpx
import psycopg
import pytest
from fastapi import Request

from lexichord import Lexichord, SyncLexichord
from lexichord.db import schema
from lexichord.errors import AccessError
from lexichord.serve.access import AccessPolicy
from lexichord.serve.http.app import create_http_app
from lexichord.serve.http.routing import find_caller
from lexichord.serve.page.render import KEY_COOKIE, page_caller
from lexichord.types import EmbeddingSpace, NewApiKey
from tests.conftest import SPACE, new_database
from tests.http.served_page import HOSTILE, MARKED, OWN_SCRIPTS, fill, served

OUTSIDE = "search.example.com"


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.text += " "

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def filled(embedded_dsn: str) -> Iterator[str]:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        fill(dsn)
        yield dsn


@pytest.fixture(scope="module")
def key(filled: str) -> NewApiKey:
    """One that reaches the dataset `open` only."""
    with SyncLexichord(dsn=filled) as core:
        return core.create_key("Ann", datasets=["open"])


@pytest.fixture(scope="module")
def address(filled: str) -> Iterator[str]:
    with served(filled) as address:
        yield address


@pytest.fixture(scope="module")
def guarded_address(filled: str, key: NewApiKey) -> Iterator[str]:
    """A server that needs a key: by another name it could be reached from elsewhere."""
    with served(filled, allowed_hosts=OUTSIDE) as address:
        yield address


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client


@pytest.fixture
def stranger(guarded_address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=guarded_address, timeout=60) as client:
        yield client


def sign_in(stranger: httpx.Client, secret: str, back: str = "/", **headers: str) -> httpx.Response:
    origin = {"origin": str(stranger.base_url).rstrip("/")}
    data = {"key": secret, "back": back}
    return stranger.post("/login", data=data, headers=origin | headers)


def test_the_first_page_says_what_is_stored(client: httpx.Client) -> None:
    page = Elements(client.get("/").text)
    words = " ".join(page.text.split())
    assert "closed 1 1" in words
    assert "open 2 4" in words
    assert [each for each in page.all("section") if "data-awaited" in each]  # not waited for


def test_an_empty_database_says_how_to_fill_it(embedded_dsn: str) -> None:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with served(dsn) as address:
            page = httpx.get(address, timeout=60)
            assert page.status_code == 200
            assert "lexichord ingest FOLDER" in page.text
            assert httpx.get(address, params={"q": "zebra"}, timeout=60).status_code == 200


def test_a_question_is_answered_with_quotes_that_open_in_their_document(
    client: httpx.Client,
) -> None:
    answer = client.get(
        "/", params={"q": "What is the rent of the zebra house?", "document": "lease.txt"}
    )
    page = Elements(answer.text)
    assert "The rent of the zebra house is EUR 900." in " ".join(page.text.split())
    assert "<mark>The rent of the zebra house is EUR 900.</mark>" in answer.text
    assert "no embedder for test/tiny/4" in page.text  # what it had to do without
    assert "Confidence" in page.text
    assert "lease.txt, section 1" in page.text
    opens = [each["href"] for each in page.all("a") if each.get("data-act") == "open"]
    opened = client.get(opens[0] or "")
    marks = re.findall(r'<mark data-quote="0"[^>]*class="([^"]*)">([^<]*)</mark>', opened.text)
    sentence = "The rent of the zebra house is EUR 900."
    assert marks == [("current", "1. Rent\n"), ("current answer", sentence)]


def test_an_address_names_so_many_places_and_no_more(client: httpx.Client) -> None:
    places = "&".join(f"also={start}-{start + 1}&answer={start}-{start + 1}" for start in range(90))
    many = client.get(f"/document/lease.txt?start=90&end=95&{places}&{places}&also=96-97").text
    assert len(many) < 2_000_000
    assert "96-97" not in many


def test_a_hit_shows_the_ranks_and_scores_of_its_channels(client: httpx.Client) -> None:
    page = client.get("/", params={"q": "zebra", "k": 1}).text
    table = page[page.index("Ranks and scores of hit 1") :]
    rows = table[: table.index("</table>")].split("<tr>")[1:]
    header, ranks, scores = (Elements(row).text.split() for row in rows)
    assert header[:3] == ["dense", "keyword", "original"]
    assert ranks[:4] == ["rank", "–", "1", "1"]
    assert float(scores[2]) > 0


def test_the_lists_of_each_hit_are_those_of_explain(client: httpx.Client, filled: str) -> None:
    page = client.get("/", params={"q": "zebra notice", "k": 2}).text
    with SyncLexichord(dsn=filled) as core:
        hits = core.explain("zebra notice", k=2, answer=True).to_dict()["hits"]
    body = page.partition('class="origins"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    shown = [Elements(row).text.split() for row in body.split("<tr>")[1:]]
    assert len(shown) == len(hits) == 2
    for row, hit in zip(shown, hits, strict=True):
        ranks = [str(one["rank"] or "–") for one in hit["lists"].values()]
        assert row[3:] == [*ranks[:2], *row[5:6], *ranks[2:], f"{hit['score']:.4f}"]
        assert row[5].startswith("+")  # of its file, which the question suggests


def test_a_comparison_is_a_table_and_says_what_is_missing(client: httpx.Client) -> None:
    question = (
        "Compare the notice and the governing law in the Office Lease and the Software Licence"
    )
    page = Elements(client.get("/", params={"q": question}).text)
    words = " ".join(page.text.split())
    assert "ninety days" in words
    assert "thirty days" in words
    assert "not found in this file" in words


def test_a_question_that_nothing_answers_is_said_to_have_none(client: httpx.Client) -> None:
    page = client.get("/", params={"q": "What does the quokka eat?"}).text
    assert 'id="none">No answer' in page
    assert 'id="answer">' not in page


def test_the_fields_reach_the_search_and_are_shown_again(client: httpx.Client) -> None:
    fields = {
        "q": "days",
        "dataset": "open",
        "folder": "contracts/lic",
        "mode": "keyword",
        "k": "3",
    }
    page = Elements(client.get("/", params={**fields, "intent": "list_all", "rewrite": "1"}).text)
    shown = {each.get("name"): each.get("value") for each in page.all("input")}
    assert (shown["q"], shown["folder"], shown["k"]) == ("days", "contracts/lic", "3")
    chosen = [each["value"] for each in page.all("option") if "selected" in each]
    assert chosen == ["open", "list_all", "keyword", "1"]
    assert "Software Licence" in page.text
    assert "Office Lease" not in page.text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"k": "0"}, "1 to 100"),
        ({"k": "many"}, "1 to 100"),
        ({"k": "²"}, "1 to 100"),
        ({"intent": "guess"}, "no intent 'guess'"),
        ({"mode": "psychic"}, "no mode"),
        ({"mode": "dense"}, "needs an embedder"),
        ({"q": "x" * 2001}, "2,000 characters"),
        ({"q": "zebra\0"}, "NUL"),
    ],
)
def test_what_cannot_be_meant_is_said_and_can_be_mended(
    client: httpx.Client, fields: dict[str, str], message: str
) -> None:
    answer = client.get("/", params={"q": "zebra", **fields})
    assert answer.status_code == 400
    assert answer.headers["content-type"].startswith("text/html")
    page = Elements(answer.text)
    assert message in page.text
    assert fields.get("q", "zebra") in [each.get("value") for each in page.all("input")]


def test_what_is_not_there_is_a_page(client: httpx.Client) -> None:
    for path in (
        "/document/1",
        "/document/doc_vhsvemia3hqupzas",
        "/document/nothing.txt",
        "/?q=x&dataset=nowhere",
    ):
        answer = client.get(path)
        assert answer.status_code == 404, path
        assert "Not there" in answer.text


@pytest.mark.parametrize("path", ["/", "/?q=zebra", "/document/lease.txt", "/document/99999"])
def test_head_is_answered_as_get_without_the_page(client: httpx.Client, path: str) -> None:
    head, get = client.head(path), client.get(path)
    assert (head.status_code, head.text) == (get.status_code, "")
    assert head.headers["content-security-policy"] == get.headers["content-security-policy"]


@pytest.mark.parametrize(
    "place",
    ["start=0&end=7", "start=7&end=0", "start=-1&end=5", "start=x&end=²", "start=5&end=99999999"],
)
def test_a_document_is_shown_whole_whatever_the_place(client: httpx.Client, place: str) -> None:
    page = client.get(f"/document/lease.txt?{place}&also=3-9&also=nonsense").text
    start, end = page.index('<div class="whole'), page.index("</article>")
    shown = Elements(page[start:end]).text
    assert "".join(shown.split()) == (
        "1.RentTherentofthezebrahouseisEUR900.2.NoticeEitherzebrapartygivesninetydays."
        "3.LawThelawofGhentgoverns."
    )


@pytest.mark.parametrize(
    "path", ["/", "/?q=giraffe", f"/document/{MARKED}%22%20onmouseover=%22alert(1)"]
)
def test_no_text_of_a_document_can_act(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert HOSTILE in unescape(answer.text)  # it is shown, as text
    _assert_harmless(Elements(answer.text))


@pytest.mark.parametrize("name", ["q", "hint", "folder", "dataset", "document", "intent", "k"])
def test_no_text_of_the_address_can_act(client: httpx.Client, name: str) -> None:
    page = client.get("/", params={"q": "zebra", name: f'{HOSTILE}" onfocus="alert(1)'})
    assert page.status_code in (200, 400, 404)
    _assert_harmless(Elements(page.text))


def _assert_harmless(page: Elements) -> None:
    assert {each.get("src") for each in page.all("script")} <= OWN_SCRIPTS
    assert not page.all("img")
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag
        for name in ("src", "href", "action"):
            assert (attributes.get(name) or "/").startswith(("/", "#", "?")), attributes
            assert not (attributes.get(name) or "").startswith("//"), attributes


def test_every_page_forbids_all_that_is_not_its_own(client: httpx.Client) -> None:
    for path in ("/", "/?q=zebra", "/document/lease.txt", "/document/99999", "/?q=x&k=0"):
        headers = client.get(path).headers
        policy = dict(
            part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
        )
        assert policy == {
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'self'",
            "img-src": "'self'",
            "connect-src": "'self'",
            "form-action": "'self'",
            "frame-ancestors": "'none'",
            "base-uri": "'none'",
        }
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


def test_the_page_of_the_api_may_do_no_more_than_show_its_own_icons(client: httpx.Client) -> None:
    policy = client.get("/docs").headers["content-security-policy"]
    usual = client.get("/").headers["content-security-policy"]
    assert policy.replace("img-src 'self' data:", "img-src 'self'") == usual != policy


def test_the_files_of_the_api_page_are_of_this_server(stranger: httpx.Client) -> None:
    page = Elements(stranger.get("/docs").text)
    scripts = [each.get("src") or "" for each in page.all("script")]
    files = scripts + [each.get("href") or "" for each in page.all("link")]
    assert len(files) == 5
    for file in files:
        assert file.startswith("/static/")
        assert stranger.get(file).status_code == 200


def test_the_files_of_a_page_are_there_and_nothing_beside_them(client: httpx.Client) -> None:
    page = Elements(client.get("/").text)
    for file in [each["src"] for each in page.all("script")] + [
        each["href"] for each in page.all("link")
    ]:
        assert client.get(file or "").status_code == 200
    for path in ("/static/", "/static/../app.py", "/static/%2e%2e/app.py", "/static/none.js"):
        assert client.get(path).status_code == 404


def test_without_a_key_a_page_asks_for_one_and_shows_nothing(stranger: httpx.Client) -> None:
    for path in ("/", "/?q=zebra", "/document/lease.txt?start=0&end=7"):
        answer = stranger.get(path)
        assert answer.status_code == 401
        assert "Office Lease" not in answer.text
        page = Elements(answer.text)
        (back,) = (each["value"] for each in page.all("input") if each.get("name") == "back")
        assert back == path
        assert [each.get("type") for each in page.all("input") if each.get("name") == "key"] == [
            "password"
        ]


@pytest.mark.parametrize(("site", "again"), [("cross-site", "0"), ("same-origin", None)])
def test_who_follows_a_link_from_elsewhere_comes_once_more_with_the_cookie(
    stranger: httpx.Client, site: str, again: str | None
) -> None:
    """A browser keeps a strict cookie back at first; the page that it is then shown is ours."""
    answer = stranger.get("/?q=zebra", headers={"sec-fetch-site": site})
    assert (answer.status_code, answer.headers.get("refresh")) == (401, again)


def test_a_key_opens_what_it_reaches_until_signed_out(
    stranger: httpx.Client, key: NewApiKey
) -> None:
    answer = sign_in(stranger, key.secret, "/?q=zebra")
    assert (answer.status_code, answer.headers["location"]) == (303, "/?q=zebra")
    cookie = answer.headers["set-cookie"]
    assert all(part in cookie for part in ("HttpOnly", "SameSite=strict", "Path=/"))
    assert "Secure" not in cookie
    pages = [stranger.get(path).text for path in ("/", "/?q=zebra", "/document/lease.txt")]
    assert all("Office Lease" in page and key.secret not in page for page in pages)
    assert "closed" not in Elements(pages[0]).text
    assert stranger.get(f"/document/{MARKED}%22%20onmouseover=%22alert(1)").status_code == 404
    assert stranger.get("/", params={"q": "zebra", "dataset": "closed"}).status_code == 403
    origin = {"origin": str(stranger.base_url).rstrip("/")}
    assert stranger.post("/logout", headers=origin).status_code == 303
    assert stranger.get("/").status_code == 401


def test_behind_https_the_cookie_stays_there(stranger: httpx.Client, key: NewApiKey) -> None:
    host = stranger.base_url.netloc.decode()
    answer = sign_in(stranger, key.secret, origin=f"https://{host}")
    assert "Secure" in answer.headers["set-cookie"]


@pytest.mark.parametrize("secret", ["", "lx_wrong", "x\r\nset-cookie: a=b", "é"])
def test_a_wrong_key_is_refused_and_not_shown_again(stranger: httpx.Client, secret: str) -> None:
    answer = sign_in(stranger, secret)
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert not secret or secret not in answer.text


@pytest.mark.parametrize(
    "back",
    ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:x", "/\r\nx: y"],
)
def test_signing_in_leads_nowhere_else(stranger: httpx.Client, key: NewApiKey, back: str) -> None:
    assert sign_in(stranger, key.secret, back).headers["location"] == "/"


@pytest.mark.parametrize(
    "sent",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://[no"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},  # another port of the same machine
    ],
)
def test_a_form_of_another_site_signs_nobody_in_or_out(
    stranger: httpx.Client, key: NewApiKey, sent: dict[str, str]
) -> None:
    answer = sign_in(stranger, key.secret, **sent)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    own = {"origin": str(stranger.base_url).rstrip("/")}
    refused = stranger.post("/logout", headers=own | sent)
    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers


@pytest.mark.parametrize("kind", ["multipart/form-data", "multipart/form-data; boundary=x"])
def test_what_is_no_form_is_refused(stranger: httpx.Client, kind: str) -> None:
    headers = {"origin": str(stranger.base_url).rstrip("/"), "content-type": kind}
    answer = stranger.post("/login", content=b"--x\xff", headers=headers)
    assert answer.status_code == 400
    assert "cannot be read" in answer.text


async def test_the_cookie_opens_pages_only(filled: str, key: NewApiKey) -> None:
    """Of the other routes each could be called by a page elsewhere, if a browser's cookie did."""
    async with Lexichord(dsn=filled, allowed_hosts=OUTSIDE) as core:
        app = create_http_app(await AccessPolicy.open(core, "127.0.0.1"))
        cookie = f"{KEY_COOKIE}={key.secret}".encode()
        request = Request({"type": "http", "app": app, "headers": [(b"cookie", cookie)]})
        assert (await page_caller(request)).rights.key_id == key.key.key_id
        with pytest.raises(AccessError):
            await find_caller(request)


def test_a_cookie_of_another_port_shuts_nobody_out(client: httpx.Client) -> None:
    client.cookies.set(KEY_COOKIE, "lx_of_another_server")
    assert client.get("/").status_code == 200


def test_what_a_query_had_to_do_without_names_no_address_of_ours(embedded_dsn: str) -> None:
    """The service that is to embed does not answer."""
    with new_database(embedded_dsn) as dsn:
        space = EmbeddingSpace("openai", "tiny", 4)
        schema.prepare(dsn, schema.Choice("plain", "english", space))
        with served(dsn, embedding_base_url="http://127.0.0.1:9/inside") as address:
            answer = httpx.get(address, params={"q": "zebra"}, timeout=60)
    assert answer.status_code == 200
    assert "no vectors, by words only" in answer.text
    assert "127.0.0.1:9" not in answer.text
    assert "inside" not in answer.text


def test_what_takes_too_long_is_a_page(embedded_dsn: str) -> None:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with served(dsn, request_timeout=3) as address, psycopg.connect(dsn) as holder:
            httpx.get(address, params={"q": "zebra"}, timeout=60)  # a first search is slow
            holder.execute("lock table lexichord_data.document in access exclusive mode")
            answer = httpx.get(address, params={"q": "zebra"}, timeout=60)
            assert answer.status_code == 504
            assert "It took too long" in answer.text
            holder.rollback()
            assert httpx.get(address, params={"q": "zebra"}, timeout=60).status_code == 200


def test_a_database_that_is_away_is_a_page_without_its_address(embedded_dsn: str) -> None:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with served(dsn) as address:
            assert httpx.get(address, timeout=60).status_code == 200
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute("alter schema lexichord rename to gone")
            answer = httpx.get(address, params={"q": "zebra"}, timeout=60)
    assert answer.status_code == 503
    assert "the database could not answer" in answer.text
    assert "gone" not in answer.text
    assert "select" not in Elements(answer.text).text
