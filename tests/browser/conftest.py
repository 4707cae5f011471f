"""A Chromium of this machine, and the pages' server with the sample documents."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal, NamedTuple

import pytest
from playwright.sync_api import Browser, Dialog, Page, sync_playwright

from tests.http.pages import HOUSE
from tests.http.served import serve_documents

NAMES = ("chromium", "chromium-browser", "google-chrome")
VARIABLE = "LEXICHORD_TEST_CHROMIUM"

type Scheme = Literal["light", "dark"]
type Look = Callable[..., Page]


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


SCREENS = [Screen(320, "dark"), Screen(1440, "light")]
NARROW, WIDE = SCREENS
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


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Open for these tests only: while it is, no other loop can run in this thread."""
    named = os.environ.get(VARIABLE)
    program = named or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(f"no {', '.join(NAMES)} on PATH, {VARIABLE} is unset")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*QUIET])
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def address(bare: str) -> Iterator[str]:
    with serve_documents(bare, HOUSE) as served:
        served.by().get("/?q=zebra")  # a browser's patience is short, and a first search slow
        yield served.url


@pytest.fixture
def strange() -> list[str]:
    """What no page may do, as it happens: errors in the console, requests to another server."""
    return []


@pytest.fixture
def look(browser: Browser, strange: list[str]) -> Iterator[Look]:
    """Open pages of servers that are watched, on a screen if one is given."""
    with ExitStack() as stack:
        yield lambda address, *screen, **options: stack.enter_context(
            watched_page(browser, address, strange, *screen, **options)
        )


@pytest.fixture(params=SCREENS, ids=str)
def screen(request: pytest.FixtureRequest) -> Screen:
    """Each screen that a flow has to work on."""
    screen: Screen = request.param
    return screen


@pytest.fixture
def page(look: Look, address: str) -> Page:
    """A page on a narrow screen."""
    return look(address, NARROW, **CLIPBOARD)


@pytest.fixture
def unscripted(look: Look, address: str) -> Page:
    """A page in a browser that runs no scripts."""
    return look(address, NARROW, **BARE)


@pytest.fixture
def sized(look: Look, address: str, screen: Screen) -> Page:
    """The same on each screen."""
    return look(address, screen, **CLIPBOARD)


def fits(page: Page) -> bool:
    """Return whether a page is no wider than its screen."""
    # One that is just being left for another has no element: a locator waits for the next one's.
    wide: bool = page.locator("html").evaluate("page => page.scrollWidth > innerWidth")
    return not wide


@contextmanager
def watched_page(
    browser: Browser, address: str, strange: list[str], screen: Screen = WIDE, **options: Any
) -> Iterator[Page]:
    """Open a page that has to fit its screen at the end, when nothing strange may have happened."""
    context = browser.new_context(base_url=address, **screen.options(), **options)
    page = context.new_page()
    watch(page, address, strange)
    yield page
    assert fits(page)
    context.close()
    assert strange == []


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
