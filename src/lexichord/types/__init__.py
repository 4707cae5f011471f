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
from lexichord.types.questions import Mode, Question, Scope, SearchOptions
from lexichord.types.results import ChunkHit, FileHit, FilesResult, Response, SearchResult

__all__ = [
    "Chunk",
    "ChunkHit",
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
    "Question",
    "Response",
    "Scope",
    "SearchOptions",
    "SearchResult",
    "Table",
]
