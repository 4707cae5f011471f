"""What retrieval is measured by: sets of questions with their answers, and what came out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from lexichord.types.intent import IntentKind
from lexichord.types.json import Json

Extractor = Literal["rules", "llm"]  # of the entities of answers


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a file that answers, `start` to `end` in characters of its stored text."""

    file: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class EvalQuery:
    """A question and what is known of its answer; what is empty was not judged.

    `files` and those of `spans` are uris of the set's documents. `chunks` are (uri, number of the
    chunk, from 0), for sets that bring their chunks. `grades` are of whole documents, above 0 is
    relevant. `entities` maps a type to variants of one entity each, `critical` names the types that
    the answer cannot do without. `within` are uris of the only documents that it is asked of; empty
    means all.
    """

    id: str
    text: str
    hint: str | None = None
    within: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    chunks: tuple[tuple[str, int], ...] = ()
    grades: Mapping[str, int] = field(default_factory=dict)
    entities: Mapping[str, Sequence[str]] = field(default_factory=dict)
    critical: tuple[str, ...] = ()
    intent: IntentKind | None = None
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class EvalSet:
    """Documents, shaped like the lines of `ingest --chunked`, and questions about them.

    A document without `chunks` is cut by the ingest that is evaluated.
    """

    name: str
    documents: Iterable[Json]
    queries: tuple[EvalQuery, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk that a strategy found, at its place in the ranking; `number` is its ordinal."""

    uri: str
    start: int
    end: int
    number: int
    score: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a strategy made of one question. `files` are uris, best first; `error` if it failed.

    `entities` are those of the answer by type, as a model marked them; empty where it failed to,
    None where no model was asked.
    """

    query_id: str
    passages: tuple[Passage, ...]
    files: tuple[str, ...] = ()
    answer: str = ""
    confidence: float | None = None
    abstained: bool = False
    milliseconds: float = 0.0
    error: str | None = None
    entities: Mapping[str, Sequence[str]] | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A strategy asked all questions of a set, once; `id` is None until it is stored.

    `outcomes` and the values of each metric are in the order of `queries`; a value is None where
    the query has no judgment of that kind. `qps` are queries per second by number of clients.
    """

    id: int | None
    set_name: str
    strategy: str
    settings: Json
    ks: tuple[int, ...]
    queries: tuple[EvalQuery, ...]
    outcomes: tuple[Outcome, ...]
    metrics: Mapping[str, Sequence[float | None]]
    qps: Mapping[int, float]
    started_at: datetime
