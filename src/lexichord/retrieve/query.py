"""What a query is done with, the same for all its stages."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lexichord.db.pool import Database
from lexichord.errors import ProviderError
from lexichord.providers.base import Embedder, Reranker, Vectors
from lexichord.retrieve.evidence.reading import QueryReader
from lexichord.retrieve.evidence.relevance import EmbedSentences
from lexichord.retrieve.judge.confidence import WITH_VECTOR, evidence_confidence
from lexichord.retrieve.stages import STAGES, Stages
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.vectors import SentenceVectors, by_words, embed_queries
from lexichord.types import ChunkHit, QueryOptions, Question
from lexichord.types.evidence import Align, Quote, ReadPassages, as_it_is
from lexichord.types.state import Calibration


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
    reader: QueryReader | None = None

    async def read(self, question: str, quotes: Sequence[Quote]) -> ReadPassages | None:
        """Return what the reader makes of passages; None where nobody reads them."""
        return None if self.reader is None else await self.reader.read(question, quotes)

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

    @property
    def align(self) -> Align:
        """What gives cosines of the space as those that the constants were fitted on."""
        return as_it_is if self.calibration is None else self.calibration.align

    async def judge(
        self, question: Question, hits: Sequence[ChunkHit], named: Question | None = None
    ) -> float:
        """Return the probability, 0 to 1, that hits hold an answer, by words and vectors."""
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
            self.trace.degrade(by_words(error))
            return await make(None)
