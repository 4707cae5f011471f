"""Stages that overlap, and a sign of life while they run."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.errors import DatabaseError

BEAT = 10  # seconds between signs of life; without one for 60 s a run counts as stalled


async def ahead[T](items: AsyncGenerator[T]) -> AsyncGenerator[T]:
    """Give `items`, the next two made meanwhile; an error comes after what was made before it."""
    queue: asyncio.Queue[tuple[T] | Exception | None] = asyncio.Queue(1)
    making = asyncio.create_task(_fill(queue, items))
    try:
        while (made := await queue.get()) is not None:
            if isinstance(made, Exception):
                raise made
            yield made[0]
    finally:
        await _cancel(making)


async def overlapping[T, R](
    items: AsyncGenerator[T], make: Callable[[T], Coroutine[None, None, R]], at_once: int
) -> AsyncGenerator[tuple[T, R]]:
    """Give `items` with what is made of each, in their order, of `at_once` at the same time."""
    under_way = deque[tuple[T, asyncio.Task[R]]]()
    try:
        async for item in items:
            under_way.append((item, asyncio.create_task(make(item))))
            if len(under_way) == at_once:
                yield await _first(under_way)
        while under_way:
            yield await _first(under_way)
    finally:
        for _, task in under_way:
            await _cancel(task)


async def _first[T, R](under_way: deque[tuple[T, asyncio.Task[R]]]) -> tuple[T, R]:
    item, task = under_way[0]  # to be cancelled with the others while it is waited for
    made = await task
    under_way.popleft()
    return item, made


async def _fill[T](
    queue: asyncio.Queue[tuple[T] | Exception | None], items: AsyncGenerator[T]
) -> None:
    end: Exception | None = None
    async with aclosing(items):
        try:
            async for item in items:
                await queue.put((item,))
        except Exception as error:  # raised again by the one who takes
            end = error
    await queue.put(end)


async def together(todo: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do all at once; the first error ends the others and is raised by itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for each in todo:
                group.create_task(each)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


@asynccontextmanager
async def beating(database: Database, run: int) -> AsyncIterator[None]:
    """Give signs of life of a run."""
    heart = asyncio.create_task(_beat(database, run))
    try:
        yield
    finally:
        await _cancel(heart)


async def _beat(database: Database, run: int) -> None:
    while True:
        await asyncio.sleep(BEAT)
        with suppress(DatabaseError):  # the next write says it better
            await store.touch_run(database, run)


async def _cancel[T](task: asyncio.Task[T]) -> None:
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()  # told by the one before it
