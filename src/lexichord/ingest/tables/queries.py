"""Queries that SQL wants embedded: a worker answers them beside its other work."""

import asyncio
import logging
from collections.abc import Sequence

from lexichord.db import tables
from lexichord.db.pool import Database
from lexichord.db.search import Vector
from lexichord.errors import LexichordError, ProviderError
from lexichord.ingest.tables.space import FollowSpace
from lexichord.providers.base import Embedder, RemoteEmbedder
from lexichord.work import in_thread

log = logging.getLogger("lexichord")

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
