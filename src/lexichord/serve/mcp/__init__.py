"""The MCP server: how its tools are called, by whom, in what time, with what result and schema.

An agent's model reads all tools' schemas before each question, so they say what is needed and no
more: what few need, what every result says, bounds of texts and defaults that are nothing are left
out. What is sent is checked by the functions' own types.
"""

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial as bound
from functools import wraps
from time import monotonic
from typing import Annotated, Any, Literal

from fastmcp import FastMCP
from fastmcp.exceptions import ValidationError
from fastmcp.server.context import Context
from fastmcp.server.dependencies import get_context
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool
from fastmcp.tools.base import InputRequiredToolResult, ToolResult
from fastmcp.utilities.json_schema import dereference_refs
from mcp_types import (
    CallToolRequestParams,
    ClientCapabilities,
    ElicitationCapability,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequests,
    InputRequiredResult,
    ResourceLink,
    TextContent,
    ToolAnnotations,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, Field
from pydantic import ValidationError as SchemaError

from lexichord.errors import (
    ForbiddenError,
    NotFoundError,
    likeness,
    nearest_first,
    plain_reason,
    some_names,
)
from lexichord.serve.access import ScopedClient
from lexichord.serve.errors import PublicError, public_error
from lexichord.serve.limits import (
    MAX_PARTIAL_RESULT_SECONDS,
    MAX_QUERY_CHARS,
    MAX_RESOURCE_LINKS,
    PARTIAL_RESULT_SHARE,
    TOOL_PROGRESS_SECONDS,
    TOOL_SECONDS,
)
from lexichord.serve.services import with_named_services
from lexichord.types import Json

type Schema = dict[str, Any]

UNPUBLISHED: Schema = {"unpublished": True}  # a field's json_schema_extra
OF_ALL_RESULTS = {"status", "message", "timeout_seconds", "suggestions", "degraded", "ignored"}
LEFT_OUT = {"title", "additionalProperties", "minLength", "maxLength", "maxItems"}
LEFT_OUT_OF_RESULTS = LEFT_OUT | {"default", "required"}
NULL = {"type": "null"}

DATASET_ARGUMENTS = ("dataset_id", "resource_id")
DATASET_FIELD = "dataset"
CAN_BE_ASKED = ClientCapabilities(elicitation=ElicitationCapability())


def input_schema(schema: Schema) -> Schema:
    """Return the schema of a tool's arguments, in short; null for what is left out is taken."""
    short = _short(schema, is_result=False)
    for argument in short["properties"].values():
        if not argument.get("default", True):
            del argument["default"]
    return short


def output_schema(schema: Schema) -> Schema:
    """Return the schema of a tool's result, in short; an error's fits it, too."""
    short = _short(schema, is_result=True)
    short["properties"] = {
        name: field for name, field in short["properties"].items() if name not in OF_ALL_RESULTS
    }
    short.pop("description", None)
    return short


def _short(schema: Schema, is_result: bool) -> Schema:
    left_out = LEFT_OUT_OF_RESULTS if is_result else LEFT_OUT
    short = {name: value for name, value in schema.items() if name not in left_out}
    if "anyOf" in short:
        short = _one_type(short, is_result)
    if "properties" in short:
        fields = short["properties"].items()
        shorter = {name: _short(field, is_result) for name, field in fields}
        short["properties"] = {
            name: field for name, field in shorter.items() if "unpublished" not in field
        }
    if "items" in short:
        short["items"] = _names(short["items"]) if is_result else _short(short["items"], False)
    return short


def _names(schema: Schema) -> Schema:
    """Return what the members of a list hold, by name alone."""
    fields = schema.get("properties", {}).items()
    names: Schema = {name: {} for name, field in fields if "unpublished" not in field}
    return {"type": schema.get("type", "object")} | ({"properties": names} if names else {})


def _one_type(schema: Schema, is_result: bool) -> Schema:
    """Put a type in the place of a choice between it and null."""
    kinds = [_short(kind, is_result) for kind in schema.pop("anyOf") if kind != NULL]
    if len(kinds) > 1:
        return {"anyOf": kinds, **schema}
    (kind,) = kinds
    return {**kind, **schema, **({"type": [kind["type"], "null"]} if is_result else {})}


async def choose_dataset(
    context: Context, scoped: ScopedClient, arguments: dict[str, Any]
) -> dict[str, Any] | InputRequiredToolResult | None:
    """Return a failed call's arguments with the dataset that its user chose; None: it was not that.

    A client of the protocol's present version is sent what to ask, and calls again. Raises
    NotFoundError where nobody can be asked, or nothing was chosen.
    """
    named = next((name for name in DATASET_ARGUMENTS if arguments.get(name)), None)
    fitting = await _fitting_datasets(scoped, arguments[named]) if named else []
    if named is None or not fitting:
        return None
    question = f"There is no dataset '{arguments[named]}'. Which one is meant?"
    answer = await _answer(context, question, fitting)
    if isinstance(answer, InputRequiredToolResult):
        return answer
    if answer not in fitting:
        names = some_names(fitting, [arguments[named]])
        raise NotFoundError(f"there is no dataset '{arguments[named]}': take one of {names}")
    return {**arguments, named: answer}


async def _fitting_datasets(scoped: ScopedClient, name: str) -> list[str]:
    """Return the datasets in reach that a name which is none of theirs may mean."""
    names = [row["dataset"] for row in await scoped.datasets()]
    part = name.casefold()
    if name in names:
        return []
    near = nearest_first(names, [name])
    return [each for each in near if part in each.casefold() or likeness(name, each)]


async def _answer(
    context: Context, question: str, names: Sequence[str]
) -> str | InputRequiredToolResult | None:
    """Return what the user chose, None where that is nothing or nobody can be asked."""
    if not context.session.check_client_capability(CAN_BE_ASKED):
        return None
    choice = {"type": "string", "title": "Dataset", "enum": list(names)}
    schema = {"type": "object", "properties": {DATASET_FIELD: choice}, "required": [DATASET_FIELD]}
    request = context.request_id
    spoken = context.request_context and context.request_context.protocol_version
    if spoken not in MODERN_PROTOCOL_VERSIONS:
        result = await context.session.elicit_form(question, schema, related_request_id=request)
        return _chosen(result)
    if (answers := context.input_responses) is not None:
        return _chosen(answers.get(DATASET_FIELD))
    form = ElicitRequestFormParams(message=question, requested_schema=schema)
    asked: InputRequests = {DATASET_FIELD: ElicitRequest(params=form)}
    return InputRequiredToolResult(InputRequiredResult(input_requests=asked))


def _chosen(result: object) -> str | None:
    if not isinstance(result, ElicitResult) or result.action != "accept":
        return None
    return str((result.content or {}).get(DATASET_FIELD))


QueryParameter = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARS)]
TimeoutArgument = Annotated[float, Field(ge=1, le=600, json_schema_extra=UNPUBLISHED)]

DegradedField = Annotated[list[str], Field(description="What could not be done as asked, and why.")]
IgnoredField = Annotated[
    dict[str, str], Field(description="Parameters and headers that have no effect here, and why.")
]


@dataclass(frozen=True, slots=True)
class SourceLink:
    """A source that a client can read as a resource."""

    uri: str
    name: str


class ToolOutput(BaseModel):
    """What every result says of itself."""

    status: Annotated[
        Literal["ok", "timeout"], Field(description="timeout: time ran out, this is what there is.")
    ] = "ok"
    message: str | None = None
    timeout_seconds: float | None = None
    suggestions: list[str] = []
    degraded: DegradedField = []
    ignored: IgnoredField = {}

    def links(self) -> list[SourceLink]:
        """Return the sources, best first."""
        return []


def ignored_parameters(reasons: Mapping[str, str], **arguments: object) -> dict[str, str]:
    """Return, of the arguments that were sent and have no effect, why."""
    return {name: reasons[name] for name, value in arguments.items() if value not in (None, False)}


RETRIEVAL_ENDPOINT_HEADER, RETRIEVAL_KEY_HEADER = "X-RETRIEVAL-ENDPOINT", "X-RETRIEVAL-API-KEY"
ENDPOINT_IGNORED = "documents are in this server's own database: no other backend is ever asked"
RETRIEVAL_KEY_IGNORED = "the key of Authorization was taken"
CLIENT_SCOPE_KEY = "lexichord.client"  # of a request's ASGI scope: what its key may use


@dataclass(frozen=True, slots=True)
class ToolCaller:
    """One request's client, and the seconds that its work may take.

    `ignored` says of what it sent that has no effect, and why; `degraded` what it asked for that
    this server may not do.
    """

    scoped: ScopedClient
    ignored: Mapping[str, str] = field(default_factory=dict)
    degraded: Sequence[str] = ()
    seconds: float = 0.0


type FindCaller = Callable[[], Awaitable[ToolCaller]]


def tool_caller(scoped: ScopedClient, headers: Mapping[str, str]) -> ToolCaller:
    """Return the caller of a request with these headers. Raises ConfigError."""
    ignored = {}
    if headers.get(RETRIEVAL_ENDPOINT_HEADER):
        ignored[RETRIEVAL_ENDPOINT_HEADER] = ENDPOINT_IGNORED
    if headers.get(RETRIEVAL_KEY_HEADER) and headers.get("authorization"):
        ignored[RETRIEVAL_KEY_HEADER] = RETRIEVAL_KEY_IGNORED
    client, left_out = with_named_services(scoped, headers)
    return ToolCaller(client, ignored, left_out)


async def request_caller() -> ToolCaller:
    """Return the caller of the HTTP request that is being answered; fails where there is none."""
    from fastmcp.server.dependencies import get_http_request

    request = get_http_request()
    return tool_caller(request.scope[CLIENT_SCOPE_KEY], request.headers)


TOOL_ERROR_TITLES = {
    "authentication_error": "Authentication failed",
    "permission_error": "Not permitted",
    "not_found_error": "Not found",
    "invalid_request_error": "Invalid request",
    "provider_error": "A model's service failed",
    "timeout_error": "Request timeout",
    "database_error": "The database could not answer",
}
TOOL_ERROR_SUGGESTIONS = {
    "not_found_error": "file_count and file_lister, without a dataset, show what is there",
    "permission_error": "leave out what is not permitted, or use another key",
    "invalid_request_error": "mend the parameter or header that is named, and call again",
}
TIMEOUT_SUGGESTIONS = [
    "ask a narrower question, or name the document",
    "allow more seconds by timeout_seconds, if your client waits so long",
    "leave out rewriting and reflection",
]
PARTIAL_RESULT_MESSAGE = "time ran out: this is what was found by then"

type ToolFunction = Callable[..., Awaitable[BaseModel]]


def add_tool(
    mcp: FastMCP,
    find_caller: FindCaller,
    run: ToolFunction,
    *,
    title: str,
    partial: ToolFunction | None = None,
) -> None:
    """Register a function as the tool of its name; its first parameter, the caller, is given here.

    Its return type makes the output schema. `partial` is what it is replaced by where its time runs
    out; its status says so.
    """

    @wraps(run)
    async def call(**arguments: Any) -> ToolResult:  # noqa: ANN401
        try:
            caller = await find_caller()
            in_time = bound(_run_in_time, caller, run, partial, title)
            try:
                return await in_time(arguments)
            except (NotFoundError, ForbiddenError):
                chosen = await choose_dataset(get_context(), caller.scoped, arguments)
                if chosen is None:
                    raise
                return chosen if isinstance(chosen, ToolResult) else await in_time(chosen)
        except Exception as error:  # the protocol has its own way to tell it
            return error_result(public_error(error))

    call.__signature__ = _without_caller(run)  # type: ignore[attr-defined]
    result = dereference_refs(inspect.signature(run).return_annotation.model_json_schema())
    tool = Tool.from_function(
        call, title=title, annotations=READ_ONLY, output_schema=output_schema(result)
    )
    tool.parameters = input_schema(tool.parameters)
    mcp.add_tool(tool)


# What is true of all tools: they read documents that are there, and change nothing.
READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)


async def _run_in_time(
    caller: ToolCaller,
    run: ToolFunction,
    partial: ToolFunction | None,
    title: str,
    arguments: Json,
) -> ToolResult:
    wanted = arguments.get("timeout_seconds", arguments.get("timeout", TOOL_SECONDS))
    seconds = min(wanted, caller.scoped.settings.request_timeout)
    reserved = min(PARTIAL_RESULT_SHARE * seconds, MAX_PARTIAL_RESULT_SECONDS)
    async with _progress_reports(title, seconds):
        for work, limit in ((run, seconds - reserved), (partial, reserved)):
            with suppress(TimeoutError):
                if work is not None:
                    async with asyncio.timeout(limit):
                        output = await work(replace(caller, seconds=limit), **arguments)
                    return success_result(explain_timeout(output, seconds), caller)
    return timeout_result(seconds)


@asynccontextmanager
async def scoped_in_time(find_caller: FindCaller) -> AsyncIterator[ScopedClient]:
    """Yield a caller's client for what is no tool, no longer than one may take.

    Raises TimeoutError.
    """
    scoped = (await find_caller()).scoped
    async with asyncio.timeout(min(TOOL_SECONDS, scoped.settings.request_timeout)):
        yield scoped


def explain_timeout(output: BaseModel, seconds: float) -> BaseModel:
    """Return a result with, if time ran out, what that means."""
    if not isinstance(output, ToolOutput) or output.status == "ok":
        return output
    changes = {
        "message": PARTIAL_RESULT_MESSAGE,
        "timeout_seconds": seconds,
        "suggestions": TIMEOUT_SUGGESTIONS,
    }
    return output.model_copy(update=changes)


@asynccontextmanager
async def _progress_reports(title: str, seconds: float) -> AsyncIterator[None]:
    """Report every few seconds that work goes on, in seconds of those that it may take."""
    reports = asyncio.create_task(_report_progress(title, seconds))
    try:
        yield
    finally:
        reports.cancel()
        with suppress(asyncio.CancelledError):
            await reports


async def _report_progress(title: str, seconds: float) -> None:
    context, started = get_context(), monotonic()
    with suppress(Exception):  # who does not listen any more gets no report
        while True:
            spent = round(monotonic() - started, 1)
            await context.report_progress(spent, seconds, f"{title}: {spent:.0f} s")
            await asyncio.sleep(TOOL_PROGRESS_SECONDS)


def _without_caller(run: ToolFunction) -> inspect.Signature:
    signature = inspect.signature(run)
    _, *others = signature.parameters.values()
    return signature.replace(parameters=others)


def success_result(output: BaseModel, caller: ToolCaller) -> ToolResult:
    """Return structured content, the same JSON in a text, and the sources as links."""
    if not isinstance(output, ToolOutput):
        return _result(output.model_dump(mode="json"))
    ignored = {**caller.ignored, **output.ignored}
    degraded = [*caller.degraded, *output.degraded]
    complete = output.model_copy(update={"ignored": ignored, "degraded": degraded})
    members = complete.model_dump(mode="json")
    shape = {name: value for name, value in members.items() if value is not None}
    last = {name: shape.pop(name) for name in ToolOutput.model_fields if name in shape}
    shape |= last  # agents that are shown only the beginning should see what was found
    links = list({link.uri: link for link in complete.links()}.values())[:MAX_RESOURCE_LINKS]
    return _result(shape, links)


def error_result(error: PublicError) -> ToolResult:
    """Return an error in kbbridge's shape."""
    shape = {
        "error": TOOL_ERROR_TITLES.get(error.type, "Error"),
        "status": "error",
        "type": error.type,
        "details": error.message,
        "suggestion": TOOL_ERROR_SUGGESTIONS.get(error.type, "try again later"),
    }
    return _result(shape, is_error=True)


def timeout_result(seconds: float) -> ToolResult:
    """Return the error for a call that found nothing in its time, in kbbridge's shape."""
    shape = {
        "error": TOOL_ERROR_TITLES["timeout_error"],
        "status": "timeout",
        "message": f"nothing was found within {seconds:g} seconds",
        "timeout_seconds": seconds,
        "suggestions": TIMEOUT_SUGGESTIONS,
    }
    return _result(shape, is_error=True)


def _result(shape: Json, links: Sequence[SourceLink] = (), *, is_error: bool = False) -> ToolResult:
    text = TextContent(type="text", text=json.dumps(shape, ensure_ascii=False))
    sources = [ResourceLink(type="resource_link", uri=each.uri, name=each.name) for each in links]
    return ToolResult(content=[text, *sources], structured_content=shape, is_error=is_error)


class InvalidArgumentsMiddleware(Middleware):
    """Answers wrong arguments in the shape of all errors, without repeating what was sent."""

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Call the tool, or answer what is wrong with its arguments."""
        try:
            return await call_next(context)
        except ValidationError as error:
            return error_result(PublicError(422, "invalid_request_error", _invalid_line(error)))


def _invalid_line(error: ValidationError) -> str:
    cause = error.__cause__
    if not isinstance(cause, SchemaError):
        return "the arguments do not fit the tool's schema"
    wrong = cause.errors(include_input=False, include_url=False, include_context=False)
    told = [(".".join(map(str, one["loc"])), plain_reason(one["msg"])) for one in wrong[:3]]
    return "; ".join(f"{place}: {reason}" for place, reason in told)
