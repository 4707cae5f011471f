"""Searching and writing again, where what was found is judged to lack something.

A round adds a way of asking to the plan; each function returns the plan that its hits come from.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import get_args

from lexichord.errors import LexichordError, ProviderError
from lexichord.retrieve.evidence.reading import FOUND
from lexichord.retrieve.judge.border import border_of
from lexichord.retrieve.judge.judged import Judged, find_readable, judge
from lexichord.retrieve.judge.named import hold_to_named, unnamed
from lexichord.retrieve.judge.reflect import (
    NO_WORDING_LEFT,
    add_round,
    cover_by_reading,
    decide_next_query,
    is_passed,
    measure_coverage,
)
from lexichord.retrieve.query import QueryContext
from lexichord.retrieve.search.chunks import SearchPlan, add_wording, search_by_plan
from lexichord.retrieve.stages import GradeAnswer
from lexichord.types import ChunkHit, Response
from lexichord.types.response import (
    Budget,
    Coverage,
    Decision,
    Grading,
    Reflection,
    Round,
    Wording,
)

type WriteAgain = Callable[[SearchPlan, Judged, Reflection | None, str], Awaitable[Response]]


async def search_rewritten(
    context: QueryContext, plan: SearchPlan, hits: list[ChunkHit]
) -> tuple[SearchPlan, list[ChunkHit]]:
    """Search once more, by the question in other words as well, if there are any."""
    question = plan.question
    with context.trace.stage("rewrite", **context.by("rewrite")) as step:
        rewrite = await context.stages.rewrite(
            database=context.database,
            question=question.query,
            hits=hits,
            scope=question.scope,
            kind=None,
        )
        step["made"] = {"kind": rewrite.kind, "text": rewrite.text, "reason": rewrite.reason}
    if rewrite.kind == "none":
        return plan, hits
    plan = await add_wording(context, plan, "rewrite", rewrite.text)
    return plan, await search_by_plan(context, plan)


async def fall_back(
    context: QueryContext, plan: SearchPlan, judged: Judged
) -> tuple[SearchPlan, Judged]:
    """While the hits are too little to answer by, search by one more of the caller's own queries.

    What it finds is judged by the question that was asked, and kept if that is enough.
    """
    for number, text in enumerate(context.options.fallbacks, start=1):
        if judged.confidence >= border_of(context, plan, judged):
            break
        with context.trace.stage("fallback", query=text):
            wider = await add_wording(context, plan, f"fallback {number}", text)
        found = await judge(context, wider, await search_by_plan(context, wider))
        if found.confidence >= border_of(context, wider, found):
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
    options, trace = context.options, context.trace
    budget = Budget(options.rounds - len(reflection.rounds), trace.left * 1000)
    limits = (tried, trace.latest_ms("search"), options.min_coverage)
    decision = decide_next_query(reflection.coverage, budget, (), *limits)
    if decision.reason != NO_WORDING_LEFT:
        return decision
    for kind in get_args(Wording):
        rewrite = await context.stages.rewrite(
            database=context.database,
            question=plan.question.query,
            hits=hits,
            scope=plan.question.scope,
            kind=kind,
        )
        decision = decide_next_query(reflection.coverage, budget, [rewrite], *limits)
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
    passages = await find_readable(context, plan, hold_to_named(plan.intent, hits))
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
        if len(rounds) >= context.options.rounds:
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
    if draft.score >= context.options.min_grade:
        return f"every grade is at least {context.options.min_grade:g}"
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
    low = [respect for respect in draft.grading.grades if respect.score < context.options.min_grade]
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
    response, options = draft.response, context.options
    assert response.reflection is not None
    failures = [*response.reflection.errors, draft.error, *(done.error for done in rounds)]
    reflection = replace(
        response.reflection,
        rounds=tuple(rounds),
        stopped=stopped,
        grades=() if draft.grading is None else draft.grading.grades,
        errors=tuple(dict.fromkeys(filter(None, failures))),
    )
    passed = response.claimed and is_passed(reflection, options.min_coverage, options.min_grade)
    return replace(
        response,
        reflection=replace(reflection, passed=passed),
        timings_ms=context.trace.timings_ms,
        trace=list(context.trace.steps),
    )
