"""Who holds a connection without a whole request does not hold it for long."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from lexichord.serve import server as runner
from tests.conftest import new_database
from tests.http.served import Served, serve
from tests.http.server import connected, request

SECONDS = 1.0
HEAD = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n"
WHOLE = HEAD + b"\r\n"


@pytest.fixture(scope="module")
def served(bare: str, home: Path) -> Iterator[Served]:
    """Heads have to come within a second, what is left of a body within two."""
    with (
        pytest.MonkeyPatch.context() as patch,
        new_database(bare, copy_of=bare) as dsn,
        serve(dsn, home=home) as server,
    ):
        patch.setattr(runner, "ARRIVAL_SECONDS", SECONDS)
        patch.setattr(runner, "KEEP_ALIVE_SECONDS", 2 * SECONDS)
        yield server


def is_hung_up(served: Served, *sent: bytes, drop_by_drop: bytes = b"") -> bool:
    """Send what begins a request, then the rest by single bytes; return whether that ends.

    A busy machine has twenty times what the server allows. Without a limit nothing ever ends.
    """
    with connected(served.url) as connection:
        for one in sent:
            connection.sendall(one)
            connection.settimeout(0.2)
            with suppress(TimeoutError):
                connection.recv(10_000)
        for byte in drop_by_drop or bytes(int(20 * SECONDS / 0.2)):
            if drop_by_drop:
                with suppress(OSError):
                    connection.sendall(bytes([byte]))
            with suppress(TimeoutError):
                if not connection.recv(10_000):
                    return True
    return False


@pytest.mark.parametrize(
    "sent",
    [
        (),
        (b"\r\n",),
        (b"G",),
        (HEAD,),
        (HEAD + b"x: " + b"z" * 100_000,),
        (WHOLE, b"\r\n"),
        (WHOLE, HEAD),
        (b"POST /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n", b"1"),
    ],
    ids=["nothing", "a blank line", "a letter", "a line", "much", "again", "next", "a body"],
)
def test_a_request_that_does_not_begin_is_not_waited_for(
    served: Served, sent: tuple[bytes, ...]
) -> None:
    assert is_hung_up(served, *sent)


def test_single_letters_win_no_time(served: Served) -> None:
    assert is_hung_up(served, drop_by_drop=HEAD + b"x: " + b"z" * 50)


def test_others_are_answered_beside_two_hundred_of_them(served: Served) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(connected(served.url)) for _ in range(200)]
        for one in held:
            one.sendall(HEAD)
        assert served.by().get("/healthz").status_code == 200
        assert {one.recv(100) for one in held} == {b""}


def test_between_two_requests_there_is_time(served: Served) -> None:
    with connected(served.url) as connection:
        for pause in (1.5 * SECONDS, 0):
            connection.sendall(HEAD)
            time.sleep(SECONDS / 4)
            connection.sendall(b"\r\n")
            answer = b""
            while b'{"status":"ok"}' not in answer:
                answer += connection.recv(10_000)
            assert answer.startswith(b"HTTP/1.1 200")
            time.sleep(pause)


@pytest.mark.parametrize("host", [b"127.0.0.1", b"another.example"])
def test_a_body_whose_end_is_told_twice_is_refused_and_the_connection_closed(
    served: Served, host: bytes
) -> None:
    """A proxy in front may take the body's rest for a request of its own."""
    both = b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
    with connected(served.url) as connection:
        connection.sendall(b"POST /healthz HTTP/1.1\r\nhost: " + host + b"\r\n" + both + WHOLE)
        answer = b""
        while part := connection.recv(10_000):
            answer += part
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"not by both" in answer
    assert answer.count(b"HTTP/1.1") == 1


def test_an_answer_may_take_longer_than_a_head(served: Served) -> None:
    """Two requests at once are answered, however slow their bodies come."""
    body = b'{"query": "zebra", "mode": "keyword"}'
    kind = "content-type: application/json", f"content-length: {len(body)}"
    with connected(served.url) as connection:
        connection.sendall(WHOLE + request("/v1/search", body[:5], *kind))
        time.sleep(2 * SECONDS)
        connection.sendall(body[5:])
        answer = b"".join(iter(lambda: connection.recv(10_000), b""))
    assert answer.count(b"HTTP/1.1 200") == 2


def test_of_more_that_wait_than_may_the_longest_waiting_go(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "ARRIVAL_SECONDS", 60.0)
    monkeypatch.setattr(runner, "MAX_WAITING_CONNECTIONS", 20)
    with ExitStack() as stack:
        held = [stack.enter_context(connected(served.url)) for _ in range(30)]
        for one in held:
            one.sendall(HEAD)
        for one in held[:10]:
            with suppress(ConnectionResetError):
                assert one.recv(100) == b""
        assert served.by().get("/healthz").status_code == 200  # instead of another one that waits
        for one in held[11:]:
            one.sendall(b"\r\n")
            assert one.recv(100).startswith(b"HTTP/1.1 200")
