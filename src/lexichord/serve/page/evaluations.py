"""The pages of evaluations: the latest on record, and one with its metrics and questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from fastapi import APIRouter, Request, Response

from lexichord.db.pool import Row
from lexichord.errors import NotFoundError
from lexichord.serve.access import ScopedClient
from lexichord.serve.http.bodies import WHOLE_NUMBER
from lexichord.serve.limits import MAX_SHOWN_EVALUATIONS, MAX_SHOWN_QUESTIONS
from lexichord.serve.page.language import say
from lexichord.serve.page.render import page, page_caller
from lexichord.serve.page.routes import PAGE_METHODS, PageRoute

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True)
class MetricView:
    """A metric: its mean over the questions that are judged by it, and their number."""

    name: str
    mean: float
    judged: int


@dataclass(frozen=True, slots=True)
class EvaluationView:
    """An evaluation, a row of sql/records/list_evaluations.sql.

    `questions` are rows of sql/records/evaluation_results.sql: those that failed, then those that
    are worst by the metric `by`; `more` counts those that are not shown.
    """

    row: Row
    metrics: Sequence[MetricView]
    by: str
    questions: Sequence[Row]
    more: int


@router.api_route("/evaluations", methods=PAGE_METHODS)
async def list_evaluations(request: Request) -> Response:
    """List the latest evaluations, newest first."""
    caller = await page_caller(request)
    rows = await caller.evaluations(MAX_SHOWN_EVALUATIONS)
    return page(request, "evaluations.html", rows=rows)


@router.api_route("/evaluations/{evaluation}", methods=PAGE_METHODS)
async def show_evaluation(request: Request, evaluation: str) -> Response:
    """Show an evaluation's metrics and its questions, the worst by one of them first."""
    caller = await page_caller(request)
    row = await _find(caller, evaluation)
    results = await caller.evaluation_results(row["evaluation_id"])
    view = view_evaluation(row, results, request.query_params.get("by", ""))
    return page(request, "evaluation.html", view=view)


async def _find(caller: ScopedClient, evaluation: str) -> Row:
    """Return the evaluation of a number in an address. Raises NotFoundError."""
    rows = await caller.evaluations(MAX_SHOWN_EVALUATIONS)
    number = int(evaluation) if WHOLE_NUMBER.fullmatch(evaluation) else None
    row = next((row for row in rows if row["evaluation_id"] == number), None)
    if row is None:
        raise NotFoundError(say("error.no_evaluation", count=len(rows)))
    return row


def view_evaluation(row: Row, results: Sequence[Row], by: str) -> EvaluationView:
    """Return an evaluation as its page shows it; by its first metric where there is no such one."""
    names = sorted({name for each in results for name in each["metrics"]}, key=_place)
    metrics = [metric for name in names if (metric := _metric(name, results))]
    shown = next((each.name for each in metrics if each.name == by), "")
    shown = shown or next((each.name for each in metrics), "")
    worst = sorted(results, key=lambda each: _order(each, shown))
    more = max(0, len(worst) - MAX_SHOWN_QUESTIONS)
    return EvaluationView(row, metrics, shown, worst[:MAX_SHOWN_QUESTIONS], more)


def _place(name: str) -> tuple[str, int]:
    """Return what a metric is listed by: recall@5 comes before recall@10."""
    kind, _, k = name.partition("@")
    return kind, int(k) if k.isdecimal() else 0


def _metric(name: str, results: Sequence[Row]) -> MetricView | None:
    """Return a metric; None where no question is judged by it."""
    values = [each["metrics"].get(name) for each in results]
    judged = [value for value in values if value is not None]
    return MetricView(name, fmean(judged), len(judged)) if judged else None


def _order(result: Row, metric: str) -> tuple[bool, bool, float]:
    """Return what a question is sorted by: those that failed come first, those not judged last."""
    value = result["metrics"].get(metric)
    return result["error"] is None, value is None, value or 0.0
