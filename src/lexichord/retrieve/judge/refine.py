"""An answer that a reader finds wanting is written again, on what it lacked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from lexichord.errors import LexichordError, ProviderError
from lexichord.retrieve.evidence.respond import respond
from lexichord.retrieve.judge.reflect import is_passed
from lexichord.retrieve.search.searcher import Searcher
from lexichord.retrieve.stages import GradeAnswer
from lexichord.types import QueryOptions, Response
from lexichord.types.questions import Intent
from lexichord.types.reflection import Grading, Round


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer with its grades, or the reason why it has none."""

    response: Response
    grading: Grading | None = None
    error: str | None = None

    @property
    def score(self) -> float:
        """The lowest grade, 0 to 1; 0 without grades."""
        return 0.0 if self.grading is None else self.grading.score


async def refine(
    searcher: Searcher, intent: Intent, response: Response, options: QueryOptions
) -> Response:
    """Let the answer be graded; while a grade is too low, search what is missing and write again.

    A round counts as one of reflection's; what it made is kept only if its lowest grade is better.
    Without reflection, an answer or a model that grades, the response stays as it is.
    """
    grade, before = searcher.stages.grade, response.reflection
    if grade is None or before is None or not response.answer:
        return response
    rounds = [*before.rounds]
    draft = await _graded(grade, response)
    while (stopped := _why_stop(searcher, draft, options.min_grade)) is None:
        if len(rounds) >= options.rounds:
            stopped = "no rounds are left"
            break
        made, round_ = await _again(searcher, intent, draft, options)
        rounds.append(round_)
        if made.score <= draft.score:
            stopped = round_.error or "writing it again made it no better"
            break
        draft = made
    return _finished(searcher, draft, rounds, stopped, options)


def _why_stop(searcher: Searcher, draft: Draft, good: float) -> str | None:
    if draft.grading is None:
        return f"not graded: {draft.error}"
    if draft.score >= good:
        return f"every grade is at least {good:g}"
    return None if searcher.trace.left > 0 else "no time is left"


async def _graded(grade: GradeAnswer, response: Response) -> Draft:
    try:
        return Draft(response, await grade(response))
    except ProviderError as error:
        return Draft(response, error=str(error))


async def _again(
    searcher: Searcher, intent: Intent, draft: Draft, options: QueryOptions
) -> tuple[Draft, Round]:
    """Search what is missing, write on the evidence and the grades' reasons, grade that."""
    assert draft.grading is not None
    assert searcher.stages.grade is not None
    low = [each for each in draft.grading.grades if each.score < options.min_grade]
    advice = "; ".join(f"{each.name}: {each.reason}" for each in low)
    query, started = draft.grading.missing, perf_counter()
    with searcher.trace.stage("refine", query=query, advice=advice) as step:
        try:
            made = await _rewritten(searcher, intent, draft.response, query, advice, options)
            made_draft = await _graded(searcher.stages.grade, made)
        except LexichordError as error:
            made_draft = Draft(draft.response, error=str(error))
        step["made"] = {"grade": made_draft.score, "error": made_draft.error}
    spent = (perf_counter() - started) * 1000
    score = None if made_draft.grading is None else made_draft.score
    return made_draft, Round(query, advice, spent, error=made_draft.error, grade=score)


async def _rewritten(
    searcher: Searcher,
    intent: Intent,
    before: Response,
    query: str,
    advice: str,
    options: QueryOptions,
) -> Response:
    """Search by what is missing as well, if anything is, and write by the advice."""
    hits = before.hits
    if query:
        await searcher.add(f"refinement {len(searcher.variants)}", query)
        hits = await searcher.search()
    sure = await searcher.judge(hits)
    reflection = before.reflection
    return await respond(searcher, intent, before.files, hits, sure, reflection, options, advice)


def _finished(
    searcher: Searcher, draft: Draft, rounds: Sequence[Round], stopped: str, options: QueryOptions
) -> Response:
    """Give the best draft with all that was done about it."""
    response, trace = draft.response, searcher.trace
    assert response.reflection is not None
    failures = [*response.reflection.errors, draft.error, *(each.error for each in rounds)]
    reflection = replace(
        response.reflection,
        rounds=tuple(rounds),
        stopped=stopped,
        grades=() if draft.grading is None else draft.grading.grades,
        errors=tuple(dict.fromkeys(filter(None, failures))),
    )
    return replace(
        response,
        reflection=replace(
            reflection, passed=is_passed(reflection, options.min_coverage, options.min_grade)
        ),
        timings_ms=trace.timings_ms,
        trace=list(trace.steps),
    )
