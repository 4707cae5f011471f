"""The exit code of each command: 0 done, 1 failed, 2 used wrongly, 130 or 143 interrupted."""

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

from lexichord import SyncLexichord
from lexichord.cli.commands import app
from tests.conftest import ROOT, new_database

NOBODY = "postgresql://nobody@127.0.0.1:1/nothing"
QUESTIONS = str(ROOT / "samples" / "questions.jsonl")
# A call of each command that asks the database.
ASKING = {
    **{name: ["zebra"] for name in ("search", "files", "query", "similar", "show", "reread")},
    **{name: [] for name in ("list", "status", "doctor", "reindex", "init", "contextualize")},
    "rm": ["zebra", "--yes"],
    "backup": ["FOLDER/backup"],
    "copy": ["--to", NOBODY],
    "ingest": ["FOLDER"],
    "training-triplets": ["FOLDER/triplets"],
    "judged-set": ["FOLDER/judged"],
    "import": ["--from-vechord", "n"],
    "export": ["--to-vechord", "n"],
    "reembed": ["--to", "test/tiny/8"],
    "calibrate": [QUESTIONS],
    "eval": ["sample"],
    "serve": [],
    "mcp": [],
    "worker": [],
    "keys create": ["ann"],
    "keys rotate": ["1"],
    "keys list": [],
    "keys calls": [],
    "keys revoke": ["1"],
    "tenants on": [],
    "tenants add": ["acme"],
    "tenants list": [],
    "tenants drop": ["acme"],
    "datasets list": [],
    "datasets delete": ["zebra", "--yes"],
    "datasets rename": ["zebra", "gnu"],
    "datasets move": ["zebra", "--to", "gnu"],
    "metadata set": ["zebra", "year=2024"],
    "metadata count": ["year"],
}
OTHERS = {"restore", "start", "stop", "dsn", "providers", "config show"}
OTHERS |= {f"models {name}" for name in ("list", "info", "fetch", "remove")}

type Cli = Callable[..., Result]


def commands(command: object, path: tuple[str, ...] = ()) -> set[str]:
    inner = getattr(command, "commands", None)
    if inner is None:
        return {" ".join(path)}
    return {each for name, one in inner.items() for each in commands(one, (*path, name))}


ALL = sorted(commands(get_command(app)))


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("LEXICHORD_HOME", str(tmp_path / "home"))
    (tmp_path / "empty").mkdir()

    def run(command: str, *arguments: str) -> Result:
        given = [each.replace("FOLDER", str(tmp_path / "empty")) for each in arguments]
        return CliRunner().invoke(app, [*command.split(), *given])

    return run


def test_no_command_is_forgotten_here() -> None:
    assert set(ALL) == ASKING.keys() | OTHERS


@pytest.mark.parametrize("command", ALL)
def test_what_is_used_wrongly_ends_with_2(cli: Cli, command: str) -> None:
    done = cli(command, "--nonsense")
    assert done.exit_code == 2
    assert "No such option" in done.stderr


@pytest.mark.parametrize(
    "call", ["search x --mode foo", "init --engine foo", "keys create x --days foo"]
)
def test_a_wrong_value_is_told_in_plain_words(cli: Cli, call: str) -> None:
    done = cli(call)
    assert done.exit_code == 2
    assert "Value error" not in done.stderr
    assert "Error: Invalid value for '--" in done.stderr


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ("ingest ''", "a path is empty: name a file, or a folder, this one as ."),
        ("ingest FOLDER/gone --prune", "FOLDER/gone is not there: prune deletes what is gone"),
        ("backup -", "a backup is written to a file"),
        (f"keys revoke {10**20}", "key is too large a number"),
        (f"keys rotate {10**20}", "key is too large a number"),
    ],
)
def test_what_is_not_meant_is_refused(cli: Cli, empty: str, call: str, line: str) -> None:
    done = cli("", *shlex.split(call), "--dsn", empty)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert re.sub(r"/\S+/empty", "FOLDER", done.stderr).startswith(f"lexichord: {line}")


@pytest.mark.parametrize("command", ASKING)
def test_what_fails_ends_with_1_and_a_line(cli: Cli, command: str) -> None:
    done = cli(command, *ASKING[command], "--dsn", NOBODY)
    assert (done.exit_code, done.stdout) == (1, ""), done.output
    assert done.stderr.startswith("lexichord: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "call",
    ["backup", "restore", "eval", "ingest --dataset one", "serve --host", "show"],
)
def test_what_is_too_long_is_said_in_a_bounded_line(cli: Cli, empty: str, call: str) -> None:
    done = cli(call, "x" * 100_000, "--dsn", empty)
    assert (done.exit_code, done.stdout) == (2, ""), done.output[:500]
    assert done.stderr.startswith("lexichord: ")
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 2_100


@pytest.mark.parametrize(
    ("call", "code", "line"),
    [
        ("search zebra", 0, "nothing found"),
        ("search zebra --mode keyword", 0, "nothing is stored yet: lexichord ingest FOLDER"),
        ("files zebra", 0, "nothing found"),
        ("query zebra", 0, "nothing found"),
        ("list", 0, "there are no documents"),
        ("list --under nowhere", 0, "there are no documents"),
        ("datasets list", 0, "there are no datasets"),
        ("keys list", 0, "there are no keys"),
        ("keys calls", 0, "there are no calls"),
        ("tenants list", 0, "there are no tenants"),
        ("metadata count folder", 0, "there are no facets"),
        ("ingest --retry-failed", 0, "nothing to do: no file has failed"),
        ("ingest FOLDER", 1, "nothing was read: no file is there"),
        ("ingest FOLDER/none", 2, "there is no file or folder"),
        ("rm none.md --yes", 2, "there is no document none.md"),
        ("datasets delete none --yes", 2, "there is no dataset 'none'"),
        ("search zebra --dataset none", 2, "there is no dataset 'none'"),
    ],
)
def test_where_nothing_is_there_a_line_says_so(
    cli: Cli, empty: str, call: str, code: int, line: str
) -> None:
    done = cli(*call.split(), "--dsn", empty)
    assert (done.exit_code, line in done.output) == (code, True), done.output


@pytest.fixture(scope="module")
def empty(template: str) -> Iterator[str]:
    """A database in which nothing is stored; none of the calls changes that."""
    with new_database(template, copy_of=template) as dsn:
        yield dsn


def test_metadata_is_printed_in_words(cli: Cli, dsn: str, tmp_path: Path) -> None:
    with SyncLexichord(dsn=dsn, home=tmp_path) as lexichord:
        lexichord.ingest(documents={"uri": "a.md", "text": "The zebra.", "metadata": {"n": None}})
    done = cli("metadata", "set", "a.md", "year=2024", 'tags=["a", "b"]', "open=true", "--dsn", dsn)
    assert {"year: 2024", "tags: a, b", "open: true"} < set(done.stdout.splitlines())
    shown = cli("show", "a.md", "--dsn", dsn).stdout
    assert "{" not in shown
    assert "None" not in cli("status", "--dsn", dsn).stdout
