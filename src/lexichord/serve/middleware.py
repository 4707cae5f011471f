"""ASGI middleware that every server needs: whose requests are taken, how many and how large.

A page on any site can have its reader's browser send forms and files to this machine, where no key
is needed; the browser says whose page it was.
"""

import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from lexichord.serve.errors import PublicError
from lexichord.serve.limits import RETRY_AFTER_SECONDS

log = logging.getLogger("lexichord")

type AsgiScope = MutableMapping[str, Any]
type AsgiMessage = MutableMapping[str, Any]
type AsgiReceive = Callable[[], Awaitable[AsgiMessage]]
type AsgiSend = Callable[[AsgiMessage], Awaitable[None]]
type AsgiApp = Callable[[AsgiScope, AsgiReceive, AsgiSend], Awaitable[None]]

UNLIMITED_PATHS = ("/healthz", "/readyz", "/metrics")  # who is asked too much is still alive
HOST_NAME = re.compile(r"[a-z0-9._:-]{1,253}", re.A)
MAX_TOLD_NAMES = 20  # in the log, which strangers could fill
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")  # browsers keep what they answer from other pages


def header(scope: AsgiScope, name: str) -> str:
    """Return a request's header, "" if it has none."""
    raw: bytes = dict(scope["headers"]).get(name.encode(), b"")
    return raw.decode("latin-1")


async def refuse(
    send: AsgiSend, status: int, kind: str, message: str, retry_after: int | None = None
) -> None:
    """Answer with an error; `retry_after` is in seconds."""
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    await answer(send, status, PublicError(status, kind, message).to_dict(), headers)


async def answer(
    send: AsgiSend, status: int, body: Mapping[str, Any], headers: Mapping[str, str]
) -> None:
    """Answer with JSON, and with headers beside its type."""
    named = {"content-type": "application/json", **headers}
    raw = [(name.encode(), value.encode()) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})


async def show_too_large(send: AsgiSend, message: str) -> None:
    """Answer a browser with a page of these words."""
    page = f"<!doctype html><html lang=en><title>Too large</title><h1>Too large</h1><p>{message}"
    headers = {"content-type": "text/html", "content-security-policy": "default-src 'none'"}
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 413, "headers": raw})
    await send({"type": "http.response.body", "body": page.encode()})


class OriginsMiddleware:
    """An ASGI application in front of another: 400 for strange names, 403 for strange pages.

    `hosts` are names without a port, `*` allows any; `origins` are pages' addresses, likewise.
    """

    def __init__(self, app: AsgiApp, hosts: Sequence[str], origins: Sequence[str]) -> None:
        self.app = app
        self.hosts = {host.strip("[]").lower() for host in hosts}
        self.origins = {origin.rstrip("/").lower() for origin in origins}
        self._told: set[str] = set()

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif not self._is_own_name(host := header(scope, "host")):
            await refuse(send, 400, "invalid_request_error", self._strange_name(host))
        elif scope["method"] not in SAFE_METHODS and not self._is_allowed_origin(scope):
            message = "not sent by a page that may: see allowed_origins"
            await refuse(send, 403, "permission_error", message)
        else:
            await self.app(scope, receive, send)

    def _is_own_name(self, host: str) -> bool:
        return "*" in self.hosts or _host_name(f"//{host}") in self.hosts

    def _strange_name(self, host: str) -> str:
        """Return the line that refuses a name; it is logged the first time, of some names."""
        name = _host_name(f"//{host}") or ""
        if not HOST_NAME.fullmatch(name):
            return "the Host header names no host"
        message = (
            f"{name} is no name of this server: who runs it can add it to allowed_hosts "
            f"(LEXICHORD_ALLOWED_HOSTS={name})"
        )
        if name not in self._told and len(self._told) < MAX_TOLD_NAMES:
            self._told.add(name)
            log.warning("a request was refused: %s", message)
        return message

    def _is_allowed_origin(self, scope: AsgiScope) -> bool:
        """Return whether it comes from no page, from one of ours or from one that is allowed."""
        origin = header(scope, "origin").lower()
        if not origin or self.origins & {"*", origin}:
            return True
        return origin.partition("://")[2] == header(scope, "host").lower()


def _host_name(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


class BodyTooLargeError(Exception):
    """A body went on after its limit."""


class LimitsMiddleware:
    """An ASGI application in front of another: 413 for large bodies, 429 for too many requests."""

    def __init__(self, app: AsgiApp, max_body: int, max_requests: int) -> None:
        self.app, self.max_body, self.max_requests = app, max_body, max_requests
        self.running = 0

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http" or scope["path"] in UNLIMITED_PATHS:
            await self.app(scope, receive, send)
        elif _content_length(scope) > self.max_body:
            await self._refuse_large_body(scope, send)
        elif self.running >= self.max_requests:
            message = "too many requests at once: try again"
            await refuse(send, 429, "rate_limit_error", message, RETRY_AFTER_SECONDS)
        else:
            await self._run(scope, receive, send)

    async def _run(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        self.running += 1
        try:
            await self._run_measured(scope, receive, send)
        finally:
            self.running -= 1

    async def _run_measured(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Count what is received: a body sent in pieces has no length beforehand.

        An application takes the error for one of its own and answers; that answer is not sent.
        """
        body_bytes, has_started, is_too_large = 0, False, False

        async def receive_measured() -> AsgiMessage:
            nonlocal body_bytes, is_too_large
            message = await receive()
            body_bytes += len(message.get("body", b""))
            is_too_large = is_too_large or body_bytes > self.max_body
            if is_too_large:
                raise BodyTooLargeError
            return message

        async def send_unless_too_large(message: AsgiMessage) -> None:
            nonlocal has_started
            if has_started or not is_too_large:
                has_started = True
                await send(message)

        try:
            await self.app(scope, receive_measured, send_unless_too_large)
        except BodyTooLargeError:
            if has_started:
                raise
        if is_too_large and not has_started:
            await self._refuse_large_body(scope, send)

    async def _refuse_large_body(self, scope: AsgiScope, send: AsgiSend) -> None:
        most = f"at most {self.max_body:,} bytes"
        if "text/html" in header(scope, "accept"):  # a form's, without scripts
            await show_too_large(send, f"{most[:1].upper()}{most[1:]} at once: go back, send less.")
        else:
            await refuse(send, 413, "request_too_large", most)


def _content_length(scope: AsgiScope) -> int:
    text = header(scope, "content-length")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
