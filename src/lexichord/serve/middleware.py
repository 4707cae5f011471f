"""ASGI middleware that every server needs: whose requests are taken, how many and how large.

A page on any site can have its reader's browser send forms and files to this machine, where no key
is needed; the browser says whose page it was.
"""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any, NoReturn
from urllib.parse import urlsplit

from lexichord.serve.errors import PublicError
from lexichord.serve.limits import (
    ARRIVAL_SECONDS,
    FIRST_BODY_BYTES,
    MAX_ASKING_BYTES,
    RETRY_AFTER_SECONDS,
    SENT_BYTES,
)

log = logging.getLogger("lexichord")

type AsgiScope = MutableMapping[str, Any]
type AsgiMessage = MutableMapping[str, Any]
type AsgiReceive = Callable[[], Awaitable[AsgiMessage]]
type AsgiSend = Callable[[AsgiMessage], Awaitable[None]]
type AsgiApp = Callable[[AsgiScope, AsgiReceive, AsgiSend], Awaitable[None]]

UNLIMITED_PATHS = ("/healthz", "/readyz", "/metrics")  # who is asked too much is still alive
KEYLESS_PATHS = ("/login", "/logout")  # whose bodies are read of who has shown no key
# What may take long or much, beside searches: embedding, files that come, what is made of them.
HEAVY_PATHS = re.compile(
    r"POST /v1/(embeddings|documents|files|vector_stores(/[^/]+/file(s|_batches))?)(:\w+)?/?$"
    r"|POST /documents/"
    r"|(GET|HEAD) /(v1/documents|v1/files|document)/.*/(original|pages|boxes|content)\b"
)
FORM_PATHS = re.compile(r"POST (/v1/(documents:upload|files)|/documents/upload)/?$")  # with files
BODYLESS_METHODS = ("GET", "HEAD", "DELETE", "OPTIONS")  # nothing that we read, at least
LATE_BODY = PublicError(
    408, "timeout_error", f"the body did not come: no more of it within {ARRIVAL_SECONDS:g} s"
)
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


# A proxy in front may go by the other one, and take the body's rest for a request (RFC 9112, 6.3).
TWO_ENDS = "a body's length is told by Content-Length or by Transfer-Encoding, not by both"


class OriginsMiddleware:
    """An ASGI application in front of another: 403 for strange pages, 400 for other strangers.

    These are names of hosts, and bodies of two lengths. `hosts` are names without a port, `*`
    allows any; `origins` are pages' addresses, likewise.
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
        elif header(scope, "transfer-encoding") and header(scope, "content-length"):
            error = PublicError(400, "invalid_request_error", TWO_ENDS)
            await answer(send, 400, error.to_dict(), {"connection": "close"})
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


class BodyError(Exception):
    """A body went on after its limit, or stopped coming."""


class ArrivingBody:
    """The body of a request, in pieces of which each has to come within seconds.

    `refusal` is what to answer with where one did not, or all were more than `most` bytes.
    """

    def __init__(self, receive: AsgiReceive, most: int, is_empty: bool) -> None:
        self._receive, self._most, self._is_whole = receive, most, is_empty
        self._first: list[AsgiMessage] = []
        self._bytes = 0
        self.refusal: PublicError | None = None

    async def begin(self) -> None:
        """Read the first part: what holds no more needs no slot while it comes. Raises BodyError.

        What more there is is read by who needs it.
        """
        try:
            async with asyncio.timeout(ARRIVAL_SECONDS):
                while not self._is_whole and self._bytes < FIRST_BODY_BYTES:
                    self._first.append(self._counted(await self._receive()))
        except TimeoutError:
            self._refuse(LATE_BODY)

    async def receive(self) -> AsgiMessage:
        """Return the next piece, after the last one the news that the client is gone.

        Raises BodyError.
        """
        if self._first:
            return self._first.pop(0)
        if self._is_whole:
            return self._counted(await self._receive())
        try:
            async with asyncio.timeout(ARRIVAL_SECONDS):
                return self._counted(await self._receive())
        except TimeoutError:
            self._refuse(LATE_BODY)

    def _counted(self, message: AsgiMessage) -> AsgiMessage:
        self._bytes += len(message.get("body", b""))
        self._is_whole = not message.get("more_body")
        if self._bytes > self._most:
            self._refuse(too_large(self._most))
        return message

    def _refuse(self, refusal: PublicError) -> NoReturn:
        self.refusal = refusal
        raise BodyError


def too_large(most: int) -> PublicError:
    """Return what refuses a larger body."""
    return PublicError(413, "request_too_large", f"at most {most:,} bytes")


class LimitsMiddleware:
    """An ASGI application in front of another: 429 for too many requests, 413 for large bodies.

    Who shows no key holds no place among those that are answered: their bodies are small, and have
    come before a place is taken. A quarter of the places is kept for searches.
    """

    def __init__(self, app: AsgiApp, max_body: int, max_json: int, max_requests: int) -> None:
        self.app, self.max_requests = app, max_requests
        self.max_body, self.max_json = max_body, min(max_json, max_body)
        self.running, self.heavy = 0, 0

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http" or scope["path"] in UNLIMITED_PATHS:
            await self.app(scope, receive, send)
            return
        most = self._most_bytes(scope)
        if _content_length(scope) > most:
            await _refuse_body(scope, send, too_large(most))
            return
        body = ArrivingBody(receive, most, scope["method"] in BODYLESS_METHODS)
        has_started = False

        async def send_unless_refused(message: AsgiMessage) -> None:
            nonlocal has_started
            if has_started or body.refusal is None:
                has_started = True
                await _send_in_pieces(send, message)

        # An application takes the body's error for one of its own and answers: that is not sent.
        try:
            await body.begin()
            await self._run(scope, body.receive, send_unless_refused)
        except BodyError:
            if has_started:
                raise
        if body.refusal is not None and not has_started:
            await _refuse_body(scope, send, body.refusal)

    def _most_bytes(self, scope: AsgiScope) -> int:
        """Return how large a body may be: JSON is read at once, and all others wait meanwhile."""
        if scope["path"] in KEYLESS_PATHS:
            return min(FIRST_BODY_BYTES, self.max_json)
        if FORM_PATHS.match(f"{scope['method']} {scope['path']}"):
            return self.max_body
        return self.max_json if _is_heavy(scope) else min(MAX_ASKING_BYTES, self.max_json)

    async def _run(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        is_heavy = _is_heavy(scope)
        places = max(1, self.max_requests * 3 // 4)
        if self.running >= self.max_requests or (is_heavy and self.heavy >= places):
            message = "too many requests at once: try again"
            await refuse(send, 429, "rate_limit_error", message, RETRY_AFTER_SECONDS)
            return
        self.running += 1
        self.heavy += is_heavy
        try:
            await self.app(scope, receive, send)
        finally:
            self.running -= 1
            self.heavy -= is_heavy


async def _send_in_pieces(send: AsgiSend, message: AsgiMessage) -> None:
    """Send a part of an answer: each piece waits until the client has taken those before."""
    body: bytes = message.get("body", b"")
    last = max(0, len(body) - 1) // SENT_BYTES * SENT_BYTES
    for start in range(0, last, SENT_BYTES):
        await send({**message, "body": body[start : start + SENT_BYTES], "more_body": True})
    await send({**message, "body": body[last:]} if last else message)


def _is_heavy(scope: AsgiScope) -> bool:
    return HEAVY_PATHS.match(f"{scope['method']} {scope['path']}") is not None


async def _refuse_body(scope: AsgiScope, send: AsgiSend, error: PublicError) -> None:
    if error.status == 413 and "text/html" in header(scope, "accept"):  # a form's, without scripts
        message = f"{error.message[:1].upper()}{error.message[1:]} at once: go back, send less."
        await show_too_large(send, message)
    else:
        await refuse(send, error.status, error.type, error.message)


def _content_length(scope: AsgiScope) -> int:
    text = header(scope, "content-length")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
