"""The stages of a query that another function can do, and what a query is done with in all of them.

A stage is an async function that takes what its Protocol names, by name. One of your own goes in by
`Lexichord(stages=Stages(...))`; it runs in `query` and `explain`, its name is in the trace, and
`evaluate` compares with `pipeline-without-<name>`. `Stages` refuses what cannot be called so.

    from lexichord import Stages, SyncLexichord

    async def keep_insurance(*, question, intent, hits):
        return [hit for hit in hits if "insur" in hit.content.casefold()]

    with SyncLexichord(stages=Stages(select_hits=keep_insurance)) as lexichord:
        lexichord.ingest(["contracts"])
        print(lexichord.explain(lexichord.query("Who insures the building?")))
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from functools import partial
from inspect import iscoroutinefunction, signature, unwrap
from time import perf_counter
from typing import Any, Protocol, get_args

import numpy as np

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, ProviderError
from lexichord.providers import Embedder, RemoteEmbedder, Reranker, Vectors
from lexichord.retrieve.cache import TextVectors
from lexichord.retrieve.confidence import WITH_VECTOR, evidence_confidence
from lexichord.retrieve.evidence.answer import write_answer
from lexichord.retrieve.evidence.passages import JoinNeighbours, join_neighbours
from lexichord.retrieve.evidence.relevance import EmbedSentences
from lexichord.retrieve.evidence.sentences import QueryReader
from lexichord.retrieve.search import (
    VariantSet,
    boost_files,
    by_words,
    discover,
    embed_queries,
    make_variants,
    rerank,
    search_variants,
)
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.understand.intent import find_intent, rewrite
from lexichord.types import (
    ChunkHit,
    ContextSource,
    FileHit,
    Json,
    QueryOptions,
    Question,
    Response,
    Scope,
)
from lexichord.types.evidence import (
    Align,
    Answer,
    AnswerRequest,
    Evidence,
    Quote,
    ReadPassages,
    as_it_is,
)
from lexichord.types.questions import Intent, Variant
from lexichord.types.response import Grading, Rewrite, Wording
from lexichord.types.state import Calibration


class FindIntent(Protocol):
    """The stage `find_intent`."""

    async def __call__(
        self, *, database: Database, query: str, hint: str | None, scope: Scope
    ) -> Intent:
        """Read what a query wants, and which documents it or the caller's hint names."""
        ...


class Discover(Protocol):
    """The stage `discover`."""

    async def __call__(
        self,
        *,
        database: Database,
        question: Question,
        trace: Trace,
        limit: int,
        reranker: Reranker | None,
    ) -> list[FileHit]:
        """Find up to `limit` documents, best first."""
        ...


class BoostFiles(Protocol):
    """The stage `boost_files`."""

    async def __call__(self, *, files: Sequence[FileHit], hint: str | None) -> Mapping[str, float]:
        """Return the points by which chunks of a document are preferred, by its id."""
        ...


class MakeVariants(Protocol):
    """The stage `make_variants`."""

    async def __call__(
        self, *, database: Database, question: Question, files: Sequence[FileHit], limit: int
    ) -> VariantSet:
        """Return up to `limit` ways of asking, the original first."""
        ...


class RewriteQuestion(Protocol):
    """The stage `rewrite`."""

    async def __call__(
        self,
        *,
        database: Database,
        question: str,
        hits: Sequence[ChunkHit],
        scope: Scope,
        kind: Wording | None,
    ) -> Rewrite:
        """Return a question in other words after a look at what it found; None: of either kind."""
        ...


class SelectHits(Protocol):
    """The stage `select_hits`."""

    async def __call__(
        self, *, question: Question, intent: Intent, hits: Sequence[ChunkHit]
    ) -> Sequence[ChunkHit]:
        """Return the hits of a search that go on to be judged and quoted, in their order.

        It runs after each search, and the reranker; hits are best first.
        """
        ...


class SelectEvidence(Protocol):
    """The stage `select_evidence`."""

    async def __call__(self, *, question: Question, intent: Intent, evidence: Evidence) -> Evidence:
        """Return the evidence that the context shows and an answer is written from.

        The table of a comparison is `evidence.comparison`; its quotes are in `quotes` as well.
        """
        ...


class WriteAnswer(Protocol):
    """The stage `write_answer`."""

    async def __call__(
        self,
        *,
        database: Database,
        brief: AnswerRequest,
        evidence: Evidence,
        sources: Sequence[ContextSource],
        embed: EmbedSentences | None,
    ) -> Answer:
        """Write an answer to the brief out of the evidence; `sources` are those of the context.

        `embed` returns unit vectors of sentences; None where there are none.
        """
        ...


class GradeAnswer(Protocol):
    """The stage `grade`."""

    async def __call__(self, *, response: Response) -> Grading:
        """Grade a response's answer. Raises ProviderError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """What does each stage, in their order; the defaults need no language model.

    None leaves a stage out: nothing selects, nothing grades. Raises ConfigError for what is no
    async function that takes the stage's parameters by name.
    """

    find_intent: FindIntent = find_intent
    discover: Discover = discover
    boost_files: BoostFiles = boost_files
    make_variants: MakeVariants = make_variants
    select_hits: SelectHits | None = None
    rewrite: RewriteQuestion = rewrite
    join_neighbours: JoinNeighbours = join_neighbours
    select_evidence: SelectEvidence | None = None
    write_answer: WriteAnswer = write_answer
    grade: GradeAnswer | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            stage = getattr(self, each.name)
            if stage is not each.default:
                _check_stage(each, stage)

    def own(self) -> dict[str, str]:
        """Return the names of the functions that are not the default ones, by their stage."""
        stages = ((each, getattr(self, each.name)) for each in fields(self))
        return {each.name: name_of(stage) for each, stage in stages if stage is not each.default}

    def over(self, other: "Stages") -> "Stages":
        """Return the other stages with these in place of theirs, where these are not default."""
        return replace(other, **{stage: getattr(self, stage) for stage in self.own()})

    def without(self, stage: str) -> "Stages":
        """Return the stages with the default one in a stage's place."""
        return replace(self, **{stage: getattr(STAGES, stage)})


def check_stages(stages: object) -> Stages:
    """Return stages as they are. Raises ConfigError for anything else."""
    if not isinstance(stages, Stages):
        kind = type(stages).__name__
        raise ConfigError(f"stages takes Stages(...), not a {kind}: write Stages(NAME=FUNCTION)")
    return stages


def _check_stage(field: Field[Any], stage: object) -> None:
    """Raise ConfigError unless a query can call and await it."""
    if not callable(stage):
        raise ConfigError(f"stage {field.name} takes an async function, not {stage!r}")
    kind: Any = type(stage)
    protocol: Any = next(iter(get_args(field.type)), field.type)
    named = f"stage {field.name}: {name_of(stage)}"
    if isinstance(stage, type):
        raise ConfigError(f"{named} is a class: write {name_of(stage)}() for an object of it")
    if not any(map(iscoroutinefunction, (stage, unwrap(stage), kind.__call__))):
        raise ConfigError(f"{named} is not async: write async def")
    _, *names = signature(protocol.__call__).parameters
    try:
        signature(stage).bind(**dict.fromkeys(names))
    except TypeError as error:
        taken = ", ".join(names)
        raise ConfigError(
            f"{named} does not fit: it is called with {taken} by name ({error})"
        ) from None


def name_of(stage: object) -> str:
    """Return the name of a stage's function, or of its class where it is an object of one."""
    return str(getattr(stage, "__name__", type(stage).__name__))


STAGES = Stages()


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
    vectors: TextVectors = field(default_factory=TextVectors)
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
        embed = partial(self.vectors.embed, self.embedder)
        return await embed_queries(embed, queries, question, self.trace.degraded)

    async def embed_ahead(self, question: Question) -> list[list[float]] | None:
        """Embed a question that is to be embedded later; a service is asked once, for all texts."""
        if isinstance(self.embedder, RemoteEmbedder):
            return None
        return await self.embed([question.query], question)

    async def search_ahead(
        self, question: Question, embedding: Awaitable[list[list[float]] | None]
    ) -> tuple[Question, float] | None:
        """Return a question with its candidates as if it named no document, and the milliseconds.

        None where a service embeds it, later.
        """
        rows = await embedding
        if isinstance(self.embedder, RemoteEmbedder) and question.mode != "keyword":
            return None
        ahead = question if rows is None else replace(question, vector=rows[0])
        started = perf_counter()
        ahead = await search.propose_candidates(self.database, ahead)
        return ahead, round((perf_counter() - started) * 1000, 1)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts as documents; one that the embedder refuses is like nothing else."""
        assert self.embedder is not None
        return np.nan_to_num(self.vectors.embed(self.embedder, texts, "document"))

    def calibration_of(self, question: Question) -> Calibration | None:
        """Return what judges a question's evidence by its vector; None: words do."""
        return None if question.vector is None else self.calibration

    @property
    def align(self) -> Align:
        """What gives cosines of the space as those that the constants were fitted on."""
        return as_it_is if self.calibration is None else self.calibration.align

    async def judge(
        self,
        question: Question,
        hits: Sequence[ChunkHit],
        named: Question | None,
        read: ReadPassages | None,
    ) -> float:
        """Return the probability, 0 to 1, that hits hold an answer, by words and vectors.

        What was `read` says which sentence may answer.
        """
        calibration = self.calibration_of(question)
        return await self.by_meaning(
            calibration is not None,
            lambda embed: evidence_confidence(
                self.database, question, hits, embed, named, calibration or WITH_VECTOR, read
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
