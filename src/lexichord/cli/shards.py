"""The commands for shards."""

from typing import TYPE_CHECKING, Annotated

import typer

from lexichord.cli.deferred import render
from lexichord.cli.help import command_group
from lexichord.cli.options import Invocation, command
from lexichord.types.base import counted

if TYPE_CHECKING:
    from lexichord.types.state import Rebalanced, Shard

shards_app = command_group("Shards: other databases that hold a part of the documents.")


@command(shards_app, examples=("lexichord shards add postgresql://user@second/db",))
def add(
    invocation: Invocation,
    database: Annotated[
        str,
        typer.Argument(
            metavar="DATABASE", help="DSN of an empty one, without a password.", show_default=False
        ),
    ],
) -> None:
    """Make an empty database a shard: new documents go to all of them."""
    with invocation.open() as lexichord:
        number = lexichord.add_shard(database)
    invocation.show({"number": number}, lambda _: _added(number))


@command(shards_app, "list")
def list_shards(invocation: Invocation) -> None:
    """List the shards besides the database itself, with how many documents each holds."""
    with invocation.open() as lexichord:
        invocation.show_list("shards", lexichord.list_shards(), _list)


@command(
    shards_app, examples=("lexichord shards rebalance", "lexichord shards rebalance --empty 2")
)
def rebalance(
    invocation: Invocation,
    empty: Annotated[
        int | None,
        typer.Option(metavar="SHARD", help="Leave this one with none.", show_default=False),
    ] = None,
) -> None:
    """Move documents so that all shards have their part; searches and ingests go on."""
    with invocation.open() as lexichord:
        moved = lexichord.rebalance_shards(empty=empty)
    invocation.show(moved.to_dict(), lambda _: _moved(moved))


@command(shards_app, examples=("lexichord shards remove 1",))
def remove(
    invocation: Invocation,
    number: Annotated[int, typer.Argument(help="Of the list.", show_default=False)],
) -> None:
    """Take an empty shard from the list; its database stays as it is."""
    with invocation.open() as lexichord:
        lexichord.remove_shard(number)
    invocation.show({"removed": number}, lambda _: render.out.print(f"shard {number} is removed"))


def _added(number: int) -> None:
    render.out.print(f"shard {number} is added")
    render.err.print("restart what is open: it stores nothing there, and finds nothing, until then")


def _moved(moved: "Rebalanced") -> None:
    documents = counted(moved.documents, "document", ",")
    render.out.print(f"{documents} moved, with {counted(moved.chunks, 'chunk', ',')}")


def _list(shards: "list[Shard]") -> None:
    for each in shards:
        documents = counted(each.documents, "document", ",")
        render.out.print(render.printable(f"{each.number}  {documents}  {each.dsn}"))
