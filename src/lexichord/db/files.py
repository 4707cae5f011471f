"""Files that are sent before a dataset is named, and datasets seen as stores of files.

One Python function per SQL function, of the same name.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from lexichord.db.pool import Database, Row
from lexichord.types import Json

SENT_FILE = re.compile(r"(file-[0-9a-f]{24})/", re.A)


def sent_file(dataset: str, uri: str) -> str:
    """Return the file that a document's uri names, "" where it did not come as one."""
    prefix = f"upload://{dataset}/"
    match = SENT_FILE.match(uri, len(prefix)) if uri.startswith(prefix) else None
    return match[1] if match else ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list by time and key: so many, the newest first or last, past another one."""

    size: int
    newest_first: bool = True
    past: tuple[datetime, str] | None = None

    def arguments(self) -> dict[str, Any]:
        """Return them as the SQL functions take them."""
        past_at, past_key = self.past or (None, None)
        order = {"page_size": self.size, "descending": self.newest_first}
        return {**order, "past_at": past_at, "past_key": past_key}


async def keep_file(database: Database, content: bytes, **columns: object) -> datetime:
    """See sql/files/keep_file.sql."""
    (row,) = await database.write("keep_file", content=content, **columns)
    at: datetime = row["keep_file"]
    return at


async def read_file(database: Database, file_id: str) -> bytes | None:
    """See sql/files/read_file.sql."""
    (row,) = await database.call("read_file", file_id=file_id)
    return None if row["read_file"] is None else bytes(row["read_file"])


async def list_files(
    database: Database,
    file_ids: Sequence[str] | None = None,
    reach: Sequence[str] | None = None,
    purpose: str | None = None,
    page: Page | None = None,
) -> list[Row]:
    """See sql/files/list_files.sql."""
    return await database.call(
        "list_files",
        file_ids=None if file_ids is None else list(file_ids),
        reach=None if reach is None else list(reach),
        purpose=purpose,
        **(page.arguments() if page else {}),
    )


async def delete_file(
    database: Database,
    file_id: str,
    dataset: str | None = None,
    reach: Sequence[str] | None = None,
) -> bool | None:
    """See sql/files/delete_file.sql."""
    within = None if reach is None else list(reach)
    (row,) = await database.write("delete_file", file_id=file_id, dataset=dataset, reach=within)
    deleted: bool | None = row["delete_file"]
    return deleted


async def define_dataset(
    database: Database, dataset: str, details: Json, *, anew: bool = False
) -> bool:
    """See sql/files/define_dataset.sql."""
    arguments = {"dataset": dataset, "details": Jsonb(details), "anew": anew}
    (row,) = await database.write("define_dataset", **arguments)
    return bool(row["define_dataset"])


async def delete_dataset(database: Database, dataset: str) -> int | None:
    """See sql/files/delete_dataset.sql."""
    (row,) = await database.write("delete_dataset", dataset=dataset)
    return None if row["delete_dataset"] is None else int(row["delete_dataset"])


async def rename_dataset(database: Database, dataset: str, new_name: str) -> None:
    """See sql/documents/rename_dataset.sql. Raises NotFoundError; ConfigError."""
    await database.write("rename_dataset", dataset=dataset, new_name=new_name)


async def describe_datasets(
    database: Database, datasets: Sequence[str] | None = None, page: Page | None = None
) -> list[Row]:
    """See sql/files/describe_datasets.sql."""
    named = None if datasets is None else list(datasets)
    return await database.call(
        "describe_datasets", datasets=named, **(page.arguments() if page else {})
    )


async def add_dataset_files(
    database: Database, dataset: str, run: int | None, attributes: Mapping[str, Json]
) -> None:
    """See sql/files/add_dataset_files.sql; `attributes` are by file."""
    by_file = Jsonb(dict(attributes))
    await database.write("add_dataset_files", dataset=dataset, run_id=run, attributes=by_file)


async def list_dataset_files(
    database: Database,
    dataset: str,
    *,
    file_ids: Sequence[str] | None = None,
    documents: Sequence[str] | None = None,
    runs: Sequence[int] | None = None,
    state: str | None = None,
    page: Page | None = None,
) -> list[Row]:
    """See sql/files/list_dataset_files.sql."""
    return await database.call(
        "list_dataset_files",
        dataset=dataset,
        file_ids=None if file_ids is None else list(file_ids),
        documents=None if documents is None else list(documents),
        runs=None if runs is None else list(runs),
        state=state,
        **(page.arguments() if page else {}),
    )
