"""Changing the embedding space: one Python function per SQL function, of the same name."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

from psycopg import AsyncConnection, errors
from psycopg.types.json import Jsonb

from lexichord.db.pool import SESSION, Conn, Database, Row, call, raised_as_ours
from lexichord.db.search import Vector, vector_text
from lexichord.errors import ConfigError, DatabaseError
from lexichord.types import EmbeddingSpace, Json

type Embed = Callable[[Sequence[Row]], Awaitable[Sequence[Vector]]]

# Who waits for a lock on everybody makes all searches wait behind it, so it is given up soon and
# tried again. The server ends a vacuum of its own only for who waits longer than deadlock_timeout,
# 1 s by default: each fifth time.
SHORT, LONG, EACH = 200, 1500, 5  # ms, ms, tries
PAUSE = 0.5  # seconds between tries
PATIENCE = 5  # seconds for the server to notice that the one before was killed


@asynccontextmanager
async def hold_reembed(database: Database) -> AsyncIterator[Conn]:
    """Be the only one who changes the space; lend the connection that holds the lock.

    See sql/hold_reembed.sql. Raises ConfigError if another one does.
    """
    with raised_as_ours():
        async with await AsyncConnection.connect(database.dsn, **SESSION) as connection:
            for _ in range(PATIENCE):
                rows = await call(connection, "hold_reembed")
                if rows[0]["hold_reembed"]:
                    break
                await asyncio.sleep(1)
            else:
                raise ConfigError("another process changes the embedding space: wait for its end")
            yield connection


async def start_reembed(database: Database, space: EmbeddingSpace) -> None:
    """See sql/start_reembed.sql."""
    parts = {"provider": space.provider, "model": space.model, "dimension": space.dimension}
    await _patiently(database, "start_reembed", **parts)


async def reembed_status(database: Database) -> Row | None:
    """See sql/reembed_status.sql."""
    rows = await database.call("reembed_status")
    return rows[0] if rows else None


async def build_reembed_indexes(database: Database, holder: Conn, *, filled: bool) -> None:
    """Run what sql/reembed_index_statements.sql gives."""
    rows = await database.call("reembed_index_statements", filled=filled)
    with raised_as_ours():
        for row in rows:
            await holder.execute(row["reembed_index_statements"].encode())


async def chunks_without_other(database: Database, after: int, batch: int) -> list[Row]:
    """See sql/chunks_without_other.sql."""
    return await database.call("chunks_without_other", after=after, batch=batch)


async def set_other_vectors(
    database: Database, space: EmbeddingSpace, chunks: Sequence[Row], vectors: Iterable[Vector]
) -> int:
    """See sql/set_other_vectors.sql; `chunks` are rows of chunks_without_other."""
    async with database.transaction() as connection:
        return await _set_other_vectors(connection, space, chunks, vectors)


async def _set_other_vectors(
    connection: Conn, space: EmbeddingSpace, chunks: Sequence[Row], vectors: Iterable[Vector]
) -> int:
    rows = await call(
        connection,
        "set_other_vectors",
        space=str(space),
        chunk_ids=[chunk["chunk_id"] for chunk in chunks],
        row_versions=[chunk["row_version"] for chunk in chunks],
        vectors=[vector_text(vector) for vector in vectors],
    )
    return int(rows[0]["set_other_vectors"])


async def pack_keywords(database: Database, written: int | None = None) -> bool:
    """See sql/engine/*/pack_keywords.sql."""
    rows = await database.call("pack_keywords", written=written)
    return bool(rows[0]["pack_keywords"])


async def sample_queries(database: Database) -> list[str]:
    """See sql/sample_queries.sql."""
    return [row["sample_queries"] for row in await database.call("sample_queries")]


async def space_overlap(database: Database, query: Vector, other: Vector, k: int) -> float | None:
    """See sql/space_overlap.sql."""
    vectors = {"query_vector": vector_text(query), "other_vector": vector_text(other)}
    rows = await database.call("space_overlap", k=k, **vectors)
    share = rows[0]["space_overlap"]
    return None if share is None else float(share)


async def record_comparison(database: Database, comparison: Json) -> None:
    """See sql/record_comparison.sql."""
    await database.call("record_comparison", comparison=Jsonb(comparison))


async def swap_as_it_is(database: Database) -> None:
    """See sql/swap_spaces.sql; chunks that lack a vector then have none."""
    await _patiently(database, "swap_spaces", incomplete=True)


async def swap_spaces(
    database: Database, space: EmbeddingSpace, embed: Embed, most: int
) -> tuple[bool, int]:
    """See sql/swap_spaces.sql; the last chunks are filled in the same transaction.

    Who stores documents waits meanwhile: else one who never pauses would never let it come to an
    end. Not so where more than `most` chunks lack a vector. Tells whether it has swapped, and how
    many it filled; what it filled stays, even if searches were in the way of the swap.
    """
    for attempt in count(1):
        async with database.transaction() as connection:
            await call(connection, "hold_writers")
            rows = await call(connection, "chunks_without_other", after=0, batch=most + 1)
            if len(rows) > most:
                return False, 0
            vectors = await embed(rows) if rows else []
            filled = await _set_other_vectors(connection, space, rows, vectors)
            with suppress(errors.LockNotAvailable):
                async with connection.transaction():
                    swap = await call(connection, "swap_spaces", wait_ms=_wait(attempt))
                    return bool(swap[0]["swapped"]), filled
        if filled:
            return False, filled
        await asyncio.sleep(PAUSE)
    raise AssertionError


async def drop_other(database: Database) -> str:
    """See sql/drop_other.sql."""
    rows = await _patiently(database, "drop_other")
    return str(rows[0]["drop_other"])


async def _patiently(database: Database, function: str, **arguments: Any) -> list[Row]:  # noqa: ANN401
    """Call a function that excludes everybody for a moment, until nobody is in its way."""
    for attempt in count(1):
        try:
            async with database.transaction() as connection:
                return await call(connection, function, wait_ms=_wait(attempt), **arguments)
        except DatabaseError as error:
            if not isinstance(error.__cause__, errors.LockNotAvailable):
                raise
        await asyncio.sleep(PAUSE)
    raise AssertionError


def _wait(attempt: int) -> int:
    return SHORT if attempt % EACH else LONG
