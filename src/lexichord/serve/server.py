"""Run an ASGI application behind the limits, until it is told to stop."""

import errno
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, cast

from lexichord.errors import ConfigError
from lexichord.serve.access import Door
from lexichord.serve.limits import Limits
from lexichord.serve.middleware import Asgi, Origins

if TYPE_CHECKING:
    from starlette.types import ASGIApp


# What a page in a browser may send, by hand or by its MCP client.
HEADERS = (
    *("authorization", "content-type", "last-event-id", "mcp-session-id", "mcp-protocol-version"),
    *("mcp-method", "mcp-name", "x-retrieval-endpoint", "x-retrieval-api-key"),
    *("x-llm-api-url", "x-llm-model", "x-rerank-url", "x-rerank-model"),
)
PATIENCE = 10  # seconds for requests that are under way when the server is told to stop
# Seconds that an idle connection is kept: longer than clients (5 for httpx) and proxies (60) keep
# theirs, or now and then a request is sent into one that is being closed, and lost.
KEEP_ALIVE = 75
NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
BACKLOG = 2048  # connections that wait for the server to take them, as uvicorn has it


def guarded(app: Asgi, door: Door) -> "ASGIApp":
    """Put what all servers need in front of an application: limits, hosts, origins."""
    from starlette.middleware.cors import CORSMiddleware

    given = door.core.settings
    inner = cast("ASGIApp", Limits(app, given.max_body, given.max_requests))
    shared = CORSMiddleware(
        inner,
        allow_origins=given.allowed_origins,
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=HEADERS,
        expose_headers=["mcp-session-id", "retry-after"],
    )
    return cast("ASGIApp", Origins(cast(Asgi, shared), door.hosts, given.allowed_origins))


async def serve(app: "ASGIApp", host: str, port: int, on_start: Callable[[int], None]) -> None:
    """Listen until interrupted; `on_start` hears the port when it can be asked. Raises ConfigError.

    Requests are not logged: their addresses may hold questions.
    """
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=PATIENCE,
    )
    with listening(host, port) as sockets, _signals_end_here():
        on_start(sockets[0].getsockname()[1])
        await uvicorn.Server(config).serve(sockets)


@contextmanager
def listening(host: str, port: int) -> Iterator[list[socket.socket]]:
    """Listen on all addresses of a host, for port 0 on one free port. Raises ConfigError."""
    with ExitStack() as opened:
        try:
            found = [opened.enter_context(each) for each in _sockets(host.strip("[]"), port)]
        except OSError as error:
            raise ConfigError(_refused(host, port, error)) from None
        if not found:
            raise ConfigError(_refused(host, port, socket.gaierror()))
        yield found


def _sockets(host: str, port: int) -> Iterator[socket.socket]:
    """Open a socket for each address of a host that this machine has.

    They are given their protocol, by which asyncio knows to send without a pause.
    """
    for family, kind, protocol, _, address in socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
    ):
        try:
            made = _socket(family, kind, protocol, (address[0], port, *address[2:]))
        except OSError as error:
            if error.errno not in NOT_HERE:
                raise
        else:
            port = made.getsockname()[1]
            yield made


def _socket(family: int, kind: int, protocol: int, address: Any) -> socket.socket:  # noqa: ANN401
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except OSError:
        made.close()
        raise
    return made


def _refused(host: str, port: int, error: OSError) -> str:
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
    kept = {each: signal.signal(each, _ignore) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in kept.items():
            signal.signal(each, handler)


def _ignore(*_: object) -> None:
    """Do nothing."""
