"""Hits in, a response out: evidence by intent, its context, an answer, and how sure it is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from lexichord.db import catalogue
from lexichord.db.search import shared_headings
from lexichord.retrieve.confidence import MAX_DENIED_CONFIDENCE, MIN_CONFIDENCE
from lexichord.retrieve.evidence.answer import (
    format_context,
    write_denial,
    write_nearest,
)
from lexichord.retrieve.evidence.passages import aggregate_evidence
from lexichord.retrieve.evidence.relevance import Meaning
from lexichord.retrieve.evidence.sentences import (
    MIN_CLAIMED_CONFIDENCE,
    RankedSentences,
    rank_sentences,
)
from lexichord.retrieve.judged_hits import (
    Judged,
    abstention_threshold,
    filter_to_named,
    find_relevant,
    judge,
    named_first,
    unnamed,
)
from lexichord.retrieve.reflection import is_passed
from lexichord.retrieve.stages import QueryContext, SearchPlan, name_of
from lexichord.retrieve.trace import emit, remarks
from lexichord.retrieve.understand.aspects import MAX_ASPECTS, aspects_of
from lexichord.retrieve.values import find_unsupported
from lexichord.types import ContextSource, FileHit, Response, StoredDocument
from lexichord.types.evidence import Answer, AnswerRequest, Evidence, Quote
from lexichord.types.questions import Intent
from lexichord.types.response import EvidenceEvent, Reflection

MAX_ELSEWHERE = 2  # documents whose sentences are shown beside a named one that does not say


async def aggregate(context: QueryContext, plan: SearchPlan, judged: Judged) -> Evidence:
    """Return the evidence that the intent asks for: the passages that were read, where any were."""
    if judged.clauses is not None:
        return judged.clauses
    intent, about = plan.intent, plan.about
    hits = filter_to_named(intent, judged.hits)
    aspects = await _aspects(context, intent) if intent.kind == "comparison" else ()
    with context.trace.stage("aggregate", about=about.query, aspects=list(aspects)) as step:
        vectors: Sequence[Sequence[float]] | None = None
        if about.vector is not None:
            vectors = await context.embed(aspects, about) if aspects else [about.vector]
        aggregate_by = partial(
            aggregate_evidence,
            context.database,
            intent.kind,
            about.query,
            hits,
            aspects=aspects,
            files=await _rows(context, plan, aspects),
            join=context.stages.join_neighbours,
        )
        evidence = await context.by_meaning(
            vectors is not None and context.calibration is not None,
            lambda embed: aggregate_by(
                meaning=Meaning(vectors, about.space, embed, context.align)
                if vectors is not None and embed is not None
                else None
            ),
        )
        step["made"] = {"quotes": len(evidence.quotes)}
        step["dropped"] = list(evidence.dropped)
    return evidence


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
    abstained = _abstains(
        plan.intent, evidence, judged, abstention_threshold(context, plan, judged)
    )
    with context.trace.stage("answer", **context.by("write_answer")) as step:
        text, sources = _format(context, plan, evidence)
        emit(EvidenceEvent(judged.confidence, abstained, text, sources, evidence.quotes))
        # What is asked of an identifier that no text holds is answered of another one at most.
        asked = replace(plan.question, query=context.query)
        said = await remarks(context.database, asked, judged.hits)
        for line in said:
            context.trace.degrade(line)
        writer = _Writer(context, plan, judged, evidence, sources, is_absent=bool(said))
        answer, elsewhere, claimed = Answer(""), tuple[Quote, ...](), False
        if context.options.answer and abstained:
            elsewhere = await writer.find_elsewhere() if plan.intent.documents else ()
            answer = await writer.doubt(elsewhere)
        elif context.options.answer:
            answer, claimed = await writer.write(advice)
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
        confidence=judged.confidence,
        answer_confidence=answer.confidence if answer.text else None,
        abstained=abstained,
        claimed=claimed,
        phrase=answer.phrase if claimed else None,
        elsewhere=elsewhere,
        # What nothing answers is about those that it names.
        relevant_files=find_relevant([] if abstained else plan.files, plan.intent.documents),
        reflection=reflection,
        degraded=context.trace.degraded,
        timings_ms=context.trace.timings_ms,
        trace=list(context.trace.steps),
    )


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes an answer, or what stands in its place, from evidence that `sources` show."""

    context: QueryContext
    plan: SearchPlan
    judged: Judged
    evidence: Evidence
    sources: Sequence[ContextSource]
    is_absent: bool  # something that the question names is in no text

    async def write(self, advice: str) -> tuple[Answer, bool]:
        """Write an answer, and say whether it is meant as one: it is not known to be unlikely.

        Of what is in no text it is not, unless it is a table, a list or a summary.
        """
        context, brief = self.context, self._brief(advice, self.judged.confidence)
        answer = await context.by_meaning(
            context.calibration_of(self.plan.question) is not None,
            lambda embed: context.stages.write_answer(
                database=context.database,
                brief=brief,
                evidence=self.evidence,
                sources=self.sources,
                embed=embed,
            ),
        )
        likely = answer.confidence is None or answer.confidence >= MIN_CLAIMED_CONFIDENCE
        is_of_another = self.is_absent and answer.best is not None
        claimed = bool(answer.text) and likely and not is_of_another
        if is_of_another:
            answer = replace(answer, confidence=None)  # it was judged as if it were of that
        if answer.best is not None and not claimed:
            answer = await self._show_nearest(answer, holds=not is_of_another)
        return answer, claimed

    async def doubt(self, elsewhere: Sequence[Quote]) -> Answer:
        """Write what comes nearest, or, where hardly anything does, that documents do not say.

        Of a question that names none the latter is no answer at all.
        """
        if self.judged.confidence >= MAX_DENIED_CONFIDENCE:
            ranked = await self._rank(self._passages(), self.judged.confidence)
            if ranked.quotes:
                nearest = Answer("", confidence=ranked.confidence, best=ranked.quotes[0])
                return await self._show_nearest(nearest, holds=False)
        if not self.plan.intent.documents:
            return Answer("")
        return Answer(write_denial(await self._titles(), elsewhere))

    async def find_elsewhere(self) -> tuple[Quote, ...]:
        """Return what documents that the query does not name say: a sentence each, the best."""
        named = self.plan.intent.documents
        hits = [hit for hit in self.judged.hits if hit.document_id not in named]
        if (await judge(self.context, self.plan, hits)).confidence < MIN_CONFIDENCE:
            return ()
        best: dict[str, Quote] = {}
        for quote in (await self._rank([Quote.of(hit) for hit in hits])).quotes:
            best.setdefault(quote.document_id, quote)
        return tuple(best.values())[:MAX_ELSEWHERE]

    def _brief(self, advice: str, confidence: float | None) -> AnswerRequest:
        context, intent = self.context, self.plan.intent
        asked = (intent.kind, unnamed(intent), advice)
        return AnswerRequest(*asked, confidence, context.align, context.read)

    async def _rank(
        self, quotes: Sequence[Quote], confidence: float | None = None
    ) -> RankedSentences:
        context, brief = self.context, self._brief("", confidence)
        return await context.by_meaning(
            context.calibration_of(self.plan.question) is not None,
            lambda embed: rank_sentences(context.database, brief, quotes, embed),
        )

    async def _show_nearest(self, answer: Answer, *, holds: bool) -> Answer:
        """Write the best passage with its best sentence marked, in the place of an answer."""
        assert answer.best is not None
        shown = (answer.best, self._passages(), self.sources)
        text = write_nearest(await self._titles(), *shown, holds=holds)
        return replace(answer, text=text)

    def _passages(self) -> Sequence[Quote]:
        """Return the evidence; of an empty table the hits of the documents that are named."""
        named = self.plan.intent.documents
        hits = (hit for hit in self.judged.hits if not named or hit.document_id in named)
        return self.evidence.quotes or [Quote.of(hit) for hit in hits]

    async def _titles(self) -> list[str]:
        """Return the titles of the documents that the query names."""
        named = self.plan.intent.documents
        if not named:
            return []
        scope = replace(self.plan.question.scope, documents=named)
        listed = await catalogue.list_documents(self.context.database, scope)
        titles = {document.document_id: document.title or document.uri for document in listed}
        return [titles[name] for name in named if name in titles]


def _abstains(intent: Intent, evidence: Evidence, judged: Judged, least: float) -> bool:
    """Return whether the evidence is too little to answer by.

    The confidence was calibrated on questions for one thing: a table and a summary are judged by
    whether they hold anything.
    """
    if intent.kind in ("comparison", "summary"):
        return not evidence.quotes
    return judged.confidence < least


def _format(
    context: QueryContext, plan: SearchPlan, evidence: Evidence
) -> tuple[str, list[ContextSource]]:
    options = context.options
    style, query = options.format, plan.question.query
    return format_context(evidence.quotes, options.max_length, style, query)


def _left_out(evidence: Evidence, sources: Sequence[ContextSource]) -> list[str]:
    """Return a line for each passage that the context had no room for."""
    shown = {(source.document_id, source.start) for source in sources}
    omitted = (quote for quote in evidence.quotes if (quote.document_id, quote.start) not in shown)
    return [f"no room for {quote.uri}:{quote.start}-{quote.end}" for quote in omitted]


def _check(
    context: QueryContext, reflection: Reflection, holds: bool, answer: str, evidence: Evidence
) -> Reflection:
    """Search for each number and date of the answer in the sources and their names.

    What `holds` no answer is no pass.
    """
    sources = [part for q in evidence.quotes for part in (q.text, q.title, q.uri, q.heading)]
    if table := evidence.comparison:
        sources += [part for file in table.documents for part in (file.title, file.uri)]
        sources += table.aspects
    checked = replace(reflection, unsupported=find_unsupported(answer, sources))
    passed = holds and is_passed(checked, context.options.limits.min_coverage)
    return replace(checked, passed=passed)
