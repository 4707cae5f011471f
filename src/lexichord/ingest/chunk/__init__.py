"""Cut a text into chunks: at headings, clauses and declarations, then at sentences."""

from bisect import bisect_right
from dataclasses import replace

from lexichord.ingest.chunk.outline import outline
from lexichord.ingest.chunk.pack import MAX_CHUNK_CHARS, pack
from lexichord.types import Chunk, LoadedText

CHUNK_RECIPE = "clause/3"  # raise it when chunks come out differently: files are then done again


def split(loaded: LoadedText, limit: int = MAX_CHUNK_CHARS) -> list[Chunk]:
    """Cut a text into chunks of at most `limit` characters, in order.

    Every character that is no white space is in exactly one chunk, and
    `text[chunk.start:chunk.end] == chunk.content`. `chunk.heading` is the path of headings above,
    joined by " › "; small neighbours in one section share a chunk.
    """
    headings, tables = outline(loaded)
    chunks = pack(loaded.text, headings, tables, limit)
    if not loaded.pages:
        return chunks
    return [replace(chunk, page=bisect_right(loaded.pages, chunk.start)) for chunk in chunks]
