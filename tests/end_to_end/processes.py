"""Commands in this process, clients in their own, and what can be killed of a server."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from signal import SIG_DFL, SIGINT, SIGKILL, signal
from typing import Any, Self

import psutil
import psycopg
from typer.testing import CliRunner, Result

from lexichord import SyncLexichord
from lexichord.cli.commands import app
from lexichord.db.embedded import running_url
from lexichord.evaluate.run import Plan, run_evaluation
from lexichord.evaluate.strategies import find_strategies
from lexichord.types.evaluation import EvalSet, EvaluationRun
from tests.conftest import ROOT

PATIENCE = 30  # seconds


def reopened(lexichord: SyncLexichord, **settings: Any) -> SyncLexichord:
    """Return an application of the same database and home with other settings, to be opened."""
    known = lexichord.core.settings
    return SyncLexichord(dsn=known.dsn, home=known.home, **settings)


def start_cli(*arguments: str) -> subprocess.Popen[str]:
    """Start the command line with its output in pipes, so that it can be interrupted."""
    return subprocess.Popen(
        [sys.executable, "-m", "lexichord", *arguments],
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )


def heed_interrupts() -> None:
    """Under a shell's background job, where they are ignored, a child would ignore them too."""
    signal(SIGINT, SIG_DFL)


class Client:
    """A running `tests.end_to_end.client`; at the end of a with statement it is no more."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self._stderr = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed in __exit__
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.end_to_end.client", str(home), *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
        )
        assert self._line() == "open", self.errors()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.process.communicate()
        self._stderr.close()

    def lines(self, count: int) -> list[str]:
        """Wait for so many lines."""
        return [self._line() for _ in range(count)]

    def rest(self) -> list[str]:
        """Wait for the process's end; give the lines that it still wrote."""
        output, _ = self.process.communicate(timeout=PATIENCE)
        return output.splitlines()

    def kill(self) -> None:
        if self.process.poll() is None:
            os.kill(self.process.pid, SIGKILL)

    def errors(self) -> str:
        self._stderr.seek(0)
        return self._stderr.read()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")


def postmaster(home: Path) -> int | None:
    """Give the process of the server, if it runs."""
    try:
        pid = int((home / "postgres" / "postmaster.pid").read_text().split("\n")[0])
    except FileNotFoundError:
        return None
    return pid if psutil.pid_exists(pid) else None


def kill_postmaster(home: Path) -> None:
    pid = postmaster(home)
    assert pid is not None
    os.kill(pid, SIGKILL)
    wait_until(lambda: not psutil.pid_exists(pid))


def kill_backend(home: Path) -> None:
    """Kill a process that serves a client; the server then starts all its processes again."""
    url = running_url(home)
    assert url is not None
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "select pid from pg_stat_activity where application_name = 'lexichord' "
            "order by state_change desc limit 1"
        ).fetchone()
    assert row is not None
    os.kill(row[0], SIGKILL)


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def run_strategies(
    lexichord: SyncLexichord, eval_set: EvalSet, *names: str, **more: object
) -> list[EvaluationRun]:
    plan = Plan(find_strategies(names), **more)  # type: ignore[arg-type]
    return lexichord.run(run_evaluation(lexichord.core, eval_set, plan))


def run_cli(
    dsn: str | None, home: Path, *arguments: str, stdin: str = "", **environment: str
) -> Result:
    """Run a command in this process, where it takes a tenth of the time of one of its own."""
    own = {"LEXICHORD_HOME": str(home), "COLUMNS": "400"} | environment
    own |= {"LEXICHORD_DSN": dsn} if dsn else {}
    return CliRunner().invoke(app, arguments, input=stdin, env=own, catch_exceptions=False)
