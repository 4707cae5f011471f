"""Frozen records that cross module borders. Offsets are in characters, scores: higher is better."""

from lexichord.types.documents import (
    Chunk,
    ContextKind,
    ContextPart,
    Document,
    EmbeddingSpace,
    Heading,
    LoadedText,
    Table,
)
from lexichord.types.json import Json
from lexichord.types.questions import (
    ContextFormat,
    Mode,
    QueryOptions,
    Question,
    Scope,
    SearchOptions,
    Unit,
)
from lexichord.types.response import Response
from lexichord.types.results import ChunkHit, FileHit, FilesResult, SearchResult

__all__ = [
    "Chunk",
    "ChunkHit",
    "ContextFormat",
    "ContextKind",
    "ContextPart",
    "Document",
    "EmbeddingSpace",
    "FileHit",
    "FilesResult",
    "Heading",
    "Json",
    "LoadedText",
    "Mode",
    "QueryOptions",
    "Question",
    "Response",
    "Scope",
    "SearchOptions",
    "SearchResult",
    "Table",
    "Unit",
]
