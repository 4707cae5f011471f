"""The vectors of queries and of sentences; where the embedder fails, words alone decide."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np

from lexichord.db.call_settings import Asker, current_asker
from lexichord.errors import BadResponseError, ProviderError
from lexichord.providers.base import Embedder, RemoteEmbedder, Vectors
from lexichord.providers.vector_cache import VectorCache
from lexichord.types import Question
from lexichord.types.state import CosineScale
from lexichord.work import in_thread

KEPT_SENTENCE_BYTES = 32_000_000  # 20,000 sentences of 384 dimensions


class SentenceVectors:
    """Embeds sentences, and keeps the vectors of those that queries needed last.

    What judges a query's evidence and what answers by it embed each sentence once, and so do later
    queries. Each tenant has its own: how long a query takes tells nothing of others. Several
    threads may share one.
    """

    def __init__(self, limit: int = KEPT_SENTENCE_BYTES) -> None:
        self._kept = VectorCache[np.float32](limit)

    def embed(self, embedder: Embedder, texts: Sequence[str]) -> Vectors:
        """Embed texts as documents, rows in their order; one that is refused is like nothing else.

        Raises ProviderError.
        """
        owner = f"{embedder.space}\0{current_asker()}\0"
        digests = {
            text: sha256(f"{owner}{text}".encode(errors="surrogatepass")).digest() for text in texts
        }
        rows = {text: self._kept.find(digest) for text, digest in digests.items()}
        new = [text for text, row in rows.items() if row is None]
        if new:
            made = np.nan_to_num(embedder.embed(new, "document"))
            rows.update(zip(new, made, strict=True))
            for text, row in zip(new, made, strict=True):
                self._kept.keep(digests[text], row.copy())
        return np.array([rows[text] for text in texts], np.float32)


@dataclass
class KnownScales:
    """Scales of cosines that were measured here and could not be stored: a reader may not.

    Each tenant has its own, as each sees other sentences.
    """

    _scales: dict[tuple[Asker | None, str], CosineScale] = field(default_factory=dict)

    def find(self, space: str) -> CosineScale | None:
        """Return the scale of a space."""
        return self._scales.get((current_asker(), space))

    def keep(self, scale: CosineScale) -> None:
        """Keep a scale as long as the program runs."""
        self._scales[current_asker(), scale.space] = scale


async def with_vectors(
    embedder: Embedder | None, question: Question, degraded: list[str]
) -> Question:
    """Return a question with its vector and its hint's; without, if they fail: `degraded` says why.

    Raises ProviderError if there is nothing else to search by.
    """
    if embedder is None or question.mode == "keyword":
        return question
    queries = [query for query in (question.query, question.hint) if query is not None]
    vectors = await embed_queries(embedder, queries, question, degraded)
    if vectors is None:
        return replace(question, space=None)
    return replace(question, vector=vectors[0], hint_vector=[*vectors, None][1])


async def embed_queries(
    embedder: Embedder, queries: Sequence[str], question: Question, degraded: list[str]
) -> list[list[float]] | None:
    """Embed what is asked in a question's place; None if that fails, and `degraded` says why.

    Raises ProviderError if the question's mode leaves nothing else to search by.
    """
    try:
        vectors = await in_thread(embedder.embed, queries, "query")
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
    """Return the note that words alone decide, and why."""
    return f"no vectors, by words only: {error}"


def without_waiting(embedder: Embedder) -> Embedder:
    """Return an embedder that waits for no service's retry: a query has no time for it."""
    return embedder.for_queries() if isinstance(embedder, RemoteEmbedder) else embedder
