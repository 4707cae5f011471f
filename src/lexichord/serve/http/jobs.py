"""Ingests that go on after their request was answered. Their records are the database's own."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.exceptions import HTTPException

from lexichord.ingest.report import Report
from lexichord.serve.access import Limited
from lexichord.serve.errors import public_error
from lexichord.serve.http.bodies import Id, Latest
from lexichord.serve.http.caller import Caller, KeyFirst
from lexichord.serve.http.replies import ERRORS, Reply, reply
from lexichord.serve.http.shapes import Job, JobsShape

AT_ONCE = 2  # each reads files in a process of its own
PLACE = 10  # seconds that one more waits for one of them to end
END = 30  # seconds for those that go on when the server is told to stop

log = logging.getLogger("lexichord")
router = APIRouter(prefix="/v1", tags=["jobs"], route_class=KeyFirst, responses=ERRORS)

type OnRun = Callable[[int], None]
type Ingest = Callable[[OnRun], Awaitable[Report]]


class Jobs:
    """The ingests of this process."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(AT_ONCE)
        self._running = set[asyncio.Task[None]]()

    async def begin(self, ingest: Ingest) -> int:
        """Start an ingest; give its run's id once that is recorded, and raise what comes before.

        Raises HTTPException 429 where too many run.
        """
        await self._place()
        began: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._run(ingest, began))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            return await asyncio.shield(began)
        except asyncio.CancelledError:
            if not began.done():  # nobody was told that it is taken
                task.cancel()
            raise

    async def _place(self) -> None:
        try:
            async with asyncio.timeout(PLACE):
                await self._places.acquire()
        except TimeoutError:
            told = "too many ingests at once: try again"
            raise HTTPException(429, told, {"retry-after": str(PLACE)}) from None

    async def _run(self, ingest: Ingest, began: asyncio.Future[int]) -> None:
        try:
            await ingest(began.set_result)
        except Exception as error:
            if began.done():  # its record shows that it ended early; why, the log
                public_error(error)
            else:
                began.set_exception(error)
        finally:
            self._places.release()
            if not began.done():
                began.cancel()

    async def end(self) -> None:
        """Wait for what runs, for a while; what is cut off shows as stalled."""
        if not self._running:
            return
        log.warning("waiting up to %s s for %s ingests", END, len(self._running))
        _, late = await asyncio.wait(self._running, timeout=END)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)


@asynccontextmanager
async def ended_jobs(jobs: Jobs) -> AsyncIterator[None]:
    """End the jobs at the end of a with statement."""
    try:
        yield
    finally:
        await jobs.end()


async def accepted(request: Request, caller: Limited, ingest: Ingest) -> Reply:
    """Start an ingest and answer with its job."""
    jobs: Jobs = request.app.state.jobs
    job = await caller.job(await jobs.begin(ingest))
    answer = reply(job.to_job(), 202)
    answer.headers["location"] = f"/v1/jobs/{job.run_id}"
    return answer


@router.get("/jobs", response_model=JobsShape)
async def list_jobs(caller: Caller, asked: Annotated[Latest, Query()]) -> Reply:
    """List the latest ingests, newest first, those of the command line among them."""
    found = await caller.jobs(asked.limit, asked.dataset)
    return reply({"jobs": [run.to_job() for run in found]})


@router.get("/jobs/{job_id}", response_model=Job)
async def show_job(caller: Caller, job_id: Annotated[Id, Path()]) -> Reply:
    """Say how far an ingest is, and what failed in it."""
    return reply((await caller.job(job_id)).to_job())
