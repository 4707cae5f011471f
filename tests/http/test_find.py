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

from lexichord.serve.page.routes import completions
from lexichord.types import Json
from tests.http.pages import Elements, between, words
from tests.http.served import Documents, Keys, Served, serve, serve_documents

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


STORED: Documents = {"one": DOCUMENTS, "two": [{"uri": "all/note.txt", "text": "A zebra note."}]}


@pytest.fixture(scope="module")
def served(bare: str) -> Iterator[Served]:
    with serve_documents(bare, STORED) as served:
        yield served


@pytest.fixture
def client(served: Served) -> httpx.Client:
    return served.by()


def facets(page: str) -> dict[str, dict[str, str]]:
    """Return the addresses of the facets of a page, by title and by value with count."""
    found = {}
    for section in between(page, 'id="facets"', "</nav>").split("<h3>")[1:]:
        links = [link["href"] or "" for link in Elements(section).all("a")]
        texts = [words(one) for one in section.split("<li>")[1:]]
        found[section.partition("<")[0]] = dict(zip(texts, links, strict=True))
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
    chips = between(second, 'class="chips"', "<details")
    texts = [words(one) for one in chips.split("<li>")[1:]]
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
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexichord.serve.page.routes.MAX_FACETED_DOCUMENTS", 3)
    page = client.get("/", params={"q": "zebra", "year": "2024"}).text
    assert facets(page) == {}
    (link,) = [each for each in Elements(page).all("a") if "facets=1" in (each["href"] or "")]
    assert "Kind" in facets(client.get(link["href"] or "").text)


COMPARED = "Compare the notice and the law in the Office Lease and the Software Licence"


def picker(page: str) -> tuple[dict[str, bool], list[tuple[str, str]]]:
    """Return a page's choices of rows by title, chosen or not, and what its form sends then."""
    part = between(page, 'class="picker"', "</form>")
    inputs = Elements(part).all("input")
    sent = [(one["name"] or "", one["value"] or "") for one in inputs if one.get("value")]
    choices = {}
    for item in part.partition("</ul>")[0].split("<li>")[1:]:
        (box,) = Elements(item).all("input")
        choices[words(between(item, "<bdi>", "</bdi>"))] = "checked" in box
    return choices, sent


def rows_of(page: str) -> list[str]:
    rows = between(page, '<tbody role="rowgroup">', "</tbody>").split('<tr role="row">')[1:]
    return [words(row.partition("</th>")[0]) for row in rows]


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
    assert "Law" in between(again, "<thead", "</thead>").title()
    chosen = [title for title, is_row in picker(again)[0].items() if is_row]
    assert chosen == ["Zebra mail", "Office Lease"]


def test_a_comparison_without_columns_of_its_own_keeps_them_with_other_files(
    client: httpx.Client,
) -> None:
    """Its question is nothing but names: the columns are headings that the files share."""
    page = client.get("/", params={"q": "Compare the Office Lease and the Software Licence"}).text
    head = between(page, '<thead role="rowgroup">', "</thead>")
    aspects = [Elements(cell).text for cell in head.split('role="columnheader">')[2:]]
    (question,) = [value for name, value in picker(page)[1] if name == "q"]
    assert question == f"Compare {', '.join(aspects)}"


def test_a_row_of_a_table_is_compared_without_its_bars(bare: str) -> None:
    table = "# Notice\n\n| Party | Notice |\n| --- | --- |\n| tenant | *ninety* days |\n"
    documents = [{"uri": f"{name}.md", "title": name, "text": table} for name in "ab"]
    with serve_documents(bare, {"one": documents}) as served:
        params = {"q": "Compare notice of the tenant", "intent": "comparison"}
        page = served.by().get("/", params=params).text
    rows = between(page, '<tbody role="rowgroup">', "</tbody>")
    assert "tenant · <em>ninety</em> days" in rows
    assert "|" not in rows


def test_a_comparison_is_taken_away_and_nothing_in_it_acts(bare: str) -> None:
    evil = "=HYPERLINK(notice;ninety) <img src=x> [x](javascript:alert) is ninety days.\n"
    documents = [{"uri": title, "title": title, "text": evil} for title in ("=1+1", "@lease")]
    with serve_documents(bare, {"one": documents}) as served:
        params = {"q": "Compare notice", "intent": "comparison"}
        sheet = served.by().get("/comparison.csv", params=params)
        text = served.by().get("/comparison.md", params=params)
        none = served.by().get("/comparison.md", params={"q": "notice"})
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
    form = between(page, 'class="further"', "</form>")
    assert "Ask further about Office Lease" in words(form)
    sent = [(one["name"] or "", one["value"] or "") for one in Elements(form).all("input")[:-1]]
    assert [name for name, _ in sent] == ["document"]
    further = client.get("/", params=[*sent, ("q", "And how many days notice?")]).text
    assert files_of(further) == {"lease.pdf"}
    assert "About Office Lease ×" in words(further)
    assert 'class="further"' not in further  # the form itself is about it now
    unsaid = client.get("/", params=[*sent, ("q", "Who let the zebra house?")]).text
    (everywhere,) = re.findall(r'<a href="([^"]*)">Ask all documents the same', unsaid)
    assert files_of(client.get(unescape(everywhere)).text) > {"lease.pdf"}


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("q=the law of the off", ["the law of the Office Lease"]),
        ("q=office lea", ["Office Lease"]),
        ("q=ze&language=en", []),
        ("q=ze&language=de", ["Zebra mail"]),
        ("q=z", []),
        ("q=", []),
        ("q=who is the licen", ["who is the Software Licence", "who is the licensee"]),
        ("q=who is the licen&language=de", []),
        ("q=zebra hou&dataset=two", []),  # of another dataset, one of the same words
        ("q=zebra hou&dataset=one", ["zebra house"]),
        ("q=gov", ["governs"]),
        ("q=go", []),
    ],
)
def test_what_is_typed_is_completed_by_titles_headings_and_words_in_scope(
    client: httpx.Client, typed: str, completed: list[str]
) -> None:
    assert client.get(f"/suggest?{typed}").json() == completed


def test_many_titles_are_not_read_while_typing(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Zebra mail" in client.get("/suggest?q=zebra").json()
    monkeypatch.setattr("lexichord.serve.page.routes.MAX_LISTED_DOCUMENTS", 3)
    assert client.get("/suggest?q=office lea").json() == []
    assert client.get("/suggest?q=office lea&dataset=one").json() == ["Office Lease"]


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
    inputs = Elements(between(page, 'class="judge"', "</form>")).all("input")
    return {each["name"] or "": each["value"] or "" for each in inputs}


def test_a_recorded_answer_is_judged(served: Served) -> None:
    with serve(served.dsn, record="text") as recording:
        client, core = recording.by(), recording.lexichord
        sent = judgment_of(client.get("/", params={"q": QUESTION, "dataset": "one"}).text)
        answer = client.post("/judge", data=sent | {"judgment": "wrong"})
        assert answer.status_code == 303
        thanks = client.get(answer.headers["location"])
        assert "its answer is wrong" in thanks.text
        again = "/?q=Which+law+governs+the+Office+Lease%3F&dataset=one"
        assert Elements(thanks.text).all("a")[-1]["href"] == again
        for judged, origin, status in (
            ({"judgment": "perhaps"}, recording.url, 400),
            ({"judgment": "right", "query": "1"}, recording.url, 404),
            ({"judgment": "right"}, "https://evil.example", 403),
        ):
            refused = client.post("/judge", data=sent | judged, headers={"origin": origin})
            assert refused.status_code == status
        with psycopg.connect(core.core.database.dsn) as connection:
            select = "select query, counts from lexichord.list_queries()"
            ((query, counts),) = connection.execute(select).fetchall()
        assert (query, counts["wrong"], "right" in counts) == (QUESTION, 1, False)


def test_what_is_not_recorded_is_not_judged(client: httpx.Client) -> None:
    page = client.get("/", params={"q": QUESTION}).text
    assert 'class="answer"' in page
    assert judgment_of(page) == {}


def test_who_may_not_find_compares_completes_and_judges_nothing(served: Served) -> None:
    keys: Keys = {"reads": {}, "writes": {"writes": True}, "two": {"datasets": ["two"]}}
    with serve(served.dsn, keys, record="on") as guarded:
        reads, writes, two = map(guarded.by, keys)
        assert judgment_of(reads.get("/", params={"q": QUESTION}).text) == {}
        sent = judgment_of(writes.get("/", params={"q": QUESTION}).text) | {"judgment": "right"}
        judged = [client.post("/judge", data=sent).status_code for client in (reads, writes)]
        assert judged == [403, 303]
        asked = {"q": "office", "intent": "comparison"}
        for path in ("/comparison.csv", "/comparison.md", "/suggest", "/judged"):
            answer = guarded.by().get(path, params=asked)
            assert (answer.status_code, "Office Lease" in answer.text) == (401, False), path
        assert guarded.by().post("/judge", data={"judgment": "right"}).status_code == 401
        assert two.get("/suggest", params=asked).json() == []
        assert "Office Lease" not in two.get("/comparison.csv", params=asked).text
        assert facets(two.get("/", params={"q": "zebra"}).text) == {}
        assert two.get("/", params={"q": "zebra", "dataset": "one"}).status_code == 403
