"""Run an ASGI application behind the middleware that all need, until it is told to stop."""

import errno
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, cast

from lexichord.errors import ConfigError
from lexichord.serve.access import AccessPolicy
from lexichord.serve.limits import (
    KEEP_ALIVE_SECONDS,
    LISTEN_BACKLOG,
    MAX_HEAD_BYTES,
    SHUTDOWN_SECONDS,
)
from lexichord.serve.middleware import AsgiApp, LimitsMiddleware, OriginsMiddleware

if TYPE_CHECKING:
    from starlette.types import ASGIApp


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


async def run_server(app: "ASGIApp", sockets: Sequence[socket.socket]) -> None:
    """Answer on sockets that listen, until interrupted.

    Requests are not logged: their addresses may hold questions.
    """
    import uvicorn

    from lexichord.serve.connections import TimedProtocol

    config = uvicorn.Config(
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
        await uvicorn.Server(config).serve([*sockets])


@contextmanager
def open_listeners(host: str, port: int) -> Iterator[list[socket.socket]]:
    """Listen on all addresses of a host, for port 0 on one free port. Raises ConfigError."""
    with ExitStack() as stack:
        try:
            sockets = [stack.enter_context(one) for one in _sockets(host.strip("[]"), port)]
        except OSError as error:
            raise ConfigError(_listen_error(host, port, error)) from None
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
