"""What answers hold, for the OpenAPI document.

Results are sent as their `to_dict` returns them. Where that has the fields of the record itself,
the record describes it; the shapes of the others are here.
"""

from typing import Any

from pydantic import BaseModel, Field

from lexichord.types import (
    ChunkHit,
    FileHit,
    IntentKind,
    Quote,
    StoredChunk,
    StoredDataset,
    StoredDocument,
)
from lexichord.types.reflection import Reflection
from lexichord.types.state import Job


class CellShape(BaseModel):
    """What one document says of one aspect."""

    document_id: int
    aspect: str
    found: bool
    quotes: list[Quote]
    values: list[str]
    score: float


class ComparisonShape(BaseModel):
    """A table of documents × aspects, its cells row by row."""

    aspects: list[str]
    documents: list[FileHit]
    cells: list[CellShape]


class IntentShape(BaseModel):
    """What a query wants, and which documents it names."""

    kind: IntentKind
    question: str
    hint: str | None
    documents: list[int]
    entities: list[str]
    sub_questions: list[str]
    domain: str
    reason: str


class SourceShape(BaseModel):
    """A passage of the context, by its number there."""

    number: int
    citation: str
    uri: str
    start: int
    end: int
    page: int | None
    chunk_id: int
    document_id: int
    score: float


class ResponseShape(BaseModel):
    """Evidence for a query: files, chunks, quotes, and all as text for a reader or a model."""

    query: str
    intent: IntentShape
    files: list[FileHit]
    hits: list[ChunkHit]
    context: str
    sources: list[SourceShape]
    quotes: list[Quote]
    answer: str = Field(description='"" unless one was asked for.')
    unverified: list[str] = Field(description="What a model said without a source that holds it.")
    comparison: ComparisonShape | None
    confidence: float = Field(description="The probability that the evidence holds an answer.")
    abstained: bool
    reflection: Reflection | None
    degraded: list[str] = Field(description="What could not be done.")
    timings_ms: dict[str, float]
    trace: list[dict[str, Any]]
    query_id: int | None


class DocumentsShape(BaseModel):
    """A part of a list of documents; `total` counts all of it."""

    documents: list[StoredDocument]
    total: int
    limit: int
    offset: int


class DocumentShape(BaseModel):
    """A document with its text, and the chunks that were made of it, in their order."""

    document_id: int
    dataset: str
    uri: str
    title: str
    media_type: str
    characters: int
    chunks: list[StoredChunk]
    metadata: dict[str, Any]
    updated_at: str
    text: str


class DeletedShape(BaseModel):
    """How many documents were deleted."""

    deleted: int


class DatasetsShape(BaseModel):
    """The datasets in reach."""

    datasets: list[StoredDataset] = Field(
        examples=[[{"dataset": "default", "documents": 13, "chunks": 106}]]
    )


class JobsShape(BaseModel):
    """The latest ingests, newest first."""

    jobs: list[Job]
