"""A call of an SQL function over shards, and the ways to ask that most functions share.

Then what is done on all shards or on none: in a transaction of each, committed when all are done.
What changes the dataset that a document is of is also done at one moment, between two marks at the
home that answers look at: see `db/moves.py`.

And datasets as stores of files: what was sent is at the home, with its documents. Whatever else a
dataset holds is where its documents are; lists have both.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from psycopg.types.json import Jsonb

from lexichord.db import catalogue
from lexichord.db.moves import announced, read_moves
from lexichord.db.pool import Conn, Database, Row, call
from lexichord.errors import ConfigError
from lexichord.types.base import IdKind

if TYPE_CHECKING:
    from lexichord.db.shards import Shards

type Rule = Callable[["Call"], Awaitable[list[Row]]]

HOME = 0
CUT_OFF = "the shards are not of one embedding space: a change was cut off between them"
FINISH = "run lexichord reembed, or, where it was to change back, lexichord reembed --rollback"
SPACES_DIFFER = f"{CUT_OFF}: {FINISH}"
SCOPE = ("datasets", "documents", "uri_prefix", "filter")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an SQL function; `how` is the method of `Database` that it came by."""

    shards: "Shards"
    how: str
    function: str
    arguments: dict[str, Any]
    deleted: list[int] = field(default_factory=list)  # by each attempt

    def is_done(self, rows: Sequence[Row]) -> bool:
        """Return whether a write found all that it was to change."""
        if self.function == "delete_documents":
            return sum(self.deleted) == len(set(self.arguments["documents"]))
        if self.function == "keep_original":
            return bool(rows[0]["keep_original"])
        if self.function in ("set_vectors", "delete_dataset"):  # they do not say what was there
            return False
        return self.how == "write"

    async def ask(
        self, arguments: Mapping[int, Mapping[str, Any]], function: str | None = None
    ) -> dict[int, list[Row]]:
        """Ask shards for this function's rows, or another's."""
        return await self.shards.ask(self.how, function or self.function, arguments)

    async def ask_in_scope(
        self, function: str | None = None, **others: object
    ) -> dict[int, list[Row]]:
        """Ask the shards where the scope's documents may be; `others` replace arguments."""
        arguments = self.arguments | others
        documents = arguments.get("documents")
        if documents is None:
            return await self.ask(dict.fromkeys(self.shards.numbers, arguments), function)
        parted = await self.shards.by_shard("doc", documents)
        own = {number: arguments | {"documents": ids} for number, ids in parted.items()}
        return await self.ask(own, function)

    def scope(self) -> dict[str, Any]:
        """Return the arguments that say where to look."""
        return {name: self.arguments[name] for name in SCOPE if name in self.arguments}

    def take(self, name: str) -> Any:  # noqa: ANN401
        """Return an argument, or what the SQL function takes in its place."""
        value = self.arguments.get(name)
        return self.shards.defaults[name] if value is None else value


def joined(answers: Mapping[int, Sequence[Row]]) -> list[Row]:
    """Return the rows of all shards, by their numbers, as those of ids are in order."""
    return [row for number in sorted(answers) for row in answers[number]]


async def of_home(call: Call) -> list[Row]:
    """Ask the home alone."""
    return (await call.ask({HOME: call.arguments}))[HOME]


async def of_all(call: Call) -> list[Row]:
    """Ask all, and join what they answer."""
    return joined(await call.ask(dict.fromkeys(call.shards.numbers, call.arguments)))


async def of_each(call: Call) -> list[Row]:
    """Do on all what each answers alike."""
    return (await of_all(call))[:1]


def by_document(name: str = "document") -> Rule:
    """Ask the shard of the document that an argument names."""

    async def rule(call: Call) -> list[Row]:
        (number,) = await call.shards.by_shard("doc", [call.arguments[name]])
        return (await call.ask({number: call.arguments}))[number]

    return rule


def by_ids(name: str, kind: IdKind, ordered_by: str | None = None) -> Rule:
    """Part an argument of ids; put rows in its order by a column, or in that of the shards."""

    async def rule(call: Call) -> list[Row]:
        ids = call.arguments[name]
        parted = await call.shards.by_shard(kind, ids) or {HOME: []}
        asked = {number: call.arguments | {name: own} for number, own in parted.items()}
        rows = joined(await call.ask(asked))
        if ordered_by is None:
            return rows
        places = {text: place for place, text in reversed(list(enumerate(ids)))}
        return sorted(rows, key=lambda row: places[row[ordered_by]])

    return rule


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


DELETED_WITH_TABLE = "the dataset {dataset} is an indexed table's: drop_index_table deletes it"
COUNTS = ("byte_count", "in_progress", "completed", "failed")


def _page(call: Call, rows: Sequence[Row], key: str) -> list[Row]:
    """Return the page of rows that is asked for, in its order by time and key."""
    descending, size = call.arguments.get("descending", True), call.arguments.get("page_size")
    past = (call.arguments.get("past_at"), call.arguments.get("past_key"))

    def place(row: Row) -> tuple[Any, Any]:
        return row["created_at"], row[key]

    beyond = [
        row
        for row in rows
        if past[0] is None or (place(row) < past if descending else place(row) > past)
    ]
    return sorted(beyond, key=place, reverse=descending)[:size]


async def _is_elsewhere(call: Call) -> bool:
    listed = await call.shards.call("list_datasets")
    return call.arguments["dataset"] in {row["dataset"] for row in listed}


async def define_dataset(call: Call) -> list[Row]:
    """Keep what is said of it at the home; it is new where no shard has it."""
    is_known = await _is_elsewhere(call)
    if is_known and call.arguments.get("anew"):
        return [{"define_dataset": False}]
    rows = await of_home(call)
    return [{"define_dataset": not is_known}] if rows else rows


async def delete_dataset(call: Call) -> list[Row]:
    """Delete it at the home first, which refuses while something is stored in it."""
    name = call.arguments["dataset"]
    if name in {row["dataset"] for row in await call.shards.call("list_indexed_tables")}:
        raise ConfigError(DELETED_WITH_TABLE.format(dataset=name))
    rows = await of_home(call)
    others = [number for number in call.shards.numbers if number != HOME]
    rows += joined(await call.ask(dict.fromkeys(others, call.arguments)))
    counts = [row["delete_dataset"] for row in rows if row["delete_dataset"] is not None]
    call.deleted.extend(counts)  # where documents were moved meanwhile it is done again
    return [{"delete_dataset": sum(call.deleted) if call.deleted else None}]


async def describe_datasets(call: Call) -> list[Row]:
    """Add up what each shard has; what is said of a dataset is the home's."""
    asked = {"datasets": call.arguments.get("datasets")}
    merged: dict[str, Row] = {}
    for row in joined(await call.ask(dict.fromkeys(call.shards.numbers, asked))):
        old = merged.setdefault(row["dataset"], {**row, **dict.fromkeys(COUNTS, 0)})
        old |= {name: old[name] + row[name] for name in COUNTS}
        old["created_at"] = min(old["created_at"], row["created_at"])
    return _page(call, list(merged.values()), "dataset")


async def add_dataset_files(call: Call) -> list[Row]:
    """Record it at the home, which may know nothing of the dataset yet."""
    anew = {"dataset": call.arguments["dataset"], "details": Jsonb({}), "anew": True}
    await call.shards.home.write("define_dataset", **anew)
    return await of_home(call)


async def delete_file(call: Call) -> list[Row]:
    """Delete it at the home, and what an earlier release moved from there."""
    file, dataset = call.arguments["file_id"], call.arguments.get("dataset")
    held = await call.shards.home.call("list_files", file_ids=[file])
    for name in [dataset] if dataset else held[0]["datasets"] if held else ():
        under = {"dataset": name, "folder": f"upload://{name}/{file}"}
        rows = await call.shards.call("documents_under", **under)
        if moved := [row["document_id"] for row in rows]:
            await call.shards.write("delete_documents", documents=moved)
    return await of_home(call)


async def list_dataset_files(call: Call) -> list[Row]:
    """List what was sent, which the home knows, and the other documents of all."""
    if call.arguments.get("file_ids") is not None or call.arguments.get("runs") is not None:
        return await of_home(call)
    if documents := call.arguments.get("documents"):
        parted = await call.shards.by_shard("doc", documents)
        asked = {n: call.arguments | {"documents": own} for n, own in parted.items()}
        return _page(call, joined(await call.ask(asked)), "sort_key")
    rows = joined(await call.ask(dict.fromkeys(call.shards.numbers, call.arguments)))
    return _page(call, rows, "sort_key")
