"""Hits in, evidence out, by intent: verbatim quotes, a table, a context, an answer."""

from lexichord.retrieve.aggregate.answer import write_answer
from lexichord.retrieve.aggregate.clauses import Join, join_neighbours
from lexichord.retrieve.aggregate.context import (
    MAX_LENGTH,
    ContextFormat,
    estimate_tokens,
    format_context,
)
from lexichord.retrieve.aggregate.gather import gather_evidence

__all__ = [
    "MAX_LENGTH",
    "ContextFormat",
    "Join",
    "estimate_tokens",
    "format_context",
    "gather_evidence",
    "join_neighbours",
    "write_answer",
]
