"""Indexed tables: their queue of changes, rows read as documents, rows stored, workers."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import psycopg
from psycopg import AsyncConnection, errors
from psycopg.types.json import Jsonb

from lexichord.db.pool import Conn, Database, Row, call, tcp_options
from lexichord.db.search import Vector, vector_text
from lexichord.db.store import pack_halfvec
from lexichord.errors import IngestError
from lexichord.types import Chunk

CHANGES, QUERIES = "lexichord", "lexichord_query"  # the channels of NOTIFY
WRONG_SPACE = "22000"  # see sql/vectors/check_space.sql
COPY_ROWS = "copy pg_temp.staged_row (key, sha256, language, text_config) from stdin"
COPY_CHUNKS = (
    "copy pg_temp.staged_row_chunk (key, ordinal, heading, char_start, char_end, content, context, "
    "keyword_context, is_kept, embedding) from stdin (format binary)"
)
CHUNK_TYPES = ["text", "int4", "text", "int4", "int4", "text", "text", "text", "bool", "bytea"]


@dataclass(frozen=True, slots=True)
class StagedRow:
    """A row as it was read, cut and embedded.

    A chunk without a vector has it in the database already, if `kept` says so.
    """

    key: str
    sha256: str
    language: str | None
    text_config: str | None
    chunks: Sequence[Chunk]
    vectors: Sequence[Vector | None]
    kept: Sequence[bool]


async def take_changes(connection: Conn, most: int) -> Row | None:
    """See sql/tables/take_changes.sql; None if there is nothing to do."""
    rows = await call(connection, "take_changes", most=most)
    return rows[0] if rows else None


async def changed_rows(
    connection: Conn, table: int, keys: Sequence[str], recipe: str, max_characters: int
) -> list[Row]:
    """See sql/tables/changed_rows.sql. Raises IngestError if a row's data cannot be read."""
    asked: dict[str, Any] = {"table_id": table, "keys": list(keys), "recipe": recipe}
    with _data_errors():
        async with connection.transaction():
            return await call(connection, "changed_rows", **asked, max_characters=max_characters)


async def known_row_texts(
    connection: Conn, table: int, keys: Sequence[str], sha256s: Sequence[str]
) -> set[str]:
    """See sql/tables/known_row_texts.sql."""
    arguments: dict[str, Any] = {"keys": list(keys), "sha256s": list(sha256s)}
    rows = await call(connection, "known_row_texts", table_id=table, **arguments)
    return {row["known_row_texts"] for row in rows}


async def store_rows(
    connection: Conn,
    table: int,
    keys: Sequence[str],
    staged: Iterable[StagedRow],
    recipe: str,
    space: str,
    refused: Mapping[str, str],
) -> dict[str, int]:
    """Store rows, all or none of them; see sql/tables/store_rows.sql. Return amounts by status.

    Raises IngestError if it is the rows' data that cannot be stored.
    """
    arguments: dict[str, Any] = {"keys": list(keys), "refused": Jsonb(dict(refused))}
    with _data_errors():
        async with connection.transaction():
            await call(connection, "stage_rows")
            await _stage(connection, list(staged))
            rows = await call(
                connection, "store_rows", table_id=table, recipe=recipe, space=space, **arguments
            )
    return {row["status"]: row["amount"] for row in rows}


@contextmanager
def _data_errors() -> Iterator[None]:
    """Raise IngestError for what is wrong with data; other errors are the server's."""
    try:
        yield
    except errors.UniqueViolation as error:
        detail = error.diag.message_detail or str(error)
        raise IngestError(f"its uri is another row's: {detail}") from error
    except (psycopg.DataError, psycopg.IntegrityError, errors.ProgramLimitExceeded) as error:
        if error.sqlstate == WRONG_SPACE:
            raise
        raise IngestError(str(error.diag.message_primary)) from error


async def finish_changes(connection: Conn, changes: Sequence[int]) -> None:
    """See sql/tables/finish_changes.sql."""
    await call(connection, "finish_changes", changes=list(changes))


async def follow_tables(database: Database) -> list[Row]:
    """See sql/tables/follow_tables.sql."""
    return await database.call("follow_tables")


async def list_indexed_tables(database: Database) -> list[Row]:
    """See sql/tables/list_indexed_tables.sql."""
    return await database.call("list_indexed_tables")


async def take_queries(connection: Conn, most: int) -> list[Row]:
    """See sql/vectors/take_queries.sql."""
    return await call(connection, "take_queries", most=most)


async def set_query_vectors(
    connection: Conn,
    space: str,
    digests: Sequence[bytes],
    vectors: Sequence[Vector | None],
    faults: Sequence[str | None],
) -> None:
    """See sql/vectors/set_query_vectors.sql."""
    texts = [text and f"{{{text[1:-1]}}}" for text in map(vector_text, vectors)]
    arguments: dict[str, Any] = {"digests": list(digests), "vectors": texts, "faults": list(faults)}
    await call(connection, "set_query_vectors", space=space, **arguments)


async def start_worker(database: Database, host: str) -> int:
    """See sql/tables/start_worker.sql."""
    rows = await database.call("start_worker", host=host)
    return int(rows[0]["start_worker"])


async def rest_worker(database: Database, worker: int, seconds: float) -> bool:
    """See sql/tables/rest_worker.sql."""
    rows = await database.call("rest_worker", worker=worker, seconds=seconds)
    return bool(rows[0]["rest_worker"])


async def end_worker(database: Database, worker: int) -> None:
    """See sql/tables/end_worker.sql."""
    await database.call("end_worker", worker=worker)


class Listener:
    """Hears who wakes workers, on a connection of its own.

    Where there is none, or a pooler swallows what it should hear, waiting is all it does.
    """

    def __init__(self, dsn: str, channel: str) -> None:
        self._dsn, self._channel = dsn, channel
        self._connection: AsyncConnection[Any] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._connection is not None:
            await self._connection.close()

    async def hear(self, seconds: float) -> bool:
        """Wait until somebody wakes workers, or for so long; return whether somebody did."""
        try:
            connection = self._connection = self._connection or await self._connect()
            async for _ in connection.notifies(timeout=seconds, stop_after=1):
                return True
        except psycopg.Error:
            await self.__aexit__()
            self._connection = None
            await asyncio.sleep(seconds)
        return False

    async def _connect(self) -> AsyncConnection[Any]:
        connection = await AsyncConnection.connect(
            self._dsn,
            autocommit=True,
            application_name="lexichord worker",
            client_encoding="UTF8",
            **tcp_options(self._dsn),
        )
        await connection.execute(f"listen {self._channel}".encode())
        return connection


async def _stage(connection: Conn, rows: Sequence[StagedRow]) -> None:
    async with connection.cursor().copy(COPY_ROWS) as copy:
        for row in rows:
            await copy.write_row((row.key, row.sha256, row.language, row.text_config))
    async with connection.cursor().copy(COPY_CHUNKS) as copy:
        copy.set_types(CHUNK_TYPES)
        for row in rows:
            pieces = zip(row.chunks, row.vectors, row.kept, strict=True)
            for ordinal, (chunk, vector, kept) in enumerate(pieces):
                place = (row.key, ordinal, chunk.heading, chunk.start, chunk.end)
                texts = (chunk.content, chunk.context, chunk.keyword_context)
                await copy.write_row((*place, *texts, kept, pack_halfvec(vector)))
