"""The command that answers over HTTP."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from lexichord.cli.options import Run, command
from lexichord.cli.render import err
from lexichord.errors import ConfigError

if TYPE_CHECKING:
    from lexichord.serve.access import Door
    from lexichord.settings import Settings

app = typer.Typer()

Host = Annotated[
    str, typer.Option(help="The address to listen on; others than loopback need keys.")
]
Port = Annotated[
    int, typer.Option(help="The port to listen on; 0 takes a free one.", min=0, max=65535)
]


@command(app)
def serve(run: Run, host: Host = "127.0.0.1", port: Port = 8080) -> None:
    """Answer over HTTP, with a page to ask on, until Ctrl-C."""
    try:
        asyncio.run(_serve(run.settings, host, port))
    except ModuleNotFoundError as error:
        raise ConfigError(f"no {error.name}: pip install 'lexichord[server]'") from error
    err.print("stopped")


async def _serve(settings: "Settings", host: str, port: int) -> None:
    from lexichord.client.lexichord import Lexichord
    from lexichord.serve.access import Door
    from lexichord.serve.http.app import make_server
    from lexichord.serve.server import serve

    async with Lexichord(settings) as core:
        door = await Door.open(core, host)
        await serve(make_server(door), host, port, lambda taken: tell(door, taken))


def tell(door: "Door", port: int, path: str = "") -> None:
    """Say where it listens, who may come, and what it has to do without."""
    name = f"[{door.host}]" if ":" in door.host and "[" not in door.host else door.host
    who = "with an API key" if door.needs_key else "from this machine, without a key"
    err.print(f"http://{name}:{port}{path}  {who}; Ctrl-C ends it", highlight=False, markup=False)
    for line in door.degraded:
        err.print(line, highlight=False, markup=False)
