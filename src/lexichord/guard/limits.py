"""What a server refuses at once: bodies too large, and more requests than it can answer."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

type Scope = MutableMapping[str, Any]
type Message = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]
type Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

RETRY_AFTER = 1  # seconds; a search takes some 30 ms
ALWAYS = ("/healthz", "/readyz")  # who is asked too much is still alive


class TooLargeError(Exception):
    """A body went on after its limit."""


class Limits:
    """An ASGI application in front of another: 413 for large bodies, 429 for too many requests."""

    def __init__(self, app: Asgi, max_body: int, max_requests: int) -> None:
        self.app, self.max_body, self.max_requests = app, max_body, max_requests
        self.running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http" or scope["path"] in ALWAYS:
            await self.app(scope, receive, send)
        elif _length(scope) > self.max_body:
            await _refuse(send, 413, "request_too_large", f"at most {self.max_body:,} bytes")
        elif self.running >= self.max_requests:
            await _refuse(send, 429, "rate_limit_error", "too many requests at once: try again")
        else:
            await self._counted(scope, receive, send)

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.running += 1
        started = False

        async def told(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, _measured(receive, self.max_body), told)
        except TooLargeError:
            if started:
                raise
            await _refuse(send, 413, "request_too_large", f"at most {self.max_body:,} bytes")
        finally:
            self.running -= 1


def _measured(receive: Receive, limit: int) -> Receive:
    """Count what is received: a chunked body has no length beforehand."""
    seen = 0

    async def measured() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise TooLargeError
        return message

    return measured


def _length(scope: Scope) -> int:
    text = dict(scope["headers"]).get(b"content-length", b"0")
    return int(text) if text.isdigit() else 0


async def _refuse(send: Send, status: int, kind: str, message: str) -> None:
    error = {"type": kind, "message": message, "code": kind, "param": None}
    headers = [(b"content-type", b"application/json")]
    if status == 429:
        headers.append((b"retry-after", str(RETRY_AFTER).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": error}).encode()})
