"""What the environment says, which is set for other programs."""

import os
import subprocess
import sys
from pathlib import Path
from time import monotonic

import pytest

from lexichord import SyncLexichord
from lexichord.db.backup import backup
from lexichord.db.postmaster import STALE_LOCK_SECONDS
from lexichord.errors import ConfigError


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII", "EUC_JP"])
def test_texts_are_utf_8_whatever_the_environment_says(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", encoding)
    text = "# Preis\n\nDie Miete beträgt “fünfhundert” €, 日本 ausgenommen.\n"
    (tmp_path / "miete.md").write_text(text, encoding="utf-8")
    with SyncLexichord(dsn=dsn) as lexichord:
        assert not lexichord.ingest(tmp_path / "miete.md").failed
        (hit, *_) = lexichord.search("beträgt “fünfhundert” €", mode="keyword").hits
        assert "“fünfhundert” €, 日本" in hit.content
    assert backup(dsn, tmp_path / "all.backup").documents == 1


@pytest.mark.parametrize(
    ("variable", "value"),
    [("PGCONNECT_TIMEOUT", "soon"), ("PGSSLMODE", "bogus"), ("PGTZ", "Mars/Phobos")],
)
def test_a_variable_that_cannot_be_read_is_said_at_once(
    prepared_home: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    wrong = f"^a PG… variable of the environment is wrong: .*{value}"
    started = monotonic()
    with monkeypatch.context() as changed:
        changed.setenv(variable, value)
        with pytest.raises(ConfigError, match=wrong):
            SyncLexichord(home=prepared_home).open()
    assert monotonic() - started < STALE_LOCK_SECONDS / 2


def command(dsn: str, line: str, *options: str, **environment: str) -> tuple[int, str]:
    """Run the command line in a shell; give its exit code and what it wrote on stderr."""
    program = f"exec '{sys.executable}' {' '.join(options)} -m lexichord {line}"
    run = subprocess.run(
        ["bash", "-c", program],
        env={**os.environ, "LEXICHORD_DSN": dsn, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return run.returncode, run.stderr


@pytest.mark.parametrize("line", ["init", "ingest {file}", "search rent --mode keyword --json"])
def test_files_are_read_alike_in_every_locale(dsn: str, tmp_path: Path, line: str) -> None:
    """Python warns wherever the locale says how a file is read."""
    (tmp_path / "a.md").write_text("The rent is due.")
    warned = ["-X", "warn_default_encoding", "-W", "error::EncodingWarning:lexichord"]
    line = line.format(file=tmp_path / "a.md")
    code, errors = command(dsn, line, *warned, PYTHONWARNINGS="", LC_ALL="C", PYTHONUTF8="0")
    assert (code, "Traceback" in errors) == (0, False), errors


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        (
            "list --json > /dev/full",
            1,
            "lexichord: no room is left on the disk for what is printed",
        ),
        ("status > /dev/full", 1, "lexichord: no room is left on the disk for what is printed"),
        ("--version > /dev/full", 1, "lexichord: no room is left on the disk for what is printed"),
        ("keys --help > /dev/full", 1, "lexichord: no room is left on the disk for what is print"),
        ("--version >&-", 1, "lexichord: standard output is closed"),
        ("keys create ann >&-", 1, "lexichord: standard output is closed"),
        ("ingest - --name a.md <&-", 2, "lexichord: standard input is closed: name a file"),
    ],
)
def test_what_a_shell_takes_away_is_said(dsn: str, line: str, code: int, told: str) -> None:
    ended, errors = command(dsn, line)
    assert (ended, errors.count("\n")) == (code, 1), errors
    assert errors.startswith(told)


@pytest.mark.parametrize("line", ["--version", "keys --help"])
def test_nothing_is_said_of_a_reader_that_is_gone(dsn: str, line: str) -> None:
    assert command(dsn, line + " | true; exit ${PIPESTATUS[0]}") == (1, "")


def test_a_key_that_cannot_be_shown_is_none(dsn: str) -> None:
    code, errors = command(dsn, "keys create ann > /dev/full")
    assert (code, "is revoked" in errors, "keep it" in errors) == (1, True, False), errors
    code, errors = command(dsn, "keys create ann > /dev/null")
    assert (code, errors) == (0, "keep it: it is not shown again\n")
    code, errors = command(dsn, "keys rotate 2 > /dev/full")
    assert (code, "is revoked" in errors) == (1, True), errors
    code, errors = command(dsn, "keys rotate 2 > /dev/null")
    assert (code, errors) == (0, "keep it: it is not shown again\n")


AT_A_PLACE = """
import os, signal, sys, threading, time
import typer.main
import lexichord.cli as cli
import lexichord.cli.commands
{begin}
sys.argv = ["lexichord", "config", "show"]
cli.main()
"""
BEFORE_A_COMMAND = """
real = typer.main.get_command
def signalled(app):
    os.kill(os.getpid(), signal.SIGTERM)
    return real(app)
typer.main.get_command = signalled
"""
AT_AN_END_THAT_NEVER_COMES = """
import lexichord.cli.options
import atexit
cli.GRACE_SECONDS = 0.2
atexit.register(time.sleep, 60)
def signalled():
    for _ in range(3):
        time.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)
threading.Thread(target=signalled, daemon=True).start()
lexichord.cli.options.Invocation.show = lambda *_: time.sleep(60)
"""


@pytest.mark.parametrize(("inherited", "code"), [("SIG_IGN", 0), ("SIG_DFL", 130)])
def test_an_interrupt_is_ignored_where_the_shell_has_it_ignored(
    dsn: str, inherited: str, code: int
) -> None:
    started = [
        "import os, signal, sys, lexichord.cli as cli",
        f"signal.signal(signal.SIGINT, signal.{inherited})",
        "real = cli._heed",
        "cli._heed = lambda *given: (real(*given), os.kill(os.getpid(), signal.SIGINT))",
        "cli.main()",
    ]
    run = subprocess.run(
        [sys.executable, "-c", "; ".join(started), "status"],
        env={**os.environ, "LEXICHORD_DSN": dsn},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == code


@pytest.mark.parametrize(
    ("begin", "told"),
    [(BEFORE_A_COMMAND, ""), (AT_AN_END_THAT_NEVER_COMES, "lexichord: interrupted")],
    ids=["before a command", "at an end that never comes"],
)
def test_a_signal_ends_the_process(begin: str, told: str) -> None:
    code = AT_A_PLACE.format(begin=begin)
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=40, check=False
    )
    assert (run.returncode, run.stderr[: len(told)]) == (143, told), run.stderr
