"""A response, and how it came about: each stage, each hit's rank in every list it was in.

Events are what a query comes to on its way, in its order; the last is the response itself. An event
takes the place of the earlier ones of its kind: where an answer is graded and written again, there
are several. What counts is the response, whatever came before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, Self

from lexichord.types.base import (
    TITLE_CHARS,
    Json,
    Shaped,
    Shown,
    Sparse,
    counted,
    frame_of,
    one_line,
    plain,
)
from lexichord.types.evidence import (
    CHANNEL_NAMES,
    ChunkHit,
    Comparison,
    ContextSource,
    FileHit,
    Quote,
)
from lexichord.types.questions import Intent

if TYPE_CHECKING:
    import pandas

Wording = Literal["expansion", "relaxation"]  # more words, or fewer
RewriteKind = Literal[Wording, "none"]


@dataclass(frozen=True, slots=True)
class Term:
    """A lexeme of a question, and where it occurs.

    `words` are the question's words that it comes from, `times` how often they occur there. `df`
    counts chunks of the whole database, `idf` is BM25's. `chunks` are the ids of those passages of
    the evidence whose content holds it.
    """

    lexeme: str
    words: tuple[str, ...]
    times: int
    df: int
    idf: float
    chunks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """A place where the documents write a term between quotes or brackets.

    `before` and `after` are up to 120 and 200 characters beside it.
    """

    term: str
    chunk_id: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A question in other words, and why; of kind "none" `text` is the question as it was."""

    kind: RewriteKind
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage(Shaped):
    """How much of a question the evidence speaks of, 0 to 1, and what it does not.

    Where a reader reads, `score` is the share of the questions that it finds an answer to.
    """

    score: float
    missing_terms: tuple[str, ...] = ()
    missing_entities: tuple[str, ...] = ()
    uncovered_sub_questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Budget:
    """What reflection may still spend."""

    rounds: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Grade:
    """How good an answer is in one respect, 0 to 1, and why."""

    name: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Grading:
    """A reader's grades of an answer, and what to search for next, "" if nothing is missing."""

    grades: tuple[Grade, ...]
    missing: str = ""

    @property
    def score(self) -> float:
        """The lowest grade: an answer that is ungrounded is not good for being complete."""
        return min((grade.score for grade in self.grades), default=0.0)


@dataclass(frozen=True, slots=True)
class Decision:
    """What to search next, or why to stop: then `query` is None."""

    query: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Round(Shaped):
    """One more search: `coverage` or the answer's `grade` after it, 0 to 1, or its `error`."""

    query: str
    reason: str
    milliseconds: float
    coverage: float | None = None
    error: str | None = None
    grade: float | None = None


@dataclass(frozen=True, slots=True)
class Reflection(Shaped):
    """What reflection did: its rounds, what is covered in the end, and why it stopped.

    `coverage` is None where it could not be measured; `errors` says why. `unsupported` are the
    numbers and dates of an answer that no source holds. `grades` are a model's, of the answer
    given. `passed`: there is evidence and, where one was asked for, an answer is claimed; coverage
    and grades are enough, nothing is unsupported, nothing failed.
    """

    coverage: Coverage | None
    stopped: str
    rounds: tuple[Round, ...] = ()
    unsupported: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    grades: tuple[Grade, ...] = ()
    passed: bool = False


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
