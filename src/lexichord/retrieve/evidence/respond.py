"""Hits in, a response out: evidence by intent, an answer, and how sure it is."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from lexichord.db import search
from lexichord.db.evidence import shared_headings
from lexichord.errors import ProviderError
from lexichord.retrieve.evidence import estimate_tokens, format_context, gather_evidence
from lexichord.retrieve.evidence.relevance import Embed
from lexichord.retrieve.judge.confidence import abstain_below
from lexichord.retrieve.judge.reflect import is_passed, unsupported
from lexichord.retrieve.search.embedding import by_words
from lexichord.retrieve.search.searcher import Searcher
from lexichord.retrieve.understand.aspects import MOST, find_aspects
from lexichord.types import ChunkHit, ContextSource, FileHit, QueryOptions, Response, StoredDocument
from lexichord.types.evidence import Answer, Brief, Evidence
from lexichord.types.questions import Intent
from lexichord.types.reflection import Reflection


async def gather(
    searcher: Searcher, intent: Intent, files: Sequence[FileHit], hits: Sequence[ChunkHit]
) -> Evidence:
    """Gather the evidence that the intent asks for."""
    about = searcher.about
    aspects = await _aspects(searcher, intent) if intent.kind == "comparison" else ()
    with searcher.trace.stage("aggregate", about=about.text, aspects=list(aspects)) as step:
        vectors: Sequence[Sequence[float]] | None = None
        if about.vector is not None:
            vectors = await searcher.embed(aspects) if aspects else [about.vector]
        gathered = partial(
            gather_evidence,
            searcher.database,
            intent.kind,
            about.text,
            hits,
            aspects=aspects,
            files=await _rows(searcher, intent, files),
            join=searcher.stages.join_neighbours,
        )
        found = await _by_meaning(
            searcher,
            vectors is not None,
            lambda embed: gathered(
                vectors=vectors if embed else None, space=about.space, embed=embed
            ),
        )
        step["made"] = {"quotes": len(found.quotes)}
        step["dropped"] = list(found.dropped)
    return found


async def _by_meaning[T](
    searcher: Searcher, has_vectors: bool, make: Callable[[Embed | None], Awaitable[T]]
) -> T:
    """Make something with vectors of sentences, or, where they fail, by words."""
    if not has_vectors:
        return await make(None)
    try:
        return await make(searcher.embed_documents)
    except ProviderError as error:
        searcher.trace.degrade(by_words(error))
        return await make(None)


async def _aspects(searcher: Searcher, intent: Intent) -> Sequence[str]:
    """Give the columns of a comparison: those of the question, else headings that its files share.

    "Compare the lease and the licence" names no aspect; all of it is left as the question then.
    """
    aspects = find_aspects(intent.question, intent.hint)
    if aspects != (searcher.asked,) or len(intent.documents) < 2:
        return aspects
    return await shared_headings(searcher.database, intent.documents, MOST) or aspects


async def _rows(searcher: Searcher, intent: Intent, files: Sequence[FileHit]) -> Sequence[FileHit]:
    """Give the files to compare: those that the query names, else those that were discovered."""
    if intent.kind != "comparison" or len(intent.documents) < 2:
        return files
    known = {file.document_id: file for file in files}
    scope = replace(searcher.question.scope, documents=intent.documents)
    listed = await search.list_documents(searcher.database, scope)
    named = {each.document_id: _unscored(each) for each in listed}
    return [known.get(each, named[each]) for each in intent.documents if each in named]


def _unscored(document: StoredDocument) -> FileHit:
    place = (document.document_id, document.dataset, document.uri, document.title)
    return FileHit(*place, score=0.0, scores={}, hits=0)


async def respond(
    searcher: Searcher,
    intent: Intent,
    files: list[FileHit],
    hits: list[ChunkHit],
    sure: float,
    reflection: Reflection | None,
    options: QueryOptions,
    advice: str = "",
) -> Response:
    """Put evidence, context and, if asked for, an answer into a response.

    `advice` is what a reader missed in an earlier answer.
    """
    found = await gather(searcher, intent, files, hits)
    abstained = _abstains(searcher, intent, found, sure)
    with searcher.trace.stage("answer") as step:
        context, sources = _context(searcher, found, options)
        answer = Answer("")
        if options.answer and not abstained:
            brief = Brief(intent.kind, searcher.question.text, advice)
            answer = await _answer(searcher, brief, found, sources)
        lengths = {"characters": len(context), "answer": len(answer.text)}
        step["made"] = {"sources": len(sources), **lengths}
        step["dropped"] = _left_out(found, sources)
    return Response(
        query=searcher.asked,
        intent=intent,
        files=files,
        hits=hits,
        context=context,
        sources=sources,
        quotes=found.quotes,
        answer=answer.text,
        unverified=answer.unverified,
        comparison=answer.comparison or found.comparison,
        confidence=sure,
        abstained=abstained,
        reflection=reflection and _checked(reflection, answer.text, found, options),
        degraded=searcher.trace.degraded,
        timings_ms=searcher.trace.timings_ms,
        trace=list(searcher.trace.steps),
    )


def _abstains(searcher: Searcher, intent: Intent, found: Evidence, sure: float) -> bool:
    """Tell whether the evidence is too little to answer by.

    The confidence was calibrated on questions for one thing: a table and a summary are judged by
    whether they hold anything.
    """
    if intent.kind in ("comparison", "summary"):
        return not found.quotes
    return sure < abstain_below(searcher.question.vector)


def _context(
    searcher: Searcher, found: Evidence, options: QueryOptions
) -> tuple[str, list[ContextSource]]:
    return format_context(
        found.quotes,
        options.max_length,
        options.format,
        searcher.question.text,
        estimate_tokens if options.unit == "tokens" else len,
    )


def _left_out(found: Evidence, sources: Sequence[ContextSource]) -> list[str]:
    """Name the passages that the context had no room for."""
    shown = {(source.document_id, source.start) for source in sources}
    left = (quote for quote in found.quotes if (quote.document_id, quote.start) not in shown)
    return [f"no room for {quote.uri}:{quote.start}-{quote.end}" for quote in left]


async def _answer(
    searcher: Searcher, brief: Brief, found: Evidence, sources: Sequence[ContextSource]
) -> Answer:
    write = partial(searcher.stages.write_answer, searcher.database, brief, found, sources)
    return await _by_meaning(searcher, searcher.question.vector is not None, write)


def _checked(
    reflection: Reflection, answer: str, found: Evidence, options: QueryOptions
) -> Reflection:
    """Look for each number and date of the answer in the sources and their names."""
    sources = [part for q in found.quotes for part in (q.text, q.title, q.uri, q.heading)]
    if found.comparison is not None:
        sources += [part for file in found.comparison.documents for part in (file.title, file.uri)]
        sources += found.comparison.aspects
    checked = replace(reflection, unsupported=unsupported(answer, sources))
    return replace(checked, passed=is_passed(checked, options.min_coverage))
