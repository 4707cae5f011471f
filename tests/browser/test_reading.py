"""Documents as they are read, in a real Chromium: every kind, narrow and wide, light and dark."""

from collections.abc import Iterator
from operator import gt

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Response, expect

from lexichord.db import catalogue
from lexichord.serve.http.app import ROUTERS
from lexichord.serve.page.routes import PageRoute
from lexichord.types import Json
from tests.browser.conftest import CLIPBOARD, NARROW, Look, Screen, fits
from tests.documents import clause_pages, draw_pdf
from tests.http.pages import HOUSE
from tests.http.served import serve, serve_documents
from tests.http.test_evaluation_pages import evaluation

GUIDE = """\
# The zebra pump

## Parts

#### Small parts

The *seal* of the [pump](https://example.org) is `EPDM`, **never** oiled.

| part | material | cost |
| --- | --- | --- |
| seal | EPDM | EUR 9 |
| shaft | steel | EUR 90 |

> It says so in the manual.

1. Take it apart.
2. Put it together.

```python
def cost(part: str) -> int:
    return 9  # of a seal
```
"""
CODE = "".join(
    f'def zebra_{n}(x: int) -> str:\n    """{n}"""\n    return str(x)  # {n}\n\n' for n in range(60)
)
MAIL = "From: a@example.org\nSubject: The zebra\n\n• one\n• two\n\nGrade\tSNB22\nType\tSteel\n"
DATA = '{"zebra": [1, 2.5, true, null, "stripes"]}\n'


def document(uri: str, text: str, heading: str = "") -> Json:
    return {"uri": uri, "chunks": [{"content": text, "heading": heading}]}


DOCUMENTS = [
    document("guide.md", GUIDE, "The zebra pump"),
    document("zebra.py", CODE),
    document("zebra.eml", MAIL),
    document("zebra.json", DATA),
]
PUMP = "start=65&end=180#quote"

# Each page that there is, to be looked at by axe. The address of a document may follow its name.
VIEWS = (
    "/",
    "/?q=zebra",
    "/?q=What+is+the+rent+of+the+zebra+house%3F&document=lease.txt",
    "/?q=Compare+notice+and+law+in+the+Office+Lease+and+the+Software+Licence",
    "/?q=quokka+gnu&k=0",
    f"/document/guide.md?{PUMP}",
    "/document/zebra.py?start=20&end=90#quote",
    "/document/zebra.eml?start=0&end=90#quote",
    "/document/zebra.json",
    "/document/lease.txt?start=0&end=30&also=40-50#quote",
    "/document/lease.pdf?start=0&end=30",
    "/document/lease.pdf/original?start=0&end=30&also=60-90#quote",
    "/document/lease.txt/original",
    "/document/nothing",
    "/documents",
    "/documents?dataset=open",
    "/documents/metadata?document=lease.txt",
    "/documents/move?document=lease.txt",
    "/documents/reread?document=lease.txt",
    "/documents/delete?document=lease.txt",
    "/documents/rename-dataset?dataset=open",
    "/documents/delete-dataset?dataset=open",
    "/documents/runs/1",
    "/status",
    "/status?check=1",
    "/evaluations",
    "/evaluations/1?metric=mrr",
    "/judged?q=zebra&judgment=right",
)

NARROW_ONLY = pytest.mark.parametrize("screen", [NARROW], ids=str, indirect=True)
MAX_BYTES, MAX_REQUESTS, MAX_SHIFT = 150_000, 12, 0.1  # but for an original
LOADED = """() => new Promise((resolve) => {
  let shift = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((one) => (shift += one.value)))
    .observe({ type: "layout-shift", buffered: true });
  const blocking = performance.getEntriesByType("resource")
    .filter((one) => one.initiatorType === "script" && one.renderBlockingStatus === "blocking");
  requestAnimationFrame(() => requestAnimationFrame(() => resolve([shift, blocking.length])));
})"""

# What is no page: files, suggestions, events, and what leads elsewhere.
NO_VIEWS = (
    "/comparison.csv",
    "/comparison.md",
    "/docs",  # Swagger's
    "/document/{document}/pages/{number}.png",
    "/documents/runs/{run}/events",
    "/login",
    "/stages",
    "/suggest",
)


@pytest.fixture(scope="module")
def library(bare: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    file = draw_pdf(tmp_path_factory.mktemp("pdf") / "lease.pdf", clause_pages(3))
    with serve_documents(bare, HOUSE, fetch_hosts="example.org") as served:
        core = served.lexichord
        core.ingest([file], dataset="open")
        core.ingest(documents=DOCUMENTS, dataset="open")
        core.run(catalogue.record_evaluation(core.core.database, evaluation(5)))
        yield served.url


@pytest.fixture
def reader(look: Look, library: str, screen: Screen, strange: list[str]) -> Iterator[Page]:
    yield look(library, screen, **CLIPBOARD)
    strange[:] = [one for one in strange if "404" not in one and "400" not in one]


def test_each_page_of_the_server_is_looked_at() -> None:
    """A new page without its view fails."""
    routes = [one for router in ROUTERS for one in router.routes if isinstance(one, PageRoute)]
    paths = [one for one in routes if "GET" in (one.methods or ()) and one.path not in NO_VIEWS]
    shown = [view.partition("?")[0].partition("#")[0] for view in VIEWS]
    missed = [one.path for one in paths if not any(map(one.path_regex.match, shown))]
    assert missed == []


def test_axe_finds_nothing_wrong_on_any_page(reader: Page) -> None:
    wrong = [fault for view in VIEWS for fault in [*axe_faults(reader, view), *too_wide(reader)]]
    assert not wrong, "\n\n".join(wrong)


def axe_faults(page: Page, view: str) -> list[str]:
    """Return what axe finds wrong on a page whose folds are open."""
    page.goto(view)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    return [
        "\n".join(
            [
                f"{view}: {found['id']}",
                *(f"{one['html']}: {one['failureSummary']}" for one in found["nodes"]),
            ]
        )
        for found in Axe().run(page).response["violations"]
    ]


def too_wide(page: Page) -> list[str]:
    """Return the page's address if it is wider than its screen."""
    return [] if fits(page) else [f"{page.url}: wider than its screen"]


@NARROW_ONLY
def test_no_page_is_heavy_asks_often_or_moves_while_it_is_loaded(reader: Page) -> None:
    """What Lighthouse would look at, but for times, which are scripts/bench/page.py's."""
    devtools = reader.context.new_cdp_session(reader)
    devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})  # each is the first visit
    answers: list[Response] = []
    reader.on("response", lambda one: answers.append(one))
    wrong = []
    for view in VIEWS:
        answers.clear()
        reader.goto(view)
        reader.wait_for_load_state("networkidle")
        sizes = [size(one) for one in answers if not one.url.endswith(".png")]
        shift, blocking = reader.evaluate(LOADED)
        found = (sum(sizes), len(sizes), shift, blocking)
        if not sizes or any(map(gt, found, (MAX_BYTES, MAX_REQUESTS, MAX_SHIFT, 0))):
            wrong.append(f"{view}: bytes, requests, shift, blocking scripts {found}")
    assert not wrong, "\n".join(wrong)


def size(answer: Response) -> int:
    """Return the bytes of an answer's body, which one that only points elsewhere has none of."""
    return 0 if 300 <= answer.status < 400 else len(answer.body())


def test_axe_finds_nothing_wrong_where_a_key_is_asked_for(
    look: Look, fresh: str, strange: list[str]
) -> None:
    with serve(fresh, {"Ann": {}}) as served:
        page = look(served.url, NARROW)
        wrong = axe_faults(page, "/?q=zebra")
        expect(page.get_by_label("Key", exact=True)).to_be_visible()
    strange.clear()  # the console tells that a key is wanted
    assert not wrong, "\n\n".join(wrong)


def test_markdown_is_read_with_its_quote_in_sight(reader: Page) -> None:
    reader.goto(f"/document/guide.md?{PUMP}")
    expect(reader.locator("#quote")).to_be_in_viewport()
    whole = reader.locator(".whole")
    expect(whole.get_by_role("table").get_by_role("cell", name="EUR 90")).to_be_attached()
    expect(whole.get_by_role("listitem").first).to_have_text("Take it apart.")
    expect(whole.locator(".keyword", has_text="def")).to_be_attached()
    assert "|" not in (whole.text_content() or "")
    marks = "[...document.querySelectorAll('mark')].map(one => one.textContent).join('')"
    letters = "".join(filter(str.isalpha, GUIDE[65:180])).replace("httpsexampleorg", "")
    assert "".join(filter(str.isalpha, reader.evaluate(marks))) == letters


def test_how_it_was_found_fits_and_is_printed(reader: Page, screen: Screen) -> None:
    reader.goto("/?q=zebra")
    reader.get_by_role("link", name="What each stage cost").click()
    picture = reader.locator(".explained")
    expect(picture.get_by_role("img")).to_be_in_viewport()
    assert fits(reader)
    reader.set_viewport_size({"width": 720, "height": 1000})  # A4 between its margins
    reader.emulate_media(media="print", color_scheme=screen.scheme)
    for part in (".cost rect", ".stages td", ".origins .rank", ".origins .sum rect"):
        expect(picture.locator(part).first).to_be_visible()
    assert reader.evaluate("document.documentElement.scrollWidth") == 720


@NARROW_ONLY
def test_what_was_measured_is_reached_and_read(reader: Page) -> None:
    reader.goto("/")
    reader.get_by_role("link", name="Status").click()
    reader.get_by_role("button", name="Check it").click()
    expect(reader.locator("#health")).to_contain_text("postgres")
    reader.locator("main").get_by_role("link", name="What was measured").click()
    reader.get_by_role("rowheader").get_by_role("link").click()
    expect(reader.get_by_role("heading", level=1)).to_have_text("small by hybrid")
    reader.get_by_role("link", name="recall@5").click()
    expect(reader.get_by_role("heading", name="worst by recall@5 first")).to_be_in_viewport()


@NARROW_ONLY
def test_a_quote_is_copied_with_its_citation(reader: Page) -> None:
    reader.goto("/document/lease.txt?start=0&end=30#quote")
    expect(reader.get_by_text("Opened at section 1")).to_be_visible()
    reader.locator(".outline").get_by_role("button", name="Copy").click()
    expect(reader.get_by_role("button", name="Copied")).to_be_visible()
    copied = reader.evaluate("navigator.clipboard.readText()")
    text = "1. Rent\nThe rent of the zebra house"[:30].strip()
    assert copied == f"“{text}”\n\n— Office Lease, lease.txt, section 1\n{reader.url}"


def test_a_line_of_code_is_linked_to(reader: Page) -> None:
    reader.goto("/document/zebra.py#L201")
    line = reader.locator("#L201")
    expect(line).to_be_in_viewport()
    assert line.evaluate("one => getComputedStyle(one, '::before').content") == '"201"'
    reader.locator("#L203").click()
    assert reader.url.endswith("#L203")
