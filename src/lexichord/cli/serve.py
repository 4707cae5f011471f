"""The commands that answer over HTTP, and to agents by the Model Context Protocol."""

import signal
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from lexichord.cli.options import SERVE_PANEL, Invocation, command, log_to_stderr, render
from lexichord.errors import ConfigError

if TYPE_CHECKING:
    from socket import socket

    from starlette.types import ASGIApp

    from lexichord.ingest.table_worker import WorkerReport
    from lexichord.serve.access import AccessPolicy
    from lexichord.settings import Settings

serve_app = typer.Typer()

HostOption = Annotated[
    str, typer.Option(help="The address to listen on; others than loopback need keys.")
]
PortOption = Annotated[
    int, typer.Option(help="The port to listen on; 0 takes a free one.", min=0, max=65535)
]
HttpOption = Annotated[
    bool, typer.Option("--http", help="Over HTTP at /mcp, instead of standard input and output.")
]


WorkerOption = Annotated[
    bool, typer.Option("--worker", help="Keep indexed tables in sync as well, as a worker does.")
]
WorkersOption = Annotated[
    int, typer.Option(help="Processes that answer; each has a pool and a model.", min=1, max=64)
]


@command(
    serve_app,
    panel=SERVE_PANEL,
    examples=(
        "lexichord serve",
        "lexichord serve --port 9000 --worker",
        "lexichord serve --workers 4",
    ),
)
def serve(
    invocation: Invocation,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8080,
    worker: WorkerOption = False,
    workers: WorkersOption = 1,
) -> None:
    """Answer over HTTP, with a page to ask on, until Ctrl-C."""
    import asyncio

    try:
        asyncio.run(_serve_http(invocation.settings, host, port, worker, workers))
    except ModuleNotFoundError as error:
        raise ConfigError(f"no {error.name}: pip install 'lexichord[server]'") from error
    render.err.print("stopped")


@command(
    serve_app,
    panel=SERVE_PANEL,
    examples=(
        "lexichord mcp",
        "lexichord mcp --http --port 9001",
    ),
)
def mcp(
    invocation: Invocation,
    http: HttpOption = False,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8081,
) -> None:
    """Answer agents by the Model Context Protocol, until they go or Ctrl-C."""
    import asyncio

    serving = (
        _serve_mcp(invocation.settings, host, port) if http else _serve_stdio(invocation.settings)
    )
    try:
        asyncio.run(serving)
    except ModuleNotFoundError as error:
        raise ConfigError(f"no {error.name}: pip install 'lexichord[mcp]'") from error


@command(serve_app, panel=SERVE_PANEL, examples=("lexichord worker --until-idle",))
def worker(
    invocation: Invocation,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End once no change waits.")
    ] = False,
) -> None:
    """Keep indexed tables in sync, until Ctrl-C or SIGTERM; any number may run."""
    import asyncio

    report = asyncio.run(_work(invocation.settings, until_idle))
    invocation.show(report.to_dict(), render.worked)


async def _work(settings: "Settings", until_idle: bool) -> "WorkerReport":
    import asyncio

    from lexichord.client.lexichord import Lexichord
    from lexichord.ingest.table_worker import STOP_SECONDS

    async with Lexichord(settings) as core:
        for line in core.degraded:
            render.err.print(line, highlight=False, markup=False)
        own = core.worker()
        task = asyncio.create_task(own.run(until_idle=until_idle))

        def end() -> None:
            """Let the batches in hand come to their end, but not for long: nothing is lost."""
            own.stop()
            loop.call_later(STOP_SECONDS, task.cancel)

        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, end)
        with suppress(asyncio.CancelledError):
            await task
        return own.report


async def _serve_http(
    settings: "Settings", host: str, port: int, with_worker: bool, workers: int
) -> None:
    """Answer in this process, or keep others at it, which begin once this one could answer."""
    from lexichord.serve.server import check_workers, open_listeners, run_server, run_workers

    check_workers(workers)
    async with _http_server(settings, host, with_worker) as (door, app):
        with open_listeners(host, port) as sockets:
            _announce(door, sockets)
            if workers == 1:
                await run_server(app, sockets)
            else:
                await run_workers(partial(_serve_in_worker, settings, host, sockets), workers)


def _serve_in_worker(settings: "Settings", host: str, sockets: "list[socket]") -> None:
    import asyncio

    from lexichord.serve.server import run_server

    async def run() -> None:
        async with _http_server(settings, host) as (_, app):
            await run_server(app, sockets)

    log_to_stderr()
    asyncio.run(run())


@asynccontextmanager
async def _http_server(
    settings: "Settings", host: str, with_worker: bool = False
) -> "AsyncIterator[tuple[AccessPolicy, ASGIApp]]":
    from lexichord.client.lexichord import Lexichord
    from lexichord.serve.access import AccessPolicy
    from lexichord.serve.http.app import create_http_server

    async with Lexichord(settings) as core:
        door = await AccessPolicy.open(core, host)
        if with_worker and door.has_tenants:
            raise ConfigError("tenants are on: run lexichord worker by itself, as the owner")
        worker = core.worker().in_background() if with_worker else nullcontext()
        async with aclosing(door), worker:
            yield door, create_http_server(door)


async def _serve_mcp(settings: "Settings", host: str, port: int) -> None:
    from lexichord.client.lexichord import Lexichord
    from lexichord.serve.access import AccessPolicy
    from lexichord.serve.mcp.server import MCP_PATH, create_mcp_app
    from lexichord.serve.server import add_middleware, open_listeners, run_server

    async with Lexichord(settings) as core:
        door = await AccessPolicy.open(core, host)
        app = add_middleware(create_mcp_app(door), door)
        async with aclosing(door):
            with open_listeners(host, port) as sockets:
                _announce(door, sockets, MCP_PATH)
                await run_server(app, sockets)


async def _serve_stdio(settings: "Settings") -> None:
    from lexichord.client.lexichord import Lexichord
    from lexichord.serve.mcp.server import serve_stdio

    async with Lexichord(settings) as core:
        await serve_stdio(core)


def _announce(door: "AccessPolicy", sockets: "list[socket]", path: str = "") -> None:
    """Print where it listens, who may come, and what it has to do without."""
    port = sockets[0].getsockname()[1]
    name = f"[{door.host}]" if ":" in door.host and "[" not in door.host else door.host
    who = "with an API key" if door.needs_key else "from this machine, without a key"
    render.err.print(
        f"http://{name}:{port}{path}  {who}; Ctrl-C ends it", highlight=False, markup=False
    )
    for line in door.degraded:
        render.err.print(line, highlight=False, markup=False)
