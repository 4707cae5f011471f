"""Ingests that go on after their request was answered; answers that are sent while made."""

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any
from weakref import WeakValueDictionary

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import StreamingResponse
from starlette.types import Send

from lexichord.errors import TooManyRequestsError
from lexichord.ingest.report import Reading, Report, RunCallbacks
from lexichord.serve.access import ScopedClient
from lexichord.serve.errors import public_error
from lexichord.serve.http import (
    ERROR_RESPONSES,
    AuthorizedRoute,
    Caller,
    JsonReply,
    reply,
    reply_written,
)
from lexichord.serve.http.bodies import JobShape, JobsParams, JobsShape, RowId
from lexichord.serve.limits import (
    JOB_SLOT_SECONDS,
    JOBS_SHUTDOWN_SECONDS,
    MAX_JOBS_OF_KEY,
    MAX_RUNNING_JOBS,
    MAX_WATCHED_JOBS,
    WATCH_SECONDS,
    own_deadline,
)
from lexichord.types.response import QueryEvent

log = logging.getLogger("lexichord")
router = APIRouter(
    prefix="/v1", tags=["jobs"], route_class=AuthorizedRoute, responses=ERROR_RESPONSES
)

type IngestCall = Callable[[RunCallbacks], Awaitable[Report]]


@dataclass
class RunProgress:
    """How many chunks are finished, of how many that there will probably be; the files read."""

    done: int = 0
    expected: int = 0
    reading: Reading | None = None

    def add(self, count: int) -> None:
        """Count chunks as finished."""
        self.done += count

    def expect(self, count: int) -> None:
        """Take over how many there will probably be."""
        self.expected = count

    def read(self, reading: Reading) -> None:
        """Take over which files are being read."""
        self.reading = reading


class JobRunner:
    """The ingests of this process."""

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(MAX_RUNNING_JOBS)
        self._of_key = defaultdict[int | None, asyncio.Semaphore](
            lambda: asyncio.Semaphore(MAX_JOBS_OF_KEY)
        )
        self._running = set[asyncio.Task[None]]()
        # Of a run, as long as its ingest holds it.
        self._progress = WeakValueDictionary[int, RunProgress]()
        self._watchers = 0

    def progress(self, run_id: int) -> RunProgress | None:
        """Return how far an ingest of this process is; None of others and of those that ended."""
        return self._progress.get(run_id)

    @contextmanager
    def watched(self) -> Iterator[float]:
        """Count who watches a job; yield for how many seconds it may, 0 where enough others do."""
        self._watchers += 1
        try:
            yield WATCH_SECONDS if self._watchers <= MAX_WATCHED_JOBS else 0.0
        finally:
            self._watchers -= 1

    async def start(self, ingest: IngestCall, key_id: int | None) -> int:
        """Start an ingest; return its run's id once it is recorded, and raise what comes before.

        Raises TooManyRequestsError where too many run, of all or of the key.
        """
        own = self._of_key[key_id]
        await self._acquire_slots(own)
        run_id: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._run(ingest, run_id))
        self._running.add(task)
        task.add_done_callback(partial(self._end, own))
        try:
            return await asyncio.shield(run_id)
        except asyncio.CancelledError:
            if not run_id.done():  # nobody was answered that it is taken
                task.cancel()
            raise

    async def _acquire_slots(self, own: asyncio.Semaphore) -> None:
        try:
            async with asyncio.timeout(JOB_SLOT_SECONDS):
                with ExitStack() as stack:
                    for slots in (own, self._slots):
                        await slots.acquire()
                        stack.callback(slots.release)
                    stack.pop_all()
        except TimeoutError:
            message = "too many ingests at once: try again"
            raise TooManyRequestsError(message, JOB_SLOT_SECONDS) from None

    def _end(self, own: asyncio.Semaphore, task: asyncio.Task[None]) -> None:
        """Give back what a job held, also one that was cancelled before it began."""
        self._running.discard(task)
        own.release()
        self._slots.release()

    async def _run(self, ingest: IngestCall, run_id: asyncio.Future[int]) -> None:
        progress = RunProgress()

        def on_run(run: int) -> None:
            self._progress[run] = progress
            run_id.set_result(run)

        try:
            await ingest(
                {
                    "on_run": on_run,
                    "on_chunks": progress.add,
                    "on_estimate": progress.expect,
                    "on_reading": progress.read,
                }
            )
        except Exception as error:
            if run_id.done():  # its record shows that it ended early; why, the log
                public_error(error)
            else:
                run_id.set_exception(error)
        finally:
            if not run_id.done():
                run_id.cancel()

    async def end(self) -> None:
        """Wait for what runs, for a while; what is cut off shows as interrupted."""
        if not self._running:
            return
        log.warning("waiting up to %s s for %s ingests", JOBS_SHUTDOWN_SECONDS, len(self._running))
        _, late = await asyncio.wait(self._running, timeout=JOBS_SHUTDOWN_SECONDS)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)


@asynccontextmanager
async def ended_jobs(runner: JobRunner) -> AsyncIterator[None]:
    """End the jobs at the end of a with statement."""
    try:
        yield
    finally:
        await runner.end()


async def accept_job(request: Request, caller: ScopedClient, ingest: IngestCall) -> JsonReply:
    """Start an ingest and answer with its job."""
    runner: JobRunner = request.app.state.jobs
    job = await caller.job(await runner.start(ingest, caller.rights.key_id))
    response = reply(job.to_job(), 202)
    response.headers["location"] = f"/v1/jobs/{job.run_id}"
    return response


@router.get("/jobs", response_model=JobsShape)
async def list_jobs(caller: Caller, params: Annotated[JobsParams, Query()]) -> JsonReply:
    """List the latest ingests, newest first, those of the command line among them."""
    jobs = await caller.jobs(params.limit, params.dataset)
    return reply({"jobs": [job.to_job() for job in jobs]})


@router.get("/jobs/{job_id}", response_model=JobShape)
async def show_job(caller: Caller, job_id: Annotated[RowId, Path()]) -> JsonReply:
    """Show how far an ingest is, and what failed in it."""
    return await reply_written(caller, (await caller.job(job_id)).to_job())


@router.delete("/jobs/{job_id}", response_model=JobShape)
async def cancel_job(caller: Caller, job_id: Annotated[RowId, Path()]) -> JsonReply:
    """Cancel an ingest: it ends within ten seconds; what it has stored stays.

    Until then it is running, afterwards interrupted, or finished if it came to its end before.
    """
    return reply((await caller.cancel_job(job_id)).to_job())


EVENT_STREAM = "text/event-stream"
STREAM_SAMPLE = (
    'event: files\ndata: {"intent": {…}, "files": […]}\n\nevent: response\ndata: {…}\n\n'
)
STREAM_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {EVENT_STREAM: {"example": STREAM_SAMPLE}}}
}


class EventStream(StreamingResponse):
    """Events as they are made; they are made no further where nobody hears them."""

    def __init__(self, events: AsyncGenerator[bytes]) -> None:
        self.events = events
        # nginx, for one, would keep them until all are there
        headers = {"cache-control": "no-cache", "x-accel-buffering": "no"}
        super().__init__(events, headers=headers, media_type=EVENT_STREAM)

    async def stream_response(self, send: Send) -> None:
        """Send them."""
        async with aclosing(self.events):
            await super().stream_response(send)


def event_bytes(name: str, data: Mapping[str, Any]) -> bytes:
    """Write an event; a lone surrogate, which UTF-8 cannot hold, becomes a question mark."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return f"event: {name}\ndata: {text}\n\n".encode(errors="replace")


async def reply_streamed(events: AsyncGenerator[QueryEvent], seconds: float) -> EventStream:
    """Answer with a query's events, within so many seconds. Raises what comes before the first."""
    ends_at = asyncio.get_running_loop().time() + own_deadline(seconds)
    first = await anext(events)
    return EventStream(_written(first, events, ends_at))


async def _written(
    first: QueryEvent, events: AsyncGenerator[QueryEvent], ends_at: float
) -> AsyncGenerator[bytes]:
    """Write events; an error is the last."""
    async with aclosing(events):
        yield event_bytes(first.kind, first.to_dict())
        try:
            while (event := await next_event(events, ends_at)) is not None:
                yield event_bytes(event.kind, event.to_dict())
        except Exception as error:
            yield event_bytes("error", public_error(error).to_dict())


async def next_event(events: AsyncGenerator[QueryEvent], ends_at: float) -> QueryEvent | None:
    """Return the next event, None after the last. Raises TimeoutError."""
    async with asyncio.timeout_at(ends_at):
        return await anext(events, None)
