"""Run an ASGI application behind the middleware that all need, in one process or several.

Who begins no request over a connection, or does not end its head, is hung up on; so is who has
waited longest where too many wait.

uvicorn waits for a head without an end, and once an answer is sent, for the rest of a body.
"""

import asyncio
import ctypes
import errno
import logging
import multiprocessing
import os
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import Server, ServerState

from lexichord.errors import ConfigError, LexichordError
from lexichord.serve.access import AccessPolicy
from lexichord.serve.limits import (
    ARRIVAL_SECONDS,
    KEEP_ALIVE_SECONDS,
    LISTEN_BACKLOG,
    MAX_HEAD_BYTES,
    MAX_WAITING_CONNECTIONS,
    RESTART_SECONDS,
    SHUTDOWN_SECONDS,
)
from lexichord.serve.middleware import AsgiApp, LimitsMiddleware, OriginsMiddleware

if TYPE_CHECKING:
    from starlette.types import ASGIApp

# Of each server those on which no request is being answered, the longest waiting first.
_waiting = WeakKeyDictionary[ServerState, dict["TimedProtocol", None]]()


class TimedProtocol(H11Protocol):
    """A connection that is closed where no request's head is whole within seconds.

    They run from its opening, later from a head's first byte. What is left of a body after its
    answer has the time of an idle connection, which else is uvicorn's to close. While a request is
    answered its body is the application's to wait for.
    """

    _deadline: asyncio.TimerHandle | None = None
    _seconds: float | None = None  # to the deadline, when it was set

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, and wait for a request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what came, and wait for the rest of a head where no request is being answered."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        super().connection_lost(exc)
        self._forget()

    def _watch(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget()
            return
        seconds = ARRIVAL_SECONDS if self._has_begun() else KEEP_ALIVE_SECONDS
        if seconds != self._seconds and not self.transport.is_closing():
            self._forget()
            self._seconds = seconds
            self._deadline = self.loop.call_later(seconds, self.transport.abort)
            waiting = _waiting.setdefault(self.server_state, {})
            waiting[self] = None
            if len(waiting) > MAX_WAITING_CONNECTIONS:
                longest = next(iter(waiting))
                longest._forget()
                longest.transport.abort()

    def _has_begun(self) -> bool:
        """Return whether it is a head that is waited for, not the rest of a body answered."""
        if self.cycle is None:
            return True
        return self.conn.their_state is h11.IDLE and self.conn.trailing_data[0] != b""

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline, self._seconds = None, None
            _waiting[self.server_state].pop(self)


# What a page in a browser may send, by hand or by its MCP client.
CORS_HEADERS = (
    *("authorization", "content-type", "last-event-id", "mcp-session-id", "mcp-protocol-version"),
    *("mcp-method", "mcp-name", "x-retrieval-endpoint", "x-retrieval-api-key"),
    *("x-llm-api-url", "x-llm-model", "x-rerank-url", "x-rerank-model"),
)
ADDRESS_NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


def add_middleware(app: AsgiApp, policy: AccessPolicy) -> "ASGIApp":
    """Put what all servers need in front of an application: limits, hosts, origins."""
    from starlette.middleware.cors import CORSMiddleware

    settings = policy.settings
    limits = settings.max_body, settings.max_json, settings.max_requests
    limited = cast("ASGIApp", LimitsMiddleware(app, *limits))
    shared = CORSMiddleware(
        limited,
        allow_origins=settings.allowed_origins,
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=CORS_HEADERS,
        expose_headers=["mcp-session-id", "retry-after"],
    )
    return cast(
        "ASGIApp", OriginsMiddleware(cast(AsgiApp, shared), policy.hosts, settings.allowed_origins)
    )


# glibc's parameters, and the size from which what is freed is given back. Without them it gives
# nothing back that is smaller than the largest block so far, of up to 32 MB: requests that nobody
# waited for left a server of 380 MB with 510; with them one of 346 has 401.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
RETURNED_BYTES = 262_144


def return_memory() -> None:
    """Have the system get back what large requests took, where the C library is glibc."""
    with suppress(AttributeError, OSError, TypeError):
        for parameter in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD):
            ctypes.CDLL(None).mallopt(parameter, RETURNED_BYTES)


async def run_server(app: "ASGIApp", sockets: Sequence[socket.socket]) -> None:
    """Answer on sockets that listen, until interrupted.

    Requests are not logged: their addresses may hold questions.
    """
    return_memory()
    config = Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        http=TimedProtocol,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    with _signals_end_here():
        await OrderlyServer(config).serve([*sockets])


class OrderlyServer(Server):
    """A server that ends what it has begun, however often it is told to stop."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop, in at most the seconds for requests and jobs; a second Ctrl-C would cut that."""
        super().handle_exit(sig, frame)
        self.force_exit = False


@contextmanager
def open_listeners(host: str, port: int) -> Iterator[list[socket.socket]]:
    """Listen on all addresses of a host, for port 0 on one free port. Raises ConfigError."""
    with ExitStack() as stack:
        try:
            sockets = [stack.enter_context(one) for one in _sockets(host.strip("[]"), port)]
        except OSError as error:
            raise ConfigError(_listen_error(host, port, error)) from None
        except UnicodeError:  # what no name of a host can be
            sockets = []
        if not sockets:
            raise ConfigError(_listen_error(host, port, socket.gaierror()))
        yield sockets


def _sockets(host: str, port: int) -> Iterator[socket.socket]:
    """Open a socket for each address of a host that this machine has.

    They are given their protocol, by which asyncio knows to send without a pause.
    """
    for family, kind, protocol, _, address in socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
    ):
        try:
            opened = _open_socket(family, kind, protocol, (address[0], port, *address[2:]))
        except OSError as error:
            if error.errno not in ADDRESS_NOT_HERE:
                raise
        else:
            port = opened.getsockname()[1]
            yield opened


def _open_socket(family: int, kind: int, protocol: int, address: Any) -> socket.socket:  # noqa: ANN401
    opened = socket.socket(family, kind, protocol)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        opened.bind(address)
        opened.listen(LISTEN_BACKLOG)
    except OSError:
        opened.close()
        raise
    return opened


def _listen_error(host: str, port: int, error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return f"this machine has no address {host}: 127.0.0.1, or 0.0.0.0 for all that it has"
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use on {host}: stop what listens there, or give another --port"
    return f"cannot listen on port {port} of {host}: {error.strerror}"


@contextmanager
def _signals_end_here() -> Iterator[None]:
    """Have the server stop as asked, then go on: uvicorn raises the signals it got once more."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {one: signal.signal(one, _ignore) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in previous.items():
            signal.signal(one, handler)


def _ignore(*_: object) -> None:
    """Do nothing."""


log = logging.getLogger("lexichord")
spawn = multiprocessing.get_context("spawn")  # of a fork, threads and connections would be broken

type Work = Callable[[], None]


def check_workers(count: int) -> None:
    """Raise ConfigError where several processes cannot be kept at work."""
    if count > 1 and os.name == "nt":
        raise ConfigError("--workers is not there on Windows: start several servers behind a proxy")


async def run_workers(work: Work, count: int) -> None:
    """Keep `count` processes at `work`, which can be pickled, until SIGINT or SIGTERM.

    Each is told to end then by SIGTERM, and awaited; one that ends before is replaced.
    """
    told, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    with tempfile.TemporaryDirectory(prefix="lexichord-metrics-") as metrics:
        await asyncio.gather(*(_keep(work, metrics, told) for _ in range(count)))


async def _keep(work: Work, metrics: str, told: asyncio.Event) -> None:
    from prometheus_client.multiprocess import mark_process_dead

    while not told.is_set():
        process = spawn.Process(target=_run, args=(work, metrics))
        process.start()
        is_early = await _ends(process, told)
        mark_process_dead(process.pid, metrics)  # type: ignore[no-untyped-call]
        if is_early:
            log.warning("process %s ended (%s): another comes", process.pid, process.exitcode)
            await _done(told, RESTART_SECONDS)


async def _ends(process: BaseProcess, told: asyncio.Event) -> bool:
    """Wait for the end of a process, which it is told once we are; return whether it was early."""
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(process.sentinel, ended.set)
    try:
        waiting = {asyncio.ensure_future(one.wait()) for one in (ended, told)}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if told.is_set():
            process.terminate()
        await ended.wait()
    finally:
        loop.remove_reader(process.sentinel)
    for one in waiting:
        one.cancel()
    process.join()
    return not told.is_set()


async def _done(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but not for long."""
    await asyncio.wait({asyncio.ensure_future(event.wait())}, timeout=seconds)


def _run(work: Work, metrics: str) -> None:
    """Work in a process of its own, which does not outlive the one that keeps it.

    In the folder `metrics` all processes count, so that each can tell the sums.
    """
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = metrics  # looked at when prometheus_client is imported
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        work()
    except LexichordError as error:
        log.error("%s", error)
        raise SystemExit(1) from None


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
