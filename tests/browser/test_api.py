"""The page of the HTTP API in a real Chromium; the watched page fails if another host is asked."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from lexichord import SyncLexichord
from lexichord.db import schema
from tests.browser.conftest import watch
from tests.conftest import SPACE, new_database
from tests.http.served_page import fill, served
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


def operations(address: str) -> set[tuple[str, str]]:
    paths = httpx.get(f"{address}/openapi.json").json()["paths"]
    return {(method.upper(), path) for path, methods in paths.items() for method in methods}


def try_datasets(page: Page) -> str:
    """Ask for the datasets as a reader of the page does; give what it shows of the answer."""
    page.locator("#operations-documents-list_datasets button").first.click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    return page.locator(ANSWER).first.inner_text()


def test_every_operation_is_shown(api: Page, address: str) -> None:
    shown = {
        (
            block.locator(".opblock-summary-method").inner_text(),
            block.locator(".opblock-summary-path").get_attribute("data-path"),
        )
        for block in api.locator(".opblock").all()
    }
    assert shown == operations(address)


def test_an_operation_is_tried(api: Page) -> None:
    answer = try_datasets(api)
    assert answer.startswith("200")
    assert '"dataset": "open"' in answer


def test_it_follows_the_system_and_a_narrow_screen(api: Page) -> None:
    api.set_viewport_size({"width": 320, "height": 740})
    api.locator("#operations-search-query button").first.click()
    expect(api.get_by_role("button", name="Try it out")).to_be_visible(timeout=SLOW)
    assert api.evaluate("document.documentElement.scrollWidth") == 320
    expect(api.locator("html")).not_to_have_css("color-scheme", "dark")
    api.emulate_media(color_scheme="dark")
    expect(api.locator("html")).to_have_css("color-scheme", "dark", timeout=SLOW)


def test_without_scripts_it_says_where_the_operations_stand(browser: Browser, address: str) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    page.goto("/docs")
    page.get_by_role("link", name="the OpenAPI document").click()
    assert page.url == f"{address}/openapi.json"
    context.close()


@pytest.fixture(scope="module")
def keyed(embedded_dsn: str) -> Iterator[tuple[str, str]]:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        fill(dsn)
        with SyncLexichord(dsn=dsn) as core:
            secret = core.create_key("Ann", datasets=["open"]).secret
        with served(dsn, allowed_hosts="search.example.com") as address:
            yield address, secret


def test_operations_are_tried_with_a_key(browser: Browser, keyed: tuple[str, str]) -> None:
    (address, secret), strange = keyed, list[str]()
    context = browser.new_context(base_url=address)
    page = context.new_page()
    watch(page, address, strange)
    assert try_datasets(opened(page)).startswith("401")
    authorize(page, secret)
    page.get_by_role("button", name="Execute").click()
    answer = page.locator(ANSWER).first
    expect(answer).to_contain_text('"dataset": "open"', timeout=SLOW)
    assert "closed" not in answer.inner_text()
    assert try_datasets(opened(page)).startswith("401")  # no key is kept
    context.close()
    assert [each for each in strange if "401" not in each] == []  # a browser calls that an error


def authorize(page: Page, key: str) -> None:
    page.get_by_role("button", name="Authorize").first.click()
    form = page.locator(".modal-ux form")
    form.locator("input").fill(key)
    form.get_by_role("button", name="Apply credentials").click()
    form.get_by_role("button", name="Close").click()
