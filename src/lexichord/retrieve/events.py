"""What a query tells while it runs, to whoever hears it: its stages emit events as they end."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextvars import ContextVar, copy_context
from functools import wraps
from inspect import signature
from typing import Any

from lexichord.types import Response
from lexichord.types.response import DraftEvent, QueryEvent

type Hear = Callable[[QueryEvent], None]

_hear = ContextVar[Hear | None]("hear", default=None)


def emit(event: QueryEvent) -> None:
    """Tell an event of the query that runs, if anybody hears it."""
    if (hear := _hear.get()) is not None:
        hear(event)


def emit_draft(start: int, text: str) -> None:
    """Tell what a model has written."""
    emit(DraftEvent(start, text))


def is_heard() -> bool:
    """Return whether anybody hears the query that runs."""
    return _hear.get() is not None


def streamed[**P](
    query: Callable[P, Coroutine[Any, Any, Response]],
) -> Callable[P, AsyncGenerator[QueryEvent]]:
    """Return the method `stream` to a method `query`, with the same parameters."""

    @wraps(query, assigned=("__module__", "__annotations__"))
    def stream(*args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[QueryEvent]:
        """Ask as `query` does, and yield what it comes to on its way; the response is the last.

        `lexichord.types.response` describes the events. A model's words come as a draft before they
        are checked: what counts is the response, which is what `query` returns.
        """
        return _events(lambda: query(*args, **kwargs))

    returned = AsyncGenerator[QueryEvent]
    stream.__annotations__ = {**query.__annotations__, "return": returned}
    stream.__signature__ = signature(query).replace(return_annotation=returned)  # type: ignore[attr-defined]
    return stream


async def _events(
    query: Callable[[], Coroutine[Any, Any, Response]],
) -> AsyncGenerator[QueryEvent]:
    """Yield a query's events; it is cancelled where nobody waits for the next one any more."""
    events, context = asyncio.Queue[QueryEvent | None](), copy_context()
    context.run(_hear.set, events.put_nowait)
    asking = asyncio.create_task(query(), context=context)

    def end(ended: asyncio.Task[Response]) -> None:
        if not ended.cancelled():
            ended.exception()  # looked at, or asyncio reports it where nobody waits any more
        events.put_nowait(None)

    asking.add_done_callback(end)
    try:
        while (event := await events.get()) is not None:
            yield event
        yield asking.result()
    finally:
        asking.cancel()
        await asyncio.wait([asking])  # not gather, which would cancel it again in the midst of that
