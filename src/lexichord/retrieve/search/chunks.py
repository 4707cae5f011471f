"""Chunks: one search by all variants of a question, reranked, and what is kept of it."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add

from lexichord.db import search as db
from lexichord.db.pool import Database, Row
from lexichord.errors import ConfigError, ProviderError
from lexichord.providers.base import Reranker, WideReranker
from lexichord.providers.rerank import rank
from lexichord.retrieve.query import QueryContext
from lexichord.retrieve.stages import name_of
from lexichord.retrieve.trace import Trace
from lexichord.types import ChunkHit, FileHit, Json, Question
from lexichord.types.questions import Intent, Variant

ASKED = "asked"  # the variant that is the question in full
REWRITTEN_WEIGHT = 0.5  # of a question in other words; the original has 1
CANDIDATES_PER_HIT = 3  # of a reranker, for each hit that is wanted
KEPT_FIRST = 2  # of the question's own hits, whatever others say: sql/search/search_variants.sql
# They say what to make of the evidence, not what it is about: rerankers then prefer glossaries.
NEUTRAL_WORDS = (
    *("list", "lists", "listing", "enumerate", "extract"),
    *("definition", "definitions", "define", "defines", "glossary", "glossaries"),
)
RRF_CONSTANT = 60  # of Cormack et al. (2009), as in sql/search/search_variants.sql


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What is searched, and what its evidence should be about.

    `question` is searched by all its `variants`, the original first, in the whole scope and, by
    the `boost` of discovered `files` (points by document id), inside these. What is found is judged
    by `about`. A reranker keeps `reranked` hits; None: none looks at them.
    """

    intent: Intent
    question: Question
    about: Question
    files: list[FileHit]
    boost: Json = field(default_factory=dict)
    variants: tuple[Variant, ...] = ()
    reranked: int | None = None

    @property
    def asked(self) -> Question:
        """The question in full, with the names of documents that `question` may go without."""
        for variant in self.variants:
            if variant.name == ASKED:
                return replace(self.question, query=variant.text, vector=variant.vector)
        return self.question


async def search_by_plan(context: QueryContext, plan: SearchPlan) -> list[ChunkHit]:
    """Search by all variants, rerank if there is a reranker, keep what the caller's stage does."""
    trace, names = context.trace, [variant.name for variant in plan.variants]
    with trace.stage("search", variants=names, boost=plan.boost) as step:
        hits = await search_variants(context.database, plan.question, plan.variants, plan.boost)
        step["made"] = [{"chunk_id": hit.chunk_id, "ranks": hit.ranks} for hit in hits]
    if context.reranker is not None and plan.reranked is not None:
        with trace.stage("rerank", chunks=len(hits)) as step:
            query, reranker = plan.question.query, context.reranker
            hits = await rerank(query, hits, plan.reranked, reranker, trace)
            step["made"] = [{"chunk_id": hit.chunk_id, "score": hit.score} for hit in hits]
    return await _select(context, plan, hits)


async def _select(context: QueryContext, plan: SearchPlan, hits: list[ChunkHit]) -> list[ChunkHit]:
    select = context.stages.select_hits
    if select is None:
        return hits
    with context.trace.stage(name_of(select), hits=len(hits)) as step:
        kept = list(await select(question=plan.question, intent=plan.intent, hits=hits))
        step["made"] = {"hits": len(kept)}
        step["dropped"] = _dropped(hits, kept)
    return kept


def _dropped(hits: Sequence[ChunkHit], kept: Sequence[ChunkHit]) -> list[str]:
    ids = {hit.chunk_id for hit in kept}
    return [hit.chunk_id for hit in hits if hit.chunk_id not in ids]


async def add_wording(context: QueryContext, plan: SearchPlan, name: str, text: str) -> SearchPlan:
    """Return a plan that asks in other words as well."""
    has_vector = plan.question.vector is not None
    vectors = await context.embed([text], plan.question) if has_vector else None
    vector = None if vectors is None else vectors[0]
    variant = Variant(name, text, vector, REWRITTEN_WEIGHT)
    return replace(plan, variants=(*plan.variants, variant))


async def embed_variants(
    context: QueryContext, question: Question, variants: Sequence[Variant]
) -> tuple[Variant, ...]:
    """Return variants with vectors where the question has one; texts are embedded all at once."""
    has_vector = question.vector is not None
    bare = [variant for variant in variants if has_vector and variant.vector is None]
    texts = [variant.text for variant in bare]
    vectors = iter((await context.embed(texts, question) if texts else None) or [])
    return tuple(
        replace(variant, vector=next(vectors, None)) if variant in bare else variant
        for variant in variants
    )


@dataclass(slots=True)
class FusedChunk:
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
    `sql/search/search_variants.sql` gives the same in one call. Raises ConfigError.
    """
    _check(question, variants)
    lists = await asyncio.gather(
        *(db.variant_candidates(database, question, variant, boost) for variant in variants)
    )
    fused = fuse_ranks(variants, [[row["chunk_id"] for row in rows] for rows in lists])
    kept = {row["chunk_id"] for row in lists[0][:KEPT_FIRST]}
    likely = sorted(fused, key=lambda chunk: (chunk not in kept, -fused[chunk].score))
    best = sorted(
        filter(set(likely[: question.k]).__contains__, fused), key=lambda chunk: -fused[chunk].score
    )
    first: Mapping[str, Row] = {row["chunk_id"]: row for row in lists[0]}
    return [
        db.variant_hit(row, first.get(chunk, {}), one.score, one.ranks, one.parts)
        for row in (await db.read_hits(database, best) if best else [])
        for chunk in [row["chunk_id"]]
        for one in [fused[chunk]]
    ]


def fuse_ranks(
    variants: Sequence[Variant], lists: Sequence[Sequence[str]]
) -> dict[str, FusedChunk]:
    """Fuse each variant's chunk ids, best first, by weighted Reciprocal Rank Fusion.

    The chunks are in the order in which the lists have them, so that of two with the same score
    the earlier variant's better one comes first.
    """
    fused: defaultdict[str, FusedChunk] = defaultdict(FusedChunk)
    for variant, chunks in zip(variants, lists, strict=True):
        for place, chunk in enumerate(chunks, start=1):
            fused[chunk].ranks[variant.name] = place
            fused[chunk].parts[variant.name] = variant.weight / (RRF_CONSTANT + place)
    return dict(fused)


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


def count_candidates(reranker: Reranker, k: int) -> int:
    """Return among how many hits a reranker chooses k."""
    least = reranker.least_texts if isinstance(reranker, WideReranker) else 0
    return max(CANDIDATES_PER_HIT * k, least)


async def rerank(
    question: str,
    hits: Sequence[ChunkHit],
    k: int,
    reranker: Reranker,
    trace: Trace,
) -> list[ChunkHit]:
    """Return the k hits that the reranker scores best by their content and context.

    It sees the question without `NEUTRAL_WORDS`. The score becomes the hit's, and is kept as
    `rerank`. If it fails, or takes more than its share of the query's time, the order stays and
    `degraded` says why.
    """
    texts = ["\n".join(filter(None, (hit.context, hit.content))) for hit in hits]
    try:
        ranked = await rank(
            reranker, remove_words(question, NEUTRAL_WORDS), texts, k, trace.allowance
        )
    except ProviderError as error:
        trace.degrade(f"chunks are not reranked: {error}")
        return list(hits[:k])
    return [
        replace(hit, score=reranked.score, scores=replace(hit.scores, rerank=reranked.score))
        for reranked in ranked
        for hit in [hits[reranked.index]]
    ]


def remove_words(question: str, words: Collection[str]) -> str:
    """Return a question without some words, whole words in any case; itself if nothing is left."""
    either = "|".join(map(re.escape, words))
    text = re.sub(rf"(?<!\w)(?:{either})(?!\w)", " ", question, flags=re.I) if words else question
    return " ".join(text.split()) if re.search(r"\w", text) else question
