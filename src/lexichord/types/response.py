"""How a response came about: each stage, and each hit's rank in every list that it was in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lexichord.types.evidence import Comparison, ContextSource, Quote
from lexichord.types.json import Json, Shaped, Shown
from lexichord.types.questions import Intent
from lexichord.types.reflection import Reflection
from lexichord.types.results import ChunkHit, FileHit
from lexichord.types.text import TITLE, one_line

Recording = Literal["off", "on", "text"]  # text: with the question's words


@dataclass(frozen=True, slots=True, repr=False)
class Response(Shown):
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
    sources: list[ContextSource]
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

    @property
    def sureness(self) -> str:
        """Say how sure it is, in words."""
        return f"confidence {self.confidence:.2f}{', no answer' if self.abstained else ''}"


CHANNELS = ("dense", "keyword")


@dataclass(frozen=True, slots=True)
class Step(Shaped):
    """One run of a stage: what it was given, made of it, left out and why; `ms` it took.

    `made` is None and `dropped` empty where the stage has nothing to tell.
    """

    stage: str
    ms: float
    given: Json
    made: Any
    dropped: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Part:
    """What one list gave to one hit: `rank` in it, from 1, and `score`, None where it is not in it.

    Lists are the channels, `dense` (cosine, -1 to 1) and `keyword` (BM25, 0 upwards), and the ways
    of asking, of which the score is what it adds to the hit's: weight / (60 + rank).
    """

    name: str
    rank: int | None
    score: float | None


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Shown):
    """A response, and how it came about. `Explanation(response)` asks nothing again."""

    response: Response

    @property
    def steps(self) -> list[Step]:
        """Give the stages in the order in which they ended; one may run several times."""
        return [
            Step(row["stage"], row["ms"], row["given"], row.get("made"), row.get("dropped", ()))
            for row in self.response.trace
        ]

    @property
    def lists(self) -> list[str]:
        """Name the lists that hits were in: the channels, then the ways of asking."""
        names = [name for hit in self.response.hits for name in hit.ranks]
        return list(dict.fromkeys([*CHANNELS, *names]))

    def parts(self, hit: ChunkHit) -> list[Part]:
        """Give each list's part in a hit, in the order of `lists`."""
        scores = {**hit.scores.get("contributions", {})}
        scores |= {name: hit.scores.get(name) for name in CHANNELS}
        return [Part(name, hit.ranks.get(name), scores.get(name)) for name in self.lists]

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape: the stages, and of files and hits what led to their order."""
        found = self.response
        return {
            "query": found.query,
            "intent": found.intent.to_dict(),
            "confidence": found.confidence,
            "abstained": found.abstained,
            "degraded": list(found.degraded),
            "steps": [step.to_dict() for step in self.steps],
            "files": [file.to_dict() for file in found.files],
            "hits": [self._hit(hit) for hit in found.hits],
        }

    def _hit(self, hit: ChunkHit) -> dict[str, Any]:
        same = ("chunk_id", "document_id", "uri", "title", "heading", "start", "end", "score")
        lists = {each.name: {"rank": each.rank, "score": each.score} for each in self.parts(hit)}
        shape: dict[str, Any] = {name: getattr(hit, name) for name in same}
        scores = {name: hit.scores[name] for name in ("fused", "rerank") if name in hit.scores}
        return shape | scores | {"lists": lists}

    def __repr__(self) -> str:
        query, stages = one_line(self.response.query, TITLE), len(self.response.trace)
        return f"<Explanation of {query!r}: {stages} steps, {len(self.response.hits)} hits>"
