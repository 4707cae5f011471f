"""Reads for evidence: one Python function per SQL function, of the same name."""

from collections.abc import Sequence

from lexichord.db.pool import Database, Row
from lexichord.db.search import Vector, chunk_hit, vector_text
from lexichord.types import ChunkHit

type Span = tuple[int, int, int]
type Terms = dict[str, tuple[int, float]]


async def search_each(
    database: Database,
    queries: Sequence[str],
    documents: Sequence[int],
    vectors: Sequence[Vector] | None,
    k: int,
    space: str | None,
) -> list[tuple[int, ChunkHit]]:
    """See sql/search_each.sql; gives each hit with its query's index, from 0."""
    rows = await database.call(
        "search_each",
        queries=list(queries),
        documents=list(documents),
        query_vectors=None if vectors is None else [vector_text(vector) for vector in vectors],
        k=k,
        query_space=space,
    )
    return [(row["query_number"] - 1, chunk_hit(row)) for row in rows]


async def weigh_terms(database: Database, texts: Sequence[str]) -> list[Terms]:
    """See sql/weigh_terms.sql; gives, in the order of `texts`, lexeme: (frequency, idf)."""
    found: list[Terms] = [{} for _ in texts]
    for row in await database.call("weigh_terms", texts=list(texts)):
        found[row["text_number"] - 1][row["lexeme"]] = row["frequency"], row["idf"]
    return found


async def read_spans(database: Database, spans: Sequence[Span]) -> list[str | None]:
    """See sql/read_spans.sql; a span is (document id, start, end)."""
    documents, starts, ends = zip(*spans, strict=True) if spans else ((), (), ())
    rows = await database.call(
        "read_spans", documents=list(documents), starts=list(starts), ends=list(ends)
    )
    return [row["content"] for row in rows]


async def chunk_places(database: Database, chunk_ids: Sequence[int]) -> list[Row]:
    """See sql/chunk_places.sql."""
    return await database.call("chunk_places", chunk_ids=list(chunk_ids))


async def shared_headings(database: Database, documents: Sequence[int], most: int) -> list[str]:
    """See sql/shared_headings.sql."""
    rows = await database.call("shared_headings", documents=list(documents), most=most)
    return [row["heading"] for row in rows]
