"""Searching again: in other words, for what the evidence does not cover, by what was set aside."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Literal

from lexichord.db.pool import Database
from lexichord.errors import LexichordError
from lexichord.providers.base import Embedder, Vectors
from lexichord.retrieve.confidence import abstain_below, confidence
from lexichord.retrieve.reflect import cover, decide, record
from lexichord.retrieve.rewrite import rewrite
from lexichord.retrieve.search import above, search_variants
from lexichord.retrieve.stages import Stages
from lexichord.retrieve.trace import Trace
from lexichord.types import ChunkHit, Json, Question
from lexichord.types.intent import Intent
from lexichord.types.reflection import Budget, Coverage, Decision, Reflection, Round
from lexichord.types.variants import Variant

KINDS: tuple[Literal["expansion", "relaxation"], ...] = ("expansion", "relaxation")
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
        """Give the probability that the hits hold an answer."""
        with self.trace.stage("confidence", about=self.about.text) as step:
            step["made"] = sure = await confidence(self.database, self.about, hits)
        return sure

    async def add(self, name: str, text: str) -> None:
        """Ask in other words as well."""
        vectors = await self.embed([text]) if self.question.vector is not None else [None]
        self.variants.append(Variant(name, text, vectors[0], REWRITTEN_WEIGHT))

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed texts as queries."""
        assert self.embedder is not None
        vectors = await asyncio.to_thread(self.embedder.embed, list(texts), "query")
        return list(vectors.tolist())

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts as documents."""
        assert self.embedder is not None
        return self.embedder.embed(texts, "document")


async def rewritten(searcher: Searcher, hits: list[ChunkHit]) -> list[ChunkHit]:
    """Search once more, by the question in other words as well, if there are any."""
    with searcher.trace.stage("rewrite") as step:
        asked, ids = searcher.question, [hit.chunk_id for hit in hits]
        made = await rewrite(searcher.database, asked.text, ids, asked.scope)
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
        if sure >= abstain_below(searcher.question.vector):
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
    searcher: Searcher, intent: Intent, hits: list[ChunkHit], budget: Budget, enough: float
) -> tuple[list[ChunkHit], Reflection]:
    """Search again while the evidence lacks something and the budget lasts."""
    tried = [searcher.question.text]
    reflection = Reflection(await _cover(searcher, intent, hits), "")
    while True:
        ids = [hit.chunk_id for hit in hits]
        scope = searcher.question.scope
        rewrites = [await rewrite(searcher.database, tried[0], ids, scope, kind) for kind in KINDS]
        assert reflection.coverage is not None
        expected = searcher.trace.latest_ms("search")
        decision = decide(reflection.coverage, budget, rewrites, tried, expected, enough)
        if decision.query is None:
            return hits, replace(reflection, stopped=decision.reason)
        tried.append(decision.query)
        hits, reflection = await _round(searcher, intent, hits, reflection, decision)
        budget = budget.after(reflection.rounds[-1].milliseconds)


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
