"""What the page offers to find with: facets, a comparison's files and downloads, judgments."""

import csv
import io
import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import urlencode

import httpx
import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.serve.page.find import completions
from lexichord.types import Json
from tests.conftest import SPACE, new_database
from tests.http.served_page import served
from tests.http.test_page import Elements

HOSTILE = '"><script>alert(1)</script>'
WRITER = '"Cy Roe" <cy@example.org>'
DOCUMENTS: list[Json] = [
    {
        "uri": "all/legal/old/lease.pdf",
        "title": "Office Lease",
        "media_type": "application/pdf",
        "metadata": {"created": "2023-05-04T17:47:22Z", "author": "Ann Lee", "language": "en"},
        "text": "1. Notice\n\nEither zebra party gives ninety days' notice.\n\n"
        "2. Law\n\nThe law of Ghent governs.",
    },
    {
        "uri": "all/legal/licence.md",
        "title": "Software Licence",
        "media_type": "text/markdown",
        "metadata": {"created": "2024-01-01", "author": ["Ann Lee", "Bo"], "language": "en-US"},
        "text": "# Notice\n\nThe zebra licensee gives thirty days' notice.\n\n"
        "# Law\n\nThe law of Bern governs.",
    },
    {
        "uri": "all/mail/zebra.eml",
        "title": "Zebra mail",
        "media_type": "message/rfc822",
        "metadata": {"created": "2024-12-31", "author": [HOSTILE, WRITER], "language": "de"},
        "text": "The zebra house is let. No notice was given.",
    },
]


@pytest.fixture(scope="module")
def filled(embedded_dsn: str) -> Iterator[str]:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with SyncLexichord(dsn=dsn) as core:
            core.ingest(documents=DOCUMENTS, dataset="one")
            core.ingest(documents=[{"uri": "all/note.txt", "text": "A zebra note."}], dataset="two")
        yield dsn


@pytest.fixture(scope="module")
def client(filled: str) -> Iterator[httpx.Client]:
    with served(filled) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def facets(page: str) -> dict[str, dict[str, str]]:
    """Return the addresses of the facets of a page, by title and by value with count."""
    part = page.partition('id="facets"')[2].partition("</nav>")[0]
    found = {}
    for section in part.split("<h3>")[1:]:
        links = Elements(section).all("a")
        texts = [" ".join(Elements(one).text.split()) for one in section.split("<li>")[1:]]
        found[section.partition("<")[0]] = dict(
            zip(texts, [link["href"] or "" for link in links], strict=True)
        )
    return found


def files_of(page: str) -> set[str]:
    hits = page[page.index('id="hits"') : page.index("<aside")]
    return {name for name in ("lease.pdf", "licence.md", "zebra.eml", "note.txt") if name in hits}


def test_facets_count_what_their_links_then_find(client: httpx.Client) -> None:
    page = client.get("/", params={"q": "zebra"}).text
    shown = facets(page)
    assert {title: list(values) for title, values in shown.items()} == {
        "Dataset": ["one 3", "two 1"],
        "Kind": ["PDF 1", "Mail 1", "Markdown 1", "Plain text 1"],
        "Folder": ["legal/ 2", "mail/ 1"],
        "Year": ["2024 2", "2023 1"],
        "Language": ["German 1", "English 1", "English (United States) 1"],
        "Author": ["Ann Lee 2", f"{HOSTILE} 1", "Cy Roe 1", "Bo 1"],
    }
    for values in shown.values():
        for text, address in values.items():
            assert len(files_of(client.get(address).text)) == int(text.split()[-1]), address
    assert HOSTILE not in page


def test_facets_add_up_and_each_is_taken_away_by_its_chip(client: httpx.Client) -> None:
    first = facets(client.get("/", params={"q": "zebra"}).text)["Author"]["Ann Lee 2"]
    second = client.get(facets(client.get(first).text)["Year"]["2023 1"]).text
    assert files_of(second) == {"lease.pdf"}
    assert facets(second) == {}  # one document is not narrowed further
    chips = second[second.index('class="chips"') : second.index("<details")]
    texts = [" ".join(Elements(one).text.split()) for one in chips.split("<li>")[1:]]
    assert texts == ["Year 2023 ×", "Author Ann Lee ×"]
    back = [link["href"] or "" for link in Elements(chips).all("a")]
    assert files_of(client.get(back[0]).text) == {"lease.pdf", "licence.md"}
    # Another question of the form keeps what is chosen.
    hidden = [each for each in Elements(second).all("input") if each.get("type") == "hidden"]
    kept = {each["name"]: each["value"] for each in hidden}
    assert kept == {"year": "2023", "author": "Ann Lee"}


def test_a_facet_that_nothing_has_says_so_and_can_be_taken_away(client: httpx.Client) -> None:
    answer = client.get("/", params={"q": "zebra", "author": "Ann", "dataset": "two"})
    assert answer.status_code == 400
    assert "no document in scope has the key" in answer.text
    assert 'class="chips"' in answer.text
    assert client.get("/", params={"q": "zebra", "year": "%"}).status_code == 400


def test_many_documents_are_counted_when_asked(
    filled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexichord.serve.page.routes.MAX_FACETED_DOCUMENTS", 3)
    with served(filled) as address, httpx.Client(base_url=address, timeout=60) as client:
        page = client.get("/", params={"q": "zebra", "year": "2024"}).text
        assert facets(page) == {}
        (link,) = [each for each in Elements(page).all("a") if "facets=1" in (each["href"] or "")]
        assert "Kind" in facets(client.get(link["href"] or "").text)


COMPARED = "Compare the notice and the law in the Office Lease and the Software Licence"


def picker(page: str) -> tuple[dict[str, bool], list[tuple[str, str]]]:
    """Return a page's choices of rows by title, chosen or not, and what its form sends then."""
    part = page.partition('class="picker"')[2].partition("</form>")[0]
    inputs = Elements(part).all("input")
    sent = [(one["name"] or "", one["value"] or "") for one in inputs if one.get("value")]
    choices = {}
    for item in part.partition("</ul>")[0].split("<li>")[1:]:
        (box,) = Elements(item).all("input")
        title = Elements(item.partition("<bdi>")[2].partition("</bdi>")[0]).text
        choices[title] = "checked" in box
    return choices, sent


def rows_of(page: str) -> list[str]:
    table = page.partition('<tbody role="rowgroup">')[2].partition("</tbody>")[0]
    heads = [row.partition("</th>")[0] for row in table.split('<tr role="row">')[1:]]
    return [Elements(head).text.strip() for head in heads]


def test_the_rows_of_a_comparison_are_the_files_that_are_chosen(client: httpx.Client) -> None:
    page = client.get("/", params={"q": COMPARED}).text
    assert rows_of(page) == ["Office Lease", "Software Licence"]
    choices, sent = picker(page)
    assert choices["Office Lease"] is choices["Software Licence"] is True
    assert choices["Zebra mail"] is False  # of a small corpus all can be chosen
    ids = {name: value for name, (_, value) in zip(choices, sent[-len(choices) :], strict=True)}
    kept = [pair for pair in sent if pair[0] != "document"]
    wanted = [*kept, ("document", ids["Zebra mail"]), ("document", ids["Office Lease"])]
    again = client.get(f"/?{urlencode(wanted)}").text
    assert rows_of(again) == ["Zebra mail", "Office Lease"]  # by choice, not by name
    assert "not found in this file" in again
    assert "Law" in again.partition("<thead")[2].partition("</thead>")[0].title()
    chosen = [title for title, is_row in picker(again)[0].items() if is_row]
    assert chosen == ["Zebra mail", "Office Lease"]


def test_a_comparison_without_columns_of_its_own_keeps_them_with_other_files(
    client: httpx.Client,
) -> None:
    """Its question is nothing but names: the columns are headings that the files share."""
    page = client.get("/", params={"q": "Compare the Office Lease and the Software Licence"}).text
    head = page.partition('<thead role="rowgroup">')[2].partition("</thead>")[0]
    aspects = [Elements(cell).text for cell in head.split('role="columnheader">')[2:]]
    (question,) = [value for name, value in picker(page)[1] if name == "q"]
    assert question == f"Compare {', '.join(aspects)}"


def test_a_row_of_a_table_is_compared_without_its_bars(embedded_dsn: str) -> None:
    table = "# Notice\n\n| Party | Notice |\n| --- | --- |\n| tenant | *ninety* days |\n"
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with SyncLexichord(dsn=dsn) as core:
            core.ingest(documents=[{"uri": f"{n}.md", "title": n, "text": table} for n in "ab"])
        with served(dsn) as address:
            params = {"q": "Compare notice of the tenant", "intent": "comparison"}
            page = httpx.get(address, params=params, timeout=60).text
    rows = page.partition('<tbody role="rowgroup">')[2].partition("</tbody>")[0]
    assert "tenant · <em>ninety</em> days" in rows
    assert "|" not in rows


def test_a_comparison_is_taken_away_and_nothing_in_it_acts(embedded_dsn: str) -> None:
    evil = "=HYPERLINK(notice;ninety) <img src=x> [x](javascript:alert) is ninety days.\n"
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with SyncLexichord(dsn=dsn) as core:
            titles = ["=1+1", "@lease"]
            core.ingest(documents=[{"uri": t, "title": t, "text": evil} for t in titles])
        with served(dsn) as address:
            params = {"q": "Compare notice", "intent": "comparison"}
            sheet = httpx.get(f"{address}/comparison.csv", params=params, timeout=60)
            text = httpx.get(f"{address}/comparison.md", params=params, timeout=60)
            none = httpx.get(f"{address}/comparison.md", params={"q": "notice"}, timeout=60)
    assert sheet.headers["content-type"] == "text/csv; charset=utf-8"
    assert sheet.headers["content-disposition"] == 'attachment; filename="comparison.csv"'
    assert sheet.headers["x-content-type-options"] == "nosniff"
    (head, *rows) = csv.reader(io.StringIO(sheet.content.decode("utf-8-sig"), newline=""))
    assert head == ["File", "notice"]
    assert sorted(row[0] for row in rows) == ["'=1+1", "'@lease"]
    assert [row[1][:6] for row in rows] == ["'=HYPE", "'=HYPE"]
    assert text.headers["content-type"] == "text/markdown; charset=utf-8"
    lines = text.text.splitlines()
    assert lines[:4] == ["# Compare notice", "", "| File | notice |", "| --- | --- |"]
    assert len(lines) == 6
    assert not set("<[").intersection(text.text)
    assert (none.status_code, "compares nothing" in none.text) == (404, True)


def test_a_further_question_is_about_the_documents_that_were_named(client: httpx.Client) -> None:
    page = client.get("/", params={"q": "Which law governs the Office Lease?", "hint": ""}).text
    form = page.partition('class="further"')[2].partition("</form>")[0]
    assert "Ask further about Office Lease" in " ".join(Elements(form).text.split())
    sent = [(one["name"] or "", one["value"] or "") for one in Elements(form).all("input")[:-1]]
    assert [name for name, _ in sent] == ["document"]
    further = client.get("/", params=[*sent, ("q", "And how many days notice?")]).text
    assert files_of(further) == {"lease.pdf"}
    assert "About Office Lease ×" in " ".join(Elements(further).text.split())
    assert 'class="further"' not in further  # the form itself is about it now
    unsaid = client.get("/", params=[*sent, ("q", "Who let the zebra house?")]).text
    (everywhere,) = re.findall(r'<a href="([^"]*)">Ask all documents the same', unsaid)
    assert files_of(client.get(unescape(everywhere)).text) > {"lease.pdf"}


def test_what_is_typed_is_completed_by_titles_in_scope(client: httpx.Client) -> None:
    def suggest(**params: str) -> object:
        return client.get("/suggest", params=params).json()

    assert suggest(q="the law of the off") == ["the law of the Office Lease"]
    assert suggest(q="office lea") == ["Office Lease"]
    assert suggest(q="ze", language="en") == []
    assert suggest(q="ze", language="de") == ["Zebra mail"]
    assert suggest(q="z") == suggest(q="") == []


def test_what_is_typed_is_completed_by_headings_and_words_in_scope(client: httpx.Client) -> None:
    def suggest(**params: str) -> list[str]:
        found: list[str] = client.get("/suggest", params=params).json()
        return found

    assert suggest(q="who is the licen") == ["who is the Software Licence", "who is the licensee"]
    assert suggest(q="who is the licen", language="de") == []
    assert suggest(q="zebra hou", dataset="two") == []  # of another dataset, one of the same words
    assert suggest(q="zebra hou", dataset="one") == ["zebra house"]
    assert "Zebra mail" in suggest(q="zebra")
    assert suggest(q="gov") == ["governs"]
    assert suggest(q="go") == []


def test_many_titles_are_not_read_while_typing(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexichord.serve.page.find.MAX_LISTED_DOCUMENTS", 3)
    assert client.get("/suggest", params={"q": "office lea"}).json() == []
    assert client.get("/suggest", params={"q": "office lea", "dataset": "one"}).json() == [
        "Office Lease"
    ]


def test_a_title_completes_once_the_longest_first() -> None:
    titles = ["Lease of Office", "Office of Law", "Office\nof  Law", "Lawn"]
    assert completions("lease of", titles) == ["Lease of Office", "lease Office of Law"]
    assert completions("law", ["Law", "a law"]) == ["Law", "a law"]  # in their order
    assert completions("Office of Law", titles) == ["Office of Lawn"]
    assert completions("(", ["(a) b"]) == []
    assert len(completions("ab", [f"ab{n}" for n in range(30)])) == 10


QUESTION = "Which law governs the Office Lease?"


def judgment_of(page: str) -> dict[str, str]:
    """Return what the form below an answer sends; nothing where there is none."""
    form = page.partition('class="judge"')[2].partition("</form>")[0]
    return {each["name"] or "": each["value"] or "" for each in Elements(form).all("input")}


def test_a_recorded_answer_is_judged(filled: str) -> None:
    with (
        served(filled, record="text") as address,
        httpx.Client(base_url=address, timeout=60, headers={"origin": address}) as client,
        psycopg.connect(filled) as connection,
    ):
        sent = judgment_of(client.get("/", params={"q": QUESTION, "dataset": "one"}).text)
        answer = client.post("/judge", data=sent | {"judgment": "wrong"})
        assert answer.status_code == 303
        thanks = client.get(answer.headers["location"])
        assert "its answer is wrong" in thanks.text
        assert Elements(thanks.text).all("a")[-1]["href"] == (
            "/?q=Which+law+governs+the+Office+Lease%3F&dataset=one"
        )
        (row,) = connection.execute("select query, counts from lexichord.list_queries()").fetchall()
        assert (row[0], row[1]["wrong"], "right" in row[1]) == (QUESTION, 1, False)
        for judged, origin, status in (
            ({"judgment": "perhaps"}, address, 400),
            ({"judgment": "right", "query": "1"}, address, 404),
            ({"judgment": "right"}, "https://evil.example", 403),
        ):
            refused = client.post("/judge", data=sent | judged, headers={"origin": origin})
            assert refused.status_code == status
        same = connection.execute("select counts from lexichord.list_queries()").fetchall()
        assert same == [(row[1],)]


def test_what_is_not_recorded_is_not_judged(client: httpx.Client) -> None:
    page = client.get("/", params={"q": QUESTION}).text
    assert 'class="answer"' in page
    assert judgment_of(page) == {}


def test_a_key_that_only_reads_judges_nothing(filled: str) -> None:
    with SyncLexichord(dsn=filled) as core:
        secrets = [core.create_key("Ann").secret, core.create_key("Bo", writes=True).secret]
    with (
        served(filled, record="on", allowed_hosts="search.example.com") as address,
        httpx.Client(base_url=address, timeout=60, headers={"origin": address}) as client,
    ):
        reads, writes = ({"authorization": f"Bearer {secret}"} for secret in secrets)
        assert judgment_of(client.get("/", params={"q": QUESTION}, headers=reads).text) == {}
        sent = judgment_of(client.get("/", params={"q": QUESTION}, headers=writes).text)
        sent["judgment"] = "right"
        assert client.post("/judge", data=sent, headers=reads).status_code == 403
        assert client.post("/judge", data=sent, headers=writes).status_code == 303


def test_without_a_key_nothing_is_compared_completed_or_judged(filled: str) -> None:
    with SyncLexichord(dsn=filled) as core:
        secret = core.create_key("Cy", datasets=["two"]).secret
    with (
        served(filled, allowed_hosts="search.example.com") as address,
        httpx.Client(base_url=address, timeout=60, headers={"origin": address}) as client,
    ):
        asked = {"q": "office", "intent": "comparison"}
        for path in ("/comparison.csv", "/comparison.md", "/suggest", "/judged"):
            answer = client.get(path, params=asked)
            assert (answer.status_code, "Office Lease" in answer.text) == (401, False), path
        assert client.post("/judge", data={"judgment": "right"}).status_code == 401
        client.headers["authorization"] = f"Bearer {secret}"  # which reaches another dataset
        assert client.get("/suggest", params=asked).json() == []
        assert "Office Lease" not in client.get("/comparison.csv", params=asked).text
        assert facets(client.get("/", params={"q": "zebra"}).text) == {}
        assert client.get("/", params={"q": "zebra", "dataset": "one"}).status_code == 403
