"""The state of a database: what it holds, whether it is sound, and what to do if not."""

import asyncio
from collections.abc import Sequence

from lexichord.db import catalogue, reembed, store, tables
from lexichord.db.pool import Database
from lexichord.errors import DatabaseError
from lexichord.providers.base import Embedder
from lexichord.retrieve.cache import KnownScales
from lexichord.types import StoredDataset
from lexichord.types.state import (
    ExtensionFault,
    Fault,
    Health,
    IndexedTable,
    IndexUse,
    IngestRun,
    Problem,
    SpaceChange,
    Status,
    Version,
)

BUSY_SECONDS = 0.2  # until documents that an ingest holds are looked at again
STATUS_RUNS = 5  # the latest ingests that status shows


class StatusMethods:
    """The methods of `Lexichord` that return the state of its database."""

    database: Database
    embedder: Embedder | None
    space: str
    degraded: list[str]
    scales: KnownScales

    async def ping(self) -> None:
        """Raise DatabaseError unless the database answers."""
        await catalogue.configuration(self.database)

    async def datasets(self) -> list[StoredDataset]:
        """List the datasets by name, with how many documents and chunks each holds."""
        return [StoredDataset(**row) for row in await catalogue.list_datasets(self.database)]

    async def tables(self) -> list[IndexedTable]:
        """List the indexed tables: rows stored, rows that wait, rows that could not be stored."""
        return [IndexedTable(**row) for row in await tables.list_indexed_tables(self.database)]

    async def status(self) -> Status:
        """Return what the database is and holds, and how the latest five ingests went."""
        from lexichord.retrieve.confidence import describe_calibration, find_calibration

        change = await reembed.reembed_status(self.database)
        degraded, space = list(self.degraded), self.space if self.embedder else None
        scale = await catalogue.find_cosine_scale(self.database) or self.scales.find(self.space)
        calibration = await find_calibration(self.database, space, scale)
        return Status(
            **await catalogue.database_status(self.database),
            embedder=str(self.embedder.space) if self.embedder else None,
            confidence=describe_calibration(calibration, space),
            by_dataset=await self.datasets(),
            runs=await self._runs(degraded),
            reembed=SpaceChange(**change) if change else None,
            degraded=degraded,
        )

    async def doctor(self) -> Health:
        """Return all that `status` does, whether the indexes are used, and what is wrong."""
        from lexichord.db.postmaster import Machine, advise

        status = await self.status()
        return Health(
            **{name: getattr(status, name) for name in Status.__slots__},
            server=[Version(**row) for row in await catalogue.server_versions(self.database)],
            extension_faults=[
                ExtensionFault(**row)
                for row in await catalogue.extension_faults(self.database, status.engine)
            ],
            indexes=await self._index_use(),
            faults=[Fault(**row) for row in await catalogue.count_faults(self.database)],
            advice=advise(await catalogue.server_facts(self.database), Machine.here()),
            problems=[Problem(**row) for row in await catalogue.find_problems(self.database)],
        )

    async def reindex(self) -> Sequence[IndexUse]:
        """Build both indexes anew for the tables' size by now; return whether they are used.

        Words that an earlier version indexed are made anew first, some documents at a time. Writers
        wait while the indexes are built, and where pgvector has the vector index also searches.
        """
        while (taken := await store.analyze_documents(self.database)) or (
            await catalogue.database_status(self.database)
        )["outdated_documents"]:
            if not taken:
                await asyncio.sleep(BUSY_SECONDS)
        await store.rebuild_indexes(self.database)
        return await self._index_use()

    async def _runs(self, degraded: list[str]) -> list[IngestRun]:
        """List the latest ingests, none for a role that may not see them: lexichord_reader."""
        try:
            rows = await catalogue.list_runs(self.database, STATUS_RUNS)
        except DatabaseError as error:
            degraded.append(f"the latest ingests are not shown: {error}")
            return []
        return [IngestRun(**row) for row in rows]

    async def _index_use(self) -> list[IndexUse]:
        return [IndexUse(**row) for row in await catalogue.index_use(self.database)]
