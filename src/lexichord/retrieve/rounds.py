"""Searching again: in other words, for what the evidence does not cover, by what was set aside."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import get_args

import numpy as np

from lexichord.db.pool import Database
from lexichord.errors import LexichordError
from lexichord.providers.base import Embedder, Vectors
from lexichord.retrieve.confidence import abstain_below, confidence
from lexichord.retrieve.embedding import embed_queries
from lexichord.retrieve.reflect import NOTHING_LEFT, cover, decide, record
from lexichord.retrieve.search import above, search_variants
from lexichord.retrieve.stages import Stages
from lexichord.retrieve.trace import Trace
from lexichord.types import ChunkHit, Json, Question
from lexichord.types.intent import Intent
from lexichord.types.reflection import Budget, Coverage, Decision, Reflection, Round, Wording
from lexichord.types.variants import Variant

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
    if decision.reason != NOTHING_LEFT:
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
