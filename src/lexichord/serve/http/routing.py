"""What all routes share: who calls them, how they reply, how they fail.

Every error has OpenAI's shape: {error: {type, message, code, param}}.
"""

import json
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from lexichord.errors import LexichordError
from lexichord.serve.access import ScopedClient
from lexichord.serve.errors import PublicError, public_error
from lexichord.serve.http.invalid import InvalidValueError, JsonRequest, find_invalid
from lexichord.types.base import Shaped

POSITION_HEADER = "Lexichord-Position"  # of answers to writes, and of requests that read after them

# Only for the OpenAPI document: the access policy itself reads the header.
_scheme = HTTPBearer(auto_error=False, description="An API key: lexichord keys create NAME.")


async def find_caller(
    request: Request, _: Annotated[object, Depends(_scheme)] = None
) -> ScopedClient:
    """Return the application as the sender of a request may use it. Raises AccessError."""
    if not hasattr(request.state, "caller"):
        policy = request.app.state.policy
        request.state.caller = await policy.authorize(request.headers.get("authorization"))
    scoped: ScopedClient = request.state.caller
    return scoped


Caller = Annotated[ScopedClient, Depends(find_caller)]


class AuthorizedRoute(APIRoute):
    """A route that reads no body, file or field before it has seen the key.

    What it finds holds all that was written up to the position that a request names.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        handle = super().get_route_handler()

        async def handle_authorized(request: Request) -> Response:
            caller = await find_caller(request)
            position = request.headers.get(POSITION_HEADER)
            with nullcontext() if position is None else caller.reading_after(position):
                return await handle(JsonRequest(request.scope, request.receive))

        return handle_authorized


class ErrorDetail(BaseModel):
    """What went wrong, in one line; `param` is the field that is wrong, where one is."""

    type: str
    message: str
    code: str
    param: str | None = None


class ErrorBody(BaseModel):
    """The body of every answer that is none."""

    error: ErrorDetail


ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": description}
    for status, description in {
        400: "Something in it makes no sense here.",
        401: "It needs an API key, and has none, a wrong one or one whose time is over.",
        403: "The API key does not reach that far, or may not do that.",
        404: "That dataset, document, chunk or job is not there.",
        413: "The body is too large.",
        422: "A field is missing, unknown or of the wrong form.",
        429: "Too many requests, at once or by this key; Retry-After says when to try again.",
        500: "It failed, by a fault of this server.",
        502: "A model's service failed.",
        503: "The database, or a model's service, cannot answer now.",
        504: "It took too long.",
    }.items()
}


class JsonReply(JSONResponse):
    """A body of JSON; a lone surrogate, which UTF-8 cannot hold, becomes a question mark."""

    def render(self, content: Any) -> bytes:  # noqa: ANN401
        """Write it."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode(errors="replace")


def reply(result: Shaped | dict[str, Any], status: int = 200) -> JsonReply:
    """Answer with a result as it is: nothing is checked or filtered a second time."""
    return JsonReply(result if isinstance(result, dict) else result.to_dict(), status)


async def reply_written(caller: ScopedClient, result: dict[str, Any]) -> JsonReply:
    """Answer with the result of a write, and the position after it."""
    return JsonReply(result, headers={POSITION_HEADER: await caller.position()})


def error_reply(error: PublicError, param: str | None = None) -> JsonReply:
    """Answer with an error."""
    shape = error.to_dict()
    shape["error"]["param"] = param
    return JsonReply(shape, error.status, error.headers)


# What the frameworks' own errors say, in words that tell what to do.
PLAIN_WORDS = {
    "Not Found": "there is nothing at this address: /docs shows what there is",
    "There was an error parsing the body": "the body cannot be read: it is to be JSON in UTF-8, "
    "not compressed, and not nested too deep",
}
HTTP_ERROR_TYPES = {404: "not_found_error", 429: "rate_limit_error"}  # of HTTP's own errors


def handle_errors(app: FastAPI) -> None:
    """Register what answers where a route raises; the timeout's middleware answers for all else."""
    app.add_exception_handler(LexichordError, _answer_own)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(InvalidValueError, _answer_invalid_value)
    app.add_exception_handler(HTTPException, _answer_http)


async def _answer_own(_: Request, error: Exception) -> JsonReply:
    return error_reply(public_error(error))


async def _answer_invalid(_: Request, error: Exception) -> JsonReply:
    assert isinstance(error, RequestValidationError)
    wrong = find_invalid(error)
    public = PublicError(wrong.status, "invalid_request_error", wrong.message)
    return error_reply(public, wrong.param or None)


async def _answer_invalid_value(_: Request, error: Exception) -> JsonReply:
    assert isinstance(error, InvalidValueError)
    public = PublicError(error.status_code, "invalid_request_error", error.detail)
    return error_reply(public, error.param or None)


async def _answer_http(request: Request, error: Exception) -> JsonReply:
    assert isinstance(error, HTTPException)
    kind = HTTP_ERROR_TYPES.get(error.status_code, "invalid_request_error")
    headers, message = dict(error.headers or {}), str(error.detail)
    if error.status_code == 405:  # of several routes of one path, only the first was asked
        methods = request.app.openapi()["paths"].get(request.scope["route"].path_format)
        headers["Allow"] = ", ".join(methods or ()).upper() or headers["Allow"]
        message = f"{request.method} is not taken here, but {headers['Allow']}"
    message = PLAIN_WORDS.get(message, message)
    response = error_reply(PublicError(error.status_code, kind, message))
    response.headers.update(headers)
    return response
