"""Server-sent events: an answer that is sent while it is made.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from fastapi.responses import StreamingResponse
from starlette.types import Send

from lexichord.serve.errors import public_error
from lexichord.serve.limits import own_deadline
from lexichord.types.response import QueryEvent

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
