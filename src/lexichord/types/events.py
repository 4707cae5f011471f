"""What a query comes to on its way, in its order; the last event is the response itself.

An event takes the place of the earlier ones of its kind: where an answer is graded and written
again, there are several. What counts is the response, whatever came before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

from lexichord.types.evidence import Comparison, ContextSource, Quote
from lexichord.types.json import Shaped
from lexichord.types.questions import Intent
from lexichord.types.response import Response
from lexichord.types.results import FileHit


@dataclass(frozen=True, slots=True)
class FilesEvent(Shaped):
    """What the query wants, and the files that were found for it, best first."""

    kind = "files"
    intent: Intent
    files: Sequence[FileHit]


@dataclass(frozen=True, slots=True)
class EvidenceEvent(Shaped):
    """The evidence, and how sure it is; the fields are those of the response."""

    kind = "evidence"
    confidence: float
    abstained: bool
    context: str
    sources: Sequence[ContextSource]
    quotes: Sequence[Quote]


@dataclass(frozen=True, slots=True)
class DraftEvent(Shaped):
    """What a language model has just written of an answer, before any of it was checked.

    `text` goes into the draft at `start`, in characters, and all behind that falls: a draft that
    begins anew begins with 0. It may hold what no source says, and has no citations yet.
    """

    kind = "draft"
    start: int
    text: str


@dataclass(frozen=True, slots=True)
class AnswerEvent(Shaped):
    """An answer as it was checked, in the place of its draft; the fields are the response's."""

    kind = "answer"
    answer: str
    answer_confidence: float | None
    claimed: bool
    phrase: Quote | None
    unverified: Sequence[str]
    comparison: Comparison | None

    @classmethod
    def of(cls, response: Response) -> Self:
        """Return that of a response."""
        return cls(*(getattr(response, field.name) for field in fields(cls)))


QueryEvent = FilesEvent | EvidenceEvent | DraftEvent | AnswerEvent | Response
