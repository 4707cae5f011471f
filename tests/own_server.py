"""A VectorChord server of a test's own, made of the programs of the one that tests are given."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
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
        self._run("initdb", "-o", "-U postgres -A trust -N")

    def start(self, preload: str) -> None:
        options = f"-h '' -k {self.folder} -c shared_preload_libraries={preload}"
        self._run("start", "-w", "-l", str(self.folder / "log"), "-o", options)

    def restart(self, preload: str) -> None:
        """Stop in order and start again."""
        self._run("stop", "-m", "fast")
        self.start(preload)

    def crash(self) -> None:
        """Stop without writing anything, as when the machine's power fails."""
        self._run("stop", "-m", "immediate")

    def _run(self, command: str, *arguments: str) -> None:
        data = str(self.folder / "data")
        subprocess.run(
            [str(self.pg_ctl), command, "-s", "-D", data, *arguments], check=True, user=self.user
        )


@contextmanager
def own_server(dsn: str, preload: str) -> Iterator[Server]:
    """Run a server beside the given one; skip where its programs are on another machine."""
    with psycopg.connect(dsn) as connection:
        row = connection.execute("select setting from pg_config where name = 'BINDIR'").fetchone()
    assert row is not None
    pg_ctl = Path(row[0], "pg_ctl")
    if not pg_ctl.exists():
        pytest.skip("the VectorChord server's programs are not on this machine")
    folder = Path(tempfile.mkdtemp(prefix="lxc"))
    server = Server(pg_ctl, folder, "nobody" if os.geteuid() == 0 else None)
    if server.user:
        shutil.chown(folder, server.user)
    server.make()
    server.start(preload)
    try:
        yield server
    finally:
        server.crash()
        shutil.rmtree(folder)
