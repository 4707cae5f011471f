"""The pages of how the database is, of ingests, and of evaluations."""

from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from statistics import fmean
from time import perf_counter

from fastapi import APIRouter, Request, Response

from lexichord.client.admin import STATUS_RUNS
from lexichord.db.pool import Row
from lexichord.display.record_text import status_rows
from lexichord.errors import DatabaseError, LexichordError, NotFoundError
from lexichord.serve.access import ScopedClient
from lexichord.serve.http.bodies import WHOLE_NUMBER
from lexichord.serve.http.jobs import EventStream, JobRunner, RunProgress, event_bytes
from lexichord.serve.limits import (
    MAX_SHOWN_EVALUATIONS,
    MAX_SHOWN_FILES,
    MAX_SHOWN_QUESTIONS,
    WATCH_POLL_SECONDS,
    own_deadline,
)
from lexichord.serve.page import PAGE_HEADERS, fill, page, page_caller
from lexichord.serve.page.language import say
from lexichord.serve.page.routes import PAGE_METHODS, PageRoute
from lexichord.types.base import file_name
from lexichord.types.state import FileProgress, Health, IndexedTable, IngestRun, JobFile, Status

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True)
class DatabaseView:
    """How the database is, for who reaches all of it.

    `health` is None unless it was checked.
    """

    status: Status
    facts: Sequence[tuple[str, str]]
    health: Health | None
    tables: Sequence[IndexedTable]


@router.api_route("/status", methods=PAGE_METHODS)
async def show_status(request: Request) -> Response:
    """Show what is stored and the latest ingests; to who reaches all datasets, all the rest."""
    caller = await page_caller(request)
    caller.check_any("read")
    rights = caller.rights
    checks = request.query_params.get("check") == "1"
    return page(
        request,
        "status.html",
        rows=await caller.datasets(),
        runs=await _or_none(caller.jobs(STATUS_RUNS)),
        view=await _look(caller, checks) if rights.reaches_all else None,
        may_check=rights.writes,
    )


async def _look(caller: ScopedClient, checks: bool) -> DatabaseView:
    health = await caller.doctor() if checks else None
    status = health or await caller.status()
    return DatabaseView(status, status_rows(status), health, await caller.tables())


async def _or_none[R](reading: Awaitable[R]) -> R | None:
    """Return what is read; None where a database does not answer, or lets this role see none."""
    try:
        return await reading
    except DatabaseError:
        return None


# After which a browser asks for events again: where it watches, and where others do already.
WATCH_RETRY = b"retry: 100\n\n"
CROWDED_RETRY = b"retry: 2000\n\n"


@dataclass(frozen=True, slots=True)
class RunView:
    """An ingest as its page shows it.

    `in_progress` are the files at hand, `files` those of which it is known what became, all with
    their names; `more` counts the others. `is_sent`: who brought the files has them,
    not the server.
    """

    run: IngestRun
    progress: RunProgress | None
    in_progress: list[tuple[str, FileProgress]]
    files: list[tuple[str, JobFile]]
    more: int
    is_sent: bool

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self.run.state == "running"


@router.api_route("/documents/runs/{run}", methods=PAGE_METHODS)
async def show_run(request: Request, run: str) -> Response:
    """Show how far an ingest is, and what became of each file."""
    caller = await _caller(request)
    job = await caller.job(_number(run))
    files = await caller.job_files(job.run_id, MAX_SHOWN_FILES)
    return page(request, "run.html", view=_view(request, job, files))


@router.get("/documents/runs/{run}/events")
async def watch_run(request: Request, run: str) -> Response:
    """Send the same as it changes, until the ingest ends or the browser is to ask again."""
    caller = await _caller(request)
    job = await caller.job(_number(run))
    stream = EventStream(_events(request, caller, job.run_id))
    stream.headers.update(PAGE_HEADERS)
    return stream


async def _events(request: Request, caller: ScopedClient, run: int) -> AsyncGenerator[bytes]:
    """Write an event whenever something has changed; only the first where too many watch."""
    runner: JobRunner = request.app.state.jobs
    deadline = own_deadline(request.app.state.policy.settings.request_timeout)
    with runner.watched() as seconds:
        ends_at = perf_counter() + min(seconds, deadline)
        yield WATCH_RETRY if seconds else CROWDED_RETRY
        last = ""
        async with aclosing(_sections(request, caller, run)) as sections:
            async for section in sections:
                if section != last:
                    yield event_bytes("run", {"section": section})
                    last = section
                if perf_counter() > ends_at:
                    return


async def _sections(request: Request, caller: ScopedClient, run: int) -> AsyncGenerator[str]:
    """Yield the page's part about an ingest at each look at it, to its end.

    It ends as well where the database does not answer: asked again, the server says so.
    """
    try:
        async with aclosing(caller.watch_job(run, MAX_SHOWN_FILES, WATCH_POLL_SECONDS)) as looks:
            async for job, files in looks:
                yield fill("run_section.html", view=_view(request, job, files))
    except LexichordError:
        return


def _view(request: Request, job: IngestRun, files: Sequence[JobFile]) -> RunView:
    runner: JobRunner = request.app.state.jobs
    prefix = f"upload://{job.dataset}/"
    shown = [(_name(each.uri, prefix), each) for each in files]
    more = job.done + sum(job.unread.values()) - len(shown)
    is_sent = all(each.uri.startswith(prefix) for each in files)
    progress = runner.progress(job.run_id)
    known = progress.reading.files if progress and progress.reading else job.in_progress
    in_progress = [(_name(uri, prefix), each) for uri, each in known.items()]
    return RunView(job, progress, in_progress, shown, more, is_sent)


def _name(uri: str, prefix: str) -> str:
    return uri.removeprefix(prefix) if uri.startswith(prefix) else file_name(uri)


async def _caller(request: Request) -> ScopedClient:
    scoped = await page_caller(request)
    scoped.check_any("write")
    return scoped


def _number(run: str) -> int:
    """Return the number of an ingest in an address. Raises NotFoundError."""
    if not WHOLE_NUMBER.fullmatch(run):
        raise NotFoundError(say("error.no_ingest"))
    return int(run)


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
