"""The order of a query's stages, from top to bottom: understand, search, judge, evidence.

The stages that another function can do are in `stages.py`; what they are done with is the query's
context, which nobody changes: what a stage finds out is what it returns.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.errors import ProviderError
from lexichord.providers import Embedder, Generator, Reader, Reranker
from lexichord.retrieve.cache import KnownScales, QueryCache
from lexichord.retrieve.confidence import ensure_scale, find_calibration, read_scale
from lexichord.retrieve.evidence.sentences import QueryReader
from lexichord.retrieve.judged_hits import Judged, judge, without_names
from lexichord.retrieve.llm_stages import with_llm_stages
from lexichord.retrieve.reflection import fall_back, refine, reflect, search_rewritten
from lexichord.retrieve.respond import aggregate, respond, select_evidence
from lexichord.retrieve.search import (
    MAX_VARIANTS,
    by_words,
    count_candidates,
    name_first,
    without_waiting,
)
from lexichord.retrieve.stages import (
    ASKED,
    REWRITTEN_WEIGHT,
    STAGES,
    QueryContext,
    SearchPlan,
    Stages,
    add_wording,
    embed_variants,
    search_by_plan,
)
from lexichord.retrieve.trace import Trace, emit
from lexichord.retrieve.understand import find_listed
from lexichord.retrieve.understand.aspects import aspects_of
from lexichord.types import FileHit, QueryOptions, Question, Response
from lexichord.types.questions import Intent, Variant
from lexichord.types.response import AnswerEvent, FilesEvent, Reflection
from lexichord.types.state import Calibration
from lexichord.work import beside


async def query(
    database: Database,
    embedder: Embedder | None,
    question: Question,
    options: QueryOptions,
    *,
    trace: Trace,
    cache: QueryCache,
    reranker: Reranker | None = None,
    reader: Reader | None = None,
    stages: Stages = STAGES,
    generator: Generator | None = None,
) -> Response:
    """Find the files, then evidence in the whole scope and inside them, by the query's intent.

    `question` holds the query as it was asked, without vectors; `cache` has what earlier queries
    made; `generator` does the stages that the options name, in place of `stages`. Raises
    ConfigError, DatabaseError, ProviderError.
    """
    embedder = None if embedder is None else without_waiting(embedder)
    question, calibration = await _calibrate(database, embedder, question, cache.scales, trace)
    context = QueryContext(
        query=question.query,
        options=options,
        database=database,
        embedder=embedder,
        reranker=reranker,
        stages=with_llm_stages(stages, generator, trace, options),
        own_stages=stages.own(),
        trace=trace,
        calibration=calibration,
        vectors=cache.vectors,
        reader=None if reader is None else QueryReader(reader, trace, database, cache.readings),
    )
    # Understand: what is asked, and of which documents.
    async with (
        beside(context.embed_ahead(question)) as embedding,
        beside(context.search_ahead(question, embedding)) as searching,
    ):
        intent = await _understand(context, question)
        await embedding  # what was asked is compared with what is found, whatever it names
        ahead = await searching if intent.question == question.query else None
    resolved, about, asked = await _embed(context, question, intent)
    # Search: for files, then for chunks by several ways of asking.
    resolved, files = await _discover(context, resolved, intent.documents, ahead)
    emit(FilesEvent(intent, files))
    plan = await _plan_search(context, SearchPlan(intent, resolved, about, files), asked)
    hits = await search_by_plan(context, plan)
    # Judge: what it covers and how sure it is, and search again for what it lacks.
    reflection = None
    if options.rewrite:
        plan, hits = await search_rewritten(context, plan, hits)
    if options.reflect:
        plan, hits, reflection = await reflect(context, plan, hits)
    judged = await judge(context, plan, hits)
    if intent.kind not in ("comparison", "summary"):
        plan, judged = await fall_back(context, plan, judged)
    # Evidence: quotes, their context and an answer; written again while its grades are too low.
    response = await _conclude(context, plan, judged, reflection)
    return await refine(context, plan, response, partial(_conclude, context))


async def _calibrate(
    database: Database,
    embedder: Embedder | None,
    question: Question,
    scales: KnownScales,
    trace: Trace,
) -> tuple[Question, Calibration | None]:
    """Return the question with where cosines lie, and what judges by vectors.

    None, words do, where nothing was fitted or measured and now cannot be either.
    """
    if embedder is None or question.space is None:
        return question, None
    find = read_scale if question.mode == "keyword" else ensure_scale
    try:
        scale = await find(database, embedder, scales)
    except ProviderError as error:
        trace.degrade(by_words(error))
        scale = None
    calibration = await find_calibration(database, question.space, scale)
    unlike = 0.0 if calibration is None else calibration.unlike
    return replace(question, unlike=unlike), calibration


async def _understand(context: QueryContext, question: Question) -> Intent:
    inputs = {"query": question.query, "hint": question.hint, **context.by("find_intent")}
    with context.trace.stage("intent", **inputs) as step:
        intent = await context.stages.find_intent(
            database=context.database,
            query=question.query,
            hint=question.hint,
            scope=question.scope,
        )
        if context.options.intent is not None:
            intent = replace(intent, kind=context.options.intent, reason="given")
        step["made"] = {"kind": intent.kind, "hint": intent.hint, "reason": intent.reason}
    return intent


async def _embed(context: QueryContext, question: Question, intent: Intent) -> list[Question]:
    """Return what is searched, what its evidence is judged by, and what was asked, with vectors."""
    k = question.depth if intent.kind == "list_all" else question.k
    searched = replace(question, hint=intent.hint, domain=intent.domain, k=k)
    texts = (intent.question, _subject(intent), context.query)
    each = [replace(searched, query=text) for text in texts]
    with context.trace.stage("embed"):
        if context.embedder is None or question.mode == "keyword":
            return each
        queries = list(dict.fromkeys([*texts, *filter(None, [intent.hint])]))
        rows = await context.embed(queries, question)
    if rows is None:
        return [replace(one, space=None) for one in each]
    vectors: dict[str | None, list[float]] = dict(zip(queries, rows, strict=True))
    hint_vector = vectors.get(intent.hint)
    return [replace(one, vector=vectors[one.query], hint_vector=hint_vector) for one in each]


def _subject(intent: Intent) -> str:
    """Return what the evidence should speak of, without the order to list or to compare it."""
    if intent.kind == "list_all":
        return find_listed(intent.question)
    if intent.kind == "comparison":
        return ", ".join(aspects_of(intent))
    return without_names(intent)


async def _propose(
    context: QueryContext, question: Question, ahead: tuple[Question, float] | None
) -> Question:
    """Search once for what the files, the feedback and the hits are all found by.

    That was done beside the intent where it left the question as it was asked: `ahead_ms` is what
    it took there.
    """
    known = None
    inputs: dict[str, object] = {"depth": question.depth}
    if ahead is not None and ahead[0].as_searched() == question.as_searched():
        known, inputs["ahead_ms"] = ahead
    with context.trace.stage("candidates", **inputs) as step:
        share, reason = await search.find_dense_share(context.database, question)
        step["made"] = {"dense_share": share, "reason": reason}
        if known is not None:
            return replace(question, candidates=known.candidates)
        return await search.propose_candidates(context.database, question)


async def _discover(
    context: QueryContext,
    question: Question,
    documents: Sequence[str],
    ahead: tuple[Question, float] | None,
) -> tuple[Question, list[FileHit]]:
    """Return the question with its candidates, and the files, those of `documents` first.

    A caller's own stage has the last word on its files.
    """
    question = await _propose(context, question, ahead)
    inputs = {"hint": question.hint, **context.by("discover")}
    with context.trace.stage("discover", **inputs) as step:
        files = await context.stages.discover(
            database=context.database,
            question=question,
            trace=context.trace,
            limit=context.options.files,
            reranker=context.reranker,
        )
        if "discover" not in context.own_stages:
            limit = context.options.files
            files = await name_first(context.database, question, files, documents, limit)
        step["made"] = [{"document_id": f.document_id, "score": f.score} for f in files]
    return question, files


async def _plan_search(context: QueryContext, plan: SearchPlan, asked: Question) -> SearchPlan:
    """Return a plan with variants and boost, and with candidates for a reranker to choose among."""
    question, stages = plan.question, context.stages
    boost = dict(await stages.boost_files(files=plan.files, hint=question.hint))
    if context.reranker is not None and plan.intent.kind != "list_all":
        plan = replace(plan, reranked=question.k)
        candidates = count_candidates(context.reranker, question.k)
        question = replace(question, k=min(candidates, question.depth))
    with context.trace.stage("variants", **context.by("make_variants")) as step:
        variant_set = await stages.make_variants(
            database=context.database,
            question=question,
            files=plan.files,
            limit=MAX_VARIANTS,
        )
        names = [variant.name for variant in variant_set.variants]
        step["made"] = {
            "names": names,
            "coherence": variant_set.coherence,
            "reason": variant_set.reason,
        }
    own = (*variant_set.variants, *_as_asked(question, asked))
    variants = await embed_variants(context, question, own)
    if variant_set.is_scattered and plan.intent.hint is None:
        boost = {}
    plan = replace(plan, question=question, variants=variants, boost=boost)
    if instructions := context.options.instructions:
        plan = await add_wording(context, plan, "instructions", f"{question.query} {instructions}")
    return plan


def _as_asked(question: Question, asked: Question) -> list[Variant]:
    """Return what was asked, in full, as a variant, where a clause is left out of the question."""
    if question.query == asked.query:
        return []
    return [Variant(ASKED, asked.query, asked.vector, REWRITTEN_WEIGHT)]


async def _conclude(
    context: QueryContext,
    plan: SearchPlan,
    judged: Judged,
    reflection: Reflection | None,
    advice: str = "",
) -> Response:
    evidence = await aggregate(context, plan, judged)
    evidence = await select_evidence(context, plan, evidence)
    response = await respond(context, plan, judged, evidence, reflection, advice)
    if context.options.answer:
        emit(AnswerEvent.of(response))
    return response
