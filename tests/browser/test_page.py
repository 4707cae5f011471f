"""The pages in a real Chromium: by keyboard, on screens of three widths, light and dark, bare."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from lexichord.serve.limits import MAX_PART_CHARS
from tests.browser.conftest import NARROW, Look, Scheme
from tests.http.pages import HOUSE, MARKED
from tests.http.served import fill, serve, serve_documents

LONG = 300_000  # characters of a document


def ask(page: Page, question: str = "zebra") -> None:
    page.goto("/")
    page.keyboard.press("/")
    page.keyboard.type(question)
    page.keyboard.press("Enter")
    expect(page.locator("#hits")).to_be_visible()
    page.wait_for_load_state()  # till then it does not listen to keys


def test_it_is_asked_and_read_by_keyboard(sized: Page) -> None:
    ask(sized, "When may either party give notice? zebra")
    assert re.search(r"/\?q=[^&]+$", sized.url)  # a short address: what is usual is left out
    first, second = sized.locator("[data-passage]").nth(0), sized.locator("[data-passage]").nth(1)
    expect(first.locator("mark").first).to_be_visible()
    for key, expected in (("j", first), ("j", second), ("k", first), ("k", first)):
        sized.keyboard.press(key)
        expect(expected).to_be_focused()
    sized.keyboard.press("c")
    expect(first.get_by_role("button", name="Copied")).to_be_visible()
    copied = sized.evaluate("navigator.clipboard.readText()")
    text = (first.locator(".text").text_content() or "").strip()
    cited, link = copied.removeprefix(f"“{text}”\n\n— ").split("\n")
    assert cited.startswith("Office Lease")
    assert "lease.txt, section" in cited
    assert "/document/" in link
    sized.keyboard.press("o")
    expect(sized.locator("#quote")).to_be_in_viewport()
    assert sized.locator("#quote").text_content() in copied
    sized.keyboard.press("u")
    expect(sized.locator("#hits")).to_be_visible()
    assert sized.locator("#q").input_value().startswith("When may")


def test_stages_are_shown_while_an_answer_is_waited_for(sized: Page, address: str) -> None:
    asked: list[str] = []
    sized.on("request", lambda request: asked.append(request.url.removeprefix(address)))
    sized.goto("/")
    sized.evaluate(
        """() => {
          window.told = [];
          const tell = () => window.told.push(document.querySelector("#stages").innerText);
          new MutationObserver(tell).observe(document.querySelector("#stages"), {childList: true});
          addEventListener("pagehide", () => sessionStorage.setItem("told", window.told.join("|")));
        }"""
    )
    sized.locator("#q").fill("zebra")
    sized.get_by_role("button", name="Ask").click()
    expect(sized.locator("#hits")).to_be_visible()
    told = sized.evaluate("sessionStorage.getItem('told')")
    assert "Documents: " in told
    assert "Evidence: " in told
    completed = "/suggest?q=zebra"  # where that is asked in time
    questions = [url for url in asked if "q=" in url and url != completed]
    assert questions == ["/stages?q=zebra", "/?q=zebra"]
    expect(sized.locator("#stages")).to_be_hidden()
    sized.go_back()
    expect(sized.locator("#stages")).to_be_hidden()


def test_the_keys_are_shown_and_stay_off_while_typing(page: Page) -> None:
    page.goto("/?q=zebra")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("/")
    page.keyboard.type("jko?")
    assert page.locator("#q").input_value() == "jko?"
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator("#q")).not_to_be_focused()


def test_a_citation_leads_to_its_quote(sized: Page) -> None:
    sized.goto("/?q=What+is+the+rent+of+the+zebra+house%3F&document=lease.txt&intent=list_all&k=1")
    cite = sized.locator(".answer .cite").first
    cite.click()
    target = sized.locator(f"#{sized.url.partition('#')[2]}")
    expect(target).to_be_focused()
    expect(target).to_be_in_viewport()


def test_it_is_light_and_dark_as_the_system_is(page: Page) -> None:
    page.goto("/")
    grounds = {}
    schemes: tuple[Scheme, ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        grounds[scheme] = sum(map(int, re.findall(r"\d+", colour)[:3]))
    assert grounds["light"] > 600
    assert grounds["dark"] < 120


@pytest.mark.parametrize(
    "path",
    ["/?q=zebra&rewrite=1", f"/document/{MARKED}%22%20onmouseover=%22alert(1)", "/?q=giraffe"],
)
def test_a_narrow_screen_never_scrolls_sideways(page: Page, path: str) -> None:
    page.goto(path)  # it has to fit at the end; what else there is, axe looks at


def test_an_answer_in_its_document_is_marked_as_text_and_no_box(page: Page) -> None:
    page.goto("/document/lease.txt?start=0&end=48&answer=8-48#quote")
    marked = page.locator(".whole mark.answer")
    expect(marked).to_have_text("The rent of the zebra house is EUR 900.")
    style = marked.evaluate(
        "one => (({borderLeftWidth, paddingLeft}) => [borderLeftWidth, paddingLeft])"
        "(getComputedStyle(one))"
    )
    assert style == ["0px", "0px"]


def test_what_can_be_done_with_a_document_breaks_between_its_links(page: Page) -> None:
    page.goto("/document/lease.txt")
    lines = "all => all.map((one) => one.getClientRects().length)"
    assert page.locator(".outline .acts a").evaluate_all(lines) == [1, 1, 1, 1]


def test_what_can_be_done_with_a_dataset_is_in_sight_on_a_narrow_screen(page: Page) -> None:
    page.goto("/documents")
    table = page.locator("#datasets .wide")
    assert table.evaluate("one => one.scrollWidth - one.clientWidth") == 0


def test_a_hostile_document_does_nothing(page: Page) -> None:
    """The watched page itself fails if a dialog opens, a script fails or another host is asked."""
    page.goto("/?q=giraffe")
    expect(page.locator("#hits")).to_be_visible()
    page.locator("[data-act=open]").first.click()
    expect(page.locator("#quote")).to_contain_text("<script>alert(1)</script>")
    page.locator("h1").hover()


@pytest.fixture(scope="module")
def long_address(bare: str) -> Iterator[str]:
    line = "{0}. The clause number {0} of a long contract says little that is new.\n\n"
    chunks = [
        {"content": "".join(map(line.format, range(n, n + 10))), "heading": f"Part {n}"}
        for n in range(0, LONG // len(line), 10)
    ]
    with serve_documents(bare, {"long": [{"uri": "long.txt", "chunks": chunks}]}) as served:
        yield served.url


@pytest.fixture
def long(look: Look, long_address: str) -> Page:
    return look(long_address, NARROW)


def test_a_long_document_opens_at_the_quote_and_goes_to_the_next(long: Page) -> None:
    page = long
    middle, late = f"start={LONG // 2}&end={LONG // 2 + 90}", LONG - 5_000
    page.goto(f"/document/long.txt?{middle}&also={late}-{late + 50}#quote")
    expect(page.locator("#quote")).to_be_in_viewport()
    page.keyboard.press("j")  # to another part of it
    page.wait_for_url(re.compile(f"start={late}&"))
    expect(page.locator("#quote")).to_be_in_viewport()
    assert page.locator(".whole").evaluate("one => one.textContent.length") <= MAX_PART_CHARS
    page.keyboard.press("k")
    page.wait_for_url(re.compile(f"start={LONG // 2}&"))
    expect(page.locator("#quote")).to_be_in_viewport()
    page.get_by_role("link", name="Part before").first.click()
    expect(page.get_by_text(re.compile(r"^part 1 of \d$")).first).to_be_visible()


def test_a_long_passage_is_folded_until_it_is_wanted(long: Page) -> None:
    page = long
    page.goto("/?q=contract")
    hit = page.locator("article.hit").first
    folded = hit.locator(".text").bounding_box()
    button = hit.get_by_role("button", name="Show all")
    button.click()
    expect(hit.get_by_role("button", name="Show less")).to_have_attribute("aria-expanded", "true")
    unfolded = hit.locator(".text").bounding_box()
    assert folded is not None
    assert unfolded is not None
    assert unfolded["height"] > 2 * folded["height"]
    page.keyboard.press("e")  # of the passage that has the focus
    expect(button).to_be_visible()


def test_all_is_there_without_scripts(unscripted: Page) -> None:
    page = unscripted
    page.goto("/")
    page.locator("#q").fill("zebra")
    page.get_by_text("Where and how").click()
    page.get_by_label("Dataset").select_option("open")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("article.hit .text").first).to_contain_text("zebra")
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)
    page.locator("article.hit [data-act=open]").first.click()
    expect(page.locator("#quote")).to_be_in_viewport()


def follow_from_elsewhere(page: Page, address: str) -> None:
    """To a browser, this machine's name is another site than its number."""
    page.goto(f"{address.partition('/?')[0]}/healthz".replace("127.0.0.1", "localhost"))
    page.evaluate(
        "href => document.body.append(Object.assign(document.createElement('a'), {href}))", address
    )
    page.evaluate("document.querySelector('a').click()")
    page.wait_for_url(address)


def test_a_key_is_given_once_and_taken_back(fresh: str, look: Look, strange: list[str]) -> None:
    with serve(fresh, {"Ann": {}}) as served:
        fill(fresh, HOUSE)
        page = look(served.url, NARROW)
        page.goto("/?q=zebra")
        page.keyboard.type(served.keys["Ann"])  # the field has the focus
        page.keyboard.press("Enter")
        expect(page.locator("#hits")).to_be_visible()
        assert page.url == f"{served.url}/?q=zebra"
        assert page.evaluate("document.cookie") == ""
        follow_from_elsewhere(page, f"{served.url}/?q=zebra+house")
        expect(page.locator("#hits")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Key", exact=True)).to_be_visible()
        follow_from_elsewhere(page, f"{served.url}/?q=zebra")
        expect(page.get_by_label("Key", exact=True)).to_be_visible()
    strange.clear()  # without a key the console tells of it, and localhost is another server
