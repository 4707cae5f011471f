"""Tools called by one JSON object, {"tool": NAME, "parameters": {…}}, as kbbridge's pages show it.

For programs that have HTTP and no client of the protocol: the call is handed on as one of the
protocol's, which needs no session here, and its result comes back as JSON.
"""

import json
from collections.abc import MutableMapping, Sequence
from typing import Any

from lexichord.serve.mcp.unfit import mark_invalid
from lexichord.serve.middleware import AsgiApp, AsgiReceive, AsgiScope, AsgiSend, answer

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

        request = mark_invalid(json.dumps(call).encode())
        await self.app(_with_headers(scope, request), _replayed(request, receive), keep)
        await answer(send, *_read_result(sent), {})


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
        sent = json.loads(body)
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


def _read_result(sent: Sequence[Message]) -> tuple[int, Message]:
    """Return status and body of the answer to a plain call."""
    text = b"".join(message.get("body", b"") for message in sent).decode()
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    messages = [json.loads(line) for line in lines or [text]]
    reply = next(message for message in reversed(messages) if message.get("id") == CALL_ID)
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
