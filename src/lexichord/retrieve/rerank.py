"""A reranker's second look at the chunks that a search found."""

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from lexichord.errors import ProviderError
from lexichord.providers.base import Reranker
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
    degraded: list[str],
    neutral: Collection[str] = NEUTRAL,
) -> list[ChunkHit]:
    """Give the k hits that the reranker scores best by their content and context.

    It sees the question without the `neutral` words. The score becomes the hit's, and is kept as
    `rerank`. If it fails, the order stays and `degraded` says why.
    """
    texts = ["\n".join(filter(None, (hit.context, hit.content))) for hit in hits]
    try:
        asked = without(question, neutral)
        scores = await asyncio.to_thread(reranker.rerank, asked, texts) if texts else []
    except ProviderError as error:
        if (reason := f"chunks are not reranked: {error}") not in degraded:
            degraded.append(reason)
        return list(hits[:k])
    scored = [
        replace(hit, score=score, scores={**hit.scores, "rerank": score})
        for hit, score in zip(hits, scores, strict=True)
    ]
    return sorted(scored, key=lambda hit: -hit.score)[:k]


def without(question: str, words: Collection[str]) -> str:
    """Give a question without some words, whole words in any case; itself if nothing is left."""
    either = "|".join(map(re.escape, words))
    text = re.sub(rf"(?<!\w)(?:{either})(?!\w)", " ", question, flags=re.I) if words else question
    return " ".join(text.split()) if re.search(r"\w", text) else question
