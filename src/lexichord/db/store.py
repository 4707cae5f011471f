"""Writes: one Python function per SQL function, of the same name; chunks arrive by COPY."""

import hashlib
import struct
from collections.abc import Iterable, Sequence

from psycopg.types.json import Jsonb

from lexichord.db.pool import Conn, Database, Row, call
from lexichord.db.search import Vector, vector_text
from lexichord.errors import ConfigError
from lexichord.types import Chunk, Document
from lexichord.types.documents import CONTEXT_BY

COPY = (
    "copy pg_temp.staged_chunk (ordinal, heading, char_start, char_end, page, content, context, "
    "keyword_context, metadata, embedding) from stdin (format binary)"
)
COPIED = ["int4", "text", "int4", "int4", "int4", "text", "text", "text", "jsonb", "bytea"]


async def store_document(
    database: Database,
    document: Document,
    chunks: Sequence[Chunk],
    vectors: Sequence[Vector | None],
    run: int,
    twin: int | None = None,
    space: str | None = None,
) -> Row:
    """Store a document with its chunks and the run's record of it, in one transaction.

    `vectors`, of `space`, has one entry per chunk; where it is None, the chunk keeps the vector
    that it had, or has in `twin`. Gives the SQL function's row: document_id, status, chunks. Raises
    DatabaseError, and EmbeddingMismatchError if the database is bound to another space by now;
    nothing changes then.
    """
    async with database.transaction() as connection:
        stored = await replace_document(connection, document, chunks, vectors, twin, space)
        record = {"status": stored["status"], "chunks": stored["chunks"]}
        await call(connection, "record_files", run_id=run, uris=[document.uri], **record)
    return stored


async def replace_document(
    connection: Conn,
    document: Document,
    chunks: Sequence[Chunk],
    vectors: Sequence[Vector | None],
    twin: int | None = None,
    space: str | None = None,
) -> Row:
    """As `store_document`, without a record, in a transaction of the caller's."""
    await call(connection, "stage_chunks")
    await _copy(connection, zip(chunks, vectors, strict=True))
    rows = await call(
        connection,
        "store_document",
        dataset=document.dataset,
        uri=document.uri,
        title=document.title,
        media_type=document.media_type,
        sha256=document.sha256,
        recipe=document.recipe,
        content=document.text,
        metadata=Jsonb(document.metadata),
        twin=twin,
        space=space,
    )
    return rows[0]


async def _copy(connection: Conn, rows: Iterable[tuple[Chunk, Vector | None]]) -> None:
    async with connection.cursor().copy(COPY) as copy:
        copy.set_types(COPIED)
        for ordinal, (chunk, vector) in enumerate(rows):
            place = (ordinal, chunk.heading, chunk.start, chunk.end, chunk.page)
            text = (chunk.content, chunk.context, chunk.keyword_context)
            await copy.write_row(place + text + (Jsonb(chunk.metadata), _halfvec(vector)))


def _halfvec(vector: Vector | None) -> bytes | None:
    """Write a vector as halfvec's binary form: 384 numbers take 4 µs, as text 225."""
    if vector is None:
        return None
    try:
        return struct.pack(f"!HH{len(vector)}e", len(vector), 0, *vector)
    except OverflowError:
        raise ConfigError("a number of a vector is out of range for halfvec") from None


def vector_key(chunk: Chunk) -> str:
    """See sql/vector_key.sql, which does the same."""
    texts = [chunk.content] + [chunk.context] * (CONTEXT_BY in chunk.metadata)
    digests = (hashlib.sha256(text.encode(errors="replace")) for text in texts)
    return "".join(digest.hexdigest() for digest in digests)


async def reusable_chunks(database: Database, documents: Sequence[int], recipe: str) -> set[str]:
    """See sql/reusable_chunks.sql."""
    rows = await database.call("reusable_chunks", documents=list(documents), recipe=recipe)
    return {row["reusable_chunks"] for row in rows}


async def document_digests(database: Database, dataset: str, uris: Sequence[str]) -> dict[str, Row]:
    """See sql/document_digests.sql; by uri."""
    rows = await database.call("document_digests", dataset=dataset, uris=list(uris))
    return {row["uri"]: row for row in rows}


async def document_twins(database: Database, dataset: str, sha256s: Sequence[str]) -> list[Row]:
    """See sql/document_twins.sql."""
    return await database.call("document_twins", dataset=dataset, sha256s=list(sha256s))


async def chunks_without_vector(database: Database, after: int, batch: int) -> list[Row]:
    """See sql/chunks_without_vector.sql."""
    return await database.call("chunks_without_vector", after=after, batch=batch)


async def set_vectors(
    database: Database, chunk_ids: Sequence[int], vectors: Iterable[Vector], space: str
) -> None:
    """See sql/set_vectors.sql."""
    texts = [vector_text(vector) for vector in vectors]
    await database.call("set_vectors", chunk_ids=list(chunk_ids), vectors=texts, space=space)


async def sample_documents(
    database: Database, dataset: str, documents: int, without: Sequence[str]
) -> list[Row]:
    """See sql/sample_documents.sql."""
    return await database.call(
        "sample_documents", dataset=dataset, documents=documents, without=list(without)
    )


async def rebuild_indexes(database: Database) -> bool:
    """See sql/rebuild_indexes.sql."""
    rows = await database.call("rebuild_indexes")
    return bool(rows[0]["rebuild_indexes"])


async def delete_documents(database: Database, documents: Sequence[int]) -> int:
    """See sql/delete_documents.sql."""
    rows = await database.call("delete_documents", documents=list(documents))
    return int(rows[0]["delete_documents"])


async def documents_under(database: Database, dataset: str, folder: str) -> list[Row]:
    """See sql/documents_under.sql."""
    return await database.call("documents_under", dataset=dataset, folder=folder)


async def prune_documents(database: Database, run: int, uris: Sequence[str]) -> None:
    """See sql/prune_documents.sql."""
    await database.call("prune_documents", run_id=run, uris=list(uris))


async def failed_files(database: Database, dataset: str) -> list[Row]:
    """See sql/failed_files.sql."""
    return await database.call("failed_files", dataset=dataset)


async def start_run(database: Database, dataset: str, source: str, total: int) -> int:
    """See sql/start_run.sql."""
    rows = await database.call("start_run", dataset=dataset, source=source, total=total)
    return int(rows[0]["start_run"])


async def touch_run(database: Database, run: int) -> None:
    """See sql/touch_run.sql."""
    await database.call("touch_run", run_id=run)


async def record_files(
    database: Database, run: int, uris: Sequence[str], status: str, reason: str = ""
) -> None:
    """See sql/record_files.sql."""
    await database.call("record_files", run_id=run, uris=list(uris), status=status, reason=reason)


async def finish_run(database: Database, run: int) -> None:
    """Close the run's record and build what indexes are missing."""
    await database.call("build_indexes")
    await database.call("finish_run", run_id=run)
