"""Hits in, a response out: evidence by intent, its context, an answer, and how sure it is."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from lexichord.db import catalogue
from lexichord.db.evidence import shared_headings
from lexichord.db.pool import Database
from lexichord.retrieve.events import emit
from lexichord.retrieve.evidence.answer import write_denial, write_nearest
from lexichord.retrieve.evidence.clauses import (
    JoinNeighbours,
    find_clauses,
    join_neighbours,
    rank_files,
)
from lexichord.retrieve.evidence.comparison import compare
from lexichord.retrieve.evidence.context import estimate_tokens, format_context
from lexichord.retrieve.evidence.listing import list_all
from lexichord.retrieve.evidence.relevance import EmbedSentences, QuestionVectors
from lexichord.retrieve.evidence.sentences import (
    MIN_CLAIMED_CONFIDENCE,
    RankedSentences,
    rank_sentences,
)
from lexichord.retrieve.evidence.summary import summarise
from lexichord.retrieve.judge.border import border_of
from lexichord.retrieve.judge.confidence import MAX_DENIED_CONFIDENCE, MIN_CONFIDENCE
from lexichord.retrieve.judge.judged import Judged, judge
from lexichord.retrieve.judge.named import hold_to_named, named_first, unnamed
from lexichord.retrieve.judge.reflect import find_unsupported, is_passed
from lexichord.retrieve.judge.relevant import find_relevant
from lexichord.retrieve.query import QueryContext
from lexichord.retrieve.search.chunks import SearchPlan
from lexichord.retrieve.stages import name_of
from lexichord.retrieve.understand.aspects import MAX_ASPECTS, aspects_of
from lexichord.types import ChunkHit, ContextSource, FileHit, Response, StoredDocument
from lexichord.types.evidence import Align, Answer, AnswerRequest, Evidence, Quote, as_it_is
from lexichord.types.questions import Intent
from lexichord.types.response import EvidenceEvent, Reflection

MAX_ELSEWHERE = 2  # documents whose sentences are shown beside a named one that does not say


async def gather(context: QueryContext, plan: SearchPlan, judged: Judged) -> Evidence:
    """Gather the evidence that the intent asks for: the passages that were read, where any were."""
    if judged.clauses is not None:
        return judged.clauses
    intent, about = plan.intent, plan.about
    hits = hold_to_named(intent, judged.hits)
    aspects = await _aspects(context, intent) if intent.kind == "comparison" else ()
    with context.trace.stage("aggregate", about=about.query, aspects=list(aspects)) as step:
        vectors: Sequence[Sequence[float]] | None = None
        if about.vector is not None:
            vectors = await context.embed(aspects, about) if aspects else [about.vector]
        gathered = partial(
            gather_evidence,
            context.database,
            intent.kind,
            about.query,
            hits,
            aspects=aspects,
            files=await _rows(context, plan, aspects),
            join=context.stages.join_neighbours,
            align=context.align,
        )
        evidence = await context.by_meaning(
            vectors is not None and context.calibration is not None,
            lambda embed: gathered(
                vectors=vectors if embed else None, space=about.space, embed=embed
            ),
        )
        step["made"] = {"quotes": len(evidence.quotes)}
        step["dropped"] = list(evidence.dropped)
    return evidence


async def gather_evidence(
    database: Database,
    kind: str,
    question: str,
    hits: Sequence[ChunkHit],
    *,
    aspects: Sequence[str] = (),
    files: Sequence[FileHit] = (),
    vectors: QuestionVectors | None = None,
    space: str | None = None,
    embed: EmbedSentences | None = None,
    join: JoinNeighbours = join_neighbours,
    align: Align = as_it_is,
) -> Evidence:
    """Return the evidence that an intent of this kind asks for.

    Of a comparison `files` are the rows, `aspects` the columns; without aspects the question is the
    only one, without files it is a clause lookup. `vectors` are those of the aspects, or of the
    question alone, of `space`; `embed` gives unit vectors of sentences in that space: better
    choices, more time; `align` gives its cosines as those of the constants. `join` makes passages
    of a clause lookup's quotes.
    """
    if kind == "comparison" and files:
        columns = list(aspects) or [question]
        return await compare(database, columns, files, vectors, space, embed, align)
    if kind == "list_all":
        return await list_all(database, question, hits, vectors, embed, align)
    if kind == "summary":
        summary = await summarise(database, question, hits, embed)
        return replace(summary, files=rank_files(hits))
    return await find_clauses(database, hits, join)


async def _aspects(context: QueryContext, intent: Intent) -> Sequence[str]:
    """Return a comparison's columns: those of the question, else headings that its files share.

    "Compare the lease and the licence" names no aspect; all of it is left as the question then.
    """
    aspects = aspects_of(intent)
    if aspects != (context.query,) or len(intent.documents) < 2:
        return aspects
    return await shared_headings(context.database, intent.documents, MAX_ASPECTS) or aspects


async def _rows(
    context: QueryContext, plan: SearchPlan, aspects: Sequence[str]
) -> Sequence[FileHit]:
    """Return the files to compare: those that the query names, else those that were discovered.

    Of one, several things are compared. Where the query names none and the caller chose some, no
    more than the files wanted, it is these.
    """
    documents, chosen = plan.intent.documents, plan.question.scope.documents
    if not documents or len(documents) + len(aspects) < 3:
        documents = chosen if len(chosen) <= context.options.files else ()
    if plan.intent.kind != "comparison" or not documents:
        return plan.files
    known = {file.document_id: file for file in plan.files}
    scope = replace(plan.question.scope, documents=documents)
    listed = await catalogue.list_documents(context.database, scope)
    named = {document.document_id: _unscored(document) for document in listed}
    return [
        known.get(document_id, named[document_id])
        for document_id in documents
        if document_id in named
    ]


def _unscored(document: StoredDocument) -> FileHit:
    place = (document.document_id, document.dataset, document.uri, document.title)
    return FileHit(*place, score=0.0, scores={}, hits=0)


async def select_evidence(context: QueryContext, plan: SearchPlan, evidence: Evidence) -> Evidence:
    """Keep of the evidence what the caller's own stage keeps; all of it without one."""
    select = context.stages.select_evidence
    if select is None:
        return evidence
    with context.trace.stage(name_of(select), quotes=len(evidence.quotes)) as step:
        kept = await select(question=plan.question, intent=plan.intent, evidence=evidence)
        dropped = (quote for quote in evidence.quotes if quote not in kept.quotes)
        step["made"] = {"quotes": len(kept.quotes)}
        step["dropped"] = [f"{quote.uri}:{quote.start}-{quote.end}" for quote in dropped]
    return kept


async def respond(
    context: QueryContext,
    plan: SearchPlan,
    judged: Judged,
    evidence: Evidence,
    reflection: Reflection | None,
    advice: str = "",
) -> Response:
    """Put evidence, context and, if asked for, an answer into a response.

    `advice` is what a reader missed in an earlier answer.
    """
    confidence = judged.confidence
    abstained = _abstains(plan.intent, evidence, confidence, border_of(context, plan, judged))
    with context.trace.stage("answer", **context.by("write_answer")) as step:
        text, sources = _format(context, plan, evidence)
        emit(EvidenceEvent(confidence, abstained, text, sources, evidence.quotes))
        answer, elsewhere, claimed = Answer(""), tuple[Quote, ...](), False
        if context.options.answer and abstained:
            if plan.intent.documents:
                elsewhere = await _say_others(context, plan, judged.hits)
            answer = await _doubt(context, plan, evidence, confidence, sources, elsewhere)
        elif context.options.answer:
            asked = (plan.intent.kind, unnamed(plan.intent), advice)
            brief = AnswerRequest(*asked, confidence, context.align, context.read)
            answer = await _write(context, plan, brief, evidence, sources)
            claimed = _is_claimed(answer)
            if answer.best is not None and not claimed:
                answer = await _show_nearest(context, plan, answer, evidence, sources)
        lengths = {"characters": len(text), "answer": len(answer.text)}
        step["made"] = {"sources": len(sources), **lengths}
        step["dropped"] = _left_out(evidence, sources)
    if reflection is not None:
        holds = claimed if context.options.answer else not abstained
        reflection = _check(context, reflection, holds, answer.text, evidence)
    return Response(
        query=context.query,
        intent=plan.intent,
        files=plan.files,
        hits=named_first(plan.intent, judged.hits),
        context=text,
        sources=sources,
        quotes=evidence.quotes,
        answer=answer.text,
        unverified=answer.unverified,
        comparison=answer.comparison or evidence.comparison,
        confidence=confidence,
        answer_confidence=_answer_confidence(answer),
        abstained=abstained,
        claimed=claimed,
        phrase=answer.phrase if claimed else None,
        elsewhere=elsewhere,
        relevant_files=_relevant(plan, abstained),
        reflection=reflection,
        degraded=context.trace.degraded,
        timings_ms=context.trace.timings_ms,
        trace=list(context.trace.steps),
    )


def _relevant(plan: SearchPlan, abstained: bool) -> tuple[str, ...]:
    """Return the documents that are meant; what nothing answers is about those that it names."""
    files = [] if abstained else plan.files
    return find_relevant(files, plan.intent.documents)


def _answer_confidence(answer: Answer) -> float | None:
    """Return how likely the first sentence is right; None where words alone judge."""
    return answer.confidence if answer.text else None


def _is_claimed(answer: Answer) -> bool:
    """Return whether an answer is meant as one: it is there, and not known to be unlikely."""
    sure = _answer_confidence(answer)
    return bool(answer.text) and (sure is None or sure >= MIN_CLAIMED_CONFIDENCE)


async def _doubt(
    context: QueryContext,
    plan: SearchPlan,
    evidence: Evidence,
    confidence: float,
    sources: Sequence[ContextSource],
    elsewhere: Sequence[Quote],
) -> Answer:
    """Write what comes nearest, or, where hardly anything does, that named documents do not say.

    Of a question that names none the latter is no answer at all.
    """
    if confidence >= MAX_DENIED_CONFIDENCE:
        ranked = await _rank(context, plan, evidence.quotes, confidence)
        if ranked.quotes:
            nearest = Answer("", confidence=ranked.confidence, best=ranked.quotes[0])
            return await _show_nearest(context, plan, nearest, evidence, sources)
    if not plan.intent.documents:
        return Answer("")
    return Answer(write_denial(await _titles(context, plan), elsewhere))


async def _show_nearest(
    context: QueryContext,
    plan: SearchPlan,
    answer: Answer,
    evidence: Evidence,
    sources: Sequence[ContextSource],
) -> Answer:
    """Write the best passage with its best sentence marked, in the place of an answer."""
    assert answer.best is not None
    titles = await _titles(context, plan) if plan.intent.documents else []
    return replace(answer, text=write_nearest(titles, answer.best, evidence.quotes, sources))


async def _rank(
    context: QueryContext,
    plan: SearchPlan,
    quotes: Sequence[Quote],
    confidence: float | None = None,
) -> RankedSentences:
    question = unnamed(plan.intent)
    return await context.by_meaning(
        context.calibration_of(plan.question) is not None,
        lambda embed: rank_sentences(
            context.database, question, quotes, embed, confidence, context.align, context.read
        ),
    )


async def _say_others(
    context: QueryContext, plan: SearchPlan, hits: Sequence[ChunkHit]
) -> tuple[Quote, ...]:
    """Return what documents that the query does not name say of it: a sentence each, the best."""
    other_hits = [hit for hit in hits if hit.document_id not in plan.intent.documents]
    if (await judge(context, plan, other_hits)).confidence < MIN_CONFIDENCE:
        return ()
    best: dict[str, Quote] = {}
    ranked = await _rank(context, plan, [Quote.of(hit) for hit in other_hits])
    for quote in ranked.quotes:
        best.setdefault(quote.document_id, quote)
    return tuple(best.values())[:MAX_ELSEWHERE]


async def _titles(context: QueryContext, plan: SearchPlan) -> list[str]:
    scope = replace(plan.question.scope, documents=plan.intent.documents)
    listed = await catalogue.list_documents(context.database, scope)
    titles = {document.document_id: document.title or document.uri for document in listed}
    return [titles[name] for name in plan.intent.documents if name in titles]


def _abstains(intent: Intent, evidence: Evidence, confidence: float, least: float) -> bool:
    """Return whether the evidence is too little to answer by.

    The confidence was calibrated on questions for one thing: a table and a summary are judged by
    whether they hold anything.
    """
    if intent.kind in ("comparison", "summary"):
        return not evidence.quotes
    return confidence < least


def _format(
    context: QueryContext, plan: SearchPlan, evidence: Evidence
) -> tuple[str, list[ContextSource]]:
    options = context.options
    length = estimate_tokens if options.unit == "tokens" else len
    style, query = options.format, plan.question.query
    return format_context(evidence.quotes, options.max_length, style, query, length)


def _left_out(evidence: Evidence, sources: Sequence[ContextSource]) -> list[str]:
    """Return a line for each passage that the context had no room for."""
    shown = {(source.document_id, source.start) for source in sources}
    omitted = (quote for quote in evidence.quotes if (quote.document_id, quote.start) not in shown)
    return [f"no room for {quote.uri}:{quote.start}-{quote.end}" for quote in omitted]


async def _write(
    context: QueryContext,
    plan: SearchPlan,
    brief: AnswerRequest,
    evidence: Evidence,
    sources: Sequence[ContextSource],
) -> Answer:
    return await context.by_meaning(
        context.calibration_of(plan.question) is not None,
        lambda embed: context.stages.write_answer(
            database=context.database,
            brief=brief,
            evidence=evidence,
            sources=sources,
            embed=embed,
        ),
    )


def _check(
    context: QueryContext, reflection: Reflection, holds: bool, answer: str, evidence: Evidence
) -> Reflection:
    """Look for each number and date of the answer in the sources and their names.

    What `holds` no answer is no pass.
    """
    sources = [part for q in evidence.quotes for part in (q.text, q.title, q.uri, q.heading)]
    if table := evidence.comparison:
        sources += [part for file in table.documents for part in (file.title, file.uri)]
        sources += table.aspects
    checked = replace(reflection, unsupported=find_unsupported(answer, sources))
    passed = holds and is_passed(checked, context.options.min_coverage)
    return replace(checked, passed=passed)
