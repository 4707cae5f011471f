"""Writes, and what they read before: one Python function per SQL function, of the same name.

Chunks arrive by COPY.
"""

import asyncio
import hashlib
import json
import struct
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from lexichord.db.pool import Conn, Database, Row, call
from lexichord.db.search import Vector, vector_text
from lexichord.errors import ConfigError, EmbeddingMismatchError
from lexichord.types import Chunk, Document, EmbeddingSpace, Json
from lexichord.types.documents import CONTEXT_BY
from lexichord.types.state import FileProgress

COPY_CHUNKS_IN = (
    "copy pg_temp.staged_chunk (ordinal, heading, char_start, char_end, page, content, context, "
    "keyword_context, metadata, embedding) from stdin (format binary)"
)
COPIED_TYPES = ["int4", "text", "int4", "int4", "int4", "text", "text", "text", "jsonb", "bytea"]
COPY_CHUNKS_OUT = "copy (select * from lexichord.read_chunks(%s)) to stdout (format binary)"
REPEATABLE_READ = "set transaction isolation level repeatable read"  # text and chunks fit
# Before the first snapshot: what is read is of one space until the transaction ends.
NO_SWAP = "lock table lexichord_data.chunk in access share mode"
STAGED_SECONDS = 4  # that what is staged ahead waits for its turn at most; else it is staged again
CLIENT_UTF8 = "set local client_encoding = 'utf8'"  # whatever encoding the database has


type Turn = Callable[[], Awaitable[object]]  # awaited until those before are over


async def wait_for_nobody() -> None:
    """Wait for no turn."""


async def store_document(
    database: Database,
    document: Document,
    chunks: Sequence[Chunk],
    vectors: Sequence[Vector | None],
    run: int,
    twin: str | None = None,
    space: str | None = None,
    *,
    unless_stored: bool = False,
    rereads: str | None = None,
    sent_file: str | None = None,
    turn: Turn = wait_for_nobody,
) -> Row:
    """Store a document with its chunks and the run's record of it, in one transaction.

    `turn` is awaited before anything is stored; where `may_stage_ahead`, chunks are sent and
    analyzed meanwhile. `vectors`, of `space`, has one entry per chunk; where it is None, the chunk
    keeps the vector that it had, or has in `twin`. `unless_stored`: the same of the same recipe
    stays as it is. `rereads`: the document that is read again, whose metadata stay. `sent_file`:
    the kept file that it is of, as long as the dataset holds that. Returns the SQL function's row:
    document_id, status, chunks. Raises DatabaseError, and EmbeddingMismatchError if the database is
    bound to another space by now; nothing changes then.
    """
    stored, is_early = None, database.may_stage_ahead
    while stored is None:
        if not is_early:
            await turn()
        async with database.transaction() as connection:
            await _stage(connection, chunks, vectors)
            if is_early:
                await call(connection, "analyze_staged", text_config=document.text_config)
                if not (is_early := await _comes_soon(turn)):
                    raise psycopg.Rollback
            stored = await _store_staged(
                *(connection, document, twin, space),
                unless_stored=unless_stored,
                rereads=rereads,
                sent_file=sent_file,
            )
            record = {"status": stored["status"], "chunks": stored["chunks"]}
            await call(connection, "record_files", run_id=run, uris=[document.uri], **record)
    return stored


async def _comes_soon(turn: Turn) -> bool:
    """Await a turn; False if it takes so long that others would be in the way of each other.

    A transaction holds locks, which who has the turn may have to wait for behind somebody else;
    and servers and poolers end one that is idle.
    """
    try:
        async with asyncio.timeout(STAGED_SECONDS):
            await turn()
    except TimeoutError:
        return False
    return True


async def _store_staged(
    connection: Conn,
    document: Document,
    twin: str | None = None,
    space: str | None = None,
    **conditions: str | bool | None,
) -> Row:
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
        text_config=document.text_config,
        **conditions,
    )
    return rows[0]


async def _stage(
    connection: Conn, chunks: Sequence[Chunk], vectors: Sequence[Vector | None]
) -> None:
    await call(connection, "stage_chunks")
    async with connection.cursor().copy(COPY_CHUNKS_IN) as copy:
        copy.set_types(COPIED_TYPES)
        for ordinal, (chunk, vector) in enumerate(zip(chunks, vectors, strict=True)):
            position = (ordinal, chunk.heading, chunk.start, chunk.end, chunk.page)
            texts = (chunk.content, chunk.context, chunk.keyword_context)
            await copy.write_row(position + texts + (Jsonb(chunk.metadata), pack_halfvec(vector)))


def pack_halfvec(vector: Vector | None) -> bytes | None:
    """Pack a vector into halfvec's binary form: 384 numbers take 4 µs, as text 225."""
    if vector is None:
        return None
    try:
        return struct.pack(f"!HH{len(vector)}e", len(vector), 0, *vector)
    except OverflowError:
        raise ConfigError("a number of a vector is out of range for halfvec") from None


def vector_key(chunk: Chunk) -> str:
    """See sql/vectors/vector_key.sql, which does the same."""
    texts = [chunk.content] + [chunk.context] * (CONTEXT_BY in chunk.metadata)
    digests = (hashlib.sha256(text.encode(errors="replace")) for text in texts)
    return "".join(digest.hexdigest() for digest in digests)


async def reusable_chunks(database: Database, documents: Sequence[str], recipe: str) -> set[str]:
    """See sql/vectors/reusable_chunks.sql."""
    rows = await database.call("reusable_chunks", documents=list(documents), recipe=recipe)
    return {row["reusable_chunks"] for row in rows}


async def document_digests(database: Database, dataset: str, uris: Sequence[str]) -> dict[str, Row]:
    """See sql/documents/document_digests.sql; by uri."""
    rows = await database.call("document_digests", dataset=dataset, uris=list(uris))
    return {row["uri"]: row for row in rows}


async def may_choose_space(database: Database) -> bool:
    """See sql/vectors/may_choose_space.sql."""
    (row,) = await database.call("may_choose_space")
    return bool(row["may_choose_space"])


async def choose_space(database: Database, space: EmbeddingSpace) -> bool:
    """See sql/vectors/choose_space.sql."""
    named = {"provider": space.provider, "model": space.model, "dimension": space.dimension}
    (row,) = await database.call("choose_space", **named)
    return bool(row["choose_space"])


async def document_twins(database: Database, dataset: str, sha256s: Sequence[str]) -> list[Row]:
    """See sql/documents/document_twins.sql."""
    return await database.call("document_twins", dataset=dataset, sha256s=list(sha256s))


async def chunks_without_vector(database: Database, after: str | None, batch: int) -> list[Row]:
    """See sql/vectors/chunks_without_vector.sql."""
    return await database.call("chunks_without_vector", after=after, batch=batch)


async def set_vectors(
    database: Database, chunk_ids: Sequence[str], vectors: Iterable[Vector], space: str
) -> None:
    """See sql/vectors/set_vectors.sql."""
    texts = [vector_text(vector) for vector in vectors]
    await database.write("set_vectors", chunk_ids=list(chunk_ids), vectors=texts, space=space)


async def sample_documents(
    database: Database, dataset: str, documents: int, without: Sequence[str]
) -> list[Row]:
    """See sql/documents/sample_documents.sql."""
    return await database.call(
        "sample_documents", dataset=dataset, documents=documents, without=list(without)
    )


async def analyze_documents(database: Database) -> int:
    """Return how many documents were taken; see sql/analyzer/analyze_documents.sql."""
    rows = await database.write("analyze_documents")
    return int(rows[0]["analyze_documents"])


async def build_indexes(database: Database) -> None:
    """See sql/indexes/build_indexes.sql."""
    await database.call("build_indexes")


async def rebuild_indexes(database: Database) -> bool:
    """See sql/indexes/rebuild_indexes.sql."""
    rows = await database.call("rebuild_indexes")
    return bool(rows[0]["rebuild_indexes"])


async def seal_keywords(database: Database) -> None:
    """See sql/engine/sealed/seal_keywords.sql."""
    await database.call("seal_keywords")


async def delete_documents(database: Database, documents: Sequence[str]) -> int:
    """See sql/documents/delete_documents.sql."""
    rows = await database.write("delete_documents", documents=list(documents))
    return int(rows[0]["delete_documents"])


async def move_documents(database: Database, documents: Sequence[str], dataset: str) -> int:
    """See sql/documents/move_documents.sql. Raises ConfigError."""
    rows = await database.write("move_documents", documents=list(documents), dataset=dataset)
    return int(rows[0]["move_documents"])


async def set_metadata(database: Database, document: str, changes: Json) -> dict[str, Any]:
    """See sql/documents/set_metadata.sql."""
    rows = await database.write("set_metadata", document=document, changes=Jsonb(changes))
    return dict(rows[0]["set_metadata"])


async def keep_original(database: Database, document: str, content: bytes) -> bool:
    """See sql/files/keep_original.sql."""
    rows = await database.write("keep_original", document=document, content=content)
    return bool(rows[0]["keep_original"])


async def read_original(database: Database, document: str) -> bytes | None:
    """See sql/files/read_original.sql."""
    rows = await database.call("read_original", document=document)
    content = rows[0]["read_original"]
    return None if content is None else bytes(content)


async def list_originals(database: Database, dataset: str) -> dict[str, Row]:
    """See sql/files/list_originals.sql; by uri."""
    rows = await database.call("list_originals", dataset=dataset)
    return {row["uri"]: row for row in rows}


async def documents_under(database: Database, dataset: str, folder: str) -> list[Row]:
    """See sql/documents/documents_under.sql."""
    return await database.call("documents_under", dataset=dataset, folder=folder)


async def prune_documents(database: Database, run: int, uris: Sequence[str]) -> None:
    """See sql/documents/prune_documents.sql."""
    await database.write("prune_documents", run_id=run, uris=list(uris))


async def failed_files(database: Database, dataset: str) -> list[Row]:
    """See sql/runs/failed_files.sql."""
    return await database.call("failed_files", dataset=dataset)


async def start_run(database: Database, dataset: str, source: str, total: int) -> int:
    """See sql/runs/start_run.sql."""
    rows = await database.call("start_run", dataset=dataset, source=source, total=total)
    return int(rows[0]["start_run"])


async def touch_run(database: Database, run: int, files: Mapping[str, FileProgress]) -> bool:
    """See sql/runs/touch_run.sql."""
    shapes = {uri: progress.to_dict() for uri, progress in files.items()}
    rows = await database.call("touch_run", run_id=run, in_progress=Jsonb(shapes))
    return rows[0]["touch_run"] is not False  # of a dataset that was deleted there is none


async def record_files(
    database: Database, run: int, uris: Sequence[str], status: str, reason: str = ""
) -> None:
    """See sql/runs/record_files.sql."""
    await database.call("record_files", run_id=run, uris=list(uris), status=status, reason=reason)


async def finish_run(database: Database, run: int) -> None:
    """Close the run's record and build what indexes are missing."""
    await build_indexes(database)
    await database.call("finish_run", run_id=run)


async def cancel_run(database: Database, run: int) -> None:
    """See sql/runs/cancel_run.sql."""
    await database.call("cancel_run", run_id=run)


async def interrupt_run(database: Database, run: int) -> None:
    """See sql/runs/interrupt_run.sql."""
    await database.call("interrupt_run", run_id=run)


async def known_contexts(database: Database, keys: Sequence[str]) -> dict[str, str]:
    """See sql/documents/known_contexts.sql; by key."""
    rows = await database.call("known_contexts", keys=list(keys))
    return {row["key"]: row["context"] for row in rows}


async def keep_contexts(
    database: Database, dataset: str, uri: str, contexts: Mapping[str, str]
) -> None:
    """See sql/documents/keep_contexts.sql; `contexts` are by key."""
    keys, texts = list(contexts), list(contexts.values())
    await database.call("keep_contexts", dataset=dataset, uri=uri, keys=keys, contexts=texts)


async def document_recipes(database: Database, datasets: Sequence[str] | None) -> list[Row]:
    """See sql/documents/document_recipes.sql."""
    names = None if datasets is None else list(datasets)
    return await database.call("document_recipes", datasets=names)


async def read_document(database: Database, document: str) -> tuple[Document, list[Chunk]] | None:
    """Return a stored document with its chunks, from one snapshot; None if it is gone."""
    async with database.transaction() as connection:
        await connection.execute(REPEATABLE_READ)
        documents = await call(connection, "read_document", document=document)
        chunks = await call(connection, "list_chunks", document=document)
    if not documents:
        return None
    row = documents[0]
    text, metadata = row.pop("content"), json.loads(row.pop("metadata"))
    return Document(**row, text=text, metadata=metadata), [_chunk(chunk) for chunk in chunks]


async def replace_contexts(
    database: Database,
    document: str,
    updated_at: datetime,
    changed: Document,
    chunks: Sequence[Chunk],
    vectors: Sequence[Vector | None],
    space: str,
) -> bool:
    """Store a document's chunks with other contexts, all at once; see `store_document`.

    Returns False, and nothing changes, if it was replaced or deleted since `updated_at`.
    """
    asked = {"document": document, "updated_at": updated_at, "dataset": changed.dataset}
    async with database.transaction() as connection:
        (row,) = await call(connection, "is_unchanged", **asked)
        if row["is_unchanged"]:
            await _stage(connection, chunks, vectors)
            await _store_staged(connection, changed, space=space)
    return bool(row["is_unchanged"])


def _chunk(row: Row) -> Chunk:
    columns = ("content", "heading", "context", "keyword_context", "page", "metadata")
    return Chunk(row["char_start"], row["char_end"], **{name: row[name] for name in columns})


async def copy_document(
    source: Database, target: Database, row: Row, old: Row | None, run: int, space: str
) -> int | None:
    """Copy a document with the run's record of it, in one transaction; return its chunk count.

    `row` and `old` are its rows of sql/documents/document_hashes.sql in source and target. Returns
    None if the source no longer has it. Raises DatabaseError, EmbeddingMismatchError if one of
    them is bound to another space than `space` by now; nothing changes then.
    """
    async with source.transaction() as reading, target.transaction() as writing:
        await reading.execute(REPEATABLE_READ)
        await reading.execute(NO_SWAP)
        await reading.execute(CLIENT_UTF8)
        await writing.execute(CLIENT_UTF8)
        documents = await call(reading, "read_document", document=row["document_id"])
        if not documents:
            return None
        if old and row["vectors"] < row["chunks"]:  # else store_document would keep the old ones
            await call(writing, "delete_documents", documents=[old["document_id"]])
        await call(writing, "stage_chunks")
        await _stream_chunks(reading, writing, row["document_id"])
        (bound,) = await call(reading, "configuration")
        if bound["space"] != space:
            raise EmbeddingMismatchError(f"the source has left {space}: copy again")
        stored = await call(writing, "store_document", **documents[0], space=space)
        chunks = int(stored[0]["chunks"])
        record = {"status": "replaced" if old else "inserted", "chunks": chunks}
        await call(writing, "record_files", run_id=run, uris=[row["uri"]], **record)
    return chunks


async def _stream_chunks(reading: Conn, writing: Conn, document: str) -> None:
    """Stage a document's chunks as they are elsewhere, with their vectors."""
    number = reading.ids.read("doc", document)
    async with (
        reading.cursor().copy(COPY_CHUNKS_OUT, [number]) as out,
        writing.cursor().copy(COPY_CHUNKS_IN) as into,
    ):
        async for data in out:
            await into.write(data)
