"""The code in README and in the documentation runs as it stands, and prints what is shown."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
import yaml

from tests.conftest import ROOT, SAMPLES, at
from tests.docs.blocks import READ, RUN, Block, commands, is_shown, read_blocks
from tests.docs.command_server import command_server
from tests.end_to_end.conftest import new_home
from tests.listening import port_of

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUNNING = [page for page in PAGES if any(block.is_run for block in read_blocks(page))]
FROM_NOTHING = ("README.md", "docs/quickstart.md")  # all others find the sample corpus stored
SERVER = re.compile(r"^(?:\$ )?(lexichord (?:serve|mcp --http))\b.*\n", re.MULTILINE)
PORTS = {"lexichord serve": 8080, "lexichord mcp --http": 8081}  # by default
SECONDS = 240  # for one block, on a busy machine


@dataclass
class Terminal:
    """Where a reader types: a folder with the samples, and a server of its own."""

    folder: Path
    variables: Mapping[str, str]
    dsn: str
    ports: dict[int, int] = field(default_factory=dict)  # of pages, of this page's servers
    started: set[str] = field(default_factory=set)  # the commands of these

    def run(self, *command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command],
            cwd=self.folder,
            env=self.variables,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def check(self, output: subprocess.CompletedProcess[str], shown: str | None) -> None:
        """Assert that a command went well and printed what is shown."""
        fails = shown is not None and shown.lstrip().startswith("ERROR:")
        assert fails or output.returncode == 0, output.stderr
        printed = output.stderr if fails else output.stdout
        assert shown is None or is_shown(printed, shown), printed

    def shell(self, script: str, shown: str | None) -> None:
        script = "\n".join(["set -euo pipefail", self.here(script)])
        self.check(self.run("bash", "-c", script), shown)

    def sql(self, script: str, shown: str | None) -> None:
        psql = ("psql", "-X", "-q", "-P", "footer=off", "-v", "ON_ERROR_STOP=1", self.dsn)
        self.check(self.run(*psql, stdin=script), shown)

    def python(self, script: str, shown: str | None) -> None:
        self.check(self.run("python", "-W", "error", "-c", self.here(script)), shown)

    def here(self, text: str) -> str:
        """Return the text with the ports that this page's servers have taken."""
        for usual, taken in self.ports.items():
            text = re.sub(rf"\b(localhost|127\.0\.0\.1):{usual}\b", rf"\1:{taken}", text)
        return text

    def perform(self, block: Block, servers: ExitStack) -> None:
        """Run a block; what serves is started beside it, once, and stopped at the page's end."""
        for line in SERVER.finditer(block.text):
            command = line[0].removeprefix("$ ").partition("#")[0].strip()
            if command not in self.started:
                servers.enter_context(self.serving(command, line[1]))
        text = SERVER.sub("", block.text)
        if block.language == "console":
            for command, shown in commands(Block(block.line, "console", text)):
                self.shell(command, shown)
        elif text.strip():
            run = {"sh": self.shell, "sql": self.sql, "python": self.python}[block.language]
            run(text, block.output)

    @contextmanager
    def serving(self, command: str, kind: str) -> Iterator[None]:
        log = self.folder.parent / "log"
        with log.open("w") as writes:
            server = subprocess.Popen(
                ["bash", "-c", f"exec {command} --port 0"],
                cwd=self.folder,
                env=self.variables,
                stderr=writes,
            )
        try:
            self.ports[PORTS[kind]] = port_of(server, log.read_text)
            self.started.add(command)
            yield
        finally:
            self.ports.clear()
            self.started.clear()
            server.terminate()
            server.wait(SECONDS)


@pytest.fixture(scope="module")
def terminal(embedder: object) -> Iterator[Terminal]:
    """A terminal on a server of its own; its databases `blank` and `stocked` are templates."""
    with new_home() as home, ExitStack() as stack:
        folder = home / "here"
        for each in ("agreements", "policies"):
            shutil.copytree(SAMPLES / each, folder / "samples" / each)
        variables = _variables(home / "server")
        stack.enter_context(command_server(home / "bin", variables))
        variables["PATH"] = os.pathsep.join([str(home / "bin"), variables["PATH"]])
        start = Terminal(folder, variables, "")
        dsn = start.run("lexichord", "start").stdout.strip()
        terminal = Terminal(folder, variables, dsn)
        try:
            terminal.shell("lexichord init", None)
            _copy(dsn, "blank", "lexichord")
            terminal.shell("lexichord ingest samples/agreements samples/policies", None)
            _copy(dsn, "stocked", "lexichord")
            yield terminal
        finally:
            terminal.run("lexichord", "stop")


def _variables(home: Path) -> dict[str, str]:
    postgres = pytest.importorskip("lexichord.db.embedded").PROGRAMS
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"], str(postgres)])
    home.mkdir()
    home.chmod(0o755)
    source = str(ROOT / "src")
    return {
        **{name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ},
        **{"PATH": path, "PYTHONPATH": source, "LEXICHORD_HOME": str(home)},
        **{"COLUMNS": "100", "NO_COLOR": "1", "NO_PROXY": "127.0.0.1,localhost"},
        "HAYSTACK_TELEMETRY_ENABLED": "False",
    }


def _copy(dsn: str, name: str, template: str) -> None:
    """Make a database anew, as a copy of another."""
    with psycopg.connect(at(dsn, "postgres"), autocommit=True) as admin:
        admin.execute(f"drop database if exists {name} with (force)".encode())
        admin.execute(f"create database {name} template {template}".encode())


@pytest.mark.timeout(4 * SECONDS)
@pytest.mark.parametrize("page", RUNNING, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_a_page_runs(page: Path, terminal: Terminal) -> None:
    blank = str(page.relative_to(ROOT)) in FROM_NOTHING
    _copy(terminal.dsn, "lexichord", "blank" if blank else "stocked")
    with ExitStack() as servers:
        for block in read_blocks(page):
            if block.is_run:
                try:
                    terminal.perform(block, servers)
                except AssertionError as error:
                    raise AssertionError(f"{page}:{block.line}: {error}") from None


def test_a_fork_is_as_a_command_of_its_own(terminal: Terminal, tmp_path: Path) -> None:
    def start(code: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["python", "-W", "error", "-c", code],
            cwd=tmp_path,
            env={**terminal.variables, "HERE": "there"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    show = "print(os.getcwd(), os.environ['HERE'], __name__, *sys.argv, sys.stdin.read())"
    with start(f"import os, sys; {show}; sys.exit(3)") as child:
        output = child.communicate("words", timeout=SECONDS)
    assert (child.returncode, *output) == (3, f"{tmp_path} there __main__ -c words\n", "")
    with start("import warnings; warnings.warn('old')") as child:
        _, errors = child.communicate(timeout=SECONDS)
    assert child.returncode == 1
    assert errors.endswith("UserWarning: old\n")
    with start("import signal; print(flush=True); signal.pause()") as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.terminate()
        child.wait(SECONDS)
    assert child.returncode == -signal.SIGTERM
    left = terminal.run("lexichord", "show", "nothing.md")
    assert (left.returncode, left.stdout) == (2, "")
    assert "nothing.md" in left.stderr


def _read_yaml(text: str) -> list[object]:
    return list(yaml.safe_load_all(text))


def test_data_in_pages_can_be_read() -> None:
    readers: dict[str, Callable[[str], object]] = {
        "json": json.loads,
        "toml": tomllib.loads,
        "yaml": _read_yaml,
    }
    blocks = [block for page in PAGES for block in read_blocks(page) if block.language in READ]
    assert len(blocks) > 3
    for block in blocks:
        readers[block.language](block.text)


def test_every_block_says_what_it_is() -> None:
    known = (*RUN, *READ, "text")
    for page in PAGES:
        for block in read_blocks(page):
            assert block.language in known or block.language.startswith("{"), (page, block)


def test_readme_shows_each_way_to_ask() -> None:
    blocks = [block for block in read_blocks(ROOT / "README.md") if block.reason is None]
    assert {block.language for block in blocks} >= {"console", "json", "python", "sh", "sql"}
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_the_demo_prints_what_the_quickstart_shows() -> None:
    """The page's transcript is run above; the demo asks the same."""
    page = read_blocks(ROOT / "docs" / "quickstart.md")
    shown = {
        command.strip(): output
        for block in page
        if block.language == "console"
        for command, output in commands(block)
    }
    demo = (ROOT / "scripts" / "demo").read_text(encoding="utf-8")
    asked = re.findall(r"^run ((?:ingest|search|files|query) .*)$", demo, re.MULTILINE)
    assert len(asked) == 4
    assert all(shown[f"lexichord {command}"] for command in asked)


def test_blocks_are_found_with_their_output(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```sql\nselect 1;\n```\n\n```text\n1\n```\n\nWords.\n\n```text\nfree\n```\n\n"
        "<!-- not run: costs money -->\n```sh\nrm -rf /\n```\n\n"
        "```console\n$ echo a\na\n$ echo \\\n> b\n$ echo c\n...\nc\n```\n"
    )
    query, free, left_out, console = read_blocks(page)
    assert (query.line, query.output, query.reason) == (1, "1\n", None)
    assert free.language == "text"
    assert left_out.reason == "costs money"
    assert commands(console) == [
        ("echo a\n", "a\n"),
        ("echo \\\nb\n", None),
        ("echo c\n", "...\nc\n"),
    ]


@pytest.mark.parametrize(
    ("output", "shown", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a  \nb\n\n", "a\nb\n", True),
        ("a\nx\ny\nb\n", "a\n...\nb\n", True),
        ("a\nb\n", "a\n...\nb\n", True),
        ("a\nx\n", "...\n", True),
        ("a\nb\n", "a\n", False),
        ("a\nxb\n", "a\n...\nb\n", False),
        ("a+\n", "a\n", False),
    ],
)
def test_a_line_of_dots_stands_for_any_lines(output: str, shown: str, same: bool) -> None:
    assert is_shown(output, shown) is same
