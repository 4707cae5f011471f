"""Searching again: in other words, for what the evidence does not cover, by what was set aside."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from time import perf_counter
from typing import get_args

import numpy as np

from lexichord.db import search as db
from lexichord.db.pool import Database, Row
from lexichord.errors import ConfigError, LexichordError
from lexichord.providers.base import Embedder, Vectors
from lexichord.retrieve.judge.confidence import MIN_CONFIDENCE, confidence
from lexichord.retrieve.judge.reflect import NO_WORDING_LEFT, cover, decide, record
from lexichord.retrieve.search.embedding import embed_queries
from lexichord.retrieve.stages import Stages
from lexichord.retrieve.trace import Trace
from lexichord.types import ChunkHit, Json, Question
from lexichord.types.questions import Intent, Variant
from lexichord.types.reflection import Budget, Coverage, Decision, Reflection, Round, Wording

RRF_CONSTANT = 60  # the constant of Cormack et al. (2009), as in sql/search_variants.sql


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
    `sql/search_variants.sql` gives the same in one call. Raises ConfigError.
    """
    _check(question, variants)
    lists = await asyncio.gather(
        *(db.variant_candidates(database, question, variant, boost) for variant in variants)
    )
    fused = fuse_ranks(variants, [[row["chunk_id"] for row in rows] for rows in lists])
    best = sorted(fused, key=lambda chunk: (-fused[chunk].score, chunk))[: question.k]
    first: Mapping[int, Row] = {row["chunk_id"]: row for row in lists[0]}
    return [
        db.variant_hit(row, first.get(chunk, {}), one.score, one.ranks, one.parts)
        for row in (await db.read_hits(database, best) if best else [])
        for chunk in [row["chunk_id"]]
        for one in [fused[chunk]]
    ]


def fuse_ranks(
    variants: Sequence[Variant], lists: Sequence[Sequence[int]]
) -> dict[int, FusedChunk]:
    """Fuse each variant's chunk ids, best first, by weighted Reciprocal Rank Fusion."""
    fused: defaultdict[int, FusedChunk] = defaultdict(FusedChunk)
    for variant, chunks in zip(variants, lists, strict=True):
        for rank, chunk in enumerate(chunks, start=1):
            fused[chunk].ranks[variant.name] = rank
            fused[chunk].parts[variant.name] = variant.weight / (RRF_CONSTANT + rank)
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


REWRITTEN_WEIGHT = 0.5  # of a question in other words; the original has 1

type Rerank = Callable[[list[ChunkHit]], Awaitable[list[ChunkHit]]]


@dataclass(slots=True)
class Searcher:
    """One query's search, which can be widened by more variants and repeated.

    `question` is what is searched, `about` what its evidence is judged by, `asked` the whole query.
    """

    database: Database
    embedder: Embedder | None
    stages: Stages
    question: Question
    about: Question
    boost: Json
    trace: Trace
    asked: str
    least: Mapping[str, float]
    rerank: Rerank | None = None
    variants: list[Variant] = field(default_factory=list)

    async def search(self) -> list[ChunkHit]:
        """Search by all variants, rerank if there is a reranker, drop what scores too little."""
        names = [variant.name for variant in self.variants]
        with self.trace.stage("search", variants=names) as step:
            hits = await search_variants(self.database, self.question, self.variants, self.boost)
            step["made"] = [{"chunk_id": hit.chunk_id, "ranks": hit.ranks} for hit in hits]
        if self.rerank is not None:
            with self.trace.stage("rerank", chunks=len(hits)) as step:
                hits = await self.rerank(hits)
                step["made"] = [{"chunk_id": hit.chunk_id, "score": hit.score} for hit in hits]
        return self._above(hits)

    def _above(self, hits: list[ChunkHit]) -> list[ChunkHit]:
        if not self.least:
            return hits
        with self.trace.stage("min_score", **self.least) as step:
            kept = above(hits, self.least)
            dropped = {hit.chunk_id for hit in hits}.difference(hit.chunk_id for hit in kept)
            step["dropped"] = sorted(dropped)
        return kept

    async def judge(self, hits: Sequence[ChunkHit]) -> float:
        """Return the probability that the hits hold an answer."""
        with self.trace.stage("confidence", about=self.about.text) as step:
            step["made"] = sure = await confidence(self.database, self.about, hits)
        return sure

    async def add(self, name: str, text: str) -> None:
        """Ask in other words as well."""
        vectors = await self.embed([text]) if self.question.vector is not None else None
        vector = None if vectors is None else vectors[0]
        self.variants.append(Variant(name, text, vector, REWRITTEN_WEIGHT))

    async def take(self, variants: Sequence[Variant]) -> None:
        """Take over variants; texts of their own are embedded, all at once."""
        has_vector = self.question.vector is not None
        bare = [each for each in variants if has_vector and each.vector is None]
        made = await self.embed([each.text for each in bare]) if bare else None
        vectors = iter(made or [])
        self.variants += [
            replace(each, vector=next(vectors, None)) if each in bare else each for each in variants
        ]

    async def embed(self, texts: Sequence[str]) -> list[list[float]] | None:
        """Embed texts as queries; None, and the trace says why, if that fails."""
        assert self.embedder is not None
        degraded = self.trace.degraded
        return await embed_queries(self.embedder, list(texts), self.question, degraded)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts as documents; one that the embedder refuses is like nothing else."""
        assert self.embedder is not None
        return np.nan_to_num(self.embedder.embed(texts, "document"))


async def rewritten(searcher: Searcher, hits: list[ChunkHit]) -> list[ChunkHit]:
    """Search once more, by the question in other words as well, if there are any."""
    with searcher.trace.stage("rewrite") as step:
        asked, reword = searcher.question, searcher.stages.rewrite
        made = await reword(searcher.database, asked.text, hits, asked.scope, None)
        step["made"] = {"kind": made.kind, "text": made.text, "reason": made.reason}
    if made.kind == "none":
        return hits
    await searcher.add("rewrite", made.text)
    return await searcher.search()


async def fall_back(
    searcher: Searcher, hits: list[ChunkHit], sure: float, queries: Sequence[str]
) -> tuple[list[ChunkHit], float]:
    """While the hits are too little to answer by, search by one more of the caller's own queries.

    What it finds is judged by the question that was asked, and kept if it is surer.
    """
    for number, text in enumerate(queries, start=1):
        if sure >= MIN_CONFIDENCE:
            break
        with searcher.trace.stage("fallback", query=text):
            await searcher.add(f"fallback {number}", text)
        found = await searcher.search()
        if (now := await searcher.judge(found)) > sure:
            hits, sure = found, now
        else:
            searcher.variants.pop()
    return hits, sure


async def reflect(
    searcher: Searcher, intent: Intent, hits: list[ChunkHit], rounds: int, enough: float
) -> tuple[list[ChunkHit], Reflection]:
    """Search again while the evidence lacks something, and rounds and time last."""
    tried = [searcher.question.text]
    reflection = Reflection(await _cover(searcher, intent, hits), "")
    while True:
        budget = Budget(rounds - len(reflection.rounds), searcher.trace.left * 1000)
        assert reflection.coverage is not None
        decision = await _decide(searcher, hits, reflection.coverage, budget, tried, enough)
        if decision.query is None:
            return hits, replace(reflection, stopped=decision.reason)
        tried.append(decision.query)
        hits, reflection = await _round(searcher, intent, hits, reflection, decision)


async def _decide(
    searcher: Searcher,
    hits: Sequence[ChunkHit],
    covered: Coverage,
    budget: Budget,
    tried: Sequence[str],
    enough: float,
) -> Decision:
    """Decide what to search next; other wordings are looked for only if they are needed."""
    expected = searcher.trace.latest_ms("search")
    decision = decide(covered, budget, (), tried, expected, enough)
    if decision.reason != NO_WORDING_LEFT:
        return decision
    asked, reword = searcher.question, searcher.stages.rewrite
    for kind in get_args(Wording):
        made = await reword(searcher.database, asked.text, hits, asked.scope, kind)
        decision = decide(covered, budget, [made], tried, expected, enough)
        if decision.query is not None:
            break
    return decision


async def _round(
    searcher: Searcher,
    intent: Intent,
    hits: list[ChunkHit],
    reflection: Reflection,
    decision: Decision,
) -> tuple[list[ChunkHit], Reflection]:
    """Search by one more query; a failure leaves hits and coverage as they were."""
    assert decision.query is not None
    started, covered, error = perf_counter(), None, None
    with searcher.trace.stage("reflect", query=decision.query, reason=decision.reason) as step:
        try:
            await searcher.add(f"round {len(reflection.rounds) + 1}", decision.query)
            hits = await searcher.search()
            covered = await _cover(searcher, intent, hits)
        except LexichordError as failure:
            error = str(failure)
        step["made"] = {"coverage": covered and covered.score, "error": error}
    spent = (perf_counter() - started) * 1000
    score = None if covered is None else covered.score
    made = Round(decision.query, decision.reason, spent, score, error)
    return hits, record(reflection, made, covered)


async def _cover(searcher: Searcher, intent: Intent, hits: Sequence[ChunkHit]) -> Coverage:
    asked = (intent.entities, intent.sub_questions)
    return await cover(searcher.database, searcher.question.text, hits, *asked)
