"""Which documents the words of a query name."""

from collections.abc import Sequence
from dataclasses import fields

from lexichord.db.pool import Database
from lexichord.db.search import scope_arguments
from lexichord.types import Scope
from lexichord.types.intent import Link

SAME = [field.name for field in fields(Link) if field.name != "word"]


async def link_documents(database: Database, words: Sequence[str], scope: Scope) -> list[Link]:
    """See sql/link_documents.sql; the best document by its card comes first."""
    rows = await database.call("link_documents", words=list(words), **scope_arguments(scope))
    return [Link(word=row["word"] - 1, **{name: row[name] for name in SAME}) for row in rows]
