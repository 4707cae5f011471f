"""Searching again: in other words, and for what the evidence does not cover."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Literal

from lexichord.db.pool import Database
from lexichord.errors import LexichordError
from lexichord.providers.base import Embedder, Vectors
from lexichord.retrieve.reflect import cover, decide, record
from lexichord.retrieve.rewrite import rewrite
from lexichord.retrieve.search import search_variants
from lexichord.retrieve.trace import Trace
from lexichord.types import ChunkHit, Json, Question
from lexichord.types.intent import Intent
from lexichord.types.reflection import Budget, Reflection, Round
from lexichord.types.variants import Variant

BUDGET = Budget(rounds=2, milliseconds=5000)  # kbbridge's rounds
KINDS: tuple[Literal["expansion", "relaxation"], ...] = ("expansion", "relaxation")
REWRITTEN_WEIGHT = 0.5  # of a question in other words; the original has 1


@dataclass(slots=True)
class Searcher:
    """One query's search, which can be widened by more variants and repeated."""

    database: Database
    embedder: Embedder | None
    question: Question
    boost: Json
    trace: Trace
    asked: str
    variants: list[Variant] = field(default_factory=list)

    async def search(self) -> list[ChunkHit]:
        """Search by all variants."""
        names = [variant.name for variant in self.variants]
        with self.trace.stage("search", variants=names) as step:
            hits = await search_variants(self.database, self.question, self.variants, self.boost)
            step["made"] = [{"chunk_id": hit.chunk_id, "ranks": hit.ranks} for hit in hits]
        return hits

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
        made = await rewrite(
            searcher.database, searcher.question.text, [hit.chunk_id for hit in hits]
        )
        step["made"] = {"kind": made.kind, "text": made.text, "reason": made.reason}
    if made.kind == "none":
        return hits
    await searcher.add("rewrite", made.text)
    return await searcher.search()


async def reflect(
    searcher: Searcher, intent: Intent, hits: list[ChunkHit]
) -> tuple[list[ChunkHit], Reflection]:
    """Search again while the evidence lacks something and the budget lasts."""
    question, budget, tried = searcher.question.text, BUDGET, [searcher.question.text]
    asked = (intent.entities, intent.sub_questions)
    covered = await cover(searcher.database, question, hits, *asked)
    reflection = Reflection(covered, "")
    while True:
        ids = [hit.chunk_id for hit in hits]
        rewrites = [await rewrite(searcher.database, question, ids, kind) for kind in KINDS]
        decision = decide(covered, budget, rewrites, tried)
        if decision.query is None:
            return hits, replace(reflection, stopped=decision.reason)
        tried.append(decision.query)
        started = perf_counter()
        error = None
        try:
            await searcher.add(f"round {len(tried) - 1}", decision.query)
            hits = await searcher.search()
            covered = await cover(searcher.database, question, hits, *asked)
        except LexichordError as failure:
            error = str(failure)
        spent = (perf_counter() - started) * 1000
        score = None if error else covered.score
        made = Round(decision.query, decision.reason, spent, score, error)
        reflection = record(reflection, made, covered)
        budget = budget.after(spent)
