"""What a query comes back with."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from lexichord.types.evidence import Comparison, Quote
from lexichord.types.intent import Intent
from lexichord.types.json import Json
from lexichord.types.reflection import Reflection
from lexichord.types.results import ChunkHit, FileHit

Recording = Literal["off", "on", "text"]  # text: with the question's words


@dataclass(frozen=True, slots=True)
class Response:
    """Evidence for a query: files, chunks, quotes, and all as text for a reader or a model.

    `context` holds whole passages only, numbered as in `sources`; `answer` is "" unless one was
    asked for. `unverified` is what a model said without a source that holds it, left out of the
    answer. `confidence` is the probability, 0 to 1, that the evidence holds an answer;
    `abstained` says that it is too small to answer. `timings_ms` is by stage, `trace` says what
    each stage was given and made. `query_id` is the record's id, None if it was not recorded.
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

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape."""
        shape = {name: getattr(self, name) for name in self.__slots__}
        lists = {name: [each.to_dict() for each in shape[name]] for name in ("files", "hits")}
        quotes = [quote.to_dict() for quote in self.quotes]
        single = {
            name: None if shape[name] is None else shape[name].to_dict()
            for name in ("comparison", "reflection")
        }
        listed = {"unverified": [*self.unverified], "intent": _listed(asdict(self.intent))}
        return shape | lists | single | {"quotes": quotes} | listed


def _listed(shape: dict[str, Any]) -> dict[str, Any]:
    return {name: list(each) if isinstance(each, tuple) else each for name, each in shape.items()}
