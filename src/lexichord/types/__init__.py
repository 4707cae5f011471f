"""Frozen records that modules share. Offsets are in characters, scores: higher is better."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lexichord.types.base import Json, Shaped
    from lexichord.types.documents import (
        Chunk,
        Document,
        Documents,
        EmbeddingSpace,
        Excerpt,
        Facet,
        Heading,
        LoadedText,
        Original,
        PageBox,
        PageSize,
        ShownDocument,
        StoredChunk,
        StoredDataset,
        StoredDocument,
        Table,
    )
    from lexichord.types.evidence import (
        Cell,
        ChunkHit,
        Comparison,
        ContextSource,
        FileHit,
        FilesResult,
        HitScores,
        KeywordSets,
        Quote,
        Ranked,
        SearchResult,
    )
    from lexichord.types.query_options import (
        ContextFormat,
        ContextKind,
        ContextPart,
        IntentKind,
        LlmStage,
        Mode,
        QueryOptions,
        ReflectOptions,
        ScopeOptions,
        SearchOptions,
    )
    from lexichord.types.questions import Intent, Question, Scope
    from lexichord.types.response import Coverage, Explanation, Part, Reflection, Response, Step
    from lexichord.types.state import (
        ApiCall,
        ApiKey,
        Backup,
        Exported,
        ExtensionFault,
        Fault,
        Health,
        IndexedTable,
        IndexUse,
        IngestRun,
        JudgedSet,
        NewApiKey,
        Problem,
        Rights,
        SpaceChange,
        Status,
        Tenant,
        TrainingTriplet,
        Version,
    )

__all__ = [
    "ApiCall",
    "ApiKey",
    "Backup",
    "Cell",
    "Chunk",
    "ChunkHit",
    "Comparison",
    "ContextFormat",
    "ContextKind",
    "ContextPart",
    "ContextSource",
    "Coverage",
    "Document",
    "Documents",
    "EmbeddingSpace",
    "Excerpt",
    "Explanation",
    "Exported",
    "ExtensionFault",
    "Facet",
    "Fault",
    "FileHit",
    "FilesResult",
    "Heading",
    "Health",
    "HitScores",
    "IndexUse",
    "IndexedTable",
    "IngestRun",
    "Intent",
    "IntentKind",
    "Json",
    "JudgedSet",
    "KeywordSets",
    "LlmStage",
    "LoadedText",
    "Mode",
    "NewApiKey",
    "Original",
    "PageBox",
    "PageSize",
    "Part",
    "Problem",
    "QueryOptions",
    "Question",
    "Quote",
    "Ranked",
    "ReflectOptions",
    "Reflection",
    "Response",
    "Rights",
    "Scope",
    "ScopeOptions",
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
    "Tenant",
    "TrainingTriplet",
    "Version",
]

# In the order in which they know each other.
MODULES = ("base", "query_options", "documents", "evidence", "questions", "response", "state")


def __getattr__(name: str) -> object:
    """Import a record when it is asked for: making all classes takes half of `lexichord --help`."""
    if name in __all__:
        for each in MODULES:
            module = import_module(f"{__name__}.{each}")
            if name in vars(module):
                return globals().setdefault(name, getattr(module, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Name also what is imported when it is asked for."""
    return sorted({*globals(), *__all__})
