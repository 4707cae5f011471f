"""The page of an ingest: how far it is, as it happens, and what became of each file."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from time import perf_counter

from fastapi import APIRouter, Request, Response

from lexichord.errors import LexichordError, NotFoundError
from lexichord.serve.access import ScopedClient
from lexichord.serve.http.bodies import WHOLE_NUMBER
from lexichord.serve.http.events import EventStream, event_bytes
from lexichord.serve.http.jobs import JobRunner, RunProgress
from lexichord.serve.limits import MAX_SHOWN_FILES, WATCH_POLL_SECONDS, own_deadline
from lexichord.serve.page.language import say
from lexichord.serve.page.render import PAGE_HEADERS, fill, page, page_caller
from lexichord.serve.page.routes import PAGE_METHODS, PageRoute
from lexichord.types.base import file_name
from lexichord.types.state import FileProgress, IngestRun, JobFile

# After which a browser asks for events again: where it watches, and where others do already.
WATCH_RETRY = b"retry: 100\n\n"
CROWDED_RETRY = b"retry: 2000\n\n"

router = APIRouter(route_class=PageRoute, include_in_schema=False)


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
