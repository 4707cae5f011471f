"""Make the pictures of the page in docs/images anew, from the sample corpus, in Chromium.

python scripts/site/pictures.py

page.png is an answer, first-answer.gif the way from an empty database to one on a PDF's page.
"""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from markdown_it import MarkdownIt
from PIL import Image
from playwright.sync_api import (
    Browser,
    Page,
    PdfMargins,
    ViewportSize,
    expect,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from lexichord import SyncLexichord
from page import chromium
from serving import ROOT, SAMPLES, served

IMAGES = ROOT / "docs/images"
ANSWERED = "How far in advance must a new sub-processor be announced?"
LEASE = SAMPLES / "agreements/office-lease-saltpan-house.md"
LEASE_TITLE = "Lease of Office Space, Saltpan House"
RENT = "When is the rent due?"
FRAME_MS = 1500


def main() -> None:
    with chromium() as browser, tempfile.TemporaryDirectory(prefix="lxb") as folder:
        with opened(
            browser, folder, (1180, 660), SAMPLES / "agreements", SAMPLES / "policies"
        ) as page:
            draw_answer(page)
        lease = draw_lease(browser, Path(folder))
        with opened(browser, folder, (800, 512)) as page:
            draw_first_answer(page, lease)


@contextmanager
def opened(browser: Browser, folder: str, size: tuple[int, int], *stored: Path) -> Iterator[Page]:
    """Open the page of a server of its own with the folders stored."""
    viewport = ViewportSize(width=size[0], height=size[1])
    with tempfile.TemporaryDirectory(prefix="lxb", dir=folder) as home:
        for each in (folder, home):
            Path(each).chmod(0o755)
        with SyncLexichord(home=Path(home)) as lexichord:
            lexichord.ingest(stored)
            with served(lexichord.core.database.dsn, home) as (port, _):
                address = f"http://127.0.0.1:{port}"
                context = browser.new_context(base_url=address, viewport=viewport)
                yield context.new_page()
                context.close()


def ask(page: Page, question: str) -> None:
    page.goto("/")
    page.locator("#q").fill(question)
    page.locator("#q").press("Enter")
    expect(page.locator("#hits")).to_be_visible(timeout=30_000)
    page.wait_for_load_state("networkidle")


def draw_answer(page: Page) -> None:
    ask(page, ANSWERED)
    page.screenshot(path=IMAGES / "page.png")


def draw_lease(browser: Browser, folder: Path) -> Path:
    """Print the sample lease, which is Markdown, as a PDF."""
    page = browser.new_page()
    text = MarkdownIt().render(LEASE.read_text())
    page.set_content(f"<title>{LEASE_TITLE}</title>{text}")
    file = folder / "Saltpan House lease.pdf"
    margin = PdfMargins(top="25mm", right="25mm", bottom="25mm", left="25mm")
    page.pdf(path=file, format="A4", margin=margin)
    page.close()
    return file


def draw_first_answer(page: Page, lease: Path) -> None:
    frames: list[Image.Image] = []

    def keep() -> None:
        page.wait_for_load_state("networkidle")
        frames.append(Image.open(BytesIO(page.screenshot())).convert("RGB"))

    page.goto("/")
    keep()
    page.get_by_role("link", name="Bring files").click()
    page.set_input_files("#files", lease)
    keep()
    page.get_by_role("button", name="Store").click()
    expect(page.locator(".run h2", has_text="Done: 1 stored")).to_be_visible(timeout=60_000)
    page.locator(".run").scroll_into_view_if_needed()
    keep()
    page.get_by_role("link", name="Ask them").click()
    page.locator("#q").fill(RENT)
    keep()
    page.locator("#q").press("Enter")
    expect(page.locator("#hits")).to_be_visible(timeout=30_000)
    keep()
    page.get_by_role("link", name="Show on the page").first.click()
    expect(page.locator("#quote")).to_be_in_viewport()
    keep()
    first, *rest = [frame.quantize(64, dither=Image.Dither.NONE) for frame in frames]
    first.save(
        IMAGES / "first-answer.gif", save_all=True, append_images=rest, duration=FRAME_MS, loop=0
    )


if __name__ == "__main__":
    main()
