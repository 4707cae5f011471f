"""What no field takes, in the protocol's messages: refused by the field's name on every transport.

Of the readers of JSON between a client and the tools some let it through, some refuse the message
without a name, and one passes over it, so that its sender waits for ever. So it is taken out before
them, and said in the message itself, in the member that the protocol leaves to servers.
"""

import json
import os
from contextlib import suppress
from math import isfinite
from threading import Thread
from typing import Any, BinaryIO

from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from lexichord.serve.errors import SURROGATE, InvalidValue, PublicError, find_invalid_value
from lexichord.serve.mcp.calls import error_result

UNFIT_KEY = "lexichord/unfit"  # of a message's _meta


def mark_invalid(body: bytes) -> bytes:
    """Return a message that all can read: as it is, or without what no field takes, marked."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return body  # the protocol's own reader says what is wrong with it
    unfit = find_invalid_value(body, message)
    if unfit is None or not isinstance(message, dict):
        return body
    message = _without_unfit(message)
    if not isinstance(params := message.get("params"), dict):
        return body
    meta = params.get("_meta")
    said = {UNFIT_KEY: _shortened(unfit).message}
    params["_meta"] = {**meta, **said} if isinstance(meta, dict) else said
    return json.dumps(message).encode() + b"\n"


def _without_unfit(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {_without_unfit(name): _without_unfit(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_without_unfit(member) for member in value]
    if isinstance(value, str):
        return SURROGATE.sub("?", value)
    return None if isinstance(value, float) and not isfinite(value) else value


def _shortened(unfit: InvalidValue) -> InvalidValue:
    """Name the field as the tool's schema does."""
    place = unfit.place
    for wrapper in ("params", "arguments"):
        place = place[1:] if place[:1] == (wrapper,) else place
    return unfit._replace(place=place)


class UnfitMiddleware(Middleware):
    """Answers marked messages: calls of tools in the shape of all errors, others in words."""

    async def on_request(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> Any:  # noqa: ANN401
        """Let a request through, or answer it. Raises MCPError."""
        current = context.fastmcp_context and context.fastmcp_context.request_context
        said = current and (current.meta or {}).get(UNFIT_KEY)
        if not said:
            return await call_next(context)
        if context.method == "tools/call":
            return error_result(PublicError(422, "invalid_request_error", str(said)))
        raise MCPError(INVALID_PARAMS, str(said))


def mark_standard_input() -> None:
    """Have each message on standard input marked before the protocol's reader takes it."""
    source = os.fdopen(os.dup(0), "rb")
    reading, writing = os.pipe()
    os.dup2(reading, 0)
    os.close(reading)
    sink = os.fdopen(writing, "wb")
    Thread(target=_mark_lines, args=(source, sink), daemon=True).start()


def _mark_lines(source: BinaryIO, sink: BinaryIO) -> None:
    with source, sink, suppress(BrokenPipeError):
        for line in source:
            sink.write(mark_invalid(line))
            sink.flush()
