"""The commands for the API keys of HTTP and MCP."""

from typing import Annotated

import typer
from rich.text import Text

from lexichord.cli.options import Run, command
from lexichord.cli.render import err, out, printable
from lexichord.types import ApiKey, NewApiKey

app = typer.Typer(help="API keys for HTTP and MCP.", no_args_is_help=True)


@command(app)
def create(
    run: Run,
    name: Annotated[str, typer.Argument(help="Whose it is.", show_default=False)],
    dataset: Annotated[
        list[str] | None, typer.Option(help="It reaches only this; repeatable. By default all.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="It may write documents, too.")] = False,
) -> None:
    """Make a key and print it, once."""
    with run.open() as lexichord:
        made = lexichord.create_key(name, datasets=dataset or None, writes=write)
    run.show(made, _created)


@command(app, "list")
def list_keys(run: Run) -> None:
    """List the keys; what they are is not known."""
    with run.open() as lexichord:
        found = lexichord.list_keys()
    run.show({"keys": [key.to_dict() for key in found]}, lambda _: _list(found))


@command(app)
def revoke(run: Run, number: Annotated[int, typer.Argument(help="Of the list.")]) -> None:
    """Make a key worthless, for good."""
    with run.open() as lexichord:
        lexichord.revoke_key(number)
    run.show({"revoked": number}, lambda row: out.print(f"key {row['revoked']} is revoked"))


def _created(made: NewApiKey) -> None:
    err.print(Text("keep it: it is not shown again"))
    out.print(Text(made.secret))


def _list(keys: list[ApiKey]) -> None:
    for key in keys:
        reach = "all datasets" if key.datasets is None else ", ".join(key.datasets)
        state = f"revoked {key.revoked_at:%Y-%m-%d}" if key.revoked_at else "valid"
        mode = "write" if key.writes else "read"
        line = f"{key.key_id:>4}  {key.name}  {mode} {reach}  {key.created_at:%Y-%m-%d}  {state}"
        out.print(printable(line))
