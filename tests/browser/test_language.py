"""What scripts say, in another language."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from lexichord.db import schema
from tests.browser.conftest import watched_page
from tests.conftest import SPACE, new_database
from tests.http.served_page import fill, served
from tests.http.translated import translate, write_translation


@pytest.fixture(scope="module")
def translated(embedded_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server whose page is in another language."""
    file = write_translation(tmp_path_factory.mktemp("languages"))
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        fill(dsn)
        with served(dsn, page_language=str(file), max_body=100_000) as address:
            yield address


@pytest.fixture
def screen(browser: Browser, translated: str, strange: list[str]) -> Iterator[Page]:
    permissions = ["clipboard-read", "clipboard-write"]
    with watched_page(browser, translated, strange, permissions=permissions) as page:
        yield page


def test_files_are_counted_in_the_forms_of_the_language(screen: Page, tmp_path: Path) -> None:
    sizes = {"a.txt": 2, "b.txt": 2, "c.txt": 100_000}
    files = [tmp_path / name for name in sizes]
    for file in files:
        file.write_text("x" * sizes[file.name])
    screen.goto("/documents")
    screen.set_input_files("#files", files[0])
    expect(screen.locator("#chosen")).to_have_text(translate("1 file to store"))
    screen.set_input_files("#files", files)
    expect(screen.locator("#chosen")).to_have_text(translate("2 files to store, 1 left out"))


def test_a_copied_passage_is_told_and_the_button_is_as_before(screen: Page) -> None:
    screen.goto("/?q=zebra")
    button = screen.locator("article.hit [data-act=copy]").first
    button.click()
    expect(button).to_have_text(translate("Copied"))
    expect(screen.locator("#status")).to_have_text(translate("Copied"))
    expect(button).to_have_text(translate("Copy"))
