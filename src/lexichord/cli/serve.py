"""The command that answers over HTTP."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from lexichord.cli.render import err
from lexichord.cli.run import Run, command
from lexichord.errors import ConfigError

if TYPE_CHECKING:
    from lexichord.settings import Settings

app = typer.Typer()

Host = Annotated[
    str, typer.Option(help="The address to listen on; others than loopback need keys.")
]
Port = Annotated[int, typer.Option(help="The port to listen on.", min=1, max=65535)]


@command(app)
def serve(run: Run, host: Host = "127.0.0.1", port: Port = 8080) -> None:
    """Answer over HTTP, with a page to ask on, until Ctrl-C."""
    try:
        asyncio.run(_serve(run.settings, host, port))
    except ModuleNotFoundError as error:
        raise ConfigError(f"no {error.name}: pip install 'lexichord[server]'") from error


async def _serve(settings: "Settings", host: str, port: int) -> None:
    from lexichord.app import Lexichord
    from lexichord.guard.door import Door
    from lexichord.guard.serving import guarded, serve
    from lexichord.http_api.app import make_app

    async with Lexichord(settings) as core:
        door = await Door.open(core, host)
        err.print(f"http://{host}:{port}", highlight=False)
        await serve(guarded(make_app(door), door), host, port)
