"""Files that are sent before a dataset is named, and datasets as stores of files, within reach."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any, Unpack

from lexichord.db import catalogue
from lexichord.db import files as db
from lexichord.db.files import Page
from lexichord.db.pool import Row
from lexichord.errors import ForbiddenError, NotFoundError
from lexichord.ingest.load import named_by_type
from lexichord.ingest.options import RereadCallbacks
from lexichord.ingest.report import Report, RunCallbacks
from lexichord.ingest.sandbox import ScratchFolder
from lexichord.ingest.sources import SIDECAR_ENDING
from lexichord.serve.errors import public_line
from lexichord.serve.permissions import Scoped, recorded
from lexichord.types import Json
from lexichord.types.base import Ids

FILE_ID_BYTES = 12  # of randomness: nobody guesses one


class FileMethods(Scoped):
    """The methods of `ScopedClient` for such files.

    In reach is what a key of no wider reach sent, and what a dataset in reach holds.
    """

    __slots__ = ()

    @recorded
    async def keep_file(self, name: str, media_type: str, purpose: str, content: bytes) -> Row:
        """Keep a file that is of no dataset yet; return its row of sql/files/list_files.sql."""
        self._check("write")
        reach = self.rights.datasets
        row: dict[str, Any] = {"file_id": f"file-{token_hex(FILE_ID_BYTES)}", "name": name}
        row |= {"media_type": media_type, "purpose": purpose}
        kept = {**row, "datasets": None if reach is None else list(reach)}
        created_at = await db.keep_file(self._client.database, content, **kept)
        return {**row, "byte_count": len(content), "created_at": created_at, "datasets": []}

    @recorded
    async def kept_files(
        self,
        *,
        file_ids: Sequence[str] | None = None,
        purpose: str | None = None,
        page: Page | None = None,
    ) -> Sequence[Row]:
        """List the kept files in reach: see sql/files/list_files.sql."""
        self._check("read")
        reach = self.rights.datasets
        return await db.list_files(self._client.database, file_ids, reach, purpose, page)

    @recorded
    async def kept_content(self, file_id: str) -> bytes:
        """Return the bytes of a kept file. Raises NotFoundError."""
        self._check("read")
        await self._find_files([file_id])
        content = await db.read_file(self._client.database, file_id)
        if content is None:
            raise NotFoundError(unknown_file(file_id))
        return content

    @recorded
    async def delete_file(self, file_id: str) -> None:
        """Delete a kept file with all documents that it became. Raises NotFoundError."""
        reach = self._scope("delete").get("datasets")
        await self._find_files([file_id])
        if await db.delete_file(self._client.database, file_id, reach=reach) is None:
            raise ForbiddenError(f"{file_id} is also where the key does not reach")

    @recorded
    async def describe_datasets(
        self, datasets: Sequence[str] | None = None, page: Page | None = None
    ) -> Sequence[Row]:
        """List the datasets in reach as stores: see sql/files/describe_datasets.sql."""
        scope = self._scope("read", datasets).get("datasets")
        return await db.describe_datasets(self._client.database, scope, page)

    @recorded
    async def define_dataset(self, dataset: str, details: Json, *, anew: bool = False) -> bool:
        """Give a dataset details, or make one; `anew`: change none that is there.

        Return whether it is new.
        """
        self._scope("write", [dataset])
        return await db.define_dataset(self._client.database, dataset, details, anew=anew)

    @recorded
    async def delete_dataset(self, dataset: str) -> int:
        """See `Lexichord.delete_dataset`."""
        self._scope("delete", [dataset])
        return await self._client.delete_dataset(dataset)

    @recorded
    async def rename_dataset(self, dataset: str, new_name: str) -> None:
        """See `Lexichord.rename_dataset`; both names have to be in reach."""
        self._scope("write", [dataset, new_name])
        await self._client.rename_dataset(dataset, new_name)

    @recorded
    async def reread(self, document: str, **callbacks: Unpack[RereadCallbacks]) -> Report:
        """See `Lexichord.reread`."""
        callbacks["admit"] = self._check_rights
        return await self._client.reread(document, **self._scope("write"), **callbacks)

    @recorded
    async def check_files(self, file_ids: Sequence[str]) -> None:
        """Raise NotFoundError unless all of these are kept files that may be stored."""
        self._check("write")
        await self._find_files(file_ids)

    @recorded
    async def ingest_files(
        self, dataset: str, attributes: Mapping[str, Json], **callbacks: Unpack[RunCallbacks]
    ) -> Report:
        """Store kept files in a dataset, each with its metadata. Raises NotFoundError.

        Their documents are upload://DATASET/FILE/NAME.
        """
        self._scope("write", [dataset])
        await self._check_rights()
        await catalogue.check_datasets(self._client.database, [dataset])
        rows = await self._find_files(list(attributes))
        await db.add_dataset_files(self._client.database, dataset, None, attributes)
        with ScratchFolder() as folder:
            uris = {}
            for number, row in enumerate(rows):
                content = await db.read_file(self._client.database, row["file_id"])
                if content is None:
                    raise NotFoundError(unknown_file(row["file_id"]))
                place, added = Path(folder, str(number)), attributes[row["file_id"]]
                path = await asyncio.to_thread(_write, place, row, content, added)
                uris[str(path)] = f"upload://{dataset}/{row['file_id']}/{row['name']}"
            return await self._client.ingest(
                list(uris), dataset=dataset, uris=uris, admit=self._check_rights, **callbacks
            )

    @recorded
    async def add_dataset_files(
        self, dataset: str, run: int, attributes: Mapping[str, Json]
    ) -> None:
        """Record which run stores which files in a dataset, and with which metadata."""
        self._scope("write", [dataset])
        await db.add_dataset_files(self._client.database, dataset, run, attributes)

    @recorded
    async def dataset_files(
        self,
        dataset: str,
        *,
        file_id: str | None = None,
        run: int | None = None,
        state: str | None = None,
        page: Page | None = None,
    ) -> Sequence[Row]:
        """List what a dataset holds: see sql/files/list_dataset_files.sql. Raises NotFoundError.

        `file_id` is a kept file's or a document's.
        """
        self._scope("read", [dataset])
        await catalogue.check_datasets(self._client.database, [dataset])
        chosen = {} if file_id is None else _file_arguments(self._client.database.ids, file_id)
        runs = None if run is None else [run]
        rows = await db.list_dataset_files(
            self._client.database, dataset, runs=runs, state=state, page=page, **chosen
        )
        return [{**row, "reason": row["reason"] and public_line(row["reason"])} for row in rows]

    @recorded
    async def remove_dataset_file(self, dataset: str, file_id: str) -> None:
        """Take a kept file out of a dataset, with its documents; the file stays."""
        self._scope("delete", [dataset])
        if not await db.delete_file(self._client.database, file_id, dataset):
            raise NotFoundError(unknown_file(file_id))

    async def _find_files(self, file_ids: Sequence[str]) -> Sequence[Row]:
        """Return the rows of kept files. Raises NotFoundError for one that is not in reach."""
        reach = self.rights.datasets
        rows = await db.list_files(self._client.database, file_ids, reach)
        found = {row["file_id"]: row for row in rows}
        for file_id in file_ids:
            if file_id not in found:
                raise NotFoundError(unknown_file(file_id))
        return [found[file_id] for file_id in file_ids]


def _file_arguments(ids: Ids, file_id: str) -> dict[str, Any]:
    if ids.find("doc", file_id) is not None:
        return {"documents": [file_id]}
    return {"file_ids": [file_id]}


def _write(folder: Path, row: Row, content: bytes, metadata: Json) -> Path:
    """Write a file into a new folder, with its metadata beside it; return its path.

    Of its name only the last part is used; one that does not tell its kind gets its type's ending.
    """
    path = folder / named_by_type(row["name"].rpartition("/")[2], row["media_type"])
    folder.mkdir()
    path = path.resolve()
    path.write_bytes(content)
    if metadata:
        path.with_name(f"{path.name}{SIDECAR_ENDING}").write_text(
            json.dumps(metadata), encoding="utf-8"
        )
    return path


def unknown_file(file_id: str) -> str:
    """Return the line that there is no such file."""
    return f"there is no file {file_id}"
