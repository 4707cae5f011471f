"""Finding in a real Chromium, on screens of three widths, in light and dark."""

from collections.abc import Iterator
from typing import Literal

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import watched_page

type Scheme = Literal["light", "dark"]

WIDTHS = (320, 768, 1440)
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
MAX_BYTES = 150_000  # of a page with all that it loads
COMPARED = "/?q=Compare+notice+and+law+in+the+Office+Lease+and+the+Software+Licence"


@pytest.fixture(scope="module", autouse=True)
def _asked_once(address: str) -> None:
    """Ask once before a browser does, whose patience is short: a first search is slow."""
    httpx.get(address, params={"q": "zebra"}, timeout=60)


@pytest.fixture(params=[(width, scheme) for width in WIDTHS for scheme in SCHEMES], ids=str)
def screen(page: Page, request: pytest.FixtureRequest) -> Page:
    width, scheme = request.param
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    return page


@pytest.fixture
def bare(browser: Browser, address: str, strange: list[str]) -> Iterator[Page]:
    """A page without scripts."""
    with watched_page(browser, address, strange, java_script_enabled=False) as page:
        yield page


def fits(page: Page) -> bool:
    """Return whether a page is no wider than its screen."""
    wide: bool = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return not wide


def narrow(page: Page) -> None:
    page.goto("/?q=zebra")
    facets = page.get_by_role("navigation", name="Narrow down")
    if page.viewport_size and page.viewport_size["width"] < 900:
        page.get_by_role("link", name="Narrow down").click()
        expect(facets).to_be_in_viewport()
    facets.get_by_role("link", name="contracts/").click()
    chip = page.get_by_role("link", name="Without folder: contracts/")
    expect(chip).to_be_visible()
    expect(page.locator("article.hit").first).to_be_visible()
    expect(page.locator("article.hit", has_text="giraffe")).to_have_count(0)


def test_what_is_found_is_narrowed_and_widened_again(screen: Page) -> None:
    narrow(screen)
    assert fits(screen)
    screen.get_by_role("link", name="Without folder: contracts/").click()
    expect(screen.get_by_label("Narrowed to")).to_have_count(0)


def test_it_is_narrowed_without_scripts(bare: Page) -> None:
    narrow(bare)


def choose(page: Page) -> None:
    page.goto(COMPARED)
    expect(page.locator(".comparison tbody tr")).to_have_count(2)
    page.get_by_text("Choose the files").click()
    picker = page.locator(".picker")
    picker.get_by_label("Software Licence").uncheck()
    picker.get_by_label("Trap").check()
    picker.get_by_role("button", name="Compare these").click()
    rows = page.locator(".comparison tbody tr")
    expect(rows.nth(0)).to_contain_text("Office Lease")
    expect(rows.nth(1)).to_contain_text("Trap")
    expect(rows.nth(1)).to_contain_text("not found in this file")


def test_the_files_of_a_comparison_are_chosen(screen: Page) -> None:
    choose(screen)
    assert fits(screen)
    with screen.expect_download() as download:
        screen.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename == "comparison.csv"
    assert download.value.path().read_text("utf-8-sig").startswith("File,")


def test_the_files_of_a_comparison_are_chosen_without_scripts(bare: Page) -> None:
    choose(bare)


def test_a_further_question_stays_with_its_document(screen: Page) -> None:
    screen.goto("/?q=Which+law+governs+the+Office+Lease%3F")
    field = screen.get_by_label("Ask further about Office Lease")
    field.fill("And who gives notice?")
    field.press("Enter")
    expect(screen.get_by_role("link", name="Without about: Office Lease")).to_be_visible()
    assert fits(screen)
    before = screen.locator("#history").get_by_role("link")
    expect(before).to_have_text(["Which law governs the Office Lease?"])
    screen.goto("/")
    expect(before).to_have_text(["And who gives notice?", "Which law governs the Office Lease?"])
    assert fits(screen)
    before.last.click()
    expect(screen.locator("#q")).to_have_value("Which law governs the Office Lease?")
    screen.goto("/")
    screen.get_by_role("button", name="Forget these").click()
    expect(screen.locator("#history")).to_be_hidden()
    screen.reload()
    expect(screen.locator("#history")).to_be_hidden()


def test_what_is_typed_is_completed_by_a_title(page: Page) -> None:
    page.goto("/")
    page.locator("#q").press_sequentially("The law of the off")
    offered = page.locator("#suggestions option")
    expect(offered).to_have_count(1)
    expect(offered).to_have_attribute("value", "The law of the Office Lease")


def test_a_hostile_title_is_offered_as_text(page: Page) -> None:
    """The watched page itself fails if a script of it runs."""
    page.goto("/?q=giraffe")
    page.locator("#q").fill("trap")
    expect(page.locator("#suggestions option")).to_have_count(1)
    page.locator("#q").fill("<img src=x onerror=alert(1)>")
    page.locator("#q").press("Enter")
    page.wait_for_url("**/?q=%3Cimg**")
    page.goto("/")
    expect(page.locator("#history").get_by_role("link").first).to_have_text(
        "<img src=x onerror=alert(1)>"
    )


@pytest.mark.parametrize("path", ["/", "/?q=zebra", COMPARED, "/document/lease.txt?start=0&end=30"])
def test_a_page_weighs_little(page: Page, path: str) -> None:
    sizes: list[int] = []
    page.on("response", lambda response: sizes.append(len(response.body())))
    page.goto(path)
    page.wait_for_load_state("networkidle")
    assert 0 < sum(sizes) <= MAX_BYTES
