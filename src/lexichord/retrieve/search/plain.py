"""Plain search: one question, without what only says which document is meant."""

import asyncio
from dataclasses import replace

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.providers.base import Embedder
from lexichord.retrieve.search.discover import boost_files
from lexichord.retrieve.understand.intent import MIN_ASKED_WORDS, find_intent
from lexichord.retrieve.vectors import with_vectors
from lexichord.types import ChunkHit, FileHit, Question
from lexichord.types.options import DEFAULT_FILES


async def name_document(
    database: Database, embedder: Embedder | None, question: Question, degraded: list[str]
) -> Question:
    """Return a question with its vectors; a clause that only names a document becomes the hint.

    Nothing waits for the look at the names: the question is embedded meanwhile, and once more
    where a clause leaves it. A caller's own hint stays, and the question with it. Of a few words
    no clause can go: these are not looked up.
    """
    if question.hint is not None or len(question.query.split()) <= MIN_ASKED_WORDS:
        return await with_vectors(embedder, question, degraded)
    look = find_intent(database, question.query, scope=question.scope)
    looking = asyncio.create_task(look)
    try:
        embedded = await with_vectors(embedder, question, degraded)
    except BaseException:  # nothing goes on asking for what nobody waits for
        looking.cancel()
        await asyncio.wait([looking])
        raise
    intent = await looking
    if intent.question == question.query:
        return embedded
    named = replace(question, query=intent.question, hint=intent.hint)
    return await with_vectors(embedder, named, degraded)


async def search_chunks(database: Database, question: Question) -> list[ChunkHit]:
    """Find chunks by plain search; a hint prefers the files that it names."""
    files: list[FileHit] = []
    if question.hint:
        files = await search.discover_files(database, replace(question, k=DEFAULT_FILES))
    boost = await boost_files(files, question.hint)
    return await search.hybrid_search(database, question, boost)
