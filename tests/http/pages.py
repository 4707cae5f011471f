"""Documents for the pages, of which one would act if it could, and what is read of a page."""

from html.parser import HTMLParser

from lexichord.types import Json
from tests.conftest import ROOT

HOSTILE = "</mark></title><script>alert(1)</script><img src=//evil.example/x onerror=alert(1)> ‮&\"'"
MARKED = "data-hostile"  # of every hostile text, to find them by

STATIC = ROOT / "src/lexichord/serve/page/static"
OWN_SCRIPTS = {f"/static/{script.name}" for script in STATIC.glob("*.js")}

LEASE: Json = {
    "uri": "contracts/lease.txt",
    "title": "Office Lease",
    "chunks": [
        {"content": "1. Rent\nThe rent of the zebra house is EUR 900.", "heading": "1. Rent"},
        {"content": "2. Notice\nEither zebra party gives ninety days.", "heading": "2. Notice"},
        {"content": "3. Law\nThe law of Ghent governs.", "heading": "3. Law", "page": 2},
    ],
}
LICENCE: Json = {
    "uri": "contracts/licence.txt",
    "title": "Software Licence",
    "chunks": [{"content": "1. Notice\nThe licensee gives thirty days.", "heading": "1. Notice"}],
}
TRAP: Json = {
    "uri": f'traps/{MARKED}" onmouseover="alert(1)',
    "title": f"Trap {HOSTILE}",
    "chunks": [{"content": f"A giraffe said {HOSTILE} twice.", "heading": f"§ {HOSTILE}"}],
}
HOUSE = {"open": [LEASE, LICENCE], "closed": [TRAP]}


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


def words(page: str) -> str:
    """Return the text of a page with one blank between words."""
    return " ".join(Elements(page).text.split())


def between(page: str, start: str, end: str) -> str:
    """Return what stands in a page between two marks."""
    return page.partition(start)[2].partition(end)[0]
