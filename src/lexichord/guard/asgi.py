"""What passes between a server and an application, and how a request is refused."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from lexichord.guard.public import Problem

type Scope = MutableMapping[str, Any]
type Message = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]
type Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]


def header(scope: Scope, name: str) -> str:
    """Give a request's header, "" if it has none."""
    raw: bytes = dict(scope["headers"]).get(name.encode(), b"")
    return raw.decode("latin-1")


async def refuse(
    send: Send, status: int, kind: str, message: str, retry_after: int | None = None
) -> None:
    """Answer with an error; `retry_after` is in seconds."""
    body = json.dumps(Problem(status, kind, message).to_dict()).encode()
    headers = [(b"content-type", b"application/json")]
    if retry_after is not None:
        headers.append((b"retry-after", str(retry_after).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
