"""Finding in a real Chromium, on screens of three widths, in light and dark."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import fits

COMPARED = "/?q=Compare+notice+and+law+in+the+Office+Lease+and+the+Software+Licence"


def test_what_a_button_says_stays_within_it(page: Page) -> None:
    page.goto("/?q=zebra")
    wide = """all => all.filter(button => {
        button.textContent = button.dataset.pending ?? button.textContent;  // while it is waited
        return button.scrollWidth > button.clientWidth;
    }).map(button => button.textContent)"""
    for width in (375, 768, 1024, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.locator("button").evaluate_all(wide) == [], width


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


def test_what_is_found_is_narrowed_and_widened_again(sized: Page) -> None:
    narrow(sized)
    assert fits(sized)
    sized.get_by_role("link", name="Without folder: contracts/").click()
    expect(sized.get_by_label("Narrowed to")).to_have_count(0)


def test_it_is_narrowed_and_compared_without_scripts(unscripted: Page) -> None:
    narrow(unscripted)
    choose(unscripted)


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


def test_the_files_of_a_comparison_are_chosen(sized: Page) -> None:
    choose(sized)
    assert fits(sized)
    with sized.expect_download() as download:
        sized.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename == "comparison.csv"
    assert download.value.path().read_text("utf-8-sig").startswith("File,")


def test_a_further_question_stays_with_its_document(sized: Page) -> None:
    sized.goto("/?q=Which+law+governs+the+Office+Lease%3F")
    field = sized.get_by_label("Ask further about Office Lease")
    field.fill("And who gives notice?")
    field.press("Enter")
    expect(sized.get_by_role("link", name="Without about: Office Lease")).to_be_visible()
    assert fits(sized)
    before = sized.locator("#history").get_by_role("link")
    expect(before).to_have_text(["Which law governs the Office Lease?"])
    sized.goto("/")
    expect(before).to_have_text(["And who gives notice?", "Which law governs the Office Lease?"])
    assert fits(sized)
    before.last.click()
    expect(sized.locator("#q")).to_have_value("Which law governs the Office Lease?")
    sized.goto("/")
    sized.get_by_role("button", name="Forget these").click()
    expect(sized.locator("#history")).to_be_hidden()
    sized.reload()
    expect(sized.locator("#history")).to_be_hidden()


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
