"""A response, and how it came about: each stage, each hit's rank in every list it was in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lexichord.types.evidence import Comparison, ContextSource, Quote
from lexichord.types.json import Json, Shown, Sparse, frame_of, plain
from lexichord.types.questions import Intent
from lexichord.types.reflection import Reflection
from lexichord.types.results import CHANNEL_NAMES, ChunkHit, FileHit
from lexichord.types.text import TITLE_CHARS, counted, one_line

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Step(Sparse):
    """One run of a stage: what it was given, what it made and dropped, and how long it took.

    `stage` is its name, of one of your own the function's. `given`, `made` and `dropped` are what
    JSON can hold, different from stage to stage: names, numbers of things, ids and scores. `made`
    and `dropped` are None, and left out of the JSON shape, where the stage says nothing of them or
    failed. `ms` are milliseconds.
    """

    stage: str
    given: Json
    made: Any = None
    dropped: Sequence[Any] | None = None
    ms: float = field(kw_only=True)


@dataclass(frozen=True, slots=True, repr=False)
class Response(Shown):
    """Evidence for a query: files, chunks, quotes, and all as text for a reader or a model.

    `context` holds whole passages only, numbered as in `sources`; `answer` is "" unless one was
    asked for. `unverified` is what a model said without a source that holds it, left out of the
    answer. `confidence` is the probability, 0 to 1, that the evidence holds an answer; it is
    calibrated for questions after one thing, not for summaries and comparisons. `answer_confidence`
    is the probability that the answer's first sentence is right, None where that is not known: by
    words alone, by another embedding model than the one it was fitted with, and of lists, tables,
    summaries and what a language model wrote. `abstained` says that the evidence is too little to
    answer by; of documents that the query names, the answer then says that they do not say, or,
    where that is not sure either, quotes the sentence that comes nearest. `claimed` says that
    `answer` is meant as one: where no sentence is likely enough to answer, the best passage stands
    there instead, its nearest sentence marked by `**`. `phrase` is the stretch of a claimed
    answer's first sentence that answers, None where no reader tells. `elsewhere` are sentences that
    other documents have on it, best first. `relevant_files` are the ids of the documents that the
    query is about: those that it names, or of `files` those that stand out. `timings_ms` is in
    milliseconds, by stage; `trace` holds the stages' runs in the order in which they ended.
    `query_id` is the record's id, None if it was not recorded.
    """

    kind = "response"  # among a stream's events, of which it is the last
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
    answer_confidence: float | None = None
    abstained: bool = False
    claimed: bool = False
    phrase: Quote | None = None
    elsewhere: Sequence[Quote] = ()
    relevant_files: Sequence[str] = ()
    reflection: Reflection | None = None
    degraded: list[str] = field(default_factory=list)
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    trace: list[Step] = field(default_factory=list)
    query_id: int | None = None

    def to_frame(self) -> "pandas.DataFrame":
        """Return the hits as a frame of pandas', a row each. Raises ConfigError without pandas."""
        return frame_of(ChunkHit, self.hits)

    def __repr__(self) -> str:
        files, hits = counted(len(self.files), "file"), counted(len(self.hits), "hit")
        counts = f"{files}, {hits}, {counted(len(self.quotes), 'quote')}"
        return f"<Response to {one_line(self.query, TITLE_CHARS)!r}: {counts}, {self.sureness}>"

    @property
    def heading(self) -> str:
        """What stands above `answer`."""
        return "Answer" if self.claimed else "No sure answer"

    @property
    def sureness(self) -> str:
        """How sure it is, and whether it abstained, in words."""
        own = "" if self.answer_confidence is None else f", answer {self.answer_confidence:.2f}"
        end = "" if self.claimed or not (self.answer or self.abstained) else ", no answer"
        return f"confidence {self.confidence:.2f}{own}{end}"


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
        """The stages in the order in which they ended; one may run several times."""
        return self.response.trace

    @property
    def lists(self) -> list[str]:
        """The lists that hits were in: the channels, then the ways of asking."""
        names = [name for hit in self.response.hits for name in hit.ranks]
        return list(dict.fromkeys([*CHANNEL_NAMES, *names]))

    def parts(self, hit: ChunkHit) -> list[Part]:
        """Return each list's part in a hit, in the order of `lists`."""
        scores = hit.scores.by_list
        return [Part(name, hit.ranks.get(name), scores.get(name)) for name in self.lists]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape: the stages, and of files and hits what led to their order."""
        response = self.response
        return {
            "query": response.query,
            "intent": response.intent.to_dict(),
            "confidence": response.confidence,
            "abstained": response.abstained,
            "degraded": list(response.degraded),
            "steps": [_full_shape(step) for step in self.steps],
            "files": [file.to_dict() for file in response.files],
            "hits": [self._hit(hit) for hit in response.hits],
        }

    def _hit(self, hit: ChunkHit) -> dict[str, Any]:
        same = ("chunk_id", "document_id", "uri", "title", "heading", "start", "end", "score")
        lists = {part.name: {"rank": part.rank, "score": part.score} for part in self.parts(hit)}
        shape: dict[str, Any] = {name: getattr(hit, name) for name in same}
        scores = hit.scores.to_dict()
        totals = {name: scores[name] for name in ("fused", "rerank", "read") if name in scores}
        return shape | totals | {"lists": lists}

    def __repr__(self) -> str:
        query, stages = one_line(self.response.query, TITLE_CHARS), self.response.trace
        hits = counted(len(self.response.hits), "hit")
        return f"<Explanation of {query!r}: {counted(len(stages), 'step')}, {hits}>"


def _full_shape(step: Step) -> dict[str, Any]:
    """Return a step's JSON shape in an explanation, where each step has all members."""
    inputs, output, dropped = plain(step.given), plain(step.made), plain(step.dropped or ())
    return {"stage": step.stage, "ms": step.ms, "given": inputs, "made": output, "dropped": dropped}
