"""The commands for the API keys of HTTP and MCP."""

from typing import Annotated

import typer
from rich.text import Text

from lexichord.cli.options import Invocation, command
from lexichord.cli.render import err, out, printable
from lexichord.types import ApiKey, NewApiKey

keys_app = typer.Typer(help="API keys for HTTP and MCP.", no_args_is_help=True)


@command(keys_app)
def create(
    invocation: Invocation,
    name: Annotated[str, typer.Argument(help="Whose it is.", show_default=False)],
    dataset: Annotated[
        list[str] | None, typer.Option(help="It reaches only this; repeatable. By default all.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="It may write documents, too.")] = False,
) -> None:
    """Create a key and print it, once."""
    with invocation.open() as lexichord:
        key = lexichord.create_key(name, datasets=dataset or None, writes=write)
    invocation.show(key, _created)


@command(keys_app, "list")
def list_keys(invocation: Invocation) -> None:
    """List the keys, without their secrets."""
    with invocation.open() as lexichord:
        keys = lexichord.list_keys()
    invocation.show({"keys": [key.to_dict() for key in keys]}, lambda _: _list(keys))


@command(keys_app)
def revoke(
    invocation: Invocation, number: Annotated[int, typer.Argument(help="Of the list.")]
) -> None:
    """Revoke a key, for good."""
    with invocation.open() as lexichord:
        lexichord.revoke_key(number)
    invocation.show({"revoked": number}, lambda row: out.print(f"key {row['revoked']} is revoked"))


def _created(key: NewApiKey) -> None:
    err.print(Text("keep it: it is not shown again"))
    out.print(Text(key.secret))


def _list(keys: list[ApiKey]) -> None:
    for key in keys:
        reach = "all datasets" if key.datasets is None else ", ".join(key.datasets)
        state = f"revoked {key.revoked_at:%Y-%m-%d}" if key.revoked_at else "valid"
        mode = "write" if key.writes else "read"
        line = f"{key.key_id:>4}  {key.name}  {mode} {reach}  {key.created_at:%Y-%m-%d}  {state}"
        out.print(printable(line))
