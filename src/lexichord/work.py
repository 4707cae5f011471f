"""Work in threads that ends when nobody waits for it any more.

Python cannot end a thread: what works in one asks between its steps whether it is still wanted.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from contextvars import ContextVar, copy_context
from threading import Event

_ended: ContextVar[Event | None] = ContextVar("ended", default=None)


class UnwantedError(Exception):
    """Nobody waits for this work any more."""


async def in_thread[*Args, R](
    function: Callable[[*Args], R], *args: *Args, threads: Executor | None = None
) -> R:
    """Run a function in a thread: one of `threads`, else of those that all share.

    If the caller is cancelled it ends at its next `check_wanted`.
    """
    ended, context = Event(), copy_context()
    context.run(_ended.set, ended)
    try:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(threads, lambda: context.run(function, *args))
    finally:
        ended.set()


def check_wanted() -> None:
    """Raise UnwantedError where the caller of `in_thread` waits no more."""
    ended = _ended.get()
    if ended is not None and ended.is_set():
        raise UnwantedError
