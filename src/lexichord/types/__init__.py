"""Frozen records that cross module borders. Offsets are in characters, scores: higher is better."""

from lexichord.types.access import ApiKey, NewApiKey, Rights
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
from lexichord.types.evidence import Cell, Comparison, Quote
from lexichord.types.explanation import Explanation, Part, Step
from lexichord.types.intent import Intent, IntentKind
from lexichord.types.json import Json, Shaped
from lexichord.types.questions import (
    ContextFormat,
    LlmStage,
    Mode,
    QueryOptions,
    Question,
    Scope,
    SearchOptions,
    Unit,
)
from lexichord.types.reflection import Coverage, Reflection
from lexichord.types.response import Response
from lexichord.types.results import (
    ChunkHit,
    FileHit,
    FilesResult,
    KeywordSets,
    Ranked,
    SearchResult,
)
from lexichord.types.state import (
    Exported,
    Fault,
    Health,
    IndexUse,
    IngestRun,
    Problem,
    SpaceChange,
    Status,
    Version,
)
from lexichord.types.stored import (
    Documents,
    Excerpt,
    ShownDocument,
    StoredChunk,
    StoredDataset,
    StoredDocument,
)

__all__ = [
    "ApiKey",
    "Cell",
    "Chunk",
    "ChunkHit",
    "Comparison",
    "ContextFormat",
    "ContextKind",
    "ContextPart",
    "Coverage",
    "Document",
    "Documents",
    "EmbeddingSpace",
    "Excerpt",
    "Explanation",
    "Exported",
    "Fault",
    "FileHit",
    "FilesResult",
    "Heading",
    "Health",
    "IndexUse",
    "IngestRun",
    "Intent",
    "IntentKind",
    "Json",
    "KeywordSets",
    "LlmStage",
    "LoadedText",
    "Mode",
    "NewApiKey",
    "Part",
    "Problem",
    "QueryOptions",
    "Question",
    "Quote",
    "Ranked",
    "Reflection",
    "Response",
    "Rights",
    "Scope",
    "SearchOptions",
    "SearchResult",
    "Shaped",
    "ShownDocument",
    "SpaceChange",
    "Status",
    "Step",
    "StoredChunk",
    "StoredDataset",
    "StoredDocument",
    "Table",
    "Unit",
    "Version",
]
