"""Dify's External Knowledge API; a knowledge base is a dataset, its id the dataset's name.

Whoever registers it in Dify is asked for the address without /retrieval, and gives it with /dify
or without. One filter goes to several knowledge bases, one after the other.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import UTC, datetime
from re import fullmatch
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from lexichord.client.passages import ScoredPassage, passage_options
from lexichord.errors import (
    AccessError,
    ConfigError,
    ForbiddenError,
    MissingScopeError,
    NotFoundError,
    TooManyRequestsError,
)
from lexichord.serve.access import ScopedClient
from lexichord.serve.errors import public_error
from lexichord.serve.http import (
    Caller,
    InvalidValueError,
    JsonRequest,
    find_caller,
    find_invalid,
)
from lexichord.serve.http.bodies import FilterValue
from lexichord.serve.limits import DIFY_MAX_RECORDS, MAX_FILTER_VALUES, MAX_QUERY_CHARS
from lexichord.types import Json
from lexichord.types import Response as QueryResponse
from lexichord.types.questions import MAX_LISTED_VALUES, check_filter

# Operators whose conditions hold for a document without the key.
NEGATIVE_OPERATORS = {"ne", "nin", "not contains", "empty"}
MATCH_ALL: Json = {"and": []}
MATCH_NONE: Json = {"or": []}

# Error codes of Dify's specification.
INVALID_HEADER_CODE, AUTHORIZATION_FAILED_CODE, NO_KNOWLEDGE_CODE = 1001, 1002, 2001
DIFY_TOP_K = 4  # Dify's own default

type DifyOperator = Literal[
    "contains",
    "not contains",
    "start with",
    "end with",
    "is",
    "is not",
    "in",
    "not in",
    "empty",
    "not empty",
    "null",
    "not null",
    "=",
    "≠",
    ">",
    "<",
    "≥",
    "≤",
    "before",
    "after",
]

# Dify's own names of what filters know of every document, by a record's title and metadata.
BUILT_IN = {"document_name": "title"}

FILTER_OPERATORS: dict[str, str] = {
    **{"is": "in", "=": "in", "is not": "nin", "≠": "nin", "not in": "nin"},
    **{">": "gt", "<": "lt", "≥": "gte", "≤": "lte", "null": "empty", "not null": "not empty"},
}


async def query(scoped: ScopedClient, text: str, **options: Any) -> QueryResponse:  # noqa: ANN401
    """Query for passages; a key that only other datasets know fails a condition, or fulfils it.

    One filter goes to several knowledge bases here, of which some may lack a key: to fail would
    fail them all. A key that no document in the caller's reach has is a mistake as everywhere.
    """
    settled = passage_options(options)
    if (filter := options.get("filter")) is not None:
        check_filter(filter, scoped.settings.max_conditions)
    try:
        return await scoped.query(text, **settled)
    except NotFoundError:
        raise
    except ConfigError:
        if filter is None:
            raise
        datasets = options.get("datasets")
        unknown = {key for key in _keys(filter) if not await _is_known(scoped, key, datasets)}
        elsewhere = [await _is_known(scoped, key, None) for key in unknown]
        if not unknown or not all(elsewhere):
            raise
        settled = {**settled, "filter": settle(filter, unknown)}
        return await scoped.query(text, **settled)


async def _is_known(scoped: ScopedClient, key: str, datasets: Sequence[str] | None) -> bool:
    """Return whether a document has a key, by a list of none of them."""
    filter: Json = {"and": [{"key": key, "op": "empty"}, MATCH_NONE]}
    try:
        await scoped.list(datasets=datasets, filter=filter)
    except ConfigError:
        return False
    return True


def settle(filter: Json, unknown: Collection[str]) -> Json:
    """Decide the conditions on keys that no document has; the others stay."""
    for form in ("and", "or"):
        if form in filter:
            return {form: [settle(part, unknown) for part in filter[form]]}
    if filter["key"] not in unknown:
        return filter
    return MATCH_ALL if filter["op"] in NEGATIVE_OPERATORS else MATCH_NONE


def _keys(filter: Json) -> set[str]:
    parts = [*filter.get("and", ()), *filter.get("or", ())]
    return {filter["key"]} if "key" in filter else {key for part in parts for key in _keys(part)}


class RetrievalSetting(BaseModel):
    """How many records are wanted, and how good."""

    top_k: int | None = Field(
        default=DIFY_TOP_K,
        ge=1,
        description=f"At most {DIFY_MAX_RECORDS}; null is {DIFY_TOP_K}.",
    )
    score_threshold: float | None = Field(
        default=0.0, strict=True, description="The least score of a record, 0 to 1."
    )


class Condition(BaseModel):
    """A condition on a document's metadata; one without the value that it needs is passed over."""

    name: str | Annotated[list[str], Field(min_length=1, max_length=MAX_FILTER_VALUES)]
    comparison_operator: DifyOperator
    value: (
        FilterValue | Annotated[list[FilterValue], Field(max_length=MAX_FILTER_VALUES)] | None
    ) = None


class MetadataCondition(BaseModel):
    """Which documents are searched."""

    logical_operator: Literal["and", "or"] | None = "and"
    conditions: Annotated[list[Condition], Field(max_length=MAX_FILTER_VALUES)] | None = None


class Retrieval(BaseModel):
    """What Dify asks."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "knowledge_id": "default",
                    "query": "How long do the confidentiality obligations survive?",
                    "retrieval_setting": {"top_k": 4, "score_threshold": 0.1},
                    "metadata_condition": {
                        "logical_operator": "and",
                        "conditions": [
                            {"name": "kind", "comparison_operator": "is", "value": "nda"}
                        ],
                    },
                }
            ]
        }
    )

    knowledge_id: str
    query: str = Field(max_length=MAX_QUERY_CHARS)
    retrieval_setting: RetrievalSetting = RetrievalSetting()
    metadata_condition: MetadataCondition | None = None


class Record(BaseModel):
    """A passage; `score` is the probability, 0 to 1, that it holds an answer.

    `metadata` is its document's, with its place and under `scores` and `ranks` the raw ones.
    """

    content: str
    score: float
    title: str
    metadata: dict[str, Any]


class Records(BaseModel):
    """What is found, best first."""

    records: list[Record]


class Refusal(BaseModel):
    """An error in Dify's shape; what its specification has no code for carries HTTP's status."""

    error_code: int
    error_msg: str


class DifyRoute(APIRoute):
    """A route whose errors are in Dify's shape; it reads no body before it has seen the key."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        """Wrap the route."""
        handle = super().get_route_handler()

        async def handle_dify(request: Request) -> Response:
            try:
                await find_caller(request)
                return await handle(JsonRequest(request.scope, request.receive))
            except Exception as error:
                return _error_response(request, error)

        return handle_dify


router = APIRouter(
    tags=["Dify"],
    route_class=DifyRoute,
    responses={status: {"model": Refusal} for status in (400, 403, 500, 502, 503)},
)


@router.post("/retrieval", operation_id="dify_retrieval")
@router.post("/dify/retrieval", operation_id="dify_retrieval_prefixed")
async def retrieval(body: Retrieval, caller: Caller) -> Records:
    """Find records for Dify: give it this server's address, a key, and a dataset's name as id."""
    if not body.query.strip():
        return Records(records=[])  # as Dify does; its check of the address may ask nothing
    setting = body.retrieval_setting
    k = min(setting.top_k or DIFY_TOP_K, DIFY_MAX_RECORDS)
    response = await query(
        caller,
        body.query,
        datasets=[body.knowledge_id],
        k=k,
        filter=compile_conditions(body.metadata_condition),
    )
    passages = await caller.passages(response, k, setting.score_threshold or 0.0)
    return Records(records=[_record(passage) for passage in passages])


def compile_conditions(condition: MetadataCondition | None) -> Json | None:
    """Return the same filter in the form of docs/sql/search.md; None takes everything."""
    conditions = [] if condition is None else condition.conditions or []
    if sum(map(_count_values, conditions)) > MAX_LISTED_VALUES:
        raise ConfigError(
            f"metadata_condition: at most {MAX_LISTED_VALUES:,} values, each counted for each name"
        )
    parts = [part for one in conditions if (part := _compile(one)) is not None]
    return {(condition and condition.logical_operator) or "and": parts} if parts else None


def _count_values(condition: Condition) -> int:
    """Return at least how many values a condition compares, before any is made of it."""
    names = 1 if isinstance(condition.name, str) else len(condition.name)
    value = condition.value
    if isinstance(value, str) and condition.comparison_operator in ("in", "not in"):
        return names * (value.count(",") + 1)
    return names * (len(value) if isinstance(value, list) else 1)


def _compile(condition: Condition) -> Json | None:
    """Compile one condition; of several names any must fulfil it, a negative one each."""
    operator = condition.comparison_operator
    op = FILTER_OPERATORS.get(operator, operator)
    given = [condition.name] if isinstance(condition.name, str) else condition.name
    names = list(dict.fromkeys(BUILT_IN.get(name, name) for name in given))
    if op not in ("empty", "not empty") and condition.value is None:
        return None  # as Dify does with its own documents
    parts = [part for name in names for part in _conditions(name, operator, op, condition.value)]
    return {"and" if op in NEGATIVE_OPERATORS else "or": parts}


def _conditions(
    key: str, operator: str, op: str, value: FilterValue | list[FilterValue] | None
) -> list[Json]:
    """Return the conditions of which one must hold, of negative ones all.

    Dify's numbers and dates arrive as texts or as numbers, whatever the documents hold.
    """
    if op in ("empty", "not empty"):
        return [{"key": key, "op": op}]
    values = value if isinstance(value, list) else [value] if value is not None else []
    if op in ("in", "nin"):
        if operator in ("in", "not in") and isinstance(value, str):
            values = [part.strip() for part in value.split(",")]
        return [{"key": key, "op": op, "value": [form for one in values for form in _forms(one)]}]
    if op in ("before", "after"):
        return [part for one in values for part in _time_conditions(key, op, one)]
    if op in ("gt", "lt", "gte", "lte"):
        return [{"key": key, "op": op, "value": _forms(one)[-1]} for one in values]
    return [{"key": key, "op": op, "value": _text(one)} for one in values]


def _forms(value: FilterValue) -> list[FilterValue]:
    """Return a value as a text and, where it says one, as a number or truth value, the last."""
    text = _text(value)
    if text in ("true", "false"):
        return [text, text == "true"]
    if not fullmatch(r"-?\d{1,15}(\.\d{1,15})?", text):
        return [value]
    return [text, float(text) if "." in text else int(text)]


def _text(value: FilterValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _time_conditions(key: str, op: str, value: FilterValue) -> list[Json]:
    """Compare with a date or with seconds since 1970, as which Dify keeps its own times."""
    seconds = _forms(value)[-1]
    if isinstance(seconds, str):
        return [{"key": key, "op": op, "value": seconds}]
    try:
        date = datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        raise ConfigError(f"metadata_condition: {seconds} is no time") from None
    comparison = "lt" if op == "before" else "gt"
    return [
        {"key": key, "op": op, "value": date},
        {"key": key, "op": comparison, "value": seconds},
    ]


def _record(passage: ScoredPassage) -> Record:
    metadata = dict(passage.describe())
    return Record(
        content=passage.hit.content,
        score=passage.score,
        title=metadata["title"],
        metadata=metadata,
    )


def _error_response(request: Request, error: Exception) -> JSONResponse:
    status, code, message = _public_form(error, request.headers.get("authorization", ""))
    wait = getattr(error, "retry_after", None)
    headers = None if wait is None else {"retry-after": str(wait)}
    return JSONResponse({"error_code": code, "error_msg": message}, status, headers)


def _public_form(error: Exception, authorization: str) -> tuple[int, int, str]:
    """Return HTTP's status, the error's code and its message.

    Never 401 or 404: Dify takes the one for no reason to reject a key, and the other for a wrong
    address.
    """
    if isinstance(error, ForbiddenError | NotFoundError) and not isinstance(
        error, MissingScopeError
    ):
        return (
            400,
            NO_KNOWLEDGE_CODE,
            "The knowledge does not exist: its id is the name of a dataset.",
        )
    if isinstance(error, AccessError) and not isinstance(error, TooManyRequestsError):
        if fullmatch(r"(?i)bearer +\S.*", authorization):
            return 403, AUTHORIZATION_FAILED_CODE, f"Authorization failed: {error}."
        expected = "Expected 'Bearer <api-key>' format."
        return 403, INVALID_HEADER_CODE, f"Invalid Authorization header format. {expected}"
    if isinstance(error, RequestValidationError):
        return 400, 400, find_invalid(error).message
    if isinstance(error, InvalidValueError):
        return 400, 400, error.detail
    if isinstance(error, HTTPException):
        return error.status_code, error.status_code, str(error.detail)
    public = public_error(error)
    return public.status, public.status, public.message
