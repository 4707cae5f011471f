"""Variants of a query: one Python function per SQL function, of the same name."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from psycopg.types.json import Jsonb

from lexichord.db.pool import Database, Row
from lexichord.db.search import chunk_hit, question_arguments, vector_text
from lexichord.types import ChunkHit, Json, Question
from lexichord.types.variants import Feedback, Variant

# What the row of a chunk lacks that is not in the original's list.
UNLISTED = dict.fromkeys(
    ("dense_score", "dense_rank", "keyword_score", "keyword_rank", "fused_score")
)


async def relevance_feedback(
    database: Database, question: Question, least_coherence: float | None
) -> Feedback:
    """See sql/relevance_feedback.sql."""
    arguments = question_arguments(question)
    del arguments["k"]
    row = (
        await database.call(
            "relevance_feedback",
            query=question.text,
            query_vector=vector_text(question.vector),
            least_coherence=least_coherence,
            **arguments,
        )
    )[0]
    vector = None if row["vector"] is None else json.loads(row["vector"])
    return Feedback(tuple(row["chunk_ids"]), row["coherence"], row["terms"], vector)


async def variant_candidates(
    database: Database, question: Question, variant: Variant, boost: Json | None = None
) -> list[Row]:
    """See sql/variant_candidates.sql; none where the variant's documents are out of scope."""
    inside = _inside(question.scope.documents, variant.documents)
    if inside == ():
        return []
    scope = replace(question.scope, documents=inside or ())
    arguments = question_arguments(replace(question, scope=scope))
    del arguments["k"]
    return await database.call(
        "variant_candidates",
        query=variant.text,
        terms=None if variant.terms is None else Jsonb(dict(variant.terms)),
        query_vector=vector_text(variant.vector),
        boost=None if boost is None else Jsonb(boost),
        **arguments,
    )


async def read_hits(database: Database, chunk_ids: Sequence[int]) -> list[Row]:
    """See sql/read_hits.sql."""
    return await database.call("read_hits", chunk_ids=list(chunk_ids))


async def search_variants(
    database: Database, question: Question, variants: Sequence[Variant], boost: Json | None = None
) -> list[ChunkHit]:
    """See sql/search_variants.sql; `retrieve.search.search_variants` is the parallel twin."""
    rows = await database.call(
        "search_variants",
        variants=Jsonb([variant.to_dict() for variant in variants]),
        boost=None if boost is None else Jsonb(boost),
        **question_arguments(question),
    )
    return [
        variant_hit(row, row, row["score"], row["variant_ranks"], row["variant_scores"])
        for row in rows
    ]


def variant_hit(
    row: Row,
    original: Row,
    score: float,
    ranks: Mapping[str, int],
    contributions: Mapping[str, float],
) -> ChunkHit:
    """Make a hit of a chunk's texts, its row in the original's list ({} = not there), and parts."""
    hit = chunk_hit({**UNLISTED, **original, **row, "score": score})
    return replace(
        hit,
        scores={**hit.scores, "variants": score, "contributions": dict(contributions)},
        ranks={**hit.ranks, **ranks},
    )


def _inside(scope: tuple[int, ...], variant: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Give the documents that both allow; None is everywhere, () nowhere."""
    if variant is None:
        return scope or None
    return tuple(each for each in variant if not scope or each in scope)
