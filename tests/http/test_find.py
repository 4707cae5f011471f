"""What the page offers to find with: facets, a comparison's files and downloads, judgments."""

from collections.abc import Iterator

import httpx
import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.types import Json
from tests.conftest import SPACE, new_database
from tests.http.served_page import served
from tests.http.test_page import Elements

HOSTILE = '"><script>alert(1)</script>'
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
        "metadata": {"created": "2024-01-01", "author": ["Ann Lee", "Bo"], "language": "en"},
        "text": "# Notice\n\nThe zebra licensee gives thirty days' notice.\n\n"
        "# Law\n\nThe law of Bern governs.",
    },
    {
        "uri": "all/mail/zebra.eml",
        "title": "Zebra mail",
        "media_type": "message/rfc822",
        "metadata": {"created": "2024-12-31", "author": HOSTILE, "language": "de"},
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
        "Language": ["en 2", "de 1"],
        "Author": ["Ann Lee 2", f"{HOSTILE} 1", "Bo 1"],
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
