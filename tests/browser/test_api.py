"""The page of the HTTP API in a real Chromium; the watched page fails if another host is asked."""

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Look
from tests.http.pages import HOUSE
from tests.http.served import serve_documents
from tests.listening import PATIENCE

ANSWER = ".live-responses-table .response"
SLOW = PATIENCE * 1000  # ms; a busy machine takes seconds to lay out all operations


@pytest.fixture
def api(page: Page) -> Page:
    """The page, opened, with its operations."""
    return opened(page)


def opened(page: Page) -> Page:
    page.set_default_timeout(SLOW)
    page.goto("/docs")
    expect(page.locator(".opblock").first).to_be_visible(timeout=SLOW)
    return page


def try_datasets(page: Page) -> str:
    """Ask for the datasets as a reader of the page does; give what it shows of the answer."""
    page.locator("#operations-documents-list_datasets button").first.click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    return page.locator(ANSWER).first.inner_text()


def test_every_operation_is_shown(api: Page, address: str) -> None:
    paths = httpx.get(f"{address}/openapi.json").json()["paths"]
    shown = {
        (
            block.locator(".opblock-summary-method").inner_text().lower(),
            block.locator(".opblock-summary-path").get_attribute("data-path"),
        )
        for block in api.locator(".opblock").all()
    }
    assert shown == {(method, path) for path, methods in paths.items() for method in methods}


def test_it_follows_the_system_and_a_narrow_screen(api: Page) -> None:
    api.emulate_media(color_scheme="light")
    api.locator("#operations-search-query button").first.click()
    expect(api.get_by_role("button", name="Try it out")).to_be_visible(timeout=SLOW)
    assert api.evaluate("document.documentElement.scrollWidth") == 320
    expect(api.locator("html")).not_to_have_css("color-scheme", "dark")
    api.emulate_media(color_scheme="dark")
    expect(api.locator("html")).to_have_css("color-scheme", "dark", timeout=SLOW)


def test_without_scripts_it_says_where_the_operations_stand(browser: Browser, address: str) -> None:
    with browser.new_context(base_url=address, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/docs")
        page.get_by_role("link", name="the OpenAPI document").click()
        assert page.url == f"{address}/openapi.json"


def test_operations_are_tried_with_a_key(look: Look, bare: str, strange: list[str]) -> None:
    with serve_documents(bare, HOUSE, {"Ann": {"datasets": ["open"]}}) as keyed:
        page = look(keyed.url)
        assert try_datasets(opened(page)).startswith("401")
        authorize(page, keyed.keys["Ann"])
        page.get_by_role("button", name="Execute").click()
        answer = page.locator(ANSWER).first
        expect(answer).to_contain_text('"dataset": "open"', timeout=SLOW)
        assert "closed" not in answer.inner_text()
        assert try_datasets(opened(page)).startswith("401")  # no key is kept
    strange[:] = [each for each in strange if "401" not in each]  # a browser calls that an error


def authorize(page: Page, key: str) -> None:
    page.get_by_role("button", name="Authorize").first.click()
    form = page.locator(".modal-ux form")
    form.locator("input").fill(key)
    form.get_by_role("button", name="Apply credentials").click()
    form.get_by_role("button", name="Close").click()
