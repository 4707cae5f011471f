"""What passes between a server and an application, and how a request is refused."""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
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
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    await answer(send, status, Problem(status, kind, message).to_dict(), headers)


async def answer(
    send: Send, status: int, body: Mapping[str, Any], headers: Mapping[str, str]
) -> None:
    """Answer with JSON, and with headers beside its type."""
    named = {"content-type": "application/json", **headers}
    raw = [(name.encode(), value.encode()) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
