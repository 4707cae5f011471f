"""Datasets as stores of files over shards: what was sent is at the home, with its documents.

Whatever else a dataset holds is where its documents are; lists have both.
"""

from collections.abc import Sequence
from typing import Any

from psycopg.types.json import Jsonb

from lexichord.db.fanout import HOME, Call, joined, of_home
from lexichord.db.pool import Row
from lexichord.errors import ConfigError

OF_A_TABLE = "the dataset {dataset} is an indexed table's: drop_index_table deletes it"
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
        raise ConfigError(OF_A_TABLE.format(dataset=name))
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
