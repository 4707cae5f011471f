"""A question's vectors, or, where its embedder fails, a search by words."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lexichord.errors import BadResponseError, ProviderError
from lexichord.providers.base import Embedder, Remote
from lexichord.types import Question


async def with_vectors(
    embedder: Embedder | None, question: Question, degraded: list[str]
) -> Question:
    """Return a question with its vector and its hint's; without, if they fail: `degraded` says why.

    Raises ProviderError if there is nothing else to search by.
    """
    if embedder is None or question.mode == "keyword":
        return question
    texts = [text for text in (question.text, question.hint) if text is not None]
    vectors = await embed_queries(embedder, texts, question, degraded)
    if vectors is None:
        return replace(question, space=None)
    return replace(question, vector=vectors[0], hint_vector=[*vectors, None][1])


async def embed_queries(
    embedder: Embedder, texts: Sequence[str], question: Question, degraded: list[str]
) -> list[list[float]] | None:
    """Embed what is asked in a question's place; None if that fails, and `degraded` says why.

    Raises ProviderError if the question's mode leaves nothing else to search by.
    """
    try:
        vectors = await asyncio.to_thread(embedder.embed, texts, "query")
        if np.isnan(vectors).any():
            raise BadResponseError("the embedder refuses the text of the query: ask in other words")
        return list(vectors.tolist())
    except ProviderError as error:
        if question.mode == "dense":
            raise
        if (reason := by_words(error)) not in degraded:
            degraded.append(reason)
        return None


def by_words(error: ProviderError) -> str:
    """Say that words alone decide, and why."""
    return f"no vectors, by words only: {error}"


def hurried(embedder: Embedder | None) -> Embedder | None:
    """Return an embedder that a query need not wait for."""
    return embedder.hurried() if isinstance(embedder, Remote) else embedder
