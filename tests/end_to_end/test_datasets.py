"""Datasets listed and deleted: on the command line, in Python and over HTTP."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from lexichord import SyncLexichord
from lexichord.cli import options
from lexichord.cli.commands import app
from lexichord.errors import NotFoundError
from tests.http.served import serving

type Cli = Callable[..., Result]
HELD = "a/b: 2 documents, 2 chunks"


@pytest.fixture
def lexichord(dsn: str, tmp_path: Path) -> Iterator[SyncLexichord]:
    with SyncLexichord(dsn=dsn, home=tmp_path) as lexichord:
        for uri, dataset in (("gnu.md", "a/b"), ("yak.md", "a/b"), ("owl.md", "web")):
            lexichord.ingest(documents=[{"uri": uri, "text": "Fed."}], dataset=dataset)
        yield lexichord


@pytest.fixture
def cli(dsn: str) -> Cli:
    def run(*arguments: str, answer: str | None = None) -> Result:
        return CliRunner().invoke(app, ["datasets", *arguments, "--dsn", dsn], input=answer)

    return run


@pytest.mark.usefixtures("lexichord")
@pytest.mark.parametrize(
    ("is_terminal", "arguments", "answer", "said", "code"),
    [
        (False, ("a/b",), "", f"lexichord: {HELD}: say --yes to delete for good\n", 2),
        (True, ("a/b",), "n\n", f"{HELD}: delete for good? [y/N]: n\nAborted!\n", 1),
        (True, ("a/b",), "y\n", f"{HELD}: delete for good? [y/N]: y\n{HELD} deleted\n", 0),
        (False, ("a/b", "--yes"), "", f"{HELD} deleted\n", 0),
        (False, ("a/b", "--yes", "--json"), "", '{"deleted": 2}\n', 0),
        (False, ("webb",), "", "no dataset 'webb': take one of 'web', 'a/b'\n", 2),
    ],
)
def test_what_goes_is_counted_first(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
    is_terminal: bool,
    arguments: tuple[str, ...],
    answer: str,
    said: str,
    code: int,
) -> None:
    monkeypatch.setattr(options, "is_terminal", lambda: is_terminal)
    done = cli("delete", *arguments, answer=answer)
    assert (done.output.endswith(said), done.exit_code) == (True, code), done.output
    left = "web: 1 document, 1 chunk\n"
    assert cli("list").stdout == (left if code == 0 else f"{HELD}\n{left}")


def test_python_and_http_delete_them_too(lexichord: SyncLexichord) -> None:
    assert lexichord.delete_dataset("web") == 1
    with pytest.raises(NotFoundError, match=r"'web': take one of 'a/b'$"):
        lexichord.delete_dataset("web")
    with serving(lexichord) as url, httpx.Client(base_url=url, timeout=60) as client:
        assert client.delete("/v1/datasets/a/b").json() == {"deleted": 2}
        assert client.delete("/v1/datasets/a/b").status_code == 404
        assert client.get("/v1/datasets").json() == {"datasets": []}
