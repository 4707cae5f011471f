"""Searching and writing again, where what was found is judged to lack something.

What the evidence covers is measured; a round adds a way of asking to the plan, and each function
returns the plan that its hits come from.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import get_args

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.errors import LexichordError, ProviderError
from lexichord.retrieve.evidence.sentences import FOUND
from lexichord.retrieve.judged_hits import (
    Judged,
    abstention_threshold,
    filter_to_named,
    find_readable,
    judge,
    unnamed,
)
from lexichord.retrieve.stages import (
    STAGES,
    GradeAnswer,
    QueryContext,
    SearchPlan,
    add_wording,
    search_by_plan,
)
from lexichord.retrieve.understand import WORD
from lexichord.types import ChunkHit, ReflectOptions, Response
from lexichord.types.response import (
    Budget,
    Coverage,
    Decision,
    Grading,
    Reflection,
    Rewrite,
    Round,
    Term,
    Wording,
)

NO_REWRITE = (
    "not searched in other words: rewrite needs a language model "
    "(LEXICHORD_LLM, and rewrite among llm_stages)"
)
NO_WORDING_LEFT = "no other wording is left"
MIN_SUB_QUESTION_COVERAGE = 0.5  # of a sub-question's weight, in one passage; not tuned


async def measure_coverage(
    database: Database,
    question: str,
    hits: Sequence[ChunkHit],
    entities: Sequence[str] = (),
    sub_questions: Sequence[str] = (),
) -> Coverage:
    """Measure what the hits cover of a question, its entities and its sub-questions.

    The score is the mean of the parts that the question has: the idf-weighted share of its terms,
    the share of its entities, and of its sub-questions.
    """
    ids = [hit.chunk_id for hit in hits]
    terms = await search.question_coverage(database, question, ids)
    parts = [await search.question_coverage(database, part, ids) for part in sub_questions]
    missing = missing_entities(entities, hits)
    uncovered = [
        part
        for part, part_terms in zip(sub_questions, parts, strict=True)
        if not is_covered(part_terms)
    ]
    shares = [_share(entities, missing), _share(sub_questions, uncovered)]
    known = [share for share in (held_share(terms), *shares) if share is not None]
    return Coverage(
        score=sum(known) / len(known) if known and hits else 0.0,
        missing_terms=tuple(word for term in terms if not term.chunks for word in term.words),
        missing_entities=tuple(missing),
        uncovered_sub_questions=tuple(uncovered),
    )


def cover_by_reading(covered: Coverage, answered: Mapping[str, bool]) -> Coverage:
    """Return coverage as a reader tells it: the share of what is asked that it finds answered.

    `answered` says it of each sub-question, or of the question alone.
    """
    missing = tuple(question for question, is_answered in answered.items() if not is_answered)
    return replace(
        covered,
        score=1 - len(missing) / len(answered),
        uncovered_sub_questions=missing if len(answered) > 1 else (),
    )


def held_share(terms: Sequence[Term], chunks: Sequence[str] | None = None) -> float | None:
    """Return the idf-weighted share of terms that any chunk (of `chunks`) holds; None of none."""
    whole = sum(term.idf for term in terms)
    held = sum(
        term.idf
        for term in terms
        if (term.chunks if chunks is None else set(chunks).intersection(term.chunks))
    )
    return held / whole if whole else None


def is_covered(terms: Sequence[Term]) -> bool:
    """Return whether one passage alone speaks of a question."""
    passages = {chunk for term in terms for chunk in term.chunks}
    return any(
        (held_share(terms, [passage]) or 0) >= MIN_SUB_QUESTION_COVERAGE for passage in passages
    )


def missing_entities(entities: Sequence[str], hits: Sequence[ChunkHit]) -> list[str]:
    """Return the entities whose words no hit has, as a phrase, in its title, heading or content."""
    texts = [f" {_plain(part)} " for hit in hits for part in (hit.title, hit.heading, hit.content)]
    return [
        entity for entity in entities if not any(f" {_plain(entity)} " in text for text in texts)
    ]


def decide_next_query(
    covered: Coverage,
    budget: Budget,
    rewrites: Sequence[Rewrite] = (),
    tried: Sequence[str] = (),
    expected_ms: float = 0.0,
    min_coverage: float = ReflectOptions.min_coverage,
) -> Decision:
    """Return the next query of `rewrites` that was not tried, or stop and say why.

    `expected_ms` is what a round takes: none is begun that the budget has no room for. A
    `min_coverage`, 0 to 1, needs no further round.
    """
    if covered.score >= min_coverage and not covered.uncovered_sub_questions:
        return Decision(None, f"the evidence covers {covered.score:.0%}")
    if budget.rounds < 1:
        return Decision(None, "no rounds are left")
    if budget.milliseconds <= 0 or budget.milliseconds < expected_ms:
        return Decision(None, f"{max(0, budget.milliseconds):.0f} ms are left, too few for a round")
    searched = {text.casefold() for text in tried}
    for part in covered.uncovered_sub_questions:
        if part.casefold() not in searched:
            return Decision(part, "a sub-question without evidence, asked alone")
    for rewrite in rewrites:
        if rewrite.kind != "none" and rewrite.text.casefold() not in searched:
            return Decision(rewrite.text, f"{rewrite.kind}: {rewrite.reason}")
    return Decision(None, NO_WORDING_LEFT)


def add_round(reflection: Reflection, round_: Round, covered: Coverage | None = None) -> Reflection:
    """Add a round; one with an error leaves the coverage as it was, and is no pass."""
    errors = (*reflection.errors, round_.error) if round_.error else reflection.errors
    return replace(
        reflection,
        rounds=(*reflection.rounds, round_),
        coverage=reflection.coverage if round_.error or covered is None else covered,
        errors=errors,
    )


def is_passed(
    reflection: Reflection,
    min_coverage: float = ReflectOptions.min_coverage,
    min_grade: float = ReflectOptions.min_grade,
) -> bool:
    """Return whether coverage and grades are enough, nothing is unsupported and nothing failed."""
    covered = reflection.coverage
    complete = covered is not None and covered.score >= min_coverage
    graded = all(grade.score >= min_grade for grade in reflection.grades)
    return complete and graded and not reflection.unsupported and not reflection.errors


def _share(parts: Sequence[str], missing: Sequence[str]) -> float | None:
    return 1 - len(missing) / len(parts) if parts else None


def _plain(text: str) -> str:
    return " ".join(WORD.findall(text.casefold()))


type WriteAgain = Callable[[SearchPlan, Judged, Reflection | None, str], Awaitable[Response]]


async def search_rewritten(
    context: QueryContext, plan: SearchPlan, hits: list[ChunkHit]
) -> tuple[SearchPlan, list[ChunkHit]]:
    """Search once more, by the question in other words as well, if there are any.

    They are a model's or the caller's own: words of the documents gave nothing beyond noise, and
    cost code 2.7 points of Pass@5 (docs/evaluation.md).
    """
    if context.stages.rewrite is STAGES.rewrite:
        context.trace.degrade(NO_REWRITE)
        return plan, hits
    with context.trace.stage("rewrite", **context.by("rewrite")) as step:
        rewrite = await _rewrite(context, plan, hits)
        step["made"] = {"kind": rewrite.kind, "text": rewrite.text, "reason": rewrite.reason}
    if rewrite.kind == "none":
        return plan, hits
    plan = await add_wording(context, plan, "rewrite", rewrite.text)
    return plan, await search_by_plan(context, plan)


async def _rewrite(
    context: QueryContext,
    plan: SearchPlan,
    hits: Sequence[ChunkHit],
    kind: Wording | None = None,
) -> Rewrite:
    question, scope = plan.question.query, plan.question.scope
    return await context.stages.rewrite(
        database=context.database, question=question, hits=hits, scope=scope, kind=kind
    )


async def fall_back(
    context: QueryContext, plan: SearchPlan, judged: Judged
) -> tuple[SearchPlan, Judged]:
    """While the hits are too little to answer by, search by one more of the caller's own queries.

    What it finds is judged by the question that was asked, and kept if that is enough.
    """
    for number, text in enumerate(context.options.fallbacks, start=1):
        if judged.confidence >= abstention_threshold(context, plan, judged):
            break
        with context.trace.stage("fallback", query=text):
            wider = await add_wording(context, plan, f"fallback {number}", text)
        found = await judge(context, wider, await search_by_plan(context, wider))
        if found.confidence >= abstention_threshold(context, wider, found):
            return wider, found
    return plan, judged


async def reflect(
    context: QueryContext, plan: SearchPlan, hits: list[ChunkHit]
) -> tuple[SearchPlan, list[ChunkHit], Reflection]:
    """Search again while the evidence lacks something, and rounds and time last."""
    tried = [plan.question.query]
    reflection = Reflection(await _measure_coverage(context, plan, hits), "")
    while True:
        decision = await _decide(context, plan, hits, reflection, tried)
        if decision.query is None:
            return plan, hits, replace(reflection, stopped=decision.reason)
        tried.append(decision.query)
        plan, hits, reflection = await _search_again(context, plan, hits, reflection, decision)


async def _decide(
    context: QueryContext,
    plan: SearchPlan,
    hits: Sequence[ChunkHit],
    reflection: Reflection,
    tried: Sequence[str],
) -> Decision:
    """Decide what to search next; other wordings are looked for only if they are needed."""
    assert reflection.coverage is not None
    limits, trace = context.options.limits, context.trace
    budget = Budget(limits.rounds - len(reflection.rounds), trace.left * 1000)
    ends = (tried, trace.latest_ms("search"), limits.min_coverage)
    decision = decide_next_query(reflection.coverage, budget, (), *ends)
    if decision.reason != NO_WORDING_LEFT:
        return decision
    for kind in get_args(Wording):
        rewrite = await _rewrite(context, plan, hits, kind)
        decision = decide_next_query(reflection.coverage, budget, [rewrite], *ends)
        if decision.query is not None:
            break
    return decision


async def _search_again(
    context: QueryContext,
    plan: SearchPlan,
    hits: list[ChunkHit],
    reflection: Reflection,
    decision: Decision,
) -> tuple[SearchPlan, list[ChunkHit], Reflection]:
    """Search by one more query; a failure leaves hits and coverage as they were."""
    assert decision.query is not None
    started, coverage, error = perf_counter(), None, None
    with context.trace.stage("reflect", query=decision.query, reason=decision.reason) as step:
        try:
            name = f"round {len(reflection.rounds) + 1}"
            plan = await add_wording(context, plan, name, decision.query)
            hits = await search_by_plan(context, plan)
            coverage = await _measure_coverage(context, plan, hits)
        except LexichordError as failure:
            error = str(failure)
        step["made"] = {"coverage": coverage and coverage.score, "error": error}
    spent = (perf_counter() - started) * 1000
    score = None if coverage is None else coverage.score
    last = Round(decision.query, decision.reason, spent, score, error)
    return plan, hits, add_round(reflection, last, coverage)


async def _measure_coverage(
    context: QueryContext, plan: SearchPlan, hits: Sequence[ChunkHit]
) -> Coverage:
    """Measure what the hits cover: by words, and by a reader where there is one."""
    parts = (plan.intent.entities, plan.intent.sub_questions)
    covered = await measure_coverage(context.database, plan.question.query, hits, *parts)
    answered = await _find_answered(context, plan, hits)
    return cover_by_reading(covered, answered) if answered else covered


async def _find_answered(
    context: QueryContext, plan: SearchPlan, hits: Sequence[ChunkHit]
) -> dict[str, bool]:
    """Return whether a reader finds an answer to each question; none where it cannot read."""
    passages = await find_readable(context, plan, filter_to_named(plan.intent, hits))
    if passages is None:
        return {}
    answered: dict[str, bool] = {}
    for question in plan.intent.sub_questions or (unnamed(plan.intent),):
        read = await context.read(question, passages.quotes)
        if read is None:
            return {}
        answered[question] = any(passage.here >= FOUND for passage in read.passages)
    return answered


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer with its grades, or the reason why it has none, and the plan behind it."""

    plan: SearchPlan
    response: Response
    grading: Grading | None = None
    error: str | None = None

    @property
    def score(self) -> float:
        """The lowest grade, 0 to 1; 0 without grades."""
        return 0.0 if self.grading is None else self.grading.score


async def refine(
    context: QueryContext, plan: SearchPlan, response: Response, write_again: WriteAgain
) -> Response:
    """Grade the answer; while a grade is too low, search what is missing and write again.

    A round counts as one of reflection's; its answer is kept only if its lowest grade is better.
    Without reflection, an answer or a model that grades, the response stays as it is.
    """
    grade, before = context.stages.grade, response.reflection
    if grade is None or before is None or not response.claimed:
        return response
    rounds = [*before.rounds]
    draft = await _grade(grade, Draft(plan, response))
    while (stopped := _why_stop(context, draft)) is None:
        if len(rounds) >= context.options.limits.rounds:
            stopped = "no rounds are left"
            break
        better, last = await _write_better(context, grade, draft, write_again)
        rounds.append(last)
        if better.score <= draft.score:
            stopped = last.error or "writing it again made it no better"
            break
        draft = better
    return _finished(context, draft, rounds, stopped)


def _why_stop(context: QueryContext, draft: Draft) -> str | None:
    if draft.grading is None:
        return f"not graded: {draft.error}"
    if draft.score >= context.options.limits.min_grade:
        return f"every grade is at least {context.options.limits.min_grade:g}"
    return None if context.trace.left > 0 else "no time is left"


async def _grade(grade: GradeAnswer, draft: Draft) -> Draft:
    try:
        return replace(draft, grading=await grade(response=draft.response))
    except ProviderError as error:
        return replace(draft, error=str(error))


async def _write_better(
    context: QueryContext, grade: GradeAnswer, draft: Draft, write_again: WriteAgain
) -> tuple[Draft, Round]:
    """Search what is missing, write on the evidence and the grades' reasons, grade that."""
    assert draft.grading is not None
    low = [
        respect
        for respect in draft.grading.grades
        if respect.score < context.options.limits.min_grade
    ]
    advice = "; ".join(f"{respect.name}: {respect.reason}" for respect in low)
    query, started = draft.grading.missing, perf_counter()
    with context.trace.stage("refine", query=query, advice=advice) as step:
        try:
            better = await _grade(
                grade, await _write_on_more(context, draft, query, advice, write_again)
            )
        except LexichordError as error:
            better = Draft(draft.plan, draft.response, error=str(error))
        step["made"] = {"grade": better.score, "error": better.error}
    spent = (perf_counter() - started) * 1000
    score = None if better.grading is None else better.score
    return better, Round(query, advice, spent, error=better.error, grade=score)


async def _write_on_more(
    context: QueryContext, draft: Draft, query: str, advice: str, write_again: WriteAgain
) -> Draft:
    """Search by what is missing as well, if anything is, and write by the advice."""
    plan, response = draft.plan, draft.response
    hits = response.hits
    if query:
        name = f"refinement {len(plan.variants)}"
        plan = await add_wording(context, plan, name, query)
        hits = await search_by_plan(context, plan)
    judged = await judge(context, plan, hits)
    return Draft(plan, await write_again(plan, judged, response.reflection, advice))


def _finished(
    context: QueryContext, draft: Draft, rounds: Sequence[Round], stopped: str
) -> Response:
    """Return the best draft with all that was done about it."""
    response, limits = draft.response, context.options.limits
    assert response.reflection is not None
    failures = [*response.reflection.errors, draft.error, *(done.error for done in rounds)]
    reflection = replace(
        response.reflection,
        rounds=tuple(rounds),
        stopped=stopped,
        grades=() if draft.grading is None else draft.grading.grades,
        errors=tuple(dict.fromkeys(filter(None, failures))),
    )
    passed = response.claimed and is_passed(reflection, limits.min_coverage, limits.min_grade)
    return replace(
        response,
        reflection=replace(reflection, passed=passed),
        timings_ms=context.trace.timings_ms,
        trace=list(context.trace.steps),
    )
