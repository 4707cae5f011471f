"""Messages before the protocol's reader takes them: what no field takes, and plain calls.

What no field takes is refused by the field's name on every transport. Of the readers of JSON
between a client and the tools some let it through, some refuse the message without a name, and one
passes over it, so that its sender waits for ever. So it is taken out before them, and said in the
message itself, in the member that the protocol leaves to servers. What is no JSON, or has no id
that can be answered, that reader still passes over on standard input.

Tools are called by one JSON object, too, {"tool": NAME, "parameters": {…}}, as kbbridge's pages
show it, for programs that have HTTP and no client of the protocol: the call is handed on as one of
the protocol's, which needs no session here, and its result comes back as JSON.
"""

import json
import os
from collections.abc import MutableMapping, Sequence
from contextlib import suppress
from math import inf, isfinite
from secrets import token_hex
from threading import Thread
from typing import Any, BinaryIO

from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from lexichord.serve.errors import (
    SURROGATE,
    InvalidValue,
    PublicError,
    check_depth,
    find_invalid_value,
)
from lexichord.serve.limits import MAX_JSON_DEPTH
from lexichord.serve.mcp import error_result
from lexichord.serve.middleware import AsgiApp, AsgiReceive, AsgiScope, AsgiSend, answer

UNFIT_KEY = f"lexichord/unfit-{token_hex(8)}"  # of a message's _meta; no sender knows it

ACCEPTED_TYPES = "application/json, text/event-stream"  # what the protocol wants to be sent
REPLACED_HEADERS = (b"accept", b"content-type", b"content-length")
CALL_ID = 1
STATUS_BY_ERROR = {
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "invalid_request_error": 400,
    "provider_error": 502,
    "database_error": 503,
    "timeout_error": 504,
}

type Message = MutableMapping[str, Any]


def mark_invalid(body: bytes) -> bytes:
    """Return a message that all can read: as it is, or without what no field takes, marked."""
    try:
        message = json.loads(body, parse_int=_read_integer)
    except (ValueError, RecursionError):
        return body  # the protocol's own reader says what is wrong with it, if it can tell to whom
    marked = _marked(body, message) if isinstance(message, dict) else message
    return body if marked is message else json.dumps(marked).encode() + b"\n"


def _marked(body: bytes, message: Message) -> Message:
    """Return a message as it is, or one without what no field takes, and with what that was."""
    unfit = _find_unfit(body, message)
    if unfit is None or not isinstance(message.get("params"), dict):
        return message
    marked: Message = _without_unfit(message)
    meta = marked["params"].get("_meta")
    said = {UNFIT_KEY: _shortened(unfit).message}
    marked["params"]["_meta"] = {**meta, **said} if isinstance(meta, dict) else said
    return marked


def _read_integer(digits: str) -> int | float:
    """Return a number; one of more digits than Python reads as an infinite one, which is unfit."""
    try:
        return int(digits)
    except ValueError:
        return inf


def _find_unfit(body: bytes, message: Message) -> InvalidValue | None:
    """Return what no field takes, or that the message is too deep for the protocol's reader."""
    try:
        check_depth(message)
    except ValueError as error:
        return InvalidValue((), f"the message {error}")
    return find_invalid_value(body, message)


def _without_unfit(value: Any, depth: int = MAX_JSON_DEPTH) -> Any:  # noqa: ANN401
    """Return a value without what no field takes, nor what lies in so many objects and lists."""
    if isinstance(value, dict | list) and not depth:
        return None
    if isinstance(value, dict):
        pairs = value.items()
        return {_without_unfit(name): _without_unfit(member, depth - 1) for name, member in pairs}
    if isinstance(value, list):
        return [_without_unfit(member, depth - 1) for member in value]
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


class PlainCallMiddleware:
    """An ASGI application in front of the protocol's: a plain call becomes one of a tool."""

    def __init__(self, app: AsgiApp) -> None:
        self.app = app

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Let a request through, or hand it on in the protocol's form."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = await _read_body(receive)
        call = _read_call(body)
        if call is None:
            await self.app(scope, _replayed(mark_invalid(body), receive), send)
            return
        sent: list[Message] = []

        async def keep(message: Message) -> None:
            sent.append(message)

        request = json.dumps(_marked(body, call)).encode()
        await self.app(_with_headers(scope, request), _replayed(request, receive), keep)
        if (reply := _find_reply(sent)) is not None:  # else its sender is gone
            await answer(send, *_read_result(reply), {})


async def _read_body(receive: AsgiReceive) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


def _read_call(body: bytes) -> Message | None:
    """Return the protocol's call for a plain one, None for what is none."""
    try:
        sent = json.loads(body, parse_int=_read_integer)
    except (ValueError, RecursionError):
        return None
    if not isinstance(sent, dict) or "jsonrpc" in sent or not isinstance(sent.get("tool"), str):
        return None
    parameters = {"name": sent["tool"], "arguments": sent.get("parameters") or {}}
    return {"jsonrpc": "2.0", "id": CALL_ID, "method": "tools/call", "params": parameters}


def _with_headers(scope: AsgiScope, body: bytes) -> AsgiScope:
    kept = [pair for pair in scope["headers"] if pair[0].lower() not in REPLACED_HEADERS]
    own = {"accept": ACCEPTED_TYPES, "content-type": "application/json"}
    own["content-length"] = str(len(body))
    return {**scope, "headers": kept + [(n.encode(), v.encode()) for n, v in own.items()]}


def _replayed(body: bytes, receive: AsgiReceive) -> AsgiReceive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _find_reply(sent: Sequence[Message]) -> Message | None:
    """Return the protocol's reply among what was sent, notes of progress beside it."""
    text = b"".join(message.get("body", b"") for message in sent).decode()
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    for line in reversed(lines or [text]):
        with suppress(ValueError):
            message = json.loads(line)
            if "result" in message or "error" in message:
                return dict(message)
    return None


def _read_result(reply: Message) -> tuple[int, Message]:
    """Return status and body of the answer to a plain call."""
    if "error" in reply:
        return _refused(reply["error"]["message"])
    result = reply["result"]
    text = result["content"][0]["text"]
    if result.get("isError") and not text.startswith("{"):  # the protocol's own, in words
        return _refused(text)
    body: Message = result.get("structuredContent") or json.loads(text)
    failed = STATUS_BY_ERROR.get(str(body.get("type")), 500)
    return failed if result.get("isError") else 200, body


def _refused(reason: str) -> tuple[int, Message]:
    return 400, {"error": "Invalid request", "status": "error", "details": reason}
