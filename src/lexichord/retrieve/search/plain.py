"""Plain search: one question, as it was asked."""

from dataclasses import replace

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.retrieve.search.discover import boost_files
from lexichord.types import ChunkHit, FileHit, QueryOptions, Question


async def search_chunks(database: Database, question: Question) -> list[ChunkHit]:
    """Find chunks by plain search; a hint prefers the files that it names."""
    files: list[FileHit] = []
    if question.hint:
        files = await search.discover_files(database, replace(question, k=QueryOptions.files))
    boost = await boost_files(files, question.hint)
    return await search.hybrid_search(database, question, boost)
