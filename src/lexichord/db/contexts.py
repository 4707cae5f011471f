"""Contexts that a language model wrote: one Python function per SQL function, of the same name."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from lexichord.db.pool import Database, Row, call
from lexichord.db.search import Vector
from lexichord.db.store import replace_document
from lexichord.types import Chunk, Document


async def known_contexts(database: Database, keys: Sequence[str]) -> dict[str, str]:
    """See sql/known_contexts.sql; by key."""
    rows = await database.call("known_contexts", keys=list(keys))
    return {row["key"]: row["context"] for row in rows}


async def keep_contexts(
    database: Database, dataset: str, uri: str, contexts: Mapping[str, str]
) -> None:
    """See sql/keep_contexts.sql; `contexts` are by key."""
    keys, texts = list(contexts), list(contexts.values())
    await database.call("keep_contexts", dataset=dataset, uri=uri, keys=keys, contexts=texts)


async def document_recipes(database: Database, datasets: Sequence[str] | None) -> list[Row]:
    """See sql/document_recipes.sql."""
    given = None if datasets is None else list(datasets)
    return await database.call("document_recipes", datasets=given)


async def read_document(database: Database, document: int) -> tuple[Document, list[Chunk]] | None:
    """Give a stored document with its chunks, as they are at one moment; None if it is gone."""
    async with database.transaction() as connection:
        await connection.execute("set transaction isolation level repeatable read")
        found = await call(connection, "read_document", document=document)
        rows = await call(connection, "list_chunks", document=document)
    if not found:
        return None
    text = found[0].pop("content")
    fields = found[0] | {"metadata": json.loads(found[0]["metadata"])}
    return Document(**fields, text=text), [_chunk(row) for row in rows]


async def replace_contexts(
    database: Database,
    document: int,
    updated_at: datetime,
    changed: Document,
    chunks: Sequence[Chunk],
    vectors: Sequence[Vector | None],
    space: str,
) -> bool:
    """Store a document's chunks with other contexts, all at once; see `store_document`.

    False, and nothing changes, if somebody has replaced or deleted the document since `updated_at`.
    """
    async with database.transaction() as connection:
        given = {"document": document, "updated_at": updated_at}
        rows = await call(connection, "is_unchanged", **given)
        if rows[0]["is_unchanged"]:
            await replace_document(connection, changed, chunks, vectors, space=space)
    return bool(rows[0]["is_unchanged"])


def _chunk(row: Row) -> Chunk:
    same = ("content", "heading", "context", "keyword_context", "page", "metadata")
    return Chunk(row["char_start"], row["char_end"], **{name: row[name] for name in same})
