"""What requests and answers hold."""

import json
import re
from collections.abc import Iterable
from dataclasses import fields
from types import UnionType
from typing import Annotated, Any, Literal, Self, Union, get_args, get_origin, get_type_hints

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model, model_validator

from lexichord.errors import ConfigError
from lexichord.ingest.given_documents import GivenDocument
from lexichord.serve.errors import check_depth
from lexichord.serve.limits import (
    MAX_ADDED_DOCUMENTS,
    MAX_NAME_CHARS,
    MAX_QUERY_CHARS,
    MAX_URL_QUERY_CHARS,
    served_bounds,
)
from lexichord.types import (
    Cell,
    Comparison,
    ContextFormat,
    Facet,
    Intent,
    IntentKind,
    LlmStage,
    Mode,
    PageBox,
    QueryOptions,
    ReflectOptions,
    Response,
    SearchOptions,
    StoredChunk,
    StoredDataset,
    StoredDocument,
)
from lexichord.types.base import ID_EXAMPLE
from lexichord.types.evidence import ContextSource
from lexichord.types.query_options import Options, describe
from lexichord.types.state import JOB_FIELDS, IngestRun

type FilterValue = str | bool | int | float  # of a condition, as JSON has it

WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")
QueryText = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARS)]
NameText = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
DatasetNames = Annotated[list[NameText], Field(**served_bounds("datasets"))]
RowId = Annotated[int, Field(ge=1, lt=2**53, examples=[1])]  # more is not exact in all JSON
DocumentName = Annotated[
    NameText, Field(description="An id, a uri or a uri's end.", examples=[ID_EXAMPLE["doc"]])
]
ChunkId = Annotated[NameText, Field(examples=[ID_EXAMPLE["chunk"]])]


MetadataFilter = Annotated[dict[str, Any], AfterValidator(check_depth)]


def _whole_number(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _written_number(value: object) -> object:
    return int(value) if isinstance(value, str) and WHOLE_NUMBER.fullmatch(value) else value


class StrictModel(BaseModel):
    """What a request holds, and nothing else."""

    model_config = ConfigDict(extra="forbid")


class JsonBody(StrictModel):
    """A body of JSON, where 0 is no false, 10.0 and "10" are 10 where a whole number belongs."""

    model_config = ConfigDict(strict=True)

    @model_validator(mode="before")
    @classmethod
    def _read_whole_numbers(cls, body: object) -> object:
        if not isinstance(body, dict):
            return body
        whole = {name for name, field in cls.model_fields.items() if field.annotation is int}
        body = {n: _written_number(value) if n in whole else value for n, value in body.items()}
        return {
            name: [*map(_whole_number, value)] if isinstance(value, list) else _whole_number(value)
            for name, value in body.items()
        }


def option(name: str, model: type[Options] = QueryOptions) -> Any:  # noqa: ANN401
    """Return the field of an option: its default, description and bounds over a network."""
    known = describe(model)[name]
    default = list(known.default) if isinstance(known.default, tuple) else known.default
    return Field(default, description=known.option.text, **served_bounds(name, model))


class RankedBody(JsonBody):
    """A question, and where to look; the filter's form is described in docs/sql/search.md."""

    query: QueryText
    hint: QueryText | None = option("hint")
    k: int = option("k")
    mode: Mode = option("mode")
    datasets: list[NameText] | None = option("datasets")
    documents: list[NameText] | None = option("documents")
    uri_prefix: NameText | None = option("uri_prefix")
    filter: MetadataFilter | None = option("filter")


class SearchBody(RankedBody):
    """A question for the chunks, or the files, that answer it."""

    depth: int = option("depth", SearchOptions)
    dense_share: float | None = option("dense_share", SearchOptions)

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"query": "What notice ends the master services agreement?", "k": 3}]
        }
    )


class ReflectBody(JsonBody):
    """When reflection ends."""

    rounds: int = option("rounds", ReflectOptions)
    min_coverage: float = option("min_coverage", ReflectOptions)
    min_grade: float = option("min_grade", ReflectOptions)


class QueryBody(RankedBody):
    """A question for the whole pipeline."""

    intent: IntentKind | None = option("intent")
    instructions: QueryText | None = option("instructions")
    rewrite: bool = option("rewrite")
    fallbacks: list[QueryText] = option("fallbacks")
    reflect: bool | ReflectBody = option("reflect")
    budget_ms: float = option("budget_ms")
    llm_stages: list[LlmStage] = option("llm_stages")
    format: ContextFormat = option("format")
    max_length: int = option("max_length")
    answer: bool = option("answer")
    risk: float | None = option("risk")
    stream: bool = Field(False, description="Answer with server-sent events as they come.")

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"query": "How long must Skarnbro keep records?", "answer": True},
                {
                    "query": "Compare the liability caps",
                    "intent": "comparison",
                    "datasets": ["default"],
                },
            ]
        }
    )


class DocumentsBody(JsonBody):
    """Documents to store: each with its text, which is cut here, or with its chunks."""

    dataset: NameText = "default"
    documents: Annotated[list[GivenDocument], Field(min_length=1, max_length=MAX_ADDED_DOCUMENTS)]

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "dataset": "handbook",
                    "documents": [
                        {
                            "uri": "hr/leave.md",
                            "text": "# Leave\n\nEverybody has 30 days of leave a year.",
                            "media_type": "text/markdown",
                            "metadata": {"year": 2026},
                        }
                    ],
                }
            ]
        }
    )

    @model_validator(mode="after")
    def _check_metadata_depth(self) -> Self:
        for document in self.documents:
            check_depth(document.metadata)
            for chunk in document.chunks or ():
                check_depth(chunk.metadata)
        return self


class MetadataBody(JsonBody):
    """Keys of metadata with their new values; null takes one away."""

    metadata: Annotated[dict[str, Any], AfterValidator(check_depth)] = Field(
        examples=[{"year": 2026}]
    )


class MoveBody(JsonBody):
    """Documents, and the dataset where they are to be; it is made if it is not there."""

    documents: list[DocumentName] = Field(min_length=1, max_length=MAX_ADDED_DOCUMENTS)
    dataset: NameText = Field(examples=["archive"])


class RenameBody(JsonBody):
    """A dataset, and the name that it is to have."""

    dataset: NameText = Field(examples=["contracts"])
    new_name: NameText = Field(examples=["agreements"])


class ScopeParams(StrictModel):
    """Which documents, as parameters of an address."""

    dataset: DatasetNames = Field(
        [], description="By default all; repeatable.", examples=[["default"]]
    )
    uri_prefix: NameText | None = Field(None, examples=["hr/"])
    filter: str | None = Field(
        None,
        max_length=MAX_URL_QUERY_CHARS,
        description="JSON, on the documents' metadata.",
        examples=['{"year": 2026}'],
    )

    def options(self) -> dict[str, Any]:
        """Return them by the names of the Python options. Raises ConfigError."""
        filter = None if self.filter is None else parse_object("filter", self.filter)
        return {"datasets": self.dataset or None, "uri_prefix": self.uri_prefix, "filter": filter}


def parse_object(name: str, text: str) -> dict[str, Any]:
    """Return the JSON object that a field or parameter holds. Raises ConfigError."""
    try:
        value = json.loads(text)
        if isinstance(value, dict):
            return check_depth(value)
    except (ValueError, RecursionError):
        pass
    raise ConfigError(f'{name} is to be a JSON object, such as {{"year": 2026}}')


class ListParams(ScopeParams):
    """Which documents to list, and which part of the list."""

    limit: int = Field(100, ge=1, le=1_000)
    offset: int = Field(0, ge=0, lt=2**31)


class CountParams(ScopeParams):
    """By which key of the documents' metadata to count them, and which documents."""

    by: NameText = Field(examples=["media_type"])


class SimilarParams(ScopeParams):
    """Among which documents to look for similar ones."""

    k: int = option("k")


class ExpandParams(StrictModel):
    """How much of the text around a chunk."""

    neighbours: int = Field(1, ge=0, le=100, description="Chunks on each side.")
    whole_section: bool = Field(False, description="All that stands under the same heading.")


class JobsParams(StrictModel):
    """How many, the latest first."""

    dataset: DatasetNames = Field(
        [], description="By default all; repeatable.", examples=[["default"]]
    )
    limit: int = Field(20, ge=1, le=100)


_shapes: dict[object, type[BaseModel]] = {}  # by record


def _shape_of(
    record: type,
    name: str,
    only: Iterable[str] | None = None,
    **others: Any,  # noqa: ANN401
) -> type[BaseModel]:
    """Make the shape of a record: its fields, or `only` some, and `others` by their types."""
    hints = get_type_hints(record)
    names = [field.name for field in fields(record)] if only is None else only
    types = {field: _with_shapes(hints[field]) for field in names} | others
    members: dict[str, Any] = {member: (kind, ...) for member, kind in types.items()}
    _shapes[record] = create_model(name, __doc__=record.__doc__, **members)
    return _shapes[record]


def _with_shapes(kind: Any) -> Any:  # noqa: ANN401
    """Put shapes in the place of the records in a type that have one."""
    if kind in _shapes:
        return _shapes[kind]
    origin, parts = get_origin(kind), get_args(kind)
    if not parts or origin is Literal:
        return kind
    shaped = tuple(_with_shapes(part) for part in parts)
    return Union[shaped] if origin in (Union, UnionType) else origin[shaped]  # noqa: UP007


CellShape = _shape_of(Cell, "CellShape", found=bool)
ComparisonShape = _shape_of(Comparison, "ComparisonShape")
IntentShape = _shape_of(Intent, "IntentShape")
SourceShape = _shape_of(ContextSource, "SourceShape")
ResponseShape = _shape_of(Response, "ResponseShape")
JobShape = _shape_of(IngestRun, "Job", JOB_FIELDS, job_id=int)
JobsShape = create_model(
    "JobsShape",
    __doc__="The latest ingests, newest first.",
    jobs=(_with_shapes(list[IngestRun]), ...),
)
# Last, for in other shapes a stored document is what a list holds of it.
DocumentShape = _shape_of(StoredDocument, "DocumentShape", chunks=list[StoredChunk], text=str)


class DocumentsShape(BaseModel):
    """A part of a list of documents; `total` counts all of it."""

    documents: list[StoredDocument]
    total: int
    limit: int
    offset: int


class FacetsShape(BaseModel):
    """How many documents have each value of a key."""

    facets: list[Facet]


class BoxesShape(BaseModel):
    """Where a passage stands on pages, a box a line."""

    boxes: list[PageBox]


class MetadataShape(BaseModel):
    """A document's metadata."""

    metadata: dict[str, Any]


class DeletedShape(BaseModel):
    """How many documents were deleted."""

    deleted: int


class MovedShape(BaseModel):
    """How many documents were moved; those that were there already are not counted."""

    moved: int


class RenamedShape(BaseModel):
    """The name that a dataset has now."""

    dataset: str


class DatasetsShape(BaseModel):
    """The datasets in reach."""

    datasets: list[StoredDataset] = Field(
        examples=[[{"dataset": "default", "documents": 13, "chunks": 106}]]
    )
