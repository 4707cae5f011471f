"""Reads that judge evidence: one Python function per SQL function, of the same name."""

from collections.abc import Sequence

from lexichord.db.pool import Database
from lexichord.db.search import scope_arguments
from lexichord.types import Scope
from lexichord.types.reflection import Definition, Term


async def question_coverage(
    database: Database, question: str, chunk_ids: Sequence[int]
) -> list[Term]:
    """See sql/question_coverage.sql."""
    rows = await database.call("question_coverage", question=question, chunk_ids=list(chunk_ids))
    lists = [{"words": tuple(row["words"]), "chunks": tuple(row["chunks"])} for row in rows]
    return [Term(**(row | given)) for row, given in zip(rows, lists, strict=True)]


async def related_words(database: Database, question: str, chunk_ids: Sequence[int]) -> list[str]:
    """See sql/related_words.sql; the words alone."""
    rows = await database.call("related_words", question=question, chunk_ids=list(chunk_ids))
    return [row["word"] for row in rows]


async def find_definitions(
    database: Database, terms: Sequence[str], scope: Scope
) -> list[Definition]:
    """See sql/find_definitions.sql."""
    rows = await database.call("find_definitions", terms=list(terms), **scope_arguments(scope))
    return [Definition(**row) for row in rows]
