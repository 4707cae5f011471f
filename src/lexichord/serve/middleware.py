"""Whether a request may come as it does: to one of our names, and not from a page elsewhere.

A page on any site can have its reader's browser send forms and files to this machine, where no key
is needed; the browser says whose page it was.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from lexichord.serve.errors import Problem

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


READS = ("GET", "HEAD", "OPTIONS")  # the browser itself keeps what they answer from other pages


class Origins:
    """An ASGI application in front of another: 400 for strange names, 403 for strange pages.

    `hosts` are names without a port, `*` allows any; `origins` are pages' addresses, likewise.
    """

    def __init__(self, app: Asgi, hosts: Sequence[str], origins: Sequence[str]) -> None:
        self.app = app
        self.hosts = {host.strip("[]").lower() for host in hosts}
        self.origins = {origin.rstrip("/").lower() for origin in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif not self._is_ours(header(scope, "host")):
            told = "not addressed to a name of this server: see allowed_hosts"
            await refuse(send, 400, "invalid_request_error", told)
        elif scope["method"] not in READS and not self._may_send(scope):
            told = "not sent by a page that may: see allowed_origins"
            await refuse(send, 403, "permission_error", told)
        else:
            await self.app(scope, receive, send)

    def _is_ours(self, host: str) -> bool:
        return "*" in self.hosts or _name(f"//{host}") in self.hosts

    def _may_send(self, scope: Scope) -> bool:
        """Tell whether it comes from no page, from one of ours or from one that is allowed."""
        origin = header(scope, "origin").lower()
        if not origin or self.origins & {"*", origin}:
            return True
        return origin.partition("://")[2] == header(scope, "host").lower()


def _name(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
