"""The HTTP API: who calls its routes, how they reply, how they fail.

Every error has OpenAI's shape: {error: {type, message, code, param}}. What is wrong with a
request's fields is said in one line; bodies are read without what none takes.
"""

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import nullcontext
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from lexichord.errors import LexichordError, plain_reason
from lexichord.serve.access import ScopedClient
from lexichord.serve.errors import InvalidValue, PublicError, find_invalid_value, public_error
from lexichord.types.base import Shaped
from lexichord.work import in_thread

NO_OBJECT = "the body is to be a JSON object, and the content-type application/json"
WRONG_TYPE = "Input should be "  # how pydantic begins to say which

POSITION_HEADER = "Lexichord-Position"  # of answers to writes, and of requests that read after them

# Only for the OpenAPI document: the access policy itself reads the header.
_scheme = HTTPBearer(auto_error=False, description="An API key: lexichord keys create NAME.")


class InvalidField(NamedTuple):
    """The field that is wrong, "" where it is the body itself, what is, and HTTP's status."""

    param: str
    reason: str
    status: int = 422  # what the schema forbids

    @property
    def message(self) -> str:
        """Both in one line."""
        return f"{self.param}: {self.reason}" if self.param else self.reason


def find_invalid(error: RequestValidationError) -> InvalidField:
    """Return the first thing that is wrong; what was sent is not repeated."""
    errors = error.errors()
    first = errors[0]
    if first["type"] == "json_invalid" and first["loc"][0] == "body":
        reason, place = first["ctx"]["error"], first["loc"][1]
        return InvalidField("", f"the body is not valid JSON: {reason}, at character {place}", 400)
    if first["loc"] == ("body",) and first["type"] in ("model_attributes_type", "missing"):
        return InvalidField("", NO_OBJECT)
    places = [_place(one, error.body) for one in errors]
    below = [place for place in places if place[: len(places[0])] == places[0]]
    param = max(below, key=len)
    at_it = [one for one, place in zip(errors, places, strict=True) if place == param]
    status = 400 if first["type"] == "value_error" else 422
    return InvalidField(".".join(param), _reason(at_it), status)


def _place(error: dict[str, Any], body: object) -> tuple[str, ...]:
    """Return the path to what is wrong, without the names of the alternatives of a type in it."""
    source, *path = error["loc"]
    if source != "body":
        return tuple(map(str, path))
    kept, value = [], body
    for number, part in enumerate(path):
        is_missing = error["type"] == "missing" and number == len(path) - 1
        if is_missing or _holds(value, part):
            kept.append(str(part))
            value = None if is_missing else value[part]  # type: ignore[index]
    return tuple(kept)


def _holds(value: object, part: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, Mapping) and part in value


def _reason(errors: Sequence[dict[str, Any]]) -> str:
    """Say what is wrong with one value: of a type that fits, else all types that it may have."""
    fitting = [one for one in errors if not one["type"].endswith("_type")]
    if not fitting:
        types = dict.fromkeys(one["msg"].removeprefix(WRONG_TYPE) for one in errors)
        return WRONG_TYPE + " or ".join(types)
    if fitting[0]["type"] == "extra_forbidden":
        return "there is no such field here"
    return plain_reason(fitting[0]["msg"])


class InvalidValueError(HTTPException):
    """A value that no field takes; `param` is where it stands, "" for the body itself."""

    def __init__(self, found: InvalidValue) -> None:
        self.param = found.param
        super().__init__(422, found.message)


class JsonRequest(Request):
    """A request whose JSON holds what can be read again."""

    async def json(self) -> Any:  # noqa: ANN401
        """Read the body. Raises InvalidValueError, which names the first value that cannot be."""
        value = await super().json()
        if found := find_invalid_value(await self.body(), value):
            raise InvalidValueError(found)
        return value


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
        return _written(content)


def _written(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode(errors="replace")


def reply(result: Shaped | dict[str, Any], status: int = 200) -> JsonReply:
    """Answer with a result as it is: nothing is checked or filtered a second time."""
    return JsonReply(result if isinstance(result, dict) else result.to_dict(), status)


async def reply_long(result: Shaped) -> Response:
    """Answer with a result that may be long: in a thread, and in pieces between which others run.

    `json` writes what it is given in one go, 0.3 s of 15 million characters in chunks.
    """
    return Response(await in_thread(_in_pieces, result), media_type="application/json")


def _in_pieces(result: Shaped) -> bytes:
    """Write a result as `JsonReply` does, each item of its lists by itself."""
    members = result.to_dict().items()
    return b"{%b}" % b",".join(b"%b:%b" % (_written(n), _member(value)) for n, value in members)


def _member(value: object) -> bytes:
    if isinstance(value, list):
        return b"[%b]" % b",".join(map(_written, value))
    return _written(value)


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
