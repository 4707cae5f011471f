"""A Chromium of this machine, and the pages' server with the sample documents."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import pytest
from playwright.sync_api import Browser, Dialog, Page, sync_playwright

from lexichord.db import schema
from tests.conftest import SPACE, new_database
from tests.http.served_page import fill, served

NAMES = ("chromium", "chromium-browser", "google-chrome")
VARIABLE = "LEXICHORD_TEST_CHROMIUM"

type Scheme = Literal["light", "dark"]

WIDTHS = (320, 768, 1440)
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


class Screen(NamedTuple):
    """What a person looks at: its width in pixels, and which colours the system asks for."""

    width: int
    scheme: Scheme

    def __str__(self) -> str:
        return f"{self.width}-{self.scheme}"

    def options(self) -> dict[str, Any]:
        """Return those of a browser's context with such a screen."""
        viewport = {"width": self.width, "height": 800}
        return {"viewport": viewport, "color_scheme": self.scheme}


SCREENS = [Screen(width, scheme) for width in WIDTHS for scheme in SCHEMES]
# Each width and each scheme once, for flows that look the same but for these.
SOME_SCREENS = [Screen(320, "dark"), Screen(768, "light"), Screen(1440, "light")]
QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-sync",
    "--no-first-run",
    "--no-sandbox",  # it has none where it runs as root
)
CLIPBOARD: dict[str, Any] = {"permissions": ["clipboard-read", "clipboard-write"]}
BARE: dict[str, Any] = {"java_script_enabled": False}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Open for a module only: while it is, this thread has a loop, and no other can run in it."""
    named = os.environ.get(VARIABLE)
    program = named or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(f"no {', '.join(NAMES)} on PATH, {VARIABLE} is unset")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*QUIET])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def address(embedded_dsn: str) -> Iterator[str]:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        fill(dsn)
        with served(dsn) as address:
            yield address


@pytest.fixture
def strange() -> list[str]:
    """What no page may do, as it happens: errors in the console, requests to another server."""
    return []


@pytest.fixture(params=SCREENS, ids=str)
def screen(request: pytest.FixtureRequest) -> Screen:
    """Each screen that a flow has to work on; what a test stores, it names by its screen."""
    screen: Screen = request.param
    return screen


@pytest.fixture(params=SOME_SCREENS, ids=str)
def some_screen(request: pytest.FixtureRequest) -> Screen:
    """Each screen that suffices for a flow in which people look after what is stored."""
    screen: Screen = request.param
    return screen


@pytest.fixture
def page(browser: Browser, address: str, strange: list[str]) -> Iterator[Page]:
    """A page that is watched; at the end nothing strange may have happened."""
    with watched_page(browser, address, strange, **CLIPBOARD) as page:
        yield page


@pytest.fixture
def sized(browser: Browser, address: str, strange: list[str], screen: Screen) -> Iterator[Page]:
    """The same on each screen, which it has to fit at the end."""
    with fitting_page(browser, address, strange, screen, **CLIPBOARD) as page:
        yield page


@pytest.fixture
def seldom(
    browser: Browser, address: str, strange: list[str], some_screen: Screen
) -> Iterator[Page]:
    """The same on some screens."""
    with fitting_page(browser, address, strange, some_screen, **CLIPBOARD) as page:
        yield page


@pytest.fixture
def bare(browser: Browser, address: str, strange: list[str], some_screen: Screen) -> Iterator[Page]:
    """The same without scripts."""
    with fitting_page(browser, address, strange, some_screen, **BARE) as page:
        yield page


def fits(page: Page) -> bool:
    """Return whether a page is no wider than its screen."""
    # One that is just being left for another has no element: a locator waits for the next one's.
    wide: bool = page.locator("html").evaluate("page => page.scrollWidth > innerWidth")
    return not wide


@contextmanager
def watched_page(
    browser: Browser, address: str, strange: list[str], **options: Any
) -> Iterator[Page]:
    """Open a page of a server that is watched; at the end nothing strange may have happened."""
    context = browser.new_context(base_url=address, **options)
    page = context.new_page()
    watch(page, address, strange)
    yield page
    context.close()
    assert strange == []


@contextmanager
def fitting_page(
    browser: Browser, address: str, strange: list[str], screen: Screen, **options: Any
) -> Iterator[Page]:
    """Open a watched page on a screen, which it has to fit at the end."""
    with watched_page(browser, address, strange, **screen.options(), **options) as page:
        yield page
        assert fits(page)


def watch(page: Page, address: str, strange: list[str]) -> None:
    def refuse(dialog: Dialog) -> None:
        strange.append(dialog.message)
        dialog.dismiss()

    page.on(
        "console", lambda message: strange.append(message.text) if message.type == "error" else None
    )
    page.on("pageerror", lambda error: strange.append(str(error)))
    page.on("dialog", refuse)
    page.on(
        "request",
        lambda request: None if request.url.startswith(address) else strange.append(request.url),
    )
