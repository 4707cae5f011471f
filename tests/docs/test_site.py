"""The site builds without a warning and without a network, and describes all that there is."""

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from lexichord import Lexichord, SyncLexichord, errors
from lexichord.settings import Settings
from tests.conftest import ROOT

# What may lead elsewhere: links to follow, not what a page loads by itself.
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}
# Refuses to connect or to look up a name, then runs Sphinx as scripts/docs does.
BUILD = """
import socket, sys
def refuse(*_: object) -> None:
    raise AssertionError("the build asks the network")
socket.socket.connect = socket.getaddrinfo = refuse
from sphinx.cmd.build import main
sys.exit(main(sys.argv[1:]))
"""
APART = ("state", "types")  # folders of sql/ that hold no functions
STRICT = ("--quiet", "--fail-on-warning", "--keep-going", "--nitpicky", "--builder", "html")


class Loads(HTMLParser):
    """Collects what a page loads by itself, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        address = dict(attrs).get(LOADED.get(tag, ""))
        if address and dict(attrs).get("rel") not in ("canonical", "search", "next", "prev"):
            self.addresses.append(address)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    places = (str(ROOT / "docs"), str(folder / "html"))
    build = subprocess.run(
        [sys.executable, "-c", BUILD, *STRICT, "--doctree-dir", str(folder / "trees"), *places],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert (build.returncode, build.stderr) == (0, "")
    return folder / "html"


def pages(site: Path) -> Iterator[tuple[Path, Loads]]:
    for path in sorted(site.rglob("*.html")):
        loads = Loads()
        loads.feed(path.read_text(encoding="utf-8"))
        yield path, loads


def text(site: Path, page: str) -> str:
    loads = Loads()
    loads.feed((site / page).read_text(encoding="utf-8"))
    return "".join(loads.text)


def test_every_page_of_the_folder_is_in_the_site(site: Path) -> None:
    written = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    assert len(written) > 30
    assert all((site / path.with_suffix(".html")).exists() for path in written)


def test_pages_load_nothing_from_other_servers(site: Path) -> None:
    for path, loads in pages(site):
        foreign = [address for address in loads.addresses if urlsplit(address).netloc]
        assert foreign == [], path
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//|@import", style.read_text()), style


def test_the_reference_names_every_function(site: Path) -> None:
    shown = text(site, "reference/sql.html")
    files = [path for path in (ROOT / "sql").rglob("*.sql") if path.parent.name not in APART]
    names = {path.stem for path in files} - {"extensions", "index"}  # of an engine's files
    assert len(names) > 300
    assert {name for name in names if f"{name}(" not in shown} == set()


def test_the_reference_names_every_setting(site: Path) -> None:
    shown = text(site, "reference/settings.html")
    named = {f"LEXICHORD_{name.upper()}" for name in Settings.model_fields}
    assert {name for name in named if name not in shown} == set()


def test_the_reference_names_every_command_with_its_options(site: Path) -> None:
    shown = text(site, "reference/cli.html")
    help_text = subprocess.run(
        [sys.executable, "-m", "lexichord", "query", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={"COLUMNS": "200", "TERMINAL_WIDTH": "200", "NO_COLOR": "1", "PATH": ""},
    ).stdout
    options = set(re.findall(r"(?<!\S)--[a-z-]+", help_text)) - {"--help"}
    assert len(options) > 20
    assert {option for option in options if option not in shown} == set()
    assert all(f"lexichord {words} [OPTIONS]" in shown for words in ("keys create", "models fetch"))


def test_the_reference_names_every_route_and_tool(site: Path) -> None:
    routes = text(site, "reference/http.html")
    for route in (
        "POST /v1/query",
        "GET /healthz",
        "POST /v1/vector_stores/{vector_store_id}/search",
    ):
        assert route in routes
    assert all(field in routes for field in ("min_coverage", "budget_ms", "dense_share"))
    tools = text(site, "reference/mcp.html")
    assert all(name in tools for name in ("assistant", "file_discover", "search_method"))


def test_the_reference_names_every_method_and_error(site: Path) -> None:
    shown = (site / "reference/python.html").read_text(encoding="utf-8")
    for owner in (Lexichord, SyncLexichord):
        methods = [name for name in dir(owner) if not name.startswith("_")]
        missing = [
            name
            for name in methods
            if callable(getattr(owner, name))
            and f'id="lexichord.{owner.__name__}.{name}"' not in shown
        ]
        assert missing == []
    for name, error in vars(errors).items():
        if isinstance(error, type) and issubclass(error, Exception):
            assert f'id="lexichord.errors.{name}"' in shown
