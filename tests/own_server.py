"""A server of a test's own, made of the programs of the one that tests are given."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest


@dataclass(frozen=True)
class Server:
    pg_ctl: Path
    folder: Path
    user: str | None

    @property
    def dsn(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def make(self) -> None:
        self.run("initdb", "-o", "-U postgres -A trust -N")

    def start(
        self, preload: str, *settings: str, environment: Mapping[str, str] | None = None
    ) -> None:
        given = (f"shared_preload_libraries={preload}", *settings)
        options = " ".join([f"-h '' -k {self.folder}", *(f"-c {setting}" for setting in given)])
        log = str(self.folder / "log")
        self.run("start", "-w", "-l", log, "-o", options, environment=environment)

    def restart(self, preload: str) -> None:
        """Stop in order and start again."""
        self.run("stop", "-m", "fast")
        self.start(preload)

    def crash(self) -> None:
        """Stop without writing anything, as when the machine's power fails."""
        self.run("stop", "-m", "immediate")

    def run(
        self, command: str, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> None:
        """Run a command of pg_ctl."""
        subprocess.run(
            [str(self.pg_ctl), command, "-s", "-D", str(self.folder / "data"), *arguments],
            check=True,
            user=self.user,
            env={**os.environ, **(environment or {})},
        )


def find_pg_ctl(dsn: str) -> Path:
    """Find the program of the given server; skip where it is on another machine."""
    with psycopg.connect(dsn) as connection:
        row = connection.execute("select setting from pg_config where name = 'BINDIR'").fetchone()
    assert row is not None
    pg_ctl = Path(row[0], "pg_ctl")
    if not pg_ctl.exists():
        pytest.skip("the server's programs are not on this machine")
    return pg_ctl


def own_user() -> str | None:
    """Return the user that a server runs as: never root."""
    return "nobody" if os.geteuid() == 0 else None


@contextmanager
def own_server(dsn: str, preload: str) -> Iterator[Server]:
    """Run a server beside the given one; skip where its programs are on another machine."""
    server = Server(find_pg_ctl(dsn), Path(tempfile.mkdtemp(prefix="lxc")), own_user())
    if server.user:
        shutil.chown(server.folder, server.user)
    server.make()
    server.start(preload)
    try:
        yield server
    finally:
        server.crash()
        shutil.rmtree(server.folder)
