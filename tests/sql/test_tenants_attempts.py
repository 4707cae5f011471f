"""scripts/break/tenants_attempts.py for some attempts: nothing leaks, and what leaks is seen."""

import importlib
import random
from typing import Any

import psycopg
import pytest

from tests.conftest import ROOT


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "scripts/break")
    return importlib.import_module("tenants_attempts")


def run(script: Any, monkeypatch: pytest.MonkeyPatch, dsn: str, attempts: int) -> object:
    """Run it with arguments; give what it exits with."""
    arguments = ["tenants_attempts.py", "--server", dsn, "--attempts", str(attempts)]
    monkeypatch.setattr("sys.argv", arguments)
    with pytest.raises(SystemExit) as ended:
        script.main()
    return ended.value.code


def test_tenants_learn_nothing_of_each_other(
    script: Any, monkeypatch: pytest.MonkeyPatch, plain_dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(script, monkeypatch, plain_dsn, 300) == 0
    assert capsys.readouterr().out.endswith("leaked 0 in 300 attempts\n")


def test_what_leaks_is_seen(
    script: Any, monkeypatch: pytest.MonkeyPatch, plain_dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fill = script.fill

    def fill_and_open(connection: psycopg.Connection[Any], rng: random.Random) -> None:
        fill(connection, rng)
        connection.execute("alter table lexichord_data.document disable row level security")

    monkeypatch.setattr(script, "fill", fill_and_open)
    assert run(script, monkeypatch, plain_dsn, 150) == 1
    assert "leaked" in capsys.readouterr().out


def test_no_attempts_show_nothing(
    script: Any, monkeypatch: pytest.MonkeyPatch, plain_dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(script, monkeypatch, plain_dsn, 0) == 2
    monkeypatch.setattr(script.Attempts, "draw_statement", lambda *_: "select 1/0")
    assert "nothing is shown" in str(run(script, monkeypatch, plain_dsn, 25))
    assert "leaked" not in capsys.readouterr().out
