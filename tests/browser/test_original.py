"""The pages of a PDF in a real Chromium: marked, scrolled to, zoomed, turned, without scripts."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import FloatRect, Locator, Page, Route, expect

from tests.browser.conftest import BARE, NARROW, Look, Screen
from tests.documents import clause_pages, draw_pdf
from tests.http.served import serve_documents

PAGES = 25
BLANK = '<svg xmlns="http://www.w3.org/2000/svg"/>'
RENT = "The tenant of the zebra house shall pay the rent monthly"


@pytest.fixture(scope="module")
def original_address(bare: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pages = clause_pages(PAGES)
    pages[11].append((60.0, 300.0, RENT))
    file = draw_pdf(tmp_path_factory.mktemp("pdf") / "lease.pdf", pages)
    with serve_documents(bare, {}) as served:
        served.lexichord.ingest([file])
        yield served.url


@pytest.fixture
def reader(look: Look, original_address: str) -> Page:
    return look(original_address)


@pytest.fixture
def sized(look: Look, original_address: str, screen: Screen) -> Page:
    return look(original_address, screen)


@pytest.fixture
def blank(sized: Page) -> Page:
    """One whose pictures are not drawn, for what does not look at them: they take seconds."""
    leave_blank(sized)
    return sized


def leave_blank(page: Page) -> None:
    def answer(route: Route) -> None:
        route.fulfill(content_type="image/svg+xml", body=BLANK)

    page.route("**/pages/*.png", answer)


def open_from_results(page: Page) -> None:
    page.goto("/?q=rent+of+the+zebra+house")
    page.get_by_role("link", name="Show on the page").first.click()


def box_of(one: Locator) -> FloatRect:
    box = one.bounding_box()
    assert box is not None
    return box


def test_a_passage_is_seen_marked_on_its_page(sized: Page) -> None:
    open_from_results(sized)
    expect(sized.locator("#quote")).to_be_in_viewport()
    picture = sized.get_by_alt_text("Page 12 of lease, with the passage marked")
    expect(picture).to_be_visible()
    sized.wait_for_load_state("networkidle")
    assert picture.evaluate("one => one.naturalWidth") > 1000
    sheet, box = box_of(picture), box_of(sized.locator("#page-12 rect.current").last)
    line = (841.89 - 300) / 841.89 * sheet["height"] + sheet["y"]
    assert abs(box["y"] + box["height"] - line) < sheet["height"] / 100
    # It covers what was said while it was drawn.
    uppermost = """one => {
      const { x, y, width } = one.getBoundingClientRect();
      const there = document.elementsFromPoint(x + width / 2, Math.max(y, 0) + 150);
      return there.map((each) => each.localName);
    }"""
    order = sized.locator("#page-12 .sheet").evaluate(uppermost)
    assert order.index("img") < order.index("span")


def test_only_pictures_in_sight_are_drawn(reader: Page) -> None:
    asked: list[str] = []
    reader.on("request", lambda one: asked.append(one.url) if ".png" in one.url else None)
    open_from_results(reader)
    expect(reader.locator("#quote")).to_be_in_viewport()
    reader.wait_for_load_state("networkidle")
    assert 1 <= len(asked) < 12


def test_pages_are_enlarged_by_button_and_by_key(blank: Page) -> None:
    open_from_results(blank)
    sheet = blank.locator(".sheet").first
    width = "one => one.getBoundingClientRect().width"
    expect(blank.locator("#quote")).to_be_in_viewport()
    small = sheet.evaluate(width)  # once the page stands as its style has it
    blank.keyboard.press("+")
    expect(blank.get_by_label("150%")).to_be_checked()
    assert sheet.evaluate(width) > 1.4 * small
    expect(blank.locator("#quote")).to_be_in_viewport()  # what is seen stays
    blank.get_by_role("button", name="Larger").click()
    expect(blank.get_by_label("200%")).to_be_checked()
    for _ in range(3):
        blank.keyboard.press("-")
    expect(blank.get_by_label("100%")).to_be_checked()
    expect(blank.get_by_role("button", name="Smaller")).to_be_disabled()
    assert sheet.evaluate(width) == small


def test_what_can_be_done_with_a_passage_stays_in_its_card(blank: Page) -> None:
    blank.goto("/?q=rent+of+the+zebra+house")
    card = blank.locator("article.hit", has=blank.get_by_role("link", name="Show on the page"))
    outside = """card => [...card.querySelectorAll(".acts > *")].filter(
      (one) => one.getBoundingClientRect().right > card.getBoundingClientRect().right)
      .map((one) => one.textContent)"""
    expect(card.first.get_by_role("button", name="Show all")).to_be_visible()
    assert card.first.evaluate(outside) == []


def test_pages_are_turned_and_enlarged_without_scripts(look: Look, original_address: str) -> None:
    page = look(original_address, NARROW, **BARE)
    leave_blank(page)
    open_from_results(page)
    expect(page.locator("#quote")).to_be_in_viewport()
    page.get_by_role("link", name="Pages before").first.click()
    expect(page.locator("#page-1")).to_be_attached()
    page.get_by_role("link", name="Pages after").first.click()
    expect(page.locator(f"#page-{PAGES}")).to_be_attached()
    sheet = page.locator(".sheet").first
    small = box_of(sheet)
    page.get_by_label("200%").check()
    assert box_of(sheet)["width"] > 1.9 * small["width"]


def test_name_view_and_zoom_stay_in_sight(blank: Page) -> None:
    open_from_results(blank)
    expect(blank.locator("#quote")).to_be_in_viewport()
    assert blank.evaluate("scrollY") > 300
    held = blank.locator(".held")
    for one in (
        held.get_by_role("heading", name="lease"),
        held.get_by_role("link", name="Text"),
        held.get_by_role("button", name="Larger"),
    ):
        expect(one).to_be_in_viewport(ratio=1)
    box, quote = box_of(held), box_of(blank.locator("#quote"))
    assert box["y"] + box["height"] <= quote["y"]  # it hides nothing that was looked for
    assert box["height"] < 150
    held.get_by_role("button", name="Larger").click()
    expect(blank.get_by_label("150%")).to_be_checked()


def test_a_page_says_that_it_is_drawn_or_cannot_be(reader: Page, strange: list[str]) -> None:
    held: list[Route] = []
    reader.route("**/pages/*.png", lambda route: held.append(route))
    open_from_results(reader)
    told = reader.locator("#page-12 .awaited")
    expect(told).to_be_in_viewport()
    expect(told).to_have_text("Page 12 is being drawn …")
    for route in held:
        route.abort()
    expect(told).to_have_text("Page 12 could not be drawn: load this page again")
    reader.goto("about:blank")  # by then the console has told of each picture, too
    strange.clear()
