"""How a response came about: each stage, and each hit's rank in every list that it was in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lexichord.types.evidence import Comparison, Quote
from lexichord.types.json import Json, Shaped
from lexichord.types.questions import Intent
from lexichord.types.reflection import Reflection
from lexichord.types.results import ChunkHit, FileHit, number
from lexichord.types.text import TITLE, cite, one_line, visible

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


CHANNELS = ("dense", "keyword")
DETAIL = 600  # characters of what a stage was given, made or dropped, on one line


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

    @property
    def details(self) -> dict[str, str]:
        """Give what there is to tell, each on one line."""
        parts = {"given": self.given, "made": self.made, "dropped": self.dropped}
        told = {name: _told(each) for name, each in parts.items() if each or each == 0}
        return {name: text for name, text in told.items() if text}


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
class Explanation:
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

    def __str__(self) -> str:
        """Give a line a step with its details below it, then a line a hit."""
        lines = ["Stages"]
        for step in self.steps:
            lines.append(f"{step.ms:8.1f} ms  {visible(step.stage)}")
            lines += [f"             {name}: {text}" for name, text in step.details.items()]
        lines.append("Hits: rank (score) in each list")
        for place, hit in enumerate(self.response.hits, 1):
            lines.append(f"{place:3}. {number(hit.score)}  {name_of(hit)}")
            parts = (f"{visible(part.name)}: {written(part)}" for part in self.parts(hit))
            lines.append(f"     {'; '.join(parts)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from lexichord.types import notebook

        return notebook.explanation(self)


def name_of(hit: ChunkHit) -> str:
    """Name a hit by its chunk, title and heading, on one line."""
    return f"chunk {hit.chunk_id}  {one_line(cite(hit.title or hit.uri, hit.heading), 2 * TITLE)}"


def written(part: Part) -> str:
    """Write a rank, and the score that goes with it."""
    return number(part.rank) + ("" if part.score is None else f" ({number(part.score)})")


def _told(value: object) -> str:
    """Write what a stage told; ranks are left out, for they stand below, hit by hit."""
    if not isinstance(value, Mapping):
        return one_line(_short(value), DETAIL)
    told = {name: _short(each) for name, each in value.items() if each is not None}
    return one_line("; ".join(f"{name}: {text}" for name, text in told.items()), DETAIL)


def _short(value: object) -> str:
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        return " ".join(f"{k} {_short(each)}" for k, each in value.items() if k != "ranks")
    if isinstance(value, list | tuple):
        return ", ".join(map(_short, value)) or "none"
    return str(value)
