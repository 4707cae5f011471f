"""Files brought to the page, what is stored looked after, with and without scripts."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import BARE, NARROW, WIDE, Look
from tests.http.pages import HOUSE
from tests.http.served import serve_documents
from tests.unit.test_web import Site, serve_site

MAX_BODY = 20_000


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serve_site() as own:
        yield own


@pytest.fixture(scope="module")
def own_address(bare: str, site: Site) -> Iterator[str]:
    """A server whose documents these tests change, each those of datasets of its own."""
    place = site.url.removeprefix("http://")
    options: Any = {"max_body": MAX_BODY, "record": "text", "fetch_hosts": place}
    with serve_documents(bare, HOUSE, **options) as served:
        yield served.url


@pytest.fixture
def scripted(look: Look, own_address: str) -> Page:
    return look(own_address, NARROW)


@pytest.fixture
def unscripted(look: Look, own_address: str) -> Page:
    return look(own_address, NARROW, **BARE)


@pytest.fixture(params=[{}, BARE], ids=["scripted", "unscripted"])
def either(request: pytest.FixtureRequest, look: Look, own_address: str) -> Page:
    return look(own_address, WIDE, **request.param)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of what can be stored and of what cannot."""
    top = tmp_path / "folder"
    (top / "sub" / ".hidden").mkdir(parents=True)
    (top / "zebra.md").write_text("# Zebra\n\nA zebra has stripes.")
    (top / "sub" / "gnu.txt").write_text("A gnu has horns.")
    (top / "sub" / ".hidden" / "x.txt").write_text("x")
    (top / "empty.txt").write_text("")
    (top / "large.txt").write_text("x" * MAX_BODY)
    (top / "<img src=x onerror=alert(1)>.txt").write_text("okapi")
    return top


STORED = ("folder/zebra.md", "folder/sub/gnu.txt", "folder/<img src=x onerror=alert(1)>.txt")


def store(page: Page, dataset: str, *files: Path) -> None:
    page.goto("/documents")
    page.set_input_files("#files", files)
    page.locator("#dataset").fill(dataset)
    page.get_by_role("button", name="Store").click()


def ask_them(page: Page, question: str) -> None:
    page.get_by_role("link", name="Ask them").click()
    page.locator("#q").fill(question)
    page.get_by_role("button", name="Ask").click()


def expect_done(page: Page, outcome: str, times: int = 1) -> None:
    ends = page.locator(".run h2", has_text=outcome)
    expect(ends).to_have_count(times, timeout=30_000)


def expect_told(page: Page) -> None:
    """Expect each file of the folder to be accounted for."""
    expect_done(page, "Done: 3 stored, 1 failed")
    told = page.locator("#runs").inner_text()
    for name in STORED:
        assert f"stored {name}" in told
    assert "failed folder/empty.txt holds no text" in told
    assert "left out folder/large.txt too large for this server" in told
    assert re.search(r"left out folder/sub/\.hidden(/x.txt)? hidden", told)


def test_a_folder_is_chosen_stored_and_asked(scripted: Page, folder: Path) -> None:
    scripted.goto("/")
    scripted.get_by_role("link", name="Documents", exact=True).click()
    for name in ("choose files", "choose a folder"):  # by the script
        with scripted.expect_file_chooser() as chooser:
            scripted.get_by_role("button", name=name).click()
        chooser.value.set_files(folder if "folder" in name else folder / "zebra.md")
    expect(scripted.locator("#chosen")).to_have_text("5 files to store, 2 left out")
    scripted.reload()
    scripted.set_input_files("#folder", folder)
    expect(scripted.get_by_text("4 files to store, 2 left out").first).to_be_visible()
    scripted.locator("#dataset").fill("zoo")
    scripted.get_by_role("button", name="Store").click()
    expect_told(scripted)
    expect(scripted.locator("#holdings").get_by_role("row", name="zoo 3")).to_be_visible()
    ask_them(scripted, "Which animal has stripes?")
    expect(scripted.locator("article.hit .text").first).to_contain_text("stripes")


def test_files_and_folders_are_dropped(scripted: Page, folder: Path) -> None:
    scripted.goto("/documents")
    scripted.locator("#dataset").fill("dropped")
    box = scripted.locator("#bring").bounding_box()
    assert box is not None
    devtools = scripted.context.new_cdp_session(scripted)
    data = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        event = {"type": kind, "x": box["x"] + 20, "y": box["y"] + 20, "data": data}
        devtools.send("Input.dispatchDragEvent", event)
    expect(scripted.get_by_text("4 files to store, 2 left out").first).to_be_visible()
    scripted.get_by_role("button", name="Store").click()
    expect_told(scripted)


def test_more_than_the_server_takes_at_once_goes_in_parts(scripted: Page, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.txt" for number in range(3)]
    for file in files:
        file.write_text("A zebra. " * (MAX_BODY // 15))
    store(scripted, "parts", *files)
    expect_done(scripted, "Done: 1 stored", 3)


def test_what_the_server_refuses_is_said_beside_the_files(
    scripted: Page, tmp_path: Path, strange: list[str]
) -> None:
    (tmp_path / "a.txt").write_text("gnu")
    scripted.goto("/documents")
    scripted.get_by_role("button", name="Store").click()
    expect(scripted.locator("#chosen")).to_have_text("Choose a file first.")
    store(scripted, " ", tmp_path / "a.txt")
    expect(scripted.get_by_role("heading", name="1 file not stored")).to_be_visible()
    expect(scripted.locator("#runs")).to_contain_text("The dataset needs a name")
    expect(scripted.locator("#runs")).to_contain_text("a.txt")
    assert len(strange) == 1
    assert "400" in strange.pop()  # the console's own line


def test_what_failed_is_tried_again_with_what_the_page_still_has(
    scripted: Page, tmp_path: Path
) -> None:
    (tmp_path / "good.txt").write_text("A gnu.")
    (tmp_path / "torn.pdf").write_bytes(b"%PDF-1.4 torn")
    scripted.goto("/documents")
    expect(scripted.locator("#files")).to_be_hidden()  # it would say that no file is chosen
    store(scripted, "again", tmp_path / "good.txt", tmp_path / "torn.pdf")
    expect_done(scripted, "Done: 1 stored, 1 failed")
    scripted.get_by_role("button", name="Try again").click()
    expect_done(scripted, "Done: 1 failed")  # of the one alone
    expect(scripted.get_by_role("button", name="Try again")).to_have_count(1)


def test_a_page_is_fetched_and_asked(scripted: Page, site: Site) -> None:
    site.put("/quokka.html", "<title>Quokkas</title><p>The quokka smiles at dawn.</p>")
    scripted.goto("/documents")
    scripted.get_by_text("Fetch pages").click()
    scripted.get_by_label("Addresses, one a line").fill(f"{site.url}/quokka.html")
    scripted.locator("#fetch-dataset").fill("web")
    scripted.get_by_role("button", name="Fetch").click()
    expect_done(scripted, "Done: 1 stored")
    ask_them(scripted, "When does the quokka smile?")
    expect(scripted.locator(".answer")).to_contain_text("at dawn")


def test_all_goes_without_scripts(unscripted: Page, folder: Path, strange: list[str]) -> None:
    page, dataset = unscripted, "bare"
    store(page, dataset, folder / "zebra.md", folder / "empty.txt")
    expect_done(page, "Done: 1 stored, 1 failed")  # it loads itself again
    page.get_by_role("link", name=f"Documents of {dataset}").click()
    page.get_by_role("link", name="Metadata of Zebra").click()
    page.get_by_label("Keys with their values").fill('{"kind": "horse"}')
    page.get_by_role("button", name="Keep").click()
    expect(page.get_by_role("heading", name="Zebra", exact=True, level=1)).to_be_visible()
    page.get_by_role("link", name="Metadata of Zebra").click()
    expect(page.get_by_label("Keys with their values")).to_have_value(re.compile('"horse"'))
    page.goto(f"/documents?dataset={dataset}")
    page.set_input_files("#files", folder / "large.txt")
    page.get_by_role("button", name="Store").click()
    expect(page.get_by_role("heading", name="Too large")).to_be_visible()
    assert len(strange) == 1
    assert "413" in strange.pop()  # the console's own line


def test_a_dataset_is_made_and_renamed_and_its_document_read_again_and_moved(
    unscripted: Page, folder: Path
) -> None:
    page, old, new, other = unscripted, "old", "new", "other"
    page.goto("/documents")
    page.get_by_text("New dataset").click()
    page.get_by_label("Its name").fill(old)
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("heading", name=f"Documents of {old}")).to_be_visible()
    page.set_input_files("#files", folder / "zebra.md")
    page.get_by_role("button", name="Store").click()
    expect_done(page, "Done: 1 stored")
    page.get_by_role("link", name=f"Documents of {old}").click()
    page.get_by_role("link", name=f"Rename dataset {old}").click()
    page.get_by_label("Its new name").fill(new)
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name=f"Documents of {new}")).to_be_visible()
    page.get_by_role("link", name="Read Zebra again").click()
    page.get_by_role("button", name="Read again").click()
    expect_done(page, "Done: 1 stored")
    page.get_by_role("link", name=f"Documents of {new}").click()
    page.get_by_role("link", name="Move Zebra").click()
    page.get_by_label("into a dataset").fill(other)
    page.get_by_role("button", name="Move").click()
    page.goto(f"/documents?dataset={other}")
    expect(page.get_by_role("link", name="Zebra", exact=True)).to_be_visible()


def test_documents_and_datasets_are_deleted_after_a_question(
    either: Page, folder: Path, request: pytest.FixtureRequest
) -> None:
    page, dataset = either, f"short {request.node.callspec.id}"
    store(page, dataset, folder / "zebra.md", folder / "sub" / "gnu.txt")
    expect_done(page, "Done: 2 stored")
    page.goto(f"/documents?dataset={dataset}")
    page.get_by_role("link", name="Delete Zebra").click()
    page.get_by_role("link", name="Keep it").click()
    page.get_by_role("link", name="Delete Zebra").click()
    expect(page.get_by_text("It cannot be taken back")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("link", name="gnu", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Zebra", exact=True)).to_have_count(0)
    page.get_by_role("link", name=f"Delete dataset {dataset}").click()
    expect(page.get_by_text("1 document with 1 chunk")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("link", name="open", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name=dataset, exact=True)).to_have_count(0)


def test_an_answer_is_judged(either: Page) -> None:
    either.goto("/?q=What+is+the+rent+of+the+zebra+house%3F&document=lease.txt")
    for judgment in ("Right", "Wrong"):
        either.get_by_role("button", name=judgment).click()
        expect(either.get_by_role("heading", name="Thank you")).to_be_visible()
        either.get_by_role("link", name="What is the rent").click()
