"""Who may send a request at all: whoever has a key, where one is needed."""

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers

from lexichord.errors import LexichordError
from lexichord.guard.asgi import Asgi, Receive, Scope, Send, answer
from lexichord.guard.door import Door
from lexichord.guard.public import Problem, public_error
from lexichord.mcp_server.asker import KEY, SCOPE

PATH = "/mcp"
FAILED = "Authentication failed"


class Entrance:
    """An ASGI application in front of the protocol's: 401 without a key.

    Only POST is let through: there are no sessions, so there is nothing to listen to or to end.
    """

    def __init__(self, app: Asgi, door: Door) -> None:
        self.app, self.door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, with what its sender may use in its scope, or answer it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if (problem := _refusal(scope)) is None:
            try:
                scope[SCOPE] = await self.door.enter(authorization(headers))
            except LexichordError as error:
                problem = public_error(error)
        if problem is None:
            await self.app(scope, receive, send)
        else:
            await _answer(send, problem)


def _refusal(scope: Scope) -> Problem | None:
    if scope["path"].rstrip("/") != PATH:
        return Problem(404, "not_found_error", f"the protocol is spoken at {PATH}")
    if scope["method"] != "POST":
        return Problem(405, "invalid_request_error", "send requests by POST")
    return None


def authorization(headers: Mapping[str, str]) -> str | None:
    """Give the header with the key; kbbridge's clients send theirs as that of the backend."""
    given = headers.get("authorization")
    if given is None and (key := headers.get(KEY)):
        return f"Bearer {key}"
    return given


async def _answer(send: Send, problem: Problem) -> None:
    body: dict[str, Any] = problem.to_dict()
    headers = {}
    if problem.status == 401:
        headers["www-authenticate"] = "Bearer"
        needed = ["Authorization"]
        body = {"error": FAILED, "status": "error", "message": problem.message}
        body |= {"errors": [problem.message], "required_headers": needed}
    if problem.status == 405:
        headers["allow"] = "POST"
    await answer(send, problem.status, body, headers)
