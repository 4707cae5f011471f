"""A reranker's second look at the chunks that a search found."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from lexichord.errors import ProviderError
from lexichord.providers.base import Reranker
from lexichord.providers.rerank import rank
from lexichord.retrieve.trace import Trace
from lexichord.types import ChunkHit

CANDIDATES = 3  # for each hit that is wanted

# They say what to make of the evidence, not what it is about: rerankers then prefer glossaries.
NEUTRAL = (
    *("list", "lists", "listing", "enumerate", "extract"),
    *("definition", "definitions", "define", "defines", "glossary", "glossaries"),
)


async def rerank(
    question: str,
    hits: Sequence[ChunkHit],
    k: int,
    reranker: Reranker,
    trace: Trace,
    neutral: Collection[str] = NEUTRAL,
) -> list[ChunkHit]:
    """Give the k hits that the reranker scores best by their content and context.

    It sees the question without the `neutral` words. The score becomes the hit's, and is kept as
    `rerank`. If it fails, or takes more than its share of the query's time, the order stays and
    `degraded` says why.
    """
    texts = ["\n".join(filter(None, (hit.context, hit.content))) for hit in hits]
    try:
        ranked = await rank(reranker, without(question, neutral), texts, k, trace.allowance)
    except ProviderError as error:
        trace.degrade(f"chunks are not reranked: {error}")
        return list(hits[:k])
    return [
        replace(hit, score=each.score, scores={**hit.scores, "rerank": each.score})
        for each in ranked
        for hit in [hits[each.index]]
    ]


def without(question: str, words: Collection[str]) -> str:
    """Give a question without some words, whole words in any case; itself if nothing is left."""
    either = "|".join(map(re.escape, words))
    text = re.sub(rf"(?<!\w)(?:{either})(?!\w)", " ", question, flags=re.I) if words else question
    return " ".join(text.split()) if re.search(r"\w", text) else question
