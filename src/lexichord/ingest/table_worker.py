"""The worker of indexed tables: it takes what changed until it is told to stop.

What becomes of the rows, also of one that cannot be stored: `table_rows`.
"""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from lexichord.db import store, tables
from lexichord.db.catalogue import configuration
from lexichord.db.pool import Database
from lexichord.db.search import Vector
from lexichord.errors import DatabaseError, EmbeddingMismatchError, LexichordError, ProviderError
from lexichord.ingest.flow import (
    INGEST_LIMITS,
    IngestLimits,
    background_sealing,
    unbounded_gather,
)
from lexichord.ingest.report import Report
from lexichord.ingest.vectors import ChunkEmbedder
from lexichord.providers import Embedder, RemoteEmbedder
from lexichord.types import Shaped
from lexichord.work import in_thread

# Returns the embedder of the space that the database is bound to by now, and the space.
type FollowSpace = Callable[[], Awaitable[tuple[Embedder | None, str]]]


if TYPE_CHECKING:
    from lexichord.ingest.table_rows import BatchReport, RowIndexer

log = logging.getLogger("lexichord")

LANES = 2  # batches at once: one embeds while the other is read or stored
POLL_SECONDS = 1.0  # where nobody wakes it
REST_SECONDS = 10.0  # for which it says that it rests; one that is killed is woken no longer
FOLLOW_SECONDS = 5.0  # between looks at how the tables are defined
STOP_SECONDS = 10.0  # that the batches in hand have to end
TEND_SECONDS = 60.0  # between looks at the indexes, while rows keep coming
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 60.0  # after a failure, doubled each time


@dataclass(slots=True)
class WorkerReport(Shaped):
    """What a worker has done since it started; `lag_seconds` is the age of the latest change."""

    batches: int = 0
    stored: int = 0
    kept: int = 0
    deleted: int = 0
    refused: int = 0
    embedded: int = 0
    failures: int = 0
    lag_seconds: float = 0.0

    def add(self, batch: "BatchReport") -> None:
        """Add what became of a batch."""
        self.batches += 1
        self.stored += batch.stored
        self.kept += batch.kept
        self.deleted += batch.deleted
        self.refused += len(batch.refused)
        self.embedded += batch.embedded
        if batch.waiting_since is not None:
            self.lag_seconds = (datetime.now(UTC) - batch.waiting_since).total_seconds()


@dataclass
class TableWorker:
    """Keeps indexed tables in sync; any number of them may, on any machine.

    `follow` returns the embedder of the space that the database is bound to by now.
    """

    database: Database
    follow: FollowSpace
    limits: IngestLimits = INGEST_LIMITS
    report: WorkerReport = field(default_factory=WorkerReport)
    _stopped: asyncio.Event = field(default_factory=asyncio.Event)
    _rests_until: float = 0.0
    _followed_at: float = float("-inf")
    _tended_at: float = float("-inf")
    _is_tended: bool = False
    _pause: float = FIRST_PAUSE_SECONDS

    def stop(self) -> None:
        """Have it end once the batches in hand are done."""
        self._stopped.set()

    async def run(self, *, until_idle: bool = False) -> WorkerReport:
        """Index what changes until stopped, or until nothing waits. Raises DatabaseError."""
        from lexichord.ingest.sandbox import Sandbox
        from lexichord.ingest.table_rows import RowIndexer

        by_document = (await configuration(self.database))["by_document"]
        with Sandbox() as sandbox:
            indexer = RowIndexer(self.database, sandbox, by_document)
            async with background_sealing(self.database):
                await (self._finish(indexer) if until_idle else self._stay_and_answer(indexer))
        return self.report

    async def _finish(self, indexer: "RowIndexer") -> None:
        """Do what there is to do."""
        is_done = False
        while not is_done and not self._stopped.is_set():
            await answer_queries(self.database, self.follow)
            with suppress(EmbeddingMismatchError):  # once more, with that of the new space
                is_done = await self._look(indexer)

    async def _stay_and_answer(self, indexer: "RowIndexer") -> None:
        await unbounded_gather(
            [
                answer_until(self._stopped, self.database, self.follow, POLL_SECONDS),
                self._stay(indexer),
            ]
        )

    async def _stay(self, indexer: "RowIndexer") -> None:
        """Do what comes, until stopped."""
        await self._warm_up(indexer)
        listener = tables.Listener(self.database.dsn, tables.CHANGES)
        async with self._registered() as worker, listener:
            while not self._stopped.is_set():
                try:
                    if await self._look(indexer):
                        await self._rest(worker, listener)
                except EmbeddingMismatchError:
                    continue
                except LexichordError as error:
                    await self._recover(error)

    async def _warm_up(self, indexer: "RowIndexer") -> None:
        """Do now what the first change would else wait for, such as loading the model."""
        with suppress(LexichordError):  # the first batch says what is wrong
            embedder, _ = await self.follow()
            await asyncio.to_thread(indexer.warm_up, embedder)

    async def _look(self, indexer: "RowIndexer") -> bool:
        """Index what waits; return whether there was nothing."""
        await self._follow_tables()
        _, space = await self.follow()
        try:
            if await self._work(indexer):
                self._pause = FIRST_PAUSE_SECONDS
                return False
        except EmbeddingMismatchError as error:
            if space == (await self.follow())[1]:  # so that it comes to nothing however often
                raise DatabaseError(str(error)) from error
            raise
        await self._tend()
        return True

    @asynccontextmanager
    async def in_background(self) -> AsyncIterator[None]:
        """Run while the block lasts."""
        task = asyncio.create_task(self.run())
        try:
            yield
        finally:
            self.stop()
            await asyncio.wait([task], timeout=STOP_SECONDS)
            task.cancel()
            await asyncio.wait([task])

    @asynccontextmanager
    async def _registered(self) -> AsyncIterator[int]:
        worker = await tables.start_worker(self.database, socket.gethostname())
        try:
            yield worker
        finally:
            with suppress(DatabaseError):
                await tables.end_worker(self.database, worker)

    async def _work(self, indexer: "RowIndexer") -> bool:
        """Index until nothing is left; return whether there was anything."""
        before = self.report.batches
        await unbounded_gather(self._lane(indexer) for _ in range(LANES))
        self._is_tended &= self.report.batches == before
        return self.report.batches > before

    async def _lane(self, indexer: "RowIndexer") -> None:
        while not self._stopped.is_set():
            batch = await indexer.index_batch(await self._embedder())
            if batch is None:
                break
            self.report.add(batch)

    async def _tend(self) -> None:
        """Build what is missing or outgrown of the indexes, once there is nothing else to do."""
        if not self._is_tended and monotonic() > self._tended_at + TEND_SECONDS:
            self._is_tended, self._tended_at = True, monotonic()
            await store.build_indexes(self.database)

    async def _embedder(self) -> ChunkEmbedder:
        embedder, space = await self.follow()
        nothing = (lambda count: None), (lambda usage: None)
        return ChunkEmbedder(self.database, embedder, space, *nothing, Report(), self.limits)

    async def _follow_tables(self) -> None:
        if monotonic() < self._followed_at + FOLLOW_SECONDS:
            return
        self._followed_at = monotonic()
        for row in await tables.follow_tables(self.database):
            log.warning("%s: %s", row["source"], row["remark"])

    async def _rest(self, worker: int, listener: tables.Listener) -> None:
        """Store that it rests, look once more, then wait: what came in between woke nobody."""
        if monotonic() > self._rests_until - POLL_SECONDS:
            await tables.rest_worker(self.database, worker, REST_SECONDS)
            self._rests_until = monotonic() + REST_SECONDS
        elif await listener.hear(POLL_SECONDS):
            await tables.rest_worker(self.database, worker, 0)
            self._rests_until = 0.0

    async def _recover(self, error: LexichordError) -> None:
        self.report.failures += 1
        log.warning("%s; again in %g s", error, self._pause)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), self._pause)
        self._pause = min(2 * self._pause, MAX_PAUSE_SECONDS)
        self._followed_at = float("-inf")


MAX_QUERIES = 64  # embedded together
NO_EMBEDDER = "the worker has no embedder for the database's space"


async def answer_queries(database: Database, follow: FollowSpace) -> bool:
    """Embed the queries that wait; return whether there were any. Raises DatabaseError."""
    async with database.transaction() as connection:
        rows = await tables.take_queries(connection, MAX_QUERIES)
        if rows:
            embedder, space = await follow()
            vectors, fault = await _embed(embedder, [row["query"] for row in rows])
            digests = [row["digest"] for row in rows]
            faults = [fault] * len(rows)
            await tables.set_query_vectors(connection, space, digests, vectors, faults)
    return bool(rows)


async def answer_until(
    stopped: asyncio.Event, database: Database, follow: FollowSpace, poll_seconds: float
) -> None:
    """Answer queries as they come, until stopped."""
    async with tables.Listener(database.dsn, tables.QUERIES) as listener:
        while not stopped.is_set():
            try:
                if not await answer_queries(database, follow):
                    await listener.hear(poll_seconds)
            except LexichordError as error:
                log.warning("queries are not embedded: %s", error)
                await asyncio.sleep(poll_seconds)


async def _embed(
    embedder: Embedder | None, queries: Sequence[str]
) -> tuple[Sequence[Vector | None], str | None]:
    if embedder is None:
        return [None] * len(queries), NO_EMBEDDER
    asked = embedder.for_queries() if isinstance(embedder, RemoteEmbedder) else embedder
    try:
        rows = await in_thread(asked.embed, queries, "query")
    except ProviderError as error:
        return [None] * len(queries), str(error)
    return rows.tolist(), None
