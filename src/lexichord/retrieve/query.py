"""What a query is done with, the same for all its stages, and how it searches for chunks."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lexichord.db.pool import Database
from lexichord.errors import ProviderError
from lexichord.providers.base import Embedder, Reranker, Vectors
from lexichord.retrieve.cache import SentenceVectors
from lexichord.retrieve.confidence import WITH_VECTOR, evidence_confidence
from lexichord.retrieve.evidence.relevance import EmbedSentences
from lexichord.retrieve.evidence.sentences import QueryReader
from lexichord.retrieve.search import by_words, embed_queries, rerank, search_variants
from lexichord.retrieve.stages import STAGES, Stages, name_of
from lexichord.retrieve.trace import Trace
from lexichord.types import ChunkHit, FileHit, Json, QueryOptions, Question
from lexichord.types.evidence import Align, Quote, ReadPassages, as_it_is
from lexichord.types.questions import Intent, Variant
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
        """Return what is made with vectors of sentences, or, where they fail, by words."""
        if not has_vectors:
            return await make(None)
        try:
            return await make(self.embed_documents)
        except ProviderError as error:
            self.trace.degrade(by_words(error))
            return await make(None)


ASKED = "asked"  # the variant that is the question in full
REWRITTEN_WEIGHT = 0.5  # of a question in other words; the original has 1


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What is searched, and what its evidence should be about.

    `question` is searched by all its `variants`, the original first, in the whole scope and, by
    the `boost` of discovered `files` (points by document id), inside these. What is found is judged
    by `about`. A reranker keeps `reranked` hits; None: none looks at them.
    """

    intent: Intent
    question: Question
    about: Question
    files: list[FileHit]
    boost: Json = field(default_factory=dict)
    variants: tuple[Variant, ...] = ()
    reranked: int | None = None

    @property
    def asked(self) -> Question:
        """The question in full, with the names of documents that `question` may go without."""
        for variant in self.variants:
            if variant.name == ASKED:
                return replace(self.question, query=variant.text, vector=variant.vector)
        return self.question


async def search_by_plan(context: QueryContext, plan: SearchPlan) -> list[ChunkHit]:
    """Search by all variants, rerank if there is a reranker, keep what the caller's stage does."""
    trace, names = context.trace, [variant.name for variant in plan.variants]
    with trace.stage("search", variants=names, boost=plan.boost) as step:
        hits = await search_variants(context.database, plan.question, plan.variants, plan.boost)
        step["made"] = [{"chunk_id": hit.chunk_id, "ranks": hit.ranks} for hit in hits]
    if context.reranker is not None and plan.reranked is not None:
        with trace.stage("rerank", chunks=len(hits)) as step:
            query, reranker = plan.question.query, context.reranker
            hits = await rerank(query, hits, plan.reranked, reranker, trace)
            step["made"] = [{"chunk_id": hit.chunk_id, "score": hit.score} for hit in hits]
    return await _select(context, plan, hits)


async def _select(context: QueryContext, plan: SearchPlan, hits: list[ChunkHit]) -> list[ChunkHit]:
    select = context.stages.select_hits
    if select is None:
        return hits
    with context.trace.stage(name_of(select), hits=len(hits)) as step:
        kept = list(await select(question=plan.question, intent=plan.intent, hits=hits))
        step["made"] = {"hits": len(kept)}
        step["dropped"] = _dropped(hits, kept)
    return kept


def _dropped(hits: Sequence[ChunkHit], kept: Sequence[ChunkHit]) -> list[str]:
    ids = {hit.chunk_id for hit in kept}
    return [hit.chunk_id for hit in hits if hit.chunk_id not in ids]


async def add_wording(context: QueryContext, plan: SearchPlan, name: str, text: str) -> SearchPlan:
    """Return a plan that asks in other words as well."""
    has_vector = plan.question.vector is not None
    vectors = await context.embed([text], plan.question) if has_vector else None
    vector = None if vectors is None else vectors[0]
    variant = Variant(name, text, vector, REWRITTEN_WEIGHT)
    return replace(plan, variants=(*plan.variants, variant))


async def embed_variants(
    context: QueryContext, question: Question, variants: Sequence[Variant]
) -> tuple[Variant, ...]:
    """Return variants with vectors where the question has one; texts are embedded all at once."""
    has_vector = question.vector is not None
    bare = [variant for variant in variants if has_vector and variant.vector is None]
    texts = [variant.text for variant in bare]
    vectors = iter((await context.embed(texts, question) if texts else None) or [])
    return tuple(
        replace(variant, vector=next(vectors, None)) if variant in bare else variant
        for variant in variants
    )
