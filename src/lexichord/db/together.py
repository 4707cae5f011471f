"""What is done on all shards or on none: in a transaction of each, committed when all are done.

What changes the dataset that a document is of is also done at one moment, between two marks at the
home that answers look at: see `db/moves.py`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise
from typing import TYPE_CHECKING
from uuid import uuid4

from psycopg.types.json import Jsonb

from lexichord.db import catalogue
from lexichord.db.fanout import HOME, Call, joined
from lexichord.db.moves import announced, read_moves
from lexichord.db.pool import Conn, Database, Row, call
from lexichord.errors import ConfigError

if TYPE_CHECKING:
    from lexichord.db.shards import Shards

HOME_CONNECTIONS = 3  # that holds answers, changes the home, and marks
NOBODY = [-1]  # a switch in which no document changes its shard
OF_A_TABLE = "the dataset {dataset} is an indexed table's: only the table's rows are stored there"
IS_THERE = "{uri} is in {dataset} already: delete one of the two documents first"

type Connections = Mapping[int, Conn]
type Change = Callable[[Connections], Awaitable[None]]


@asynccontextmanager
async def transactions(shards: "Shards", home: Database) -> AsyncIterator[Connections]:
    """Yield a transaction of each shard; the home's is committed last."""
    async with AsyncExitStack() as stack:
        yield {
            number: await stack.enter_async_context(each.transaction())
            for number, each in ((n, shards.others.get(n, home)) for n in shards.numbers)
        }


async def on_all(asked: Call) -> list[Row]:
    """Do on all what each answers alike; the home's answer is the one that counts."""
    await asked.shards.check_all()
    async with transactions(asked.shards, asked.shards.home) as connections:
        answers = [await call(c, asked.function, **asked.arguments) for c in connections.values()]
    return answers[0]


async def _switch(shards: "Shards", change: Change) -> None:
    """Change documents on all shards, of which no answer sees a part."""
    await shards.check_all()
    (leaving, *_) = (*(await read_moves(shards.home)).leaving, None)
    mover = uuid4()
    async with Database(shards.dsn, HOME_CONNECTIONS) as home, announced(home, mover, leaving):
        await shards.settle()
        async with home.transaction() as guard:
            async with transactions(shards, home) as connections:
                for connection in connections.values():
                    await call(connection, "hold_writers")
                await change(connections)
                await call(guard, "hold_answers", shared=False)
                places = {"from_shard": HOME, "to_shard": HOME}
                await home.write("begin_switch", mover=mover, document_numbers=NOBODY, **places)
            await shards.end_switch()


async def rename_dataset(asked: Call) -> list[Row]:
    """Rename it on all: each that lacks it gets it before, so that each refuses for itself."""
    name = asked.arguments["dataset"]
    await catalogue.check_datasets(asked.shards, [name])

    async def change(connections: Connections) -> None:
        for connection in connections.values():
            await call(connection, "define_dataset", dataset=name, details=Jsonb({}), anew=True)
            await call(connection, "rename_dataset", **asked.arguments)
        await _own_alike(connections, asked.arguments["new_name"])

    await _switch(asked.shards, change)
    return []


async def move_documents(asked: Call) -> list[Row]:
    """Move them on the shards where they are; what names them at the home follows."""
    documents, dataset = asked.arguments["documents"], asked.arguments["dataset"]
    moved = 0

    async def change(connections: Connections) -> None:
        nonlocal moved
        parted = await asked.shards.by_shard("doc", documents)
        await _check_move(asked, connections, parted)
        for number, own in parted.items():
            places = await call(connections[number], "list_documents", documents=own)
            rows = await call(connections[number], "move_documents", documents=own, dataset=dataset)
            moved += rows[0]["move_documents"]
            if number != HOME:
                named = {name: [row[name[:-1]] for row in places] for name in ("datasets", "uris")}
                await call(connections[HOME], "follow_moved", **named, new_dataset=dataset)

        await _own_alike(connections, dataset)

    await _switch(asked.shards, change)
    return [{"move_documents": moved}]


async def _own_alike(connections: Connections, dataset: str) -> None:
    """Let a dataset that is new where the documents are be of one tenant on all."""
    for connection in connections.values():
        for row in await call(connection, "list_tenants"):
            if dataset in row["datasets"]:
                for other in connections.values():
                    await call(other, "add_tenant", name=row["tenant"], datasets=[dataset])


async def _check_move(
    asked: Call, connections: Connections, parted: Mapping[int, list[str]]
) -> None:
    """Refuse what a shard cannot see to be in the way; see sql/documents/check_move.sql."""
    dataset = asked.arguments["dataset"]
    if dataset in {row["dataset"] for row in await asked.shards.call("list_indexed_tables")}:
        raise ConfigError(OF_A_TABLE.format(dataset=dataset))
    moving = joined(
        {
            n: await call(connections[n], "list_documents", documents=own)
            for n, own in parted.items()
        }
    )
    named = {"dataset": dataset, "uris": [row["uri"] for row in moving]}
    there = joined(
        {n: await call(each, "document_digests", **named) for n, each in connections.items()}
    )
    documents = {row["document_id"]: row["uri"] for row in (*moving, *there)}
    uris = sorted(documents.values())
    for uri, following in pairwise(uris):
        if uri == following:
            raise ConfigError(IS_THERE.format(uri=uri, dataset=dataset))
