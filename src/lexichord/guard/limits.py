"""What a server refuses at once: bodies too large, and more requests than it can answer."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from lexichord.guard.public import Problem

type Scope = MutableMapping[str, Any]
type Message = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]
type Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

RETRY_AFTER = 1  # seconds; a search takes some 30 ms
BUSY = Problem(429, "rate_limit_error", "too many requests at once: try again")
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
            await refuse(send, self._too_large())
        elif self.running >= self.max_requests:
            await refuse(send, BUSY)
        else:
            await self._counted(scope, receive, send)

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.running += 1
        body = _Body(receive, self.max_body)
        try:
            await self.app(scope, body.receive, body.unless_too_large(send))
        except TooLargeError:
            pass
        finally:
            self.running -= 1
        if body.is_too_large and not body.is_answered:
            await refuse(send, self._too_large())

    def _too_large(self) -> Problem:
        return Problem(413, "request_too_large", f"at most {self.max_body:,} bytes")


class _Body:
    """Counts what is received: a body in pieces has no length beforehand.

    The application may make an answer of its own of the error: that is held back.
    """

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive, self._left = receive, limit
        self.is_answered = False

    @property
    def is_too_large(self) -> bool:
        return self._left < 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self.is_too_large:
            raise TooLargeError
        return message

    def unless_too_large(self, send: Send) -> Send:
        async def sent(message: Message) -> None:
            if self.is_answered or not self.is_too_large:
                self.is_answered = True
                await send(message)

        return sent


def _length(scope: Scope) -> int:
    text = dict(scope["headers"]).get(b"content-length", b"0")
    return int(text) if text.isdigit() else 0


async def refuse(send: Send, problem: Problem) -> None:
    """Answer with an error as JSON."""
    headers = [(b"content-type", b"application/json")]
    if problem.status == 429:
        headers.append((b"retry-after", str(RETRY_AFTER).encode()))
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    body = json.dumps(problem.to_dict()).encode()
    await send({"type": "http.response.body", "body": body})
