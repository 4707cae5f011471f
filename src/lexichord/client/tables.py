"""Indexed tables: what `Lexichord` does with rows of the user's own tables."""

from collections.abc import Awaitable, Callable

from lexichord.db import tables
from lexichord.db.pool import Database
from lexichord.ingest.flow import IngestLimits
from lexichord.ingest.tables.worker import TableWorker
from lexichord.providers.base import Embedder
from lexichord.types.state import IndexedTable


class TableMethods:
    """The methods of `Lexichord` for indexed tables; SQL's `index_table` makes one of a table."""

    database: Database
    ingest_limits: IngestLimits
    _follow: Callable[[], Awaitable[tuple[Embedder | None, str]]]

    async def tables(self) -> list[IndexedTable]:
        """List the indexed tables: rows stored, rows that wait, rows that could not be stored."""
        return [IndexedTable(**row) for row in await tables.list_indexed_tables(self.database)]

    async def index_changes(self) -> None:
        """Do what a worker would, until no change of an indexed table waits."""
        await self.worker().run(until_idle=True)

    def worker(self) -> TableWorker:
        """Return a worker that keeps indexed tables in sync: `await worker.run()`."""
        return TableWorker(self.database, self._follow, self.ingest_limits)
