"""The order of the stages: intent, discover, variants, search, reflect, aggregate."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.providers.base import Embedder, Reranker
from lexichord.retrieve.evidence.respond import respond
from lexichord.retrieve.judge.refine import refine
from lexichord.retrieve.search.discover import boost_files, discover
from lexichord.retrieve.search.embedding import embed_queries, hurried
from lexichord.retrieve.search.rerank import CANDIDATES, rerank
from lexichord.retrieve.search.searcher import Searcher, fall_back, reflect, rewritten
from lexichord.retrieve.stages import Stages
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.understand.aspects import find_aspects
from lexichord.retrieve.understand.cues import find_listed
from lexichord.types import ChunkHit, FileHit, QueryOptions, Question, Response
from lexichord.types.questions import Intent
from lexichord.types.reflection import Reflection


async def search_chunks(database: Database, question: Question) -> list[ChunkHit]:
    """Find chunks; a hint prefers the files that it names."""
    files = await discover(database, question, Trace()) if question.hint else []
    return await search.hybrid_search(database, question, boost_files(files, question.hint))


async def query(
    database: Database,
    embedder: Embedder | None,
    question: Question,
    options: QueryOptions,
    trace: Trace,
    reranker: Reranker | None,
    stages: Stages,
) -> Response:
    """Find the files, then evidence in the whole scope and inside them, by the query's intent.

    `question` holds the query as it was asked, without vectors. Raises ConfigError, DatabaseError,
    ProviderError.
    """
    with trace.stage("intent", query=question.text, hint=question.hint) as step:
        intent = await _intent(database, question, options, stages)
        step["made"] = {"kind": intent.kind, "hint": intent.hint, "reason": intent.reason}
    embedder = hurried(embedder)
    with trace.stage("embed"):
        asked, about = await _asked(embedder, question, intent, trace)
    with trace.stage("discover", hint=asked.hint) as step:
        files = await stages.discover(database, asked, trace, options.files, reranker)
        step["made"] = [{"document_id": f.document_id, "score": f.score} for f in files]
    searcher = Searcher(
        database,
        embedder,
        stages,
        asked,
        about,
        stages.boost_files(files, asked.hint),
        trace,
        question.text,
        options.min_score,
    )
    if reranker is not None and intent.kind != "list_all":
        _rerank(searcher, reranker, options)
    hits, reflection = await _search(searcher, intent, files, options)
    sure = await searcher.judge(hits)
    if intent.kind not in ("comparison", "summary"):
        hits, sure = await fall_back(searcher, hits, sure, options.fallbacks)
    response = await respond(searcher, intent, files, hits, sure, reflection, options)
    return await refine(searcher, intent, response, options)


async def _intent(
    database: Database, question: Question, options: QueryOptions, stages: Stages
) -> Intent:
    intent = await stages.find_intent(database, question.text, question.hint, question.scope)
    given = options.intent
    return intent if given is None else replace(intent, kind=given, reason="given")


async def _asked(
    embedder: Embedder | None, question: Question, intent: Intent, trace: Trace
) -> tuple[Question, Question]:
    """Give what is searched, and what its evidence is judged by, with their vectors."""
    k = question.depth if intent.kind == "list_all" else question.k
    domain = intent.domain
    asked = replace(question, text=intent.question, hint=intent.hint, domain=domain, k=k)
    about = replace(asked, text=_about(intent))
    if embedder is None or question.mode == "keyword":
        return asked, about
    texts = list(dict.fromkeys([asked.text, about.text, *filter(None, [asked.hint])]))
    rows = await embed_queries(embedder, texts, question, trace.degraded)
    if rows is None:
        return replace(asked, space=None), replace(about, space=None)
    vectors: dict[str | None, list[float]] = dict(zip(texts, rows, strict=True))
    asked = replace(asked, vector=vectors[asked.text], hint_vector=vectors.get(asked.hint))
    return asked, replace(about, vector=vectors[about.text])


def _about(intent: Intent) -> str:
    """Give what the evidence should speak of, without the order to list or to compare it."""
    if intent.kind == "list_all":
        return find_listed(intent.question)
    if intent.kind == "comparison":
        return ", ".join(find_aspects(intent.question, intent.hint))
    return intent.question


def _rerank(searcher: Searcher, reranker: Reranker, options: QueryOptions) -> None:
    """Let the search find more, and the reranker choose among them."""
    question = searcher.question
    searcher.question = replace(question, k=min(CANDIDATES * question.k, question.depth))
    neutral, trace = options.neutral, searcher.trace
    searcher.rerank = partial(
        rerank, question.text, k=question.k, reranker=reranker, trace=trace, neutral=neutral
    )


async def _search(
    searcher: Searcher, intent: Intent, files: Sequence[FileHit], options: QueryOptions
) -> tuple[list[ChunkHit], Reflection | None]:
    with searcher.trace.stage("variants") as step:
        make = searcher.stages.make_variants
        made = await make(searcher.database, searcher.question, files, options.variants)
        step["made"] = {
            "names": [each.name for each in made.variants],
            "coherence": made.coherence,
            "reason": made.reason,
        }
    await searcher.take(made.variants)
    if made.is_scattered and intent.hint is None:
        searcher.boost = {}
    if instructions := options.instructions:
        await searcher.add("instructions", f"{searcher.question.text} {instructions}")
    hits = await searcher.search()
    if options.rewrite:
        hits = await rewritten(searcher, hits)
    if not options.reflect:
        return hits, None
    return await reflect(searcher, intent, hits, options.rounds, options.min_coverage)
