"""What a query is done with, and its vectors; where the embedder fails, words alone decide."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np

from lexichord.db.call_settings import current_asker
from lexichord.db.pool import Database
from lexichord.errors import BadResponseError, ProviderError
from lexichord.providers.base import Embedder, RemoteEmbedder, Reranker, Vectors
from lexichord.providers.vector_cache import VectorCache
from lexichord.retrieve.evidence.relevance import EmbedSentences
from lexichord.retrieve.judge.confidence import WITH_VECTOR, evidence_confidence
from lexichord.retrieve.stages import STAGES, Stages
from lexichord.retrieve.trace import Trace
from lexichord.types import ChunkHit, QueryOptions, Question
from lexichord.types.state import Calibration

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


@dataclass(frozen=True, slots=True)
class QueryContext:
    """What one query is done with, the same for all its stages.

    `query` is what was asked, in full. `calibration` is that of the space, None where words judge.
    `own_stages` names the functions that the caller put in
    place of the default ones, by stage; they are named in the trace.
    """

    query: str
    options: QueryOptions
    database: Database
    embedder: Embedder | None
    reranker: Reranker | None = None
    stages: Stages = STAGES
    own_stages: Mapping[str, str] = field(default_factory=dict)
    trace: Trace = field(default_factory=Trace)
    calibration: Calibration | None = None
    sentences: SentenceVectors = field(default_factory=SentenceVectors)

    def by(self, stage: str) -> dict[str, str]:
        """Return who does a stage, for the trace, where it is the caller's own function."""
        return {"by": self.own_stages[stage]} if stage in self.own_stages else {}

    async def embed(self, queries: Sequence[str], question: Question) -> list[list[float]] | None:
        """Embed queries; None if that fails, as the trace says, or without an embedder."""
        if self.embedder is None or question.mode == "keyword":
            return None
        return await embed_queries(self.embedder, queries, question, self.trace.degraded)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts as documents; one that the embedder refuses is like nothing else."""
        assert self.embedder is not None
        return self.sentences.embed(self.embedder, texts)

    def calibration_of(self, question: Question) -> Calibration | None:
        """Return what judges a question's evidence by its vector; None: words do."""
        return None if question.vector is None else self.calibration

    async def judge(
        self, question: Question, hits: Sequence[ChunkHit], named: Question | None = None
    ) -> float:
        """Return the probability, 0 to 1, that hits hold an answer to a question."""
        calibration = self.calibration_of(question)
        return await self.by_meaning(
            calibration is not None,
            lambda embed: evidence_confidence(
                self.database, question, hits, embed, named, calibration or WITH_VECTOR
            ),
        )

    async def by_meaning[T](
        self, has_vectors: bool, make: Callable[[EmbedSentences | None], Awaitable[T]]
    ) -> T:
        """Make something with vectors of sentences, or, where they fail, by words."""
        if not has_vectors:
            return await make(None)
        try:
            return await make(self.embed_documents)
        except ProviderError as error:
            self.trace.degrade(_by_words(error))
            return await make(None)


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
        vectors = await asyncio.to_thread(embedder.embed, queries, "query")
        if np.isnan(vectors).any():
            raise BadResponseError("the embedder refuses the text of the query: ask in other words")
        return list(vectors.tolist())
    except ProviderError as error:
        if question.mode == "dense":
            raise
        if (reason := _by_words(error)) not in degraded:
            degraded.append(reason)
        return None


def _by_words(error: ProviderError) -> str:
    """Return the note that words alone decide, and why."""
    return f"no vectors, by words only: {error}"


def without_waiting(embedder: Embedder) -> Embedder:
    """Return an embedder that waits for no service's retry: a query has no time for it."""
    return embedder.for_queries() if isinstance(embedder, RemoteEmbedder) else embedder
