"""Changing the embedding space: one Python function per SQL function, of the same name."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

from psycopg import errors
from psycopg.types.json import Jsonb

from lexichord.db.pool import CONNECTION_OPTIONS, Conn, Database, Row, call, refuse_pooler
from lexichord.db.search import Vector, half_vector, vector_text
from lexichord.db.session import translate_errors
from lexichord.errors import ConfigError, DatabaseError
from lexichord.types import EmbeddingSpace

type Embedded = Sequence[tuple[Row, Vector]]
type EmbedRows = Callable[[Sequence[Row]], Awaitable[Embedded]]

# All searches wait behind an exclusive lock that is waited for, so it is given up soon and tried
# again. The server ends a vacuum of its own only for one who waits longer than deadlock_timeout,
# 1 s by default: each fifth time.
SHORT_LOCK_WAIT_MS, LONG_LOCK_WAIT_MS = 200, 1500
ATTEMPTS_PER_LONG_WAIT = 5
LOCK_RETRY_SECONDS = 0.5
DEAD_HOLDER_SECONDS = 5  # until the server notices that the one before was killed


@asynccontextmanager
async def hold_reembed(database: Database) -> AsyncIterator[Conn]:
    """Yield the connection that holds the lock on changes of the space.

    See sql/reembed/hold_reembed.sql. Raises ConfigError if another one does.
    """
    with translate_errors():
        async with await Conn.connect(database.dsn, **CONNECTION_OPTIONS) as connection:
            connection.ids = database.ids
            cursor = await connection.execute("select pg_backend_pid() as pid")
            refuse_pooler(connection.info.backend_pid, (await cursor.fetchall())[0]["pid"])
            for _ in range(DEAD_HOLDER_SECONDS):
                rows = await call(connection, "hold_reembed")
                if rows[0]["hold_reembed"]:
                    break
                await asyncio.sleep(1)
            else:
                raise ConfigError("another process changes the embedding space: wait for its end")
            yield connection


async def start_reembed(database: Database, space: EmbeddingSpace) -> None:
    """See sql/reembed/start_reembed.sql."""
    await _call_exclusively(
        database,
        "start_reembed",
        provider=space.provider,
        model=space.model,
        dimension=space.dimension,
    )


async def reembed_status(database: Database) -> Row | None:
    """See sql/reembed/reembed_status.sql."""
    rows = await database.call("reembed_status")
    return rows[0] if rows else None


async def build_reembed_indexes(database: Database, holder: Conn, *, filled: bool) -> None:
    """Run the statements of sql/indexes/reembed_index_statements.sql."""
    rows = await database.call("reembed_index_statements", filled=filled)
    with translate_errors():
        for row in rows:
            await holder.execute(row["reembed_index_statements"].encode())


async def chunks_without_other(database: Database, after: str | None, batch: int) -> list[Row]:
    """See sql/documents/chunks_without_other.sql."""
    return await database.call("chunks_without_other", after=after, batch=batch)


async def set_other_vectors(database: Database, space: EmbeddingSpace, embedded: Embedded) -> int:
    """See sql/reembed/set_other_vectors.sql; of rows of chunks_without_other."""
    async with database.transaction() as connection:
        return await _set_other_vectors(connection, space, embedded)


async def _set_other_vectors(connection: Conn, space: EmbeddingSpace, embedded: Embedded) -> int:
    rows = await call(
        connection,
        "set_other_vectors",
        space=str(space),
        chunk_ids=[chunk["chunk_id"] for chunk, _ in embedded],
        row_versions=[chunk["row_version"] for chunk, _ in embedded],
        vectors=[vector_text(vector) for _, vector in embedded],
    )
    return int(rows[0]["set_other_vectors"])


async def sample_queries(database: Database) -> list[str]:
    """See sql/records/sample_queries.sql."""
    return [row["sample_queries"] for row in await database.call("sample_queries")]


async def space_overlap(database: Database, query: Vector, other: Vector, k: int) -> float | None:
    """See sql/reembed/space_overlap.sql."""
    vectors = {"query_vector": half_vector(query), "other_vector": half_vector(other)}
    rows = await database.call("space_overlap", k=k, **vectors)
    share = rows[0]["space_overlap"]
    return None if share is None else float(share)


async def record_comparison(database: Database, comparison: Mapping[str, float]) -> None:
    """See sql/records/record_comparison.sql."""
    await database.call("record_comparison", comparison=Jsonb(comparison))


async def swap_incomplete(database: Database) -> None:
    """See sql/reembed/swap_spaces.sql; chunks that lack a vector then have none."""
    for attempt in count(1):
        async with _writers_held(database) as connection:
            if await _swap(connection, attempt, incomplete=True):
                return
        await asyncio.sleep(LOCK_RETRY_SECONDS)


async def swap_spaces(
    database: Database,
    space: EmbeddingSpace,
    embed: EmbedRows,
    refused: Collection[str],
    limit: int,
) -> tuple[bool, int]:
    """See sql/reembed/swap_spaces.sql; the last chunks are filled in the same transaction.

    Writers wait meanwhile: else one that never pauses would never let it come to an end. Nothing is
    filled where more than `limit` chunks lack a vector, besides those that `embed` has refused,
    which remain without. Returns whether it has swapped, and how many it filled; those stay, even
    if searches were in the way of the swap.
    """
    for attempt in count(1):
        async with _writers_held(database) as connection:
            batch = limit + 1 + len(refused)
            rows = await call(connection, "chunks_without_other", after=None, batch=batch)
            lacking = [row for row in rows if row["chunk_id"] not in refused]
            if len(lacking) > limit:
                return False, 0
            filled = await _set_other_vectors(connection, space, await embed(lacking))
            if await _swap(connection, attempt, incomplete=bool(refused)):
                return True, filled
        if filled:
            return False, filled
        await asyncio.sleep(LOCK_RETRY_SECONDS)
    raise AssertionError


@asynccontextmanager
async def _writers_held(database: Database) -> AsyncIterator[Conn]:
    """Yield a transaction in which nobody else writes."""
    async with database.transaction() as connection:
        await call(connection, "hold_writers")
        yield connection


async def _swap(connection: Conn, attempt: int, *, incomplete: bool = False) -> bool:
    """Swap, unless chunks lack a vector or somebody is in the way; the transaction goes on."""
    asked = {"incomplete": incomplete, "wait_ms": _lock_wait_ms(attempt)}
    with suppress(errors.LockNotAvailable):
        async with connection.transaction():
            (row,) = await call(connection, "swap_spaces", **asked)
            return bool(row["swapped"])
    return False


async def drop_other(database: Database) -> str:
    """See sql/reembed/drop_other.sql."""
    rows = await _call_exclusively(database, "drop_other")
    return str(rows[0]["drop_other"])


async def _call_exclusively(database: Database, function: str, **arguments: Any) -> list[Row]:  # noqa: ANN401
    """Call a function that takes an exclusive lock, until it gets the lock."""
    for attempt in count(1):
        try:
            async with database.transaction() as connection:
                return await call(connection, function, wait_ms=_lock_wait_ms(attempt), **arguments)
        except DatabaseError as error:
            if not isinstance(error.__cause__, errors.LockNotAvailable):
                raise
        await asyncio.sleep(LOCK_RETRY_SECONDS)
    raise AssertionError


def _lock_wait_ms(attempt: int) -> int:
    return SHORT_LOCK_WAIT_MS if attempt % ATTEMPTS_PER_LONG_WAIT else LONG_LOCK_WAIT_MS
