"""The order of the stages: intent, discover, variants, search, reflect, aggregate."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from lexichord.db import search
from lexichord.db.pool import Database, Row
from lexichord.errors import ConfigError
from lexichord.providers.base import Embedder
from lexichord.retrieve.aggregate import (
    MAX_LENGTH,
    estimate_tokens,
    format_context,
    gather_evidence,
    write_answer,
)
from lexichord.retrieve.confidence import abstain_below, confidence
from lexichord.retrieve.discover import SHOWN, discover
from lexichord.retrieve.intent import find_intent
from lexichord.retrieve.rounds import Searcher, reflect, rewritten
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.variants import VARIANTS, make_variants
from lexichord.types import ChunkHit, FileHit, QueryOptions, Question, Response
from lexichord.types.evidence import Evidence
from lexichord.types.intent import Intent
from lexichord.types.reflection import Reflection

# Evidence recall within 4,000 characters on half of the NDA questions, raw / by hint:
# no boost 72.0; the top 1, 3, 5 files 81.7 / 85.6, 82.7 / 85.6, 82.9 / 84.7;
# boost .5, 1, 2, 4: 81.3 / 54.5, 82.6 / 84.4, 82.7 / 85.6, 82.8 / 85.6.
# A hint names files, a question only suggests them: there the smallest boost that does most of
# the good still lets another file's better chunk come first.
FILES = 3  # whose own chunks become candidates
BOOST = 0.5  # points of fused score for a point of file score
HINT_BOOST = 2.0


async def search_chunks(database: Database, question: Question) -> list[ChunkHit]:
    """Find chunks; a hint prefers the files that it names."""
    files = await discover(database, question, [], SHOWN) if question.hint else []
    return await search.hybrid_search(database, question, _boost(files, question.hint))


async def query(
    database: Database,
    embedder: Embedder | None,
    question: Question,
    options: QueryOptions,
    degraded: list[str],
) -> Response:
    """Find the files, then evidence in the whole scope and inside them, by the query's intent.

    `question` holds the query as it was asked, without vectors. Raises ConfigError, DatabaseError,
    ProviderError.
    """
    trace = Trace()
    with trace.stage("intent", query=question.text, hint=question.hint) as step:
        intent = await _intent(database, question, options)
        step["made"] = {"kind": intent.kind, "hint": intent.hint, "reason": intent.reason}
    with trace.stage("embed"):
        asked = await _asked(embedder, question, intent)
    with trace.stage("discover", hint=asked.hint) as step:
        files = await discover(database, asked, degraded, options.get("files", SHOWN))
        step["made"] = [{"document_id": f.document_id, "score": f.score} for f in files]
    boost = _boost(files, asked.hint)
    searcher = Searcher(database, embedder, asked, boost, trace, question.text)
    hits, reflection = await _search(searcher, intent, files, options)
    hits = _above(hits, options, trace)
    found = await _gather(searcher, intent, files, hits)
    return await _respond(searcher, intent, files, hits, found, reflection, options, degraded)


async def _intent(database: Database, question: Question, options: QueryOptions) -> Intent:
    intent = await find_intent(database, question.text, question.hint, question.scope)
    given = options.get("intent")
    return intent if given is None else replace(intent, kind=given, reason="given")


async def _asked(embedder: Embedder | None, question: Question, intent: Intent) -> Question:
    """Give the question with what the intent made of it, and its vectors."""
    k = question.depth if intent.kind == "list_all" else question.k
    asked = replace(question, text=intent.question, hint=intent.hint, k=k)
    if embedder is None or question.mode == "keyword":
        return asked
    texts = [text for text in (asked.text, asked.hint) if text is not None]
    vectors = [*(await asyncio.to_thread(embedder.embed, texts, "query")).tolist(), None]
    return replace(asked, vector=vectors[0], hint_vector=vectors[1])


def _boost(files: Sequence[FileHit], hint: str | None) -> dict[str, float]:
    points = BOOST if hint is None else HINT_BOOST
    return {str(file.document_id): points * max(file.score, 0) for file in files[:FILES]}


async def _search(
    searcher: Searcher, intent: Intent, files: Sequence[FileHit], options: QueryOptions
) -> tuple[list[ChunkHit], Reflection | None]:
    with searcher.trace.stage("variants") as step:
        most = options.get("variants", VARIANTS)
        made = await make_variants(searcher.database, searcher.question, files, most=most)
        step["made"] = {
            "names": [each.name for each in made.variants],
            "coherence": made.coherence,
            "reason": made.reason,
        }
    searcher.variants += made.variants
    hits = await searcher.search()
    if options.get("rewrite"):
        hits = await rewritten(searcher, hits)
    if not options.get("reflect"):
        return hits, None
    return await reflect(searcher, intent, hits)


def _above(hits: list[ChunkHit], options: QueryOptions, trace: Trace) -> list[ChunkHit]:
    """Drop hits below the least of a named score."""
    least = options.get("min_score", {})
    if unknown := set(least).difference(("dense", "keyword", "fused", "variants")):
        raise ConfigError(f"there is no score {', '.join(sorted(unknown))}")
    if not least:
        return hits
    kept = [
        hit for hit in hits if all((hit.scores.get(name) or 0) >= least[name] for name in least)
    ]
    with trace.stage("min_score", **least) as step:
        dropped = {hit.chunk_id for hit in hits}.difference(hit.chunk_id for hit in kept)
        step["dropped"] = sorted(dropped)
    return kept


async def _gather(
    searcher: Searcher, intent: Intent, files: Sequence[FileHit], hits: Sequence[ChunkHit]
) -> Evidence:
    question, embedder = searcher.question, searcher.embedder
    aspects = intent.sub_questions if intent.kind == "comparison" else ()
    with searcher.trace.stage("aggregate", kind=intent.kind, aspects=list(aspects)) as step:
        vectors: Sequence[Sequence[float]] | None = None
        if question.vector is not None:
            vectors = [question.vector]
        if aspects and embedder is not None and question.vector is not None:
            vectors = await searcher.embed(aspects)
        found = await gather_evidence(
            searcher.database,
            intent.kind,
            question.text,
            hits,
            aspects=aspects,
            files=await _rows(searcher, intent, files),
            vectors=vectors,
            space=question.space,
            embed=searcher.embed_documents if question.vector is not None else None,
        )
        step["dropped"] = list(found.dropped)
    return found


async def _rows(searcher: Searcher, intent: Intent, files: Sequence[FileHit]) -> Sequence[FileHit]:
    """Give the files to compare: those that the query names, else those that were discovered."""
    if intent.kind != "comparison" or len(intent.documents) < 2:
        return files
    known = {file.document_id: file for file in files}
    scope = replace(searcher.question.scope, documents=intent.documents)
    listed = await search.list_documents(searcher.database, scope)
    named = {row["document_id"]: _unscored(row) for row in listed}
    return [known.get(each, named[each]) for each in intent.documents if each in named]


def _unscored(row: Row) -> FileHit:
    place = (row["document_id"], row["dataset"], row["uri"], row["title"])
    return FileHit(*place, score=0.0, scores={}, hits=0)


def _abstains(intent: Intent, found: Evidence, sure: float, question: Question) -> bool:
    """Tell whether the evidence is too little to answer by.

    The confidence was calibrated on questions for one thing: a table and a summary are judged by
    whether they hold anything.
    """
    if intent.kind in ("comparison", "summary"):
        return not found.quotes
    return sure < abstain_below(question.vector)


async def _respond(
    searcher: Searcher,
    intent: Intent,
    files: list[FileHit],
    hits: list[ChunkHit],
    found: Evidence,
    reflection: Reflection | None,
    options: QueryOptions,
    degraded: list[str],
) -> Response:
    question, trace = searcher.question, searcher.trace
    with trace.stage("confidence"):
        sure = await confidence(searcher.database, question.text, hits, question.vector)
    abstained = _abstains(intent, found, sure, question)
    with trace.stage("answer"):
        context, sources = format_context(
            found.quotes,
            options.get("max_length", MAX_LENGTH),
            options.get("format", "simple"),
            question.text,
            estimate_tokens if options.get("unit") == "tokens" else len,
        )
        answer = ""
        if options.get("answer") and not abstained:
            embed = searcher.embed_documents if question.vector is not None else None
            answer = await write_answer(
                searcher.database, intent.kind, question.text, found, sources, embed
            )
    return Response(
        query=searcher.asked,
        intent=intent,
        files=files,
        hits=hits,
        context=context,
        sources=sources,
        quotes=found.quotes,
        answer=answer,
        comparison=found.comparison,
        confidence=sure,
        abstained=abstained,
        reflection=reflection,
        degraded=degraded,
        timings_ms=trace.timings_ms,
        trace=list(trace.steps),
    )
