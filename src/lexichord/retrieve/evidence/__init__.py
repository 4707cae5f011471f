"""Hits in, evidence out, by intent: verbatim quotes, a table, a context, an answer."""

from lexichord.retrieve.evidence.answer import write_answer
from lexichord.retrieve.evidence.clauses import Join, join_neighbours
from lexichord.retrieve.evidence.context import (
    estimate_tokens,
    format_context,
)
from lexichord.retrieve.evidence.gather import gather_evidence

__all__ = [
    "Join",
    "estimate_tokens",
    "format_context",
    "gather_evidence",
    "join_neighbours",
    "write_answer",
]
