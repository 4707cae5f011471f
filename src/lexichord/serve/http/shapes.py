"""What answers hold, for the OpenAPI document.

Results are sent as their `to_dict` returns them. Where that has the fields of the record itself,
the record describes it; the shapes of the others are made from theirs here.
"""

from collections.abc import Iterable
from dataclasses import fields
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Field, create_model

from lexichord.types import (
    Cell,
    Comparison,
    Facet,
    Intent,
    PageBox,
    Response,
    StoredChunk,
    StoredDataset,
    StoredDocument,
)
from lexichord.types.evidence import ContextSource
from lexichord.types.state import JOB_FIELDS, IngestRun

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
