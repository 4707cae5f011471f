"""The command that answers agents by the Model Context Protocol."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from lexichord.cli.options import Run, command
from lexichord.cli.serve import Host, Port, tell
from lexichord.errors import ConfigError

if TYPE_CHECKING:
    from lexichord.settings import Settings

app = typer.Typer()

Http = Annotated[
    bool, typer.Option("--http", help="Over HTTP at /mcp, instead of standard input and output.")
]


@command(app)
def mcp(run: Run, http: Http = False, host: Host = "127.0.0.1", port: Port = 8081) -> None:
    """Answer agents by the Model Context Protocol, until they go or Ctrl-C."""
    try:
        asyncio.run(_serve(run.settings, host, port) if http else _answer(run.settings))
    except ModuleNotFoundError as error:
        raise ConfigError(f"no {error.name}: pip install 'lexichord[mcp]'") from error


async def _answer(settings: "Settings") -> None:
    from lexichord.client.lexichord import Lexichord
    from lexichord.serve.mcp.server import serve_stdio

    async with Lexichord(settings) as core:
        await serve_stdio(core)


async def _serve(settings: "Settings", host: str, port: int) -> None:
    from lexichord.client.lexichord import Lexichord
    from lexichord.serve.access import Door
    from lexichord.serve.mcp.server import PATH, make_app
    from lexichord.serve.server import guarded, serve

    async with Lexichord(settings) as core:
        door = await Door.open(core, host)
        app = guarded(make_app(door), door)
        await serve(app, host, port, lambda taken: tell(door, taken, PATH))
