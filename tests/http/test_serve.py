"""The command: what it says, when it refuses to start, and how it ends."""

import json
import os
import platform
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM, Signals

import httpx
import psutil
import pytest

from lexichord import SyncLexichord
from lexichord.serve.server import open_listeners
from tests.conftest import new_database
from tests.end_to_end.processes import wait_until
from tests.http.server import Server, refused
from tests.listening import PATIENCE


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


@pytest.fixture(scope="module")
def server(bare: str, home: Path) -> Iterator[Server]:
    """One whose limits are those of the command."""
    with new_database(bare, copy_of=bare) as dsn, Server(dsn, home) as server:
        yield server


def test_its_log_holds_no_question(server: Server) -> None:
    with server.client() as client:
        client.post("/v1/query", json={"query": "a secret question", "answer": True})
        client.get("/search", params={"query": "a secret question"})
        client.get("/search", params={"question": "a secret question"})
    assert "secret" not in server.log()


@pytest.mark.parametrize("characters", [10_000, 90_000, 500_000])
def test_an_address_that_is_too_long_is_refused_in_json(server: Server, characters: int) -> None:
    # httpx sends no such.
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)) as connection:
        connection.request("GET", f"/search?query={'a' * characters}")
        answer = connection.getresponse()
        message = json.loads(answer.read())["error"]["message"]
    assert (answer.status, "at most 4000 characters" in message) == (422, True)


def test_an_idle_connection_outlives_those_of_clients(server: Server) -> None:
    """A client that keeps one for 5 seconds must not meet its end just as it asks."""
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)) as connection:
        connection.connect()
        opened = connection.sock
        for pause in (6, 0):
            connection.request("GET", "/healthz")
            assert (connection.getresponse().read() != b"", connection.sock) == (True, opened)
            time.sleep(pause)


def test_an_address_that_is_taken_or_of_another_machine_is_told(fresh: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        line = refused("serve", "--port", str(port), dsn=fresh)
    assert f"port {port} is in use on 127.0.0.1" in line
    assert "--port" in line
    with SyncLexichord(dsn=fresh) as lexichord:
        lexichord.create_key("Ann")
    for host in ("nowhere.invalid", "192.0.2.7"):
        line = refused("serve", "--host", host, "--port", "0", dsn=fresh)
        assert f"this machine has no address {host}" in line


def test_others_are_let_in_only_where_there_is_a_key(fresh: str, home: Path) -> None:
    for options, settings in (
        (("--host", "0.0.0.0"), {}),
        ((), {"allowed_hosts": "search.example.com"}),
    ):
        assert "lexichord keys create" in refused("serve", *options, dsn=fresh, **settings)
    with SyncLexichord(dsn=fresh, home=home) as lexichord:
        secret = lexichord.create_key("Ann").secret
    with Server(fresh, home, "--host", "0.0.0.0") as server:
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
        with closing(HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)) as connection:
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


def counted(client: httpx.Client, route: str) -> float:
    """Give how many requests of a route all processes of a server counted."""
    text = client.get("/metrics").text
    name = f'lexichord_requests_total{{method="GET",route="{route}",status="200"}}'
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


def test_a_second_interrupt_ends_it_as_quietly_as_the_first(fresh: str, home: Path) -> None:
    with Server(fresh, home) as server, server.client() as client:
        assert client.get("/healthz").status_code == 200
        for _ in range(2):
            server.process.send_signal(SIGINT)
            time.sleep(0.02)
        assert server.process.wait(PATIENCE) == 0
        assert server.log().splitlines()[-1] == "stopped"
        assert not re.search("Traceback|Error", server.log())


def test_several_processes_answer_are_replaced_and_end_together(fresh: str, home: Path) -> None:
    with Server(fresh, home, "--workers", "2") as server:
        met = processes_that_answer(server)
        assert server.process.pid not in met
        with server.client() as client:
            assert client.post("/v1/search", json={"query": "gnu"}).status_code == 200
            wait_until(lambda: counted(client, "/healthz") >= 2)
        (victim, *_) = met
        os.kill(victim, SIGKILL)
        wait_until(lambda: f"process {victim} ended" in server.log())
        met = processes_that_answer(server)
        assert victim not in met
        assert server.end(SIGTERM) == 0
        assert not any(psutil.pid_exists(pid) for pid in met)
        assert [line for line in server.log().splitlines() if "Ctrl-C ends it" in line] == [
            f"{server.url}  from this machine, without a key; Ctrl-C ends it"
        ]
        assert not re.search("Traceback|Error", server.log())


def test_processes_do_not_outlive_the_one_that_keeps_them(fresh: str, home: Path) -> None:
    with Server(fresh, home, "--workers", "2") as server:
        met = processes_that_answer(server)
        server.end(SIGKILL)
        wait_until(lambda: not any(psutil.pid_exists(pid) for pid in met))


FREES = """
import psutil
from lexichord.serve.server import return_memory
return_memory()
large = bytearray(30_000_000)
del large  # from now on glibc alone would keep all that is smaller
blocks = [(bytearray(1_000_000), bytearray(100_000)) for _ in range(60)]
before = psutil.Process().memory_info().rss
blocks = [small for _, small in blocks]
print(before - psutil.Process().memory_info().rss)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_what_large_requests_took_is_given_back() -> None:
    told = subprocess.run([sys.executable, "-c", FREES], capture_output=True, check=True)
    assert int(told.stdout) > 50_000_000
