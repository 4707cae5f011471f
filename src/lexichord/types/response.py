"""What a query comes back with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lexichord.types.evidence import Comparison, Quote
from lexichord.types.intent import Intent
from lexichord.types.json import Json, Shaped
from lexichord.types.reflection import Reflection
from lexichord.types.results import ChunkHit, FileHit
from lexichord.types.text import TITLE, one_line, visible

Recording = Literal["off", "on", "text"]  # text: with the question's words


@dataclass(frozen=True, slots=True, repr=False)
class Response(Shaped):
    """Evidence for a query: files, chunks, quotes, and all as text for a reader or a model.

    `context` holds whole passages only, numbered as in `sources`; `answer` is "" unless one was
    asked for. `unverified` is what a model said without a source that holds it, left out of the
    answer. `confidence` is the probability, 0 to 1, that the evidence holds an answer; it is
    calibrated for questions after one thing, not for summaries and comparisons. `abstained` says
    that the evidence is too little to answer by. `timings_ms` is in milliseconds, by stage; `trace`
    says what each stage was given and made, see `Explanation`. `query_id` is the record's id, None
    if it was not recorded.
    """

    query: str
    intent: Intent
    files: list[FileHit]
    hits: list[ChunkHit]
    context: str
    sources: list[Json]
    quotes: Sequence[Quote] = ()
    answer: str = ""
    unverified: Sequence[str] = ()
    comparison: Comparison | None = None
    confidence: float = 0.0
    abstained: bool = False
    reflection: Reflection | None = None
    degraded: list[str] = field(default_factory=list)
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    trace: list[Json] = field(default_factory=list)
    query_id: int | None = None

    def __repr__(self) -> str:
        counts = f"{len(self.files)} files, {len(self.hits)} hits, {len(self.quotes)} quotes"
        return f"<Response to {one_line(self.query, TITLE)!r}: {counts}, {self.sureness}>"

    def __str__(self) -> str:
        """Give the answer, or else the evidence, after what could not be done."""
        reasons = [f"degraded: {reason}" for reason in self.degraded]
        said = self.answer or self.context or "nothing found"
        return visible("\n".join([*reasons, f"({self.sureness})", said]))

    @property
    def sureness(self) -> str:
        """Say how sure it is, in words."""
        return f"confidence {self.confidence:.2f}{', no answer' if self.abstained else ''}"

    def _repr_html_(self) -> str:
        from lexichord.types import notebook

        return notebook.response(self)
