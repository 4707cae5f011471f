"""Copy datasets to another database, of any engine: what differs is copied, then compared."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Unpack

from lexichord.db import catalogue, schema, store
from lexichord.db.pool import Database, Row
from lexichord.db.store import copy_document
from lexichord.errors import ConfigError, DatabaseError
from lexichord.ingest.flow import background_sealing, heartbeat
from lexichord.ingest.report import DocumentListener, ProgressCallbacks
from lexichord.types import EmbeddingSpace, Shaped
from lexichord.types.base import counted
from lexichord.types.query_options import no_other_options

COPY_CONNECTIONS = 2  # to the target: one writes, the other gives signs of life

type DocumentHashes = dict[str, Row]


@dataclass(slots=True)
class Copied(Shaped):
    """What became of the documents of one dataset; `chunks` are those that were copied."""

    dataset: str
    run_id: int = 0
    copied: int = 0
    replaced: int = 0
    skipped: int = 0
    chunks: int = 0


async def copy_datasets(
    source: Database, target: str, datasets: Sequence[str], **callbacks: Unpack[ProgressCallbacks]
) -> list[Copied]:
    """Copy datasets, all if none is named, to the database of a DSN, prepared if need be.

    Raises ConfigError; DatabaseError also if the copy is not the same in the end.
    """
    no_other_options(callbacks, ProgressCallbacks.__annotations__)
    names = await _names(source, datasets)
    fixed = await catalogue.configuration(source)
    space = EmbeddingSpace.parse(fixed["space"])
    choice = schema.Choice(None, fixed["text_config"], space, fixed["by_document"])
    await asyncio.to_thread(schema.prepare, target, choice)
    async with Database(target, COPY_CONNECTIONS) as opened:
        if await catalogue.database_identity(source) == await catalogue.database_identity(opened):
            raise ConfigError("a database cannot be copied onto itself: name another target")
        copies = [Copy(source, opened, name, fixed["space"], **callbacks) for name in names]
        reports = [await copy.run() for copy in copies]
    await _refuse_changes(source, datasets, copies)
    return reports


async def _names(source: Database, wanted: Sequence[str]) -> list[str]:
    await catalogue.check_datasets(source, wanted)
    return [*await _counts(source, wanted)]


async def _counts(source: Database, wanted: Sequence[str]) -> dict[str, int]:
    rows = await catalogue.list_datasets(source)
    return {
        row["dataset"]: row["documents"] for row in rows if row["dataset"] in wanted or not wanted
    }


async def _refuse_changes(
    source: Database, wanted: Sequence[str], copies: Sequence["Copy"]
) -> None:
    """Raise DatabaseError where documents may have gone from one dataset to another meanwhile."""
    copied = {copy.dataset: len(copy.documents) for copy in copies}
    now = await _counts(source, wanted)
    changes = [f"{name} is gone" for name in copied if name not in now]
    changes += [f"{name} is new" for name in now if name not in copied]
    changes += [
        f"{name} has {now[name]} of {counted(total, 'document')}"
        for name, total in copied.items()
        if now.get(name, total) != total
    ]
    there = {row["document_id"] for row in await store.document_recipes(source, [*copied])}
    if missed := there.difference(*(copy.documents for copy in copies)):
        changes.append(f"{counted(len(missed), 'document')} came to what was copied already")
    if changes:
        raise DatabaseError(
            f"the source's datasets have changed meanwhile: {', '.join(changes)}: copy again"
        )


@dataclass
class Copy:
    """One dataset's copy, which goes on from wherever an earlier one was interrupted."""

    source: Database
    target: Database
    dataset: str
    space: str
    on_start: Callable[[int], None] = lambda total: None
    on_chunks: Callable[[int], None] = lambda count: None
    listener: DocumentListener = lambda uri, status, reason: None
    report: Copied = field(init=False)
    failed: dict[str, str] = field(init=False, default_factory=dict)
    # The source's when they were compared, by their ids.
    documents: frozenset[str] = field(init=False, default=frozenset())

    async def run(self) -> Copied:
        """Copy what is missing or differs. Raises DatabaseError if it still does in the end."""
        here, there = await self._hashes()
        self.on_start(len(here))
        description = f"copy of dataset {self.dataset}"
        run = await store.start_run(self.target, self.dataset, description, len(here))
        self.report = Copied(self.dataset, run)
        async with heartbeat(self.target, run):
            await self._skip([uri for uri in here if not _difference(here[uri], there.get(uri))])
            async with background_sealing(self.target):
                for uri, row in here.items():
                    if _difference(row, there.get(uri)):
                        await self._copy(row, there.get(uri))
            await self._compare()
            await self._copy_originals()
            await store.finish_run(self.target, run)
        self._refuse_difference()
        return self.report

    async def _hashes(self) -> tuple[DocumentHashes, DocumentHashes]:
        rows = [
            await catalogue.document_hashes(database, self.dataset)
            for database in (self.source, self.target)
        ]
        here, there = ({row["uri"]: row for row in each} for each in rows)
        return here, there

    async def _skip(self, uris: Sequence[str]) -> None:
        await store.record_files(self.target, self.report.run_id, uris, "skipped")
        self.report.skipped = len(uris)
        for uri in uris:
            self.listener(uri, "skipped", "")

    async def _copy(self, row: Row, old: Row | None) -> None:
        try:
            chunks = await copy_document(
                self.source, self.target, row, old, self.report.run_id, self.space
            )
        except ConfigError as error:  # this document's data, not the server
            await self._fail(row["uri"], str(error))
            return
        if chunks is None:
            return
        self.report.copied += old is None
        self.report.replaced += old is not None
        self.report.chunks += chunks
        self.on_chunks(chunks)
        self.listener(row["uri"], "replaced" if old else "copied", "")

    async def _copy_originals(self) -> None:
        """Copy the bytes that are kept of documents, where the copy lacks them."""
        here, there = [
            await store.list_originals(database, self.dataset)
            for database in (self.source, self.target)
        ]
        lacking = [
            uri
            for uri, row in here.items()
            if uri not in there or there[uri]["sha256"] != row["sha256"]
        ]
        copies = await store.document_digests(self.target, self.dataset, lacking)
        for uri in lacking:
            content = await store.read_original(self.source, here[uri]["document_id"])
            if content is not None and uri in copies:
                await store.keep_original(self.target, copies[uri]["document_id"], content)

    async def _compare(self) -> None:
        """Record what is not the same."""
        here, there = await self._hashes()
        self.documents = frozenset(row["document_id"] for row in here.values())
        for uri, row in here.items():
            difference = _difference(row, there.get(uri))
            if difference and uri not in self.failed:
                await self._fail(uri, difference)

    async def _fail(self, uri: str, reason: str) -> None:
        run = self.report.run_id
        await store.record_files(self.target, run, [uri], "failed", reason=reason)
        self.failed[uri] = reason
        self.listener(uri, "failed", reason)

    def _refuse_difference(self) -> None:
        documents = counted(len(self.documents), "document")
        for uri, reason in self.failed.items():
            raise DatabaseError(
                f"{len(self.failed)} of {documents} of dataset {self.dataset} are not the same "
                f"in the copy, the first is {uri} ({reason}): copy again"
            )


def _difference(row: Row, copy: Row | None) -> str:
    """Return how a document's copy differs, "" if it does not."""
    if copy is None:
        return "it is missing"
    for name in ("chunks", "vectors"):
        if row[name] != copy[name]:
            return f"it has {copy[name]} {name} instead of {row[name]}"
    return "" if row["hash"] == copy["hash"] else "it differs"
