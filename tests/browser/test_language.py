"""What scripts say, in another language."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import CLIPBOARD, Look
from tests.http.pages import HOUSE
from tests.http.served import serve_documents
from tests.http.translated import translate, write_translation


@pytest.fixture(scope="module")
def translated(bare: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server whose page is in another language."""
    file = write_translation(tmp_path_factory.mktemp("languages"))
    with serve_documents(bare, HOUSE, page_language=str(file), max_body=100_000) as served:
        yield served.url


@pytest.fixture
def screen(look: Look, translated: str) -> Page:
    return look(translated, **CLIPBOARD)


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
