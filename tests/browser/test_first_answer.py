"""From an empty database to a marked sentence on a PDF's page, with nothing but the page."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, ViewportSize, expect

from lexichord.db import schema
from tests.browser.conftest import watch
from tests.conftest import SPACE, new_database
from tests.documents import draw_pdf
from tests.http.served_page import served

LINES = (
    "Zebra House Lease",
    "1. Rent. The rent of the zebra house is EUR 900 a month.",
    "2. Notice. Either party may end this lease with ninety days' notice.",
)


@pytest.mark.parametrize(
    ("width", "scheme"), [(320, "dark"), (320, "light"), (768, "light"), (1440, "dark")]
)
def test_a_pdf_is_brought_asked_and_seen_marked(
    embedded_dsn: str,
    browser: Browser,
    tmp_path: Path,
    strange: list[str],
    width: int,
    scheme: Literal["dark", "light"],
) -> None:
    lines = [(60.0, 760.0 - 40 * row, line) for row, line in enumerate(LINES)]
    file = draw_pdf(tmp_path / "lease.pdf", [lines])
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        with served(dsn) as address:
            size = ViewportSize(width=width, height=900)
            seen = browser.new_context(base_url=address, viewport=size, color_scheme=scheme)
            page = seen.new_page()
            watch(page, address, strange)
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
            seen.close()
    assert strange == []
