"""The command: what it says, when it refuses to start, and how it ends."""

import json
import os
import re
import socket
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM, Signals

import httpx
import psutil
import pytest

from lexichord import SyncLexichord
from lexichord.serve.server import open_listeners
from tests.conftest import ROOT
from tests.end_to_end.processes import wait_until
from tests.http.server import Server


def refused(dsn: str, home: Path, *options: str, **settings: str) -> str:
    """Give the one line that a server says which does not start."""
    own = {"LEXICHORD_DSN": dsn, "LEXICHORD_HOME": str(home)}
    environment = {f"LEXICHORD_{name.upper()}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "lexichord", "serve", *options]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | own | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.parametrize("signal", [SIGINT, SIGTERM])
def test_it_ends_when_told_to_and_says_so(fresh: str, home: Path, signal: Signals) -> None:
    with Server(fresh, home) as server:
        with server.client() as client:
            assert client.get("/healthz").status_code == 200
            assert server.end(signal) == 0  # an idle client does not keep it
        first, *others, last = server.log().splitlines()
        assert first == f"{server.url}  from this machine, without a key; Ctrl-C ends it"
        assert last == "stopped"
        assert len(others) == 1  # that there is no embedder
        assert not re.search("Traceback|Error", server.log())


def test_its_log_holds_no_question(sampled: Server) -> None:
    with sampled.client() as client:
        client.post("/v1/query", json={"query": "a secret question", "answer": True})
        client.get("/search", params={"query": "a secret question"})
        client.get("/search", params={"question": "a secret question"})
    assert "secret" not in sampled.log()


@pytest.mark.parametrize("characters", [10_000, 90_000, 500_000])
def test_an_address_that_is_too_long_is_refused_in_json(sampled: Server, characters: int) -> None:
    connection = HTTPConnection("127.0.0.1", sampled.port, timeout=60)  # httpx sends no such
    with closing(connection):
        connection.request("GET", f"/search?query={'a' * characters}")
        answer = connection.getresponse()
        message = json.loads(answer.read())["error"]["message"]
    assert (answer.status, "at most 4000 characters" in message) == (422, True)


def test_a_port_in_use_is_told_in_one_line(fresh: str, home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        line = refused(fresh, home, "--port", str(port))
    assert f"port {port} is in use on 127.0.0.1" in line
    assert "--port" in line


def test_an_address_of_no_machine_or_of_another_is_told_in_one_line(fresh: str, home: Path) -> None:
    with SyncLexichord(dsn=fresh, home=home) as lexichord:
        lexichord.create_key("Ann")
    for host in ("nowhere.invalid", "192.0.2.7"):
        line = refused(fresh, home, "--host", host, "--port", "0")
        assert f"this machine has no address {host}" in line


@pytest.mark.parametrize(
    ("options", "environment"),
    [(("--host", "0.0.0.0"), {}), ((), {"allowed_hosts": "search.example.com"})],
)
def test_others_are_let_in_only_where_there_is_a_key(
    fresh: str, home: Path, options: tuple[str, ...], environment: dict[str, str]
) -> None:
    assert "lexichord keys create" in refused(fresh, home, *options, **environment)
    with SyncLexichord(dsn=fresh, home=home) as lexichord:
        secret = lexichord.create_key("Ann").secret
    with Server(fresh, home, *options, **environment) as server:
        assert "with an API key" in server.log()
        with server.client() as stranger, server.client(secret) as ann:
            assert stranger.get("/v1/datasets").status_code == 401
            assert ann.get("/v1/datasets").json() == {"datasets": []}


def test_it_listens_on_all_addresses_of_a_name_and_sends_without_a_pause() -> None:
    """Answers go out in two parts; held back until the first is acknowledged, each takes 40 ms."""
    with open_listeners("localhost", 0) as sockets:
        assert {one.getsockname()[0] for one in sockets} <= {"127.0.0.1", "::1"}
        assert len({one.getsockname()[1] for one in sockets}) == 1
        assert all(one.proto == socket.IPPROTO_TCP for one in sockets)  # what asyncio looks at


def processes_that_answer(server: Server) -> set[int]:
    """Connect until two processes have answered; give them."""
    met = set[int]()

    def all_met() -> bool:
        with closing(HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
            connection.request("GET", "/healthz")
            assert connection.getresponse().status == 200
            assert connection.sock is not None
            own = connection.sock.getsockname()
            met.update(
                process.pid
                for process in psutil.Process(server.process.pid).children()
                if any(each.raddr == own for each in process.net_connections("tcp"))
            )
        return len(met) == 2

    wait_until(all_met)
    return met


def test_several_processes_answer_and_end_together(fresh: str, home: Path) -> None:
    with Server(fresh, home, "--workers", "2") as server:
        met = processes_that_answer(server)
        assert server.process.pid not in met
        with server.client() as client:
            assert client.post("/v1/search", json={"query": "gnu"}).status_code == 200
            wait_until(lambda: counted(client, "/healthz") >= 2)
        assert server.end(SIGTERM) == 0
        assert not any(psutil.pid_exists(pid) for pid in met)
        assert [line for line in server.log().splitlines() if "Ctrl-C ends it" in line] == [
            f"{server.url}  from this machine, without a key; Ctrl-C ends it"
        ]
        assert not re.search("Traceback|Error", server.log())


def counted(client: httpx.Client, route: str) -> float:
    """Give how many requests of a route all processes of a server counted."""
    text = client.get("/metrics").text
    name = f'lexichord_requests_total{{method="GET",route="{route}",status="200"}}'
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


def test_a_process_that_dies_is_replaced(fresh: str, home: Path) -> None:
    with Server(fresh, home, "--workers", "2") as server:
        (victim, *_) = processes_that_answer(server)
        os.kill(victim, SIGKILL)
        wait_until(lambda: f"process {victim} ended" in server.log())
        assert victim not in processes_that_answer(server)


def test_processes_do_not_outlive_the_one_that_keeps_them(fresh: str, home: Path) -> None:
    with Server(fresh, home, "--workers", "2") as server:
        met = processes_that_answer(server)
        server.end(SIGKILL)
        wait_until(lambda: not any(psutil.pid_exists(pid) for pid in met))
