"""How a tool is called: its caller, its time, what is told meanwhile, what comes back."""

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import wraps
from time import monotonic
from typing import Annotated, Any

from fastmcp import FastMCP
from fastmcp.exceptions import ValidationError
from fastmcp.server.dependencies import get_context
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import ToolResult
from mcp_types import CallToolRequestParams, ResourceLink, TextContent, ToolAnnotations
from pydantic import BeforeValidator, Field
from pydantic import ValidationError as Invalid

from lexichord.serve.access import Limited
from lexichord.serve.errors import Problem, public_error
from lexichord.serve.limits import LONGEST
from lexichord.serve.mcp.shapes import Told
from lexichord.serve.services import with_named_services


def _text(value: object) -> object:
    """Read what agents send for a text that they leave out, or for an id."""
    return "" if value is None else str(value) if isinstance(value, int) else value


Text = Annotated[str, BeforeValidator(_text)]
Query = Annotated[str, Field(min_length=1, max_length=LONGEST, description="In plain words.")]
Custom = Annotated[
    str | None,
    Field(max_length=LONGEST, description="What else to heed; its words are searched as well."),
]
DatasetId = Annotated[Text, Field(description="A dataset's name; all in reach by default.")]
ResourceId = Annotated[Text, Field(description="The same as dataset_id, by its newer name.")]
DocumentName = Annotated[
    Text,
    Field(
        description="Only this document: its name as in other results, its id or its uri; "
        "else all whose file names hold this."
    ),
]
Folder = Annotated[
    Text,
    Field(
        description="Only this folder: what uris begin with, or whole folder names inside them, "
        "such as contracts/2024."
    ),
]
Share = Annotated[float, Field(ge=0, le=1)]
Backend = Annotated[str | None, Field(description="Has no effect: there is one backend, Postgres.")]

BACKEND = {"backend_type": "documents are in this server's own database"}


def without_effect(reasons: Mapping[str, str], **given: object) -> dict[str, str]:
    """Say of what was given, and has no effect, why."""
    return {name: reasons[name] for name, value in given.items() if value not in (None, False)}


ENDPOINT, KEY = "X-RETRIEVAL-ENDPOINT", "X-RETRIEVAL-API-KEY"
SCOPE = "lexichord.limited"  # the entry of a request's ASGI scope that the entrance makes

NO_ENDPOINT = "documents are in this server's own database: no other backend is ever asked"
OTHER_KEY = "the key of Authorization was taken"


@dataclass(frozen=True, slots=True)
class Asker:
    """One request's caller, and the seconds that its work may take.

    `ignored` says of what it sent that has no effect, and why.
    """

    limited: Limited
    ignored: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0


type Enter = Callable[[], Awaitable[Asker]]


def asker(limited: Limited, headers: Mapping[str, str]) -> Asker:
    """Give the caller of a request with these headers. Raises ForbiddenError, ConfigError."""
    ignored = {}
    if headers.get(ENDPOINT):
        ignored[ENDPOINT] = NO_ENDPOINT
    if headers.get(KEY) and headers.get("authorization"):
        ignored[KEY] = OTHER_KEY
    return Asker(with_named_services(limited, headers), ignored)


async def of_request() -> Asker:
    """Give the caller of the HTTP request that is being answered; fails where there is none."""
    from fastmcp.server.dependencies import get_http_request

    request = get_http_request()
    return asker(request.scope[SCOPE], request.headers)


SECONDS = 45.0  # many clients stop at 60
BEAT = 3.0  # seconds between two notes of progress
# Of the time, what is kept for a partial result: two searches by words took 10 ms.
KEPT, KEPT_MOST = 0.2, 3.0
LINKS = 10  # sources of a result that are also given as links

Seconds = Annotated[
    float,
    Field(ge=1, le=600, description="After so long give what there is; 45 fits most clients."),
]

TITLES = {
    "authentication_error": "Authentication failed",
    "permission_error": "Not permitted",
    "not_found_error": "Not found",
    "invalid_request_error": "Invalid request",
    "provider_error": "A model's service failed",
    "timeout_error": "Request timeout",
    "database_error": "The database could not answer",
}
SUGGESTIONS = {
    "not_found_error": "file_count and file_lister, without a dataset, show what is there",
    "permission_error": "leave out what is not permitted, or use another key",
    "invalid_request_error": "mend the parameter or header that is named, and call again",
}
TIMEOUT_SUGGESTIONS = [
    "ask a narrower question, or name the document",
    "allow more seconds by timeout_seconds, if your client waits so long",
    "leave out rewriting and reflection",
]
PARTLY = "time ran out: this is what was found by then"

type Made = Told | dict[str, Any]
type Run = Callable[..., Awaitable[Made]]


def add_tool(
    mcp: FastMCP, enter: Enter, run: Run, *, title: str, partly: Run | None = None
) -> None:
    """Register a function as the tool of its name; its first parameter, the caller, is given here.

    Its return type, if that is `Told`, gives the output schema; a dict is given as a text alone.
    `partly` is what it is replaced by, in a hurry, where its time runs out; its status says so.
    """
    shape = inspect.signature(run).return_annotation
    told = isinstance(shape, type) and issubclass(shape, Told)

    @wraps(run)
    async def call(**given: Any) -> ToolResult:  # noqa: ANN401
        try:
            asker = await enter()
            asked = given.get("timeout_seconds", given.get("timeout", SECONDS))
            seconds = min(asked, asker.limited.core.settings.request_timeout)
            async with _beating(title, seconds):
                return await _in_time(asker, run, partly, seconds, given)
        except Exception as error:  # the protocol has its own way to tell it
            return failure(public_error(error))

    call.__signature__ = _without_caller(run)  # type: ignore[attr-defined]
    mcp.tool(
        call,
        title=title,
        annotations=read_only(title),
        output_schema=shape.model_json_schema() if told else None,
    )


def read_only(title: str) -> ToolAnnotations:
    """Say what is true of all tools: they read documents that are there, and change nothing."""
    return ToolAnnotations(
        title=title,
        read_only_hint=True,
        destructive_hint=False,
        idempotent_hint=True,
        open_world_hint=False,
    )


async def _in_time(
    asker: Asker, run: Run, partly: Run | None, seconds: float, given: dict[str, Any]
) -> ToolResult:
    kept = min(KEPT * seconds, KEPT_MOST)
    for work, limit in ((run, seconds - kept), (partly, kept)):
        with suppress(TimeoutError):
            if work is not None:
                async with asyncio.timeout(limit):
                    made = await work(replace(asker, seconds=limit), **given)
                return success(hurried(made, seconds), asker.ignored)
    return late(seconds)


def hurried(made: Made, seconds: float) -> Made:
    """Say of a result, if time ran out, what that means."""
    if not isinstance(made, Told) or made.status == "ok":
        return made
    said = {"message": PARTLY, "timeout_seconds": seconds, "suggestions": TIMEOUT_SUGGESTIONS}
    return made.model_copy(update=said)


@asynccontextmanager
async def _beating(title: str, seconds: float) -> AsyncIterator[None]:
    """Tell the client every few seconds that work goes on, in seconds of those that it may take."""
    beat = asyncio.create_task(_beat(title, seconds))
    try:
        yield
    finally:
        beat.cancel()
        with suppress(asyncio.CancelledError):
            await beat


async def _beat(title: str, seconds: float) -> None:
    context, started = get_context(), monotonic()
    with suppress(Exception):  # who does not listen any more is not told
        while True:
            spent = round(monotonic() - started, 1)
            await context.report_progress(spent, seconds, f"{title}: {spent:.0f} s")
            await asyncio.sleep(BEAT)


def _without_caller(run: Run) -> inspect.Signature:
    signature = inspect.signature(run)
    _, *others = signature.parameters.values()
    return signature.replace(parameters=others)


def success(made: Made, ignored: Mapping[str, str]) -> ToolResult:
    """Give a result as structured content, as the same JSON in a text, and its sources as links."""
    if not isinstance(made, Told):
        return ToolResult(content=[text(made)])
    told = made.model_copy(update={"ignored": {**ignored, **made.ignored}})
    shape = {
        name: value for name, value in told.model_dump(mode="json").items() if value is not None
    }
    last = {name: shape.pop(name) for name in Told.model_fields if name in shape}
    shape |= last  # agents that are shown only the beginning should see what was found
    links = list({link.uri: link for link in told.links()}.values())[:LINKS]
    return ToolResult(
        content=[
            text(shape),
            *(ResourceLink(type="resource_link", uri=each.uri, name=each.name) for each in links),
        ],
        structured_content=shape,
    )


def failure(problem: Problem) -> ToolResult:
    """Give an error in kbbridge's shape."""
    shape = {
        "error": TITLES.get(problem.type, "Error"),
        "status": "error",
        "type": problem.type,
        "details": problem.message,
        "suggestion": SUGGESTIONS.get(problem.type, "try again later"),
    }
    return ToolResult(content=[text(shape)], is_error=True)


def late(seconds: float) -> ToolResult:
    """Give the error for a call that found nothing in its time, in kbbridge's shape."""
    shape = {
        "error": TITLES["timeout_error"],
        "status": "timeout",
        "message": f"nothing was found within {seconds:g} seconds",
        "timeout_seconds": seconds,
        "suggestions": TIMEOUT_SUGGESTIONS,
    }
    return ToolResult(content=[text(shape)], is_error=True)


def text(shape: object) -> TextContent:
    """Give JSON as a text."""
    return TextContent(type="text", text=json.dumps(shape, ensure_ascii=False))


class ToldPlainly(Middleware):
    """Tells wrong arguments in the shape of all errors, without repeating what was sent."""

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Call the tool, or say what is wrong with its arguments."""
        try:
            return await call_next(context)
        except ValidationError as error:
            return failure(Problem(422, "invalid_request_error", _wrong(error)))


def _wrong(error: ValidationError) -> str:
    cause = error.__cause__
    if not isinstance(cause, Invalid):
        return "the arguments do not fit the tool's schema"
    found = cause.errors(include_input=False, include_url=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found[:3])
