"""From an empty database to a marked sentence on a PDF's page, with nothing but the page."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from lexichord.db import schema
from tests.browser.conftest import Screen, watched_page
from tests.conftest import SPACE, new_database
from tests.documents import draw_pdf
from tests.http.served_page import served

LINES = (
    "Zebra House Lease",
    "1. Rent. The rent of the zebra house is EUR 900 a month.",
    "2. Notice. Either party may end this lease with ninety days' notice.",
)


def test_a_pdf_is_brought_asked_and_seen_marked(
    embedded_dsn: str, browser: Browser, tmp_path: Path, strange: list[str], screen: Screen
) -> None:
    lines = [(60.0, 760.0 - 40 * row, line) for row, line in enumerate(LINES)]
    file = draw_pdf(tmp_path / "lease.pdf", [lines])
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with (
            served(dsn) as address,
            watched_page(browser, address, strange, **screen.options()) as page,
        ):
            page.goto("/")
            page.get_by_role("link", name="Bring files").click()
            with page.expect_file_chooser() as chooser:
                page.get_by_role("button", name="choose files").click()
            chooser.value.set_files(file)
            page.get_by_role("button", name="Store").click()
            ended = page.locator(".run h2", has_text="Done: 1 stored")
            expect(ended).to_be_visible(timeout=30_000)
            page.get_by_role("link", name="Ask them").click()
            page.locator("#q").fill("What is the rent of the zebra house?")
            page.locator("#q").press("Enter")
            page.get_by_role("link", name="Show on the page").first.click()
            expect(page.locator("#quote")).to_be_in_viewport()
            picture = page.get_by_alt_text("with the passage marked")
            expect(picture).to_be_visible()
