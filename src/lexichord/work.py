"""Work beside other work, in threads or not, that ends when nobody waits for it any more.

Python cannot end a thread: what works in one asks between its steps whether it is still wanted.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import ContextVar, copy_context
from threading import Event

# Those of asyncio.to_thread are ingest's: slow pages and disks may have all of them wait.
_THREADS = ThreadPoolExecutor(thread_name_prefix="lexichord-work")
# A row of the database takes some 40 µs until it is a record, and what holds an event loop longer
# than 50 ms is felt by all that it serves.
MANY_ITEMS = 500
_ended: ContextVar[Event | None] = ContextVar("ended", default=None)


class UnwantedError(Exception):
    """Nobody waits for this work any more."""


async def in_thread[*Args, R](
    function: Callable[[*Args], R], *args: *Args, threads: Executor = _THREADS
) -> R:
    """Run a function in a thread: one of `threads`, else of those in which no ingest waits.

    If the caller is cancelled it ends at its next `check_wanted`.
    """
    ended, context = Event(), copy_context()
    context.run(_ended.set, ended)
    try:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(threads, lambda: context.run(function, *args))
    finally:
        ended.set()


async def of_many[Item, R](function: Callable[[Sequence[Item]], R], items: Sequence[Item]) -> R:
    """Return what a function makes of items: of many in a thread, where others get their turn."""
    if len(items) < MANY_ITEMS:
        return function(items)
    return await in_thread(function, items)


@asynccontextmanager
async def beside[R](work: Coroutine[object, object, R]) -> AsyncIterator[asyncio.Task[R]]:
    """Yield work that goes on beside a block, and ends with it where that has not awaited it."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # looked at, or asyncio reports it


def check_wanted() -> None:
    """Raise UnwantedError where the caller of `in_thread` waits no more."""
    ended = _ended.get()
    if ended is not None and ended.is_set():
        raise UnwantedError
