"""The variants of a query, searched at once and fused."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add

from lexichord.db import variants as db
from lexichord.db.pool import Database, Row
from lexichord.errors import ConfigError
from lexichord.types import ChunkHit, Json, Question
from lexichord.types.variants import Variant

RRF = 60  # the constant of Cormack et al. (2009), as in sql/search_variants.sql


@dataclass(slots=True)
class Fused:
    """A chunk's rank in each variant's list, and what each adds to its score."""

    ranks: dict[str, int] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """Add the parts as SQL does; Python's sum would correct the last digit."""
        return reduce(add, self.parts.values())


async def search_variants(
    database: Database,
    question: Question,
    variants: Sequence[Variant],
    boost: Json | None = None,
) -> list[ChunkHit]:
    """Find the question's k best chunks by all variants, the original first.

    Each is a hybrid search of its own over the whole scope and, by the boost (document id to
    points), inside the boosted documents. They run at once, as many as the pool has connections.
    `sql/search_variants.sql` gives the same in one call. Raises ConfigError.
    """
    _check(question, variants)
    lists = await asyncio.gather(
        *(db.variant_candidates(database, question, variant, boost) for variant in variants)
    )
    fused = fuse(variants, [[row["chunk_id"] for row in rows] for rows in lists])
    best = sorted(fused, key=lambda chunk: (-fused[chunk].score, chunk))[: question.k]
    first: Mapping[int, Row] = {row["chunk_id"]: row for row in lists[0]}
    return [
        db.variant_hit(row, first.get(chunk, {}), one.score, one.ranks, one.parts)
        for row in (await db.read_hits(database, best) if best else [])
        for chunk in [row["chunk_id"]]
        for one in [fused[chunk]]
    ]


def fuse(variants: Sequence[Variant], lists: Sequence[Sequence[int]]) -> dict[int, Fused]:
    """Fuse each variant's chunk ids, best first, by weighted Reciprocal Rank Fusion."""
    fused: defaultdict[int, Fused] = defaultdict(Fused)
    for variant, chunks in zip(variants, lists, strict=True):
        for rank, chunk in enumerate(chunks, start=1):
            fused[chunk].ranks[variant.name] = rank
            fused[chunk].parts[variant.name] = variant.weight / (RRF + rank)
    return dict(fused)


def above(hits: Sequence[ChunkHit], least: Mapping[str, float]) -> list[ChunkHit]:
    """Drop hits below the least of a named score; one without that score is dropped as well."""
    return [
        hit
        for hit in hits
        if all((hit.scores.get(name) or 0) >= value for name, value in least.items())
    ]


def _check(question: Question, variants: Sequence[Variant]) -> None:
    names = [variant.name for variant in variants]
    if not names or len(names) != len(set(names)):
        raise ConfigError("a search takes at least one variant, and each name once")
    if {"dense", "keyword"}.intersection(names):
        raise ConfigError("dense and keyword name channels, not variants")
    if any(variant.weight <= 0 for variant in variants):
        raise ConfigError("the weight of a variant must be above 0")
    if not 1 <= question.k <= question.depth:
        raise ConfigError("k must be at least 1 and at most the depth")
