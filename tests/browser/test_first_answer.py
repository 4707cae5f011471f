"""From an empty database to a marked sentence on a PDF's page, by mouse alone."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import Look, Screen
from tests.documents import draw_pdf
from tests.http.served import serve

QUESTION = "When is the rent of the zebra house due?"
ANSWER = "The rent of the zebra house is due on the first day of each month."
LINES = ("Zebra House, questions of tenants", QUESTION, ANSWER)
NO_KEYS = "addEventListener('keydown', () => console.error('a key was pressed'), true)"
PATIENCE = 60_000  # ms, till an example was asked and answered


def test_a_pdf_is_brought_asked_and_seen_marked_by_mouse(
    fresh: str, look: Look, tmp_path: Path, screen: Screen
) -> None:
    lines = [(60.0, 760.0 - 40 * row, line) for row, line in enumerate(LINES)]
    file = draw_pdf(tmp_path / "lease.pdf", [lines])
    with serve(fresh) as served:
        page = look(served.url, screen)
        page.add_init_script(NO_KEYS)
        page.goto("/")
        page.get_by_role("link", name="Bring files").click()
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="choose files").click()
        chooser.value.set_files(file)
        page.get_by_role("button", name="Store").click()
        expect(page.locator(".run h2", has_text="Done: 1 stored")).to_be_visible(timeout=30_000)
        page.get_by_role("link", name="Ask them").click()
        page.get_by_role("link", name=QUESTION).click(timeout=PATIENCE)
        expect(page.locator(".answer")).to_contain_text(ANSWER)
        page.get_by_role("link", name="Show on the page").first.click()
        expect(page.locator("rect.answer").first).to_be_in_viewport()
        expect(page.get_by_alt_text("with the passage marked")).to_be_visible()
