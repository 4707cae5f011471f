"""A real server in a process of its own, and clients for it."""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from signal import SIGINT, SIGKILL, Signals
from typing import Any, Self

import httpx
import psycopg
from typer.testing import CliRunner

from lexichord.cli.commands import app
from tests.conftest import ROOT
from tests.end_to_end.processes import heed_interrupts, wait_until
from tests.http.served import new_client
from tests.listening import PATIENCE, port_of


class Server:
    """A running `lexichord serve`; at the end of a with statement it is interrupted.

    `settings` are given by the environment.
    """

    def __init__(self, dsn: str, home: Path, *options: str, **settings: object) -> None:
        self._output = tempfile.NamedTemporaryFile("w")  # noqa: SIM115 - closed in __exit__
        environment = {f"LEXICHORD_{name.upper()}": str(value) for name, value in settings.items()}
        own = {"LEXICHORD_DSN": dsn, "LEXICHORD_HOME": str(home), "COLUMNS": "200"}
        command = [sys.executable, "-m", "lexichord", "serve", "--port", "0", *options]
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | own | environment,
            stdout=subprocess.DEVNULL,
            stderr=self._output,
            preexec_fn=heed_interrupts,
        )
        self.port = port_of(self.process, self.log)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self.process.poll() is None:
                self.end()
        finally:
            self._output.close()

    def client(self, key: str | None = None) -> httpx.Client:
        """Give a client that sends a key, if one is given."""
        return new_client(self.url, key)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def end(self, signal: Signals = SIGINT) -> int:
        """Stop it, as by Ctrl-C; give the exit code."""
        self.process.send_signal(signal)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.send_signal(SIGKILL)
            raise

    def log(self) -> str:
        """Give what it wrote so far."""
        return Path(self._output.name).read_text()


def connected(url: str) -> socket.socket:
    """Connect to a server."""
    return socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), PATIENCE)


def send_raw(url: str, sent: bytes) -> bytes:
    """Send bytes as they are and give all that comes back."""
    with connected(url) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def request(path: str, body: bytes, *headers: str, method: str = "POST") -> bytes:
    """Write a request whose connection is closed after it."""
    lines = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1", "connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def finished(client: httpx.Client, job: dict[str, Any]) -> dict[str, Any]:
    """Wait for the end of a job."""
    found = [job]

    def is_finished() -> bool:
        found.append(client.get(f"/v1/jobs/{job['job_id']}").json())
        return bool(found[-1]["state"] != "running")

    wait_until(is_finished)
    return found[-1]


def active(dsn: str) -> list[str]:
    """Give the statements that other connections to the database run now."""
    with psycopg.connect(dsn) as connection:
        rows = connection.execute(
            "select query from pg_stat_activity where datname = current_database() "
            "and pid <> pg_backend_pid() and state <> 'idle' and application_name = 'lexichord'"
        ).fetchall()
    return [row[0] for row in rows]


def refused(*command: str, **settings: str) -> str:
    """Give the one line of a command that does not start, in this process."""
    environment = {f"LEXICHORD_{name.upper()}": value for name, value in settings.items()}
    done = CliRunner().invoke(app, command, env=environment)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    (line,) = done.stderr.splitlines()
    return line
