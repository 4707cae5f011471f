"""One document from one database to another; its chunks stream through and are never held here."""

from lexichord.db import store
from lexichord.db.pool import Conn, Database, Row, call
from lexichord.db.search import configuration
from lexichord.errors import EmbeddingMismatchError

OUT = "copy (select * from lexichord.read_chunks(%s)) to stdout (format binary)"
INTO = store.COPY  # has the columns of read_chunks, and is binary as well
AS_ONE = "set transaction isolation level repeatable read"  # text and chunks fit each other
UTF8 = "set local client_encoding = 'utf8'"  # of both, whatever the databases have


async def copy_document(
    source: Database, target: Database, row: Row, old: Row | None, run: int, space: str
) -> int | None:
    """Copy a document with the run's record of it, in one transaction; give how many chunks it has.

    `row` and `old` are what sql/document_hashes.sql says of it in source and target. None if the
    source has it no more. Raises DatabaseError, EmbeddingMismatchError if one of them is bound to
    another space than `space` by now; nothing changes then.
    """
    async with source.transaction() as reading, target.transaction() as writing:
        await reading.execute(AS_ONE)
        await reading.execute(UTF8)
        await writing.execute(UTF8)
        found = await call(reading, "read_document", document=row["document_id"])
        if not found:
            return None
        if old and row["vectors"] < row["chunks"]:  # else store_document would keep the old ones
            await call(writing, "delete_documents", documents=[old["document_id"]])
        await call(writing, "stage_chunks")
        await _stream(reading, writing, row["document_id"])
        # The chunks were read, so no swap of the source's spaces can come in between.
        if (await configuration(source))["space"] != space:
            raise EmbeddingMismatchError(f"the source has left {space}: copy again")
        stored = await call(writing, "store_document", **found[0], space=space)
        chunks = int(stored[0]["chunks"])
        record = {"status": "replaced" if old else "inserted", "chunks": chunks}
        await call(writing, "record_files", run_id=run, uris=[row["uri"]], **record)
    return chunks


async def _stream(reading: Conn, writing: Conn, document: int) -> None:
    async with (
        reading.cursor().copy(OUT, [document]) as out,
        writing.cursor().copy(INTO) as into,
    ):
        async for data in out:
            await into.write(data)
