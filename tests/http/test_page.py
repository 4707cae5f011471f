"""The pages over a real socket: what they show, to whom, and that no text of others can act."""

import re
from collections.abc import Iterator
from html import unescape

import httpx
import psycopg
import pytest
from fastapi import Request

from lexichord import Lexichord
from lexichord.db import schema
from lexichord.errors import AccessError
from lexichord.retrieve.judged_hits import READ_WEIGHT
from lexichord.serve.access import AccessPolicy
from lexichord.serve.http import find_caller
from lexichord.serve.http.app import create_http_app
from lexichord.serve.page import KEY_COOKIE, page_caller
from lexichord.types import EmbeddingSpace
from tests.conftest import new_database
from tests.end_to_end.llm_replies import grades, replying
from tests.http.pages import HOSTILE, HOUSE, MARKED, OWN_SCRIPTS, Elements, between, words
from tests.http.served import NAME, Served, new_client, serve, serve_documents
from tests.providers.chat_servers import chat_server

TRAP_PATH = f"/document/{MARKED}%22%20onmouseover=%22alert(1)"


@pytest.fixture(scope="module")
def house(bare: str) -> Iterator[Served]:
    with serve_documents(bare, HOUSE) as served:
        yield served


@pytest.fixture(scope="module")
def guarded(house: Served) -> Iterator[Served]:
    """A server that needs a key, of which one reaches the dataset `open` only."""
    with serve(house.dsn, {"Ann": {"datasets": ["open"]}}) as served:
        yield served


@pytest.fixture
def client(house: Served) -> httpx.Client:
    return house.by()


@pytest.fixture
def stranger(guarded: Served) -> Iterator[httpx.Client]:
    """A browser that has no cookie yet."""
    with new_client(guarded.url, origin=guarded.url) as client:
        yield client


def sign_in(stranger: httpx.Client, secret: str, back: str = "/", **headers: str) -> httpx.Response:
    return stranger.post("/login", data={"key": secret, "back": back}, headers=headers)


def test_the_first_page_says_what_is_stored(client: httpx.Client) -> None:
    page = client.get("/").text
    assert "closed 1 1" in words(page)
    assert "open 2 4" in words(page)
    assert "data-awaited" in str(Elements(page).all("section"))  # examples are not waited for


def test_an_empty_database_says_how_to_fill_it(fresh: str) -> None:
    with serve(fresh) as served:
        assert "lexichord ingest FOLDER" in served.by().get("/").text
        assert served.by().get("/?q=zebra").status_code == 200


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


def test_the_lists_of_each_hit_are_those_of_explain(client: httpx.Client, house: Served) -> None:
    page = client.get("/", params={"q": "zebra notice", "k": 2}).text
    hits = house.lexichord.explain(
        house.lexichord.query("zebra notice", k=2, answer=True)
    ).to_dict()["hits"]
    body = between(page[page.index('class="origins"') :], "<tbody>", "</tbody>")
    shown = [Elements(row).text.split() for row in body.split("<tr>")[1:]]
    assert len(shown) == len(hits) == 2
    for row, hit in zip(shown, hits, strict=True):
        ranks = [str(one["rank"] or "–") for one in hit["lists"].values()]
        likely, ways = hit["read"], hit["score"] - READ_WEIGHT * hit["read"]
        figures = [f"{ways:.4f}", f"{likely:.2f}"]
        assert row[3:] == [*ranks[:2], *row[5:6], *ranks[2:], *figures]
        assert row[5].startswith("+")  # of its file, which the question suggests
    table = between(page, "Ranks and scores of hit 1", "</table>")
    header, ranks, scores = (Elements(row).text.split() for row in table.split("<tr>")[1:])
    assert header[:3] == ["dense", "keyword", "original"]
    assert ranks[:4] == ["rank", "–", "1", "1"]
    assert float(scores[2]) > 0


def test_a_question_that_nothing_answers_is_said_to_have_none(client: httpx.Client) -> None:
    page = client.get("/", params={"q": "What does the quokka eat?"}).text
    assert 'id="none">No answer' in page
    assert 'id="answer">' not in page


def test_the_fields_reach_the_search_and_are_shown_again(client: httpx.Client) -> None:
    fields = "q=days&dataset=open&folder=contracts/lic&mode=keyword&k=3&intent=list_all&rewrite=1"
    page = Elements(client.get(f"/?{fields}").text)
    shown = {each.get("name"): each.get("value") for each in page.all("input")}
    assert (shown["q"], shown["folder"], shown["k"]) == ("days", "contracts/lic", "3")
    chosen = [each["value"] for each in page.all("option") if "selected" in each]
    assert chosen == ["open", "list_all", "keyword", "1"]
    assert "rewrite" not in shown  # there is no model
    assert "Software Licence" in page.text
    assert "Office Lease" not in page.text


def test_other_words_are_offered_where_a_model_finds_them(house: Served) -> None:
    with serve(house.dsn, llm="openai/any", llm_base_url="http://127.0.0.1:9/v1") as served:
        form = Elements(served.by().get("/").text)
    assert "rewrite" in [each.get("name") for each in form.all("input")]


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
    paths = ("/document/1", "/document/doc_vhsvemia3hqupzas", "/document/nothing.txt")
    for path in (*paths, "/?q=x&dataset=nowhere"):
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
    shown = words("<div" + between(page, '<div class="whole', "</article>"))
    assert shown.replace(" ", "") == (
        "1.RentTherentofthezebrahouseisEUR900.2.NoticeEitherzebrapartygivesninetydays."
        "3.LawThelawofGhentgoverns."
    )


@pytest.mark.parametrize("path", ["/", "/?q=giraffe", TRAP_PATH])
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


@pytest.mark.parametrize("intent", ["", "clause_lookup", "summary", "comparison"])
def test_no_text_of_a_model_can_act(house: Served, intent: str) -> None:
    """It replies with marks and scripts wherever a reply has text."""
    text = f'words of a model {HOSTILE}" onfocus="alert(1) [x](javascript:alert(1))'
    parts: dict[str, object] = {"entities": [text], "sub_questions": [text]}
    reply = replying(
        intent={"kind": intent or "clause_lookup", "question": text, "hint": text, **parts}
        | {"domain": text, "reason": text},
        rewrite={"kind": "expand", "text": text, "confidence": 1, "reason": text},
        boost={"keyword_sets": [{"keywords": [text], "reason": text}]},
        clauses={"clauses": [{"quote": text, "source": 1}], "answer": text},
        summary={"sentences": [{"text": text, "sources": [1]}]},
        comparison={"cells": [{"document": 1, "aspect": text, "text": text, "source": 1}]},
        grade=grades(0.5, text),
    )
    asked = {"q": "zebra giraffe", "intent": intent, "rewrite": "1"}
    with (
        chat_server(reply) as server,
        serve(house.dsn, llm="openai/any", llm_base_url=server.url, llm_api_key="k") as served,
    ):
        page = served.by().get("/", params=asked)
        assert page.status_code == 200
        assert server.requests
    shown = Elements(page.text)
    assert "words of a model" in shown.text
    _assert_harmless(shown)


def _assert_harmless(page: Elements) -> None:
    assert {each.get("src") for each in page.all("script")} <= OWN_SCRIPTS
    assert not page.all("img")
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag
        for name in ("src", "href", "action"):
            assert (attributes.get(name) or "/").startswith(("/", "#", "?")), attributes
            assert not (attributes.get(name) or "").startswith("//"), attributes


def test_every_page_forbids_all_that_is_not_its_own(client: httpx.Client) -> None:
    own = "script-src style-src img-src connect-src form-action"
    allowed = dict.fromkeys(own.split(), "'self'")
    nothing = dict.fromkeys(("default-src", "frame-ancestors", "base-uri"), "'none'")
    for path in ("/", "/?q=zebra", "/document/lease.txt", "/document/99999", "/?q=x&k=0"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"].split(";")
        assert dict(part.strip().split(" ", 1) for part in policy) == allowed | nothing
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
    icons = client.get("/docs").headers["content-security-policy"]  # those of the API's page
    assert icons.replace("img-src 'self' data:", "img-src 'self'") == ";".join(policy) != icons


def test_the_files_of_a_page_are_there_and_nothing_beside_them(stranger: httpx.Client) -> None:
    for path, amount in (("/", 2), ("/docs", 5)):
        page = Elements(stranger.get(path).text)
        files = [each.get("src") for each in page.all("script")]
        files += [each.get("href") for each in page.all("link")]
        assert len(files) >= amount
        for file in files:
            assert (file or "").startswith("/static/")
            assert stranger.get(file or "").status_code == 200
    for path in ("/static/", "/static/../app.py", "/static/%2e%2e/app.py", "/static/none.js"):
        assert stranger.get(path).status_code == 404


def test_without_a_key_a_page_asks_for_one_and_shows_nothing(stranger: httpx.Client) -> None:
    for path in ("/", "/?q=zebra", "/document/lease.txt?start=0&end=7"):
        answer = stranger.get(path)
        assert answer.status_code == 401
        assert "Office Lease" not in answer.text
        fields = {each.get("name"): each for each in Elements(answer.text).all("input")}
        assert fields["back"]["value"] == path
        assert fields["key"]["type"] == "password"


@pytest.mark.parametrize(("site", "again"), [("cross-site", "0"), ("same-origin", None)])
def test_who_follows_a_link_from_elsewhere_comes_once_more_with_the_cookie(
    stranger: httpx.Client, site: str, again: str | None
) -> None:
    """A browser keeps a strict cookie back at first; the page that it is then shown is ours."""
    answer = stranger.get("/?q=zebra", headers={"sec-fetch-site": site})
    assert (answer.status_code, answer.headers.get("refresh")) == (401, again)


def test_a_key_opens_what_it_reaches_until_signed_out(
    stranger: httpx.Client, guarded: Served
) -> None:
    secret = guarded.keys["Ann"]
    answer = sign_in(stranger, secret, "/?q=zebra")
    assert (answer.status_code, answer.headers["location"]) == (303, "/?q=zebra")
    cookie = answer.headers["set-cookie"]
    assert all(part in cookie for part in ("HttpOnly", "SameSite=strict", "Path=/"))
    assert "Secure" not in cookie
    pages = [stranger.get(path).text for path in ("/", "/?q=zebra", "/document/lease.txt")]
    assert all("Office Lease" in page and secret not in page for page in pages)
    assert "closed" not in words(pages[0])
    assert stranger.get(TRAP_PATH).status_code == 404
    assert stranger.get("/", params={"q": "zebra", "dataset": "closed"}).status_code == 403
    assert stranger.post("/logout").status_code == 303
    assert stranger.get("/").status_code == 401
    behind = stranger.base_url.copy_with(scheme="https")
    assert "Secure" in sign_in(stranger, secret, origin=str(behind)).headers["set-cookie"]


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
def test_signing_in_leads_nowhere_else(stranger: httpx.Client, guarded: Served, back: str) -> None:
    assert sign_in(stranger, guarded.keys["Ann"], back).headers["location"] == "/"


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
    stranger: httpx.Client, guarded: Served, sent: dict[str, str]
) -> None:
    secret = guarded.keys["Ann"]
    for answer in (sign_in(stranger, secret, **sent), stranger.post("/logout", headers=sent)):
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("kind", ["multipart/form-data", "multipart/form-data; boundary=x"])
def test_what_is_no_form_is_refused(stranger: httpx.Client, kind: str) -> None:
    answer = stranger.post("/login", content=b"--x\xff", headers={"content-type": kind})
    assert answer.status_code == 400
    assert "cannot be read" in answer.text


async def test_the_cookie_opens_pages_only(guarded: Served) -> None:
    """Of the other routes each could be called by a page elsewhere, if a browser's cookie did."""
    async with Lexichord(dsn=guarded.dsn, allowed_hosts=NAME) as core:
        app = create_http_app(await AccessPolicy.open(core, "127.0.0.1"))
        cookie = f"{KEY_COOKIE}={guarded.keys['Ann']}".encode()
        request = Request({"type": "http", "app": app, "headers": [(b"cookie", cookie)]})
        assert (await page_caller(request)).rights.datasets == ("open",)
        with pytest.raises(AccessError):
            await find_caller(request)


def test_a_cookie_of_another_port_shuts_nobody_out(house: Served) -> None:
    cookie = {"cookie": f"{KEY_COOKIE}=lx_of_another_server"}
    assert house.by().get("/", headers=cookie).status_code == 200


def test_what_a_query_had_to_do_without_names_no_address_of_ours(embedded_dsn: str) -> None:
    """The service that is to embed does not answer."""
    with new_database(embedded_dsn) as dsn:
        space = EmbeddingSpace("openai", "tiny", 4)
        schema.prepare(dsn, schema.Choice("plain", "english", space))
        with serve(dsn, embedding_base_url="http://127.0.0.1:9/inside") as served:
            answer = served.by().get("/?q=zebra")
    assert answer.status_code == 200
    assert "no vectors, by words only" in answer.text
    assert "127.0.0.1:9" not in answer.text
    assert "inside" not in answer.text


def test_a_database_that_is_slow_or_away_is_a_page_without_its_address(fresh: str) -> None:
    with (
        serve(fresh, request_timeout=3) as served,
        psycopg.connect(fresh) as holder,
        psycopg.connect(fresh, autocommit=True) as owner,
    ):
        client = served.by()
        client.get("/?q=zebra")  # a first search is slow
        holder.execute("lock table lexichord_data.document in access exclusive mode")
        answer = client.get("/?q=zebra")
        assert (answer.status_code, "It took too long" in answer.text) == (504, True)
        holder.rollback()
        assert client.get("/?q=zebra").status_code == 200
        owner.execute("alter schema lexichord rename to gone")
        answer = client.get("/?q=zebra")
    assert answer.status_code == 503
    assert "the database could not answer" in answer.text
    assert "gone" not in answer.text
    assert "select" not in words(answer.text)
