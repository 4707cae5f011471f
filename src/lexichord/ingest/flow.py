"""Concurrency of an ingest: limits, prefetch, gathers, a run's heartbeat, background sealing."""

import asyncio
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.db.store import Turn
from lexichord.errors import DatabaseError, IngestError, LexichordError
from lexichord.providers.http import RetryPolicy
from lexichord.types.state import FileProgress

INTERRUPT_SECONDS = 3  # for the record that a run was interrupted
RUN_HEARTBEAT_SECONDS = 10  # without a heartbeat for 60 s a run counts as stalled
SEAL_SECONDS = 5
# Of a call for contexts that a limit, a failure of the service or a time-out has stopped.
CONTEXT_RETRY = RetryPolicy(5, base_seconds=1.0, max_seconds=120.0, max_requested_seconds=120.0)


@dataclass(frozen=True, slots=True)
class IngestLimits:
    """How much of an ingest is done at once, and how long a model's contexts are waited for.

    A group of chunks is read and embedded together: large enough to sort by length, small enough to
    lose in a crash; the first ones are smaller, so that files are soon stored. A slice is embedded
    in one call, and an interrupt waits for it; of 24,000 chunks of contracts padding makes 5.0 %
    more tokens with 64, 3.1 % with 128, 2.1 % with 256. A service gets a whole group, and can be
    stopped. Documents are pruned in batches, so that others write in between. A page of vechord's
    documents, and the chunks read ahead, take a pass over all its chunks. A service that takes
    fewer calls for contexts answers with a rate limit.
    """

    group_chunks: int = 512
    first_group_chunks: int = 64
    slice_chunks: int = 128
    prune_batch_documents: int = 50
    vechord_page_documents: int = 1000
    vechord_prefetch_chunks: int = 2000  # or one document's
    max_context_calls: int = 8
    context_call_seconds: float = 120.0
    context_retry: RetryPolicy = CONTEXT_RETRY

    def group_sizes(self) -> Iterator[int]:
        """Yield how many chunks the next group has at least: of each twice as many, up to most."""
        size = self.first_group_chunks
        while True:
            yield min(size, self.group_chunks)
            size *= 2


INGEST_LIMITS = IngestLimits()


async def yielded[T](items: Iterable[T]) -> AsyncGenerator[T]:
    """Yield items, where an asynchronous generator is wanted."""
    for item in items:
        yield item


async def flattened[T](groups: AsyncGenerator[list[T]]) -> AsyncGenerator[T]:
    """Yield the items of each group."""
    async for group in groups:
        for item in group:
            yield item


async def prefetch[T](items: AsyncGenerator[T]) -> AsyncGenerator[T]:
    """Yield `items`, the next two made meanwhile; an error comes after what was made before it."""
    queue: asyncio.Queue[tuple[T] | Exception | None] = asyncio.Queue(1)
    producer = asyncio.create_task(_fill(queue, items))
    try:
        while (entry := await queue.get()) is not None:
            if isinstance(entry, Exception):
                raise entry
            yield entry[0]
    finally:
        await _cancel(producer)


async def _fill[T](
    queue: asyncio.Queue[tuple[T] | Exception | None], items: AsyncGenerator[T]
) -> None:
    end: Exception | None = None
    async with aclosing(items):
        try:
            async for item in items:
                await queue.put((item,))
        except Exception as error:  # raised again by the consumer
            end = error
    await queue.put(end)


async def bounded_gather[T, R](
    items: AsyncGenerator[T], make: Callable[[T], Coroutine[None, None, R]], at_once: int
) -> AsyncGenerator[tuple[T, R]]:
    """Yield each item with its result, in their order, computing `at_once` at the same time.

    An error of `items` comes after what was made of those before it.
    """
    running = deque[tuple[T, asyncio.Task[R]]]()
    end: Exception | None = None
    try:
        while True:
            try:
                item = await anext(items)
            except StopAsyncIteration:
                break
            except Exception as error:
                end = error
                break
            running.append((item, asyncio.create_task(make(item))))
            if len(running) == at_once:
                yield await _first(running)
        while running:
            yield await _first(running)
    finally:
        for _, task in running:
            await _cancel(task)
    if end is not None:
        raise end


async def _first[T, R](running: deque[tuple[T, asyncio.Task[R]]]) -> tuple[T, R]:
    item, task = running[0]  # to be cancelled with the others while it is waited for
    result = await task
    running.popleft()
    return item, result


async def unbounded_gather(coroutines: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run all at once; the first error cancels the others and is raised by itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for coroutine in coroutines:
                group.create_task(coroutine)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def gather_in_turns[T](
    items: AsyncGenerator[T], make: Callable[[T, Turn], Coroutine[None, None, None]], at_once: int
) -> None:
    """Do all, `at_once` at the same time; what awaits its turn goes on when the one before is over.

    Where one raises, none after it has a turn.
    """
    last = asyncio.Event()
    last.set()

    async def make_next(item: T) -> None:
        nonlocal last
        before, last = last, (over := asyncio.Event())
        await make(item, before.wait)
        over.set()

    async with aclosing(bounded_gather(items, make_next, at_once)) as made:
        async for _ in made:
            pass


@asynccontextmanager
async def heartbeat(
    database: Database, run: int, files: Callable[[], Mapping[str, FileProgress]] = dict
) -> AsyncIterator[None]:
    """Record a run's heartbeat while the block lasts, and where it breaks off, that it did.

    Each tells how far the files are that are in progress. Raises IngestError in the midst of the
    block where the run was cancelled.
    """

    async def beat() -> None:
        if not await store.touch_run(database, run, files()):
            raise IngestError(f"run {run} was cancelled: what it has stored stays")

    try:
        async with _repeated(RUN_HEARTBEAT_SECONDS, beat):
            yield
    except BaseException:
        with suppress(LexichordError, TimeoutError):  # else it stalls
            async with asyncio.timeout(INTERRUPT_SECONDS):
                await store.interrupt_run(database, run)
        raise


@asynccontextmanager
async def background_sealing(database: Database) -> AsyncIterator[None]:
    """Have the keyword index take up what is stored while the block lasts, beside the writers.

    What is under way at its end is given up: whoever closes the run does it.
    """
    async with _repeated(SEAL_SECONDS, partial(store.seal_keywords, database)):
        yield


@asynccontextmanager
async def _repeated(
    seconds: float, step: Callable[[], Coroutine[Any, Any, None]]
) -> AsyncIterator[None]:
    """Repeat a step while the block lasts; an error of the step ends the block and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(_repeat(seconds, step))
            yield
            task.cancel()
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def _repeat(seconds: float, step: Callable[[], Coroutine[Any, Any, None]]) -> None:
    while True:
        await asyncio.sleep(seconds)
        with suppress(DatabaseError):  # the next write raises it
            await step()


async def _cancel[T](task: asyncio.Task[T]) -> None:
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()  # retrieved: the error before it is the one that is raised
