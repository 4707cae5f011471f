"""Writes: one Python function per SQL function, of the same name; chunks arrive by COPY."""

from collections.abc import Iterable, Sequence

from psycopg.types.json import Jsonb

from lexichord.db.pool import Conn, Database, Row, call
from lexichord.db.search import Vector, vector_text
from lexichord.types import Chunk, Document

COPY = (
    "copy staged_chunk (ordinal, heading, char_start, char_end, page, content, context, metadata, "
    "embedding) from stdin"
)


async def store_document(
    database: Database,
    document: Document,
    chunks: Sequence[Chunk],
    vectors: Sequence[Vector | None],
    run: int,
) -> Row:
    """Store a document with its chunks and the run's record of it, in one transaction.

    `vectors` has one entry per chunk. Gives the SQL function's row: document_id, status, chunks.
    Raises DatabaseError; nothing changes then.
    """
    async with database.transaction() as connection:
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
        )
        stored = rows[0]
        record = {"status": stored["status"], "chunks": stored["chunks"]}
        await call(connection, "record_files", run_id=run, uris=[document.uri], **record)
    return stored


async def _copy(connection: Conn, rows: Iterable[tuple[Chunk, Vector | None]]) -> None:
    async with connection.cursor().copy(COPY) as copy:
        for ordinal, (chunk, vector) in enumerate(rows):
            place = (ordinal, chunk.heading, chunk.start, chunk.end, chunk.page)
            text = (chunk.content, chunk.context, Jsonb(chunk.metadata), vector_text(vector))
            await copy.write_row(place + text)


async def document_digests(
    database: Database, dataset: str, uris: Sequence[str]
) -> dict[str, tuple[str, str]]:
    """Give uri -> (sha256, recipe) of those that are stored."""
    rows = await database.call("document_digests", dataset=dataset, uris=list(uris))
    return {row["uri"]: (row["sha256"], row["recipe"]) for row in rows}


async def chunks_without_vector(database: Database, after: int, batch: int) -> list[Row]:
    """See sql/chunks_without_vector.sql."""
    return await database.call("chunks_without_vector", after=after, batch=batch)


async def set_vectors(
    database: Database, chunk_ids: Sequence[int], vectors: Iterable[Vector]
) -> None:
    """See sql/set_vectors.sql."""
    texts = [vector_text(vector) for vector in vectors]
    await database.call("set_vectors", chunk_ids=list(chunk_ids), vectors=texts)


async def sample_texts(database: Database, documents: int, without: Sequence[str]) -> list[str]:
    """See sql/sample_texts.sql."""
    rows = await database.call("sample_texts", documents=documents, without=list(without))
    return [row["sample_texts"] for row in rows]


async def delete_documents(database: Database, documents: Sequence[int]) -> int:
    """See sql/delete_documents.sql."""
    rows = await database.call("delete_documents", documents=list(documents))
    return int(rows[0]["delete_documents"])


async def start_run(database: Database, dataset: str, source: str) -> int:
    """See sql/start_run.sql."""
    rows = await database.call("start_run", dataset=dataset, source=source)
    return int(rows[0]["start_run"])


async def record_files(
    database: Database, run: int, uris: Sequence[str], status: str, reason: str = ""
) -> None:
    """See sql/record_files.sql."""
    await database.call("record_files", run_id=run, uris=list(uris), status=status, reason=reason)


async def finish_run(database: Database, run: int) -> None:
    """Close the run's record and build what indexes are missing."""
    await database.call("build_indexes")
    await database.call("finish_run", run_id=run)
