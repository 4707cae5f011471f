"""HTTP servers on this machine, in threads of the test's process: a function makes the replies.

with http_server(Request, lambda asked: Reply(429, headers={"Retry-After": "1"})) as url:
    ...
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from time import monotonic
from typing import Any, Literal

type Manner = Literal["whole", "unmeasured", "silent", "gone", "drop", "trickle"]


@dataclass(frozen=True)
class Request:
    """A request that came in; the names of its headers are in lower case, its body is JSON."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    at: float  # seconds on a clock of the machine's


@dataclass(frozen=True)
class Reply:
    """What goes back, and in which manner.

    unmeasured says no length; silent never answers, gone hangs up; drop says that more comes and
    hangs up, trickle says so and sends spaces for ever. After the body `pieces` are sent one by
    one, as they are made.
    """

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    manner: Manner = "whole"
    pieces: Iterable[bytes] = ()


# Bodies that no service means.
MALFORMED = {
    "nothing": b"",
    "no JSON": b"<html>Welcome</html>",
    "no UTF-8": b'{"data": "\xff\xfe", "results": "\xff\xfe"}',
    "deep": b"[" * 100_000,
    "null": b"null",
    "number": b"3",
    "empty": b"{}",
}


@contextmanager
def http_server[A: Request](kind: type[A], reply: Callable[[A], Reply]) -> Iterator[str]:
    """Reply to requests, several at once, for the length of a with statement; give the address."""
    closed = Event()
    with running(partial(_Handler, kind, reply, closed)) as url:
        try:
            yield url
        finally:
            closed.set()


@contextmanager
def running(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """Run any handler, in the same way."""
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # else many at once are turned away, or wait a second


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each reply waits 40 ms for an acknowledgment

    def __init__(
        self, kind: type[Any], reply: Callable[[Any], Reply], closed: Event, *arguments: Any
    ) -> None:
        self.kind, self.reply, self.closed = kind, reply, closed
        super().__init__(*arguments)

    def handle(self) -> None:
        with suppress(ConnectionError):  # the client went away, as some tests want it to
            super().handle()

    def do_POST(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        length = int(headers.get("content-length", 0))
        sent = self.rfile.read(length)
        if len(sent) < length:  # the client was killed as it sent: nothing was asked
            self.close_connection = True
            return
        body = json.loads(sent or b"{}")
        self.send(self.reply(self.kind(self.command, self.path, headers, body, monotonic())))

    do_GET = do_DELETE = do_POST  # noqa: N815 - the names that are called

    def send(self, reply: Reply) -> None:
        self.close_connection = reply.manner != "whole"
        if reply.manner == "silent":
            self.closed.wait()
        if reply.manner in ("silent", "gone"):
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.manner != "unmeasured":
            more = 100_000 * self.close_connection
            self.send_header("Content-Length", str(len(reply.body) + more))
        self.end_headers()
        self.wfile.write(reply.body)
        for piece in reply.pieces:
            self.wfile.write(piece)
        while reply.manner == "trickle" and not self.closed.wait(0.02):
            self.wfile.write(b" ")

    def log_message(self, *_: object) -> None:
        pass
