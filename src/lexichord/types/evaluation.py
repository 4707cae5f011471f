"""What retrieval is measured by: sets of questions with their answers, and what came out.

Metrics are 0 to 1, higher is better.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean, quantiles
from typing import Any

from lexichord.types.base import Json, Shaped, Shown, counted, plain
from lexichord.types.query_options import IntentKind


@dataclass(frozen=True, slots=True)
class EvidenceSpan(Shaped):
    """A stretch of a file that answers, `start` to `end` in characters of its stored text."""

    file: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ExpectedCell(Shaped):
    """What a comparison's table says of one aspect of one file; `value` is None for nothing."""

    file: str
    aspect: str
    value: str | None


@dataclass(frozen=True, slots=True)
class ExpectedAnswer(Shaped):
    """What a right answer to a question says, and what sort of question it is.

    `kind` is that of the documents, `type` what is asked for. The first sentence holds one of
    `first`, the answer `quotes`, a comparison's table `cells`; what is empty was not judged.
    """

    kind: str = ""
    type: str = ""
    first: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    cells: tuple[ExpectedCell, ...] = ()


@dataclass(frozen=True, slots=True)
class Calibrated(Shaped):
    """How confidence does on questions that it was not fitted on, of which some have an answer.

    `holds` and `lacks` count those with and without one in their evidence; `refused` and
    `turned_away` are the shares of these below the confidence that is answered at.
    """

    space: str
    holds: int
    lacks: int
    auroc: float
    refused: float
    turned_away: float


@dataclass(frozen=True, slots=True)
class EvalQuery(Shaped):
    """A question and what is known of its answer; what is empty was not judged.

    `files` and those of `spans` are uris of the set's documents. `chunks` are (uri, number of the
    chunk, from 0), for sets that bring their chunks. `grades` are of whole documents, above 0 is
    relevant. `entities` maps a type to variants of one entity each, `critical` names the types that
    the answer cannot do without. `within` are uris of the only documents that it is asked of; empty
    means all. `expected` asks for an answer in sentences.
    """

    id: str
    text: str
    hint: str | None = None
    within: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    spans: tuple[EvidenceSpan, ...] = ()
    chunks: tuple[tuple[str, int], ...] = ()
    grades: Mapping[str, int] = field(default_factory=dict)
    entities: Mapping[str, Sequence[str]] = field(default_factory=dict)
    critical: tuple[str, ...] = ()
    intent: IntentKind | None = None
    answerable: bool = True
    expected: ExpectedAnswer | None = None


@dataclass(frozen=True, slots=True)
class EvalSet:
    """Documents, shaped like the lines of `ingest --chunked`, and questions about them.

    A document without `chunks` is cut by the ingest that is evaluated.
    """

    name: str
    documents: Iterable[Json]
    queries: tuple[EvalQuery, ...]


@dataclass(frozen=True, slots=True)
class RankedPassage(Shaped):
    """A chunk that a strategy found, at its place in the ranking; `number` is its ordinal."""

    uri: str
    start: int
    end: int
    number: int
    score: float


@dataclass(frozen=True, slots=True)
class Outcome(Shaped):
    """What a strategy made of one question. `files` are uris, best first; `error` if it failed.

    `entities` are those of the answer by type, as a model marked them; empty where it failed to,
    None where no model was asked. `answer` is the evidence as text. `written` is the answer in
    sentences, "" unless one was asked for, `source` the uri of its first sentence, None if that is
    unknown, `rows` a comparison's by the uris of its files.
    """

    query_id: str
    passages: tuple[RankedPassage, ...]
    files: tuple[str, ...] = ()
    answer: str = ""
    confidence: float | None = None
    abstained: bool = False
    milliseconds: float = 0.0
    error: str | None = None
    entities: Mapping[str, Sequence[str]] | None = None
    written: str = ""
    source: str | None = None
    rows: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class EvaluationRun:
    """A strategy asked all questions of a set, once; `id` is None until it is stored.

    `outcomes` and the values of each metric are in the order of `queries`; a value is None where
    the query has no judgment of that kind. `qps` are queries per second by number of clients.
    `lexichord.evaluate.metrics` describes the metrics.
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

    @property
    def means(self) -> dict[str, float]:
        """The mean of each metric that judges any question, by name."""
        judged = {
            name: [value for value in values if value is not None]
            for name, values in self.metrics.items()
        }
        return {name: fmean(values) for name, values in judged.items() if values}

    @property
    def milliseconds(self) -> dict[str, float]:
        """The p50 and p95 over the questions that did not fail; empty if all did."""
        taken = [outcome.milliseconds for outcome in self.outcomes if outcome.error is None]
        if len(taken) < 2:
            return dict.fromkeys(("p50", "p95"), taken[0]) if taken else {}
        parts = quantiles(taken, n=100, method="inclusive")
        return {"p50": parts[49], "p95": parts[94]}

    @property
    def failed(self) -> list[Outcome]:
        """The questions that failed; they count as zeros."""
        return [outcome for outcome in self.outcomes if outcome.error is not None]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape: numbers of the whole run, each question's are in the database."""
        same = ("id", "set_name", "strategy", "settings", "ks", "qps", "started_at")
        return {
            **{name: plain(getattr(self, name)) for name in same},
            "queries": len(self.queries),
            "failed": len(self.failed),
            "milliseconds": self.milliseconds,
            "means": self.means,
        }

    def __repr__(self) -> str:
        return (
            f"<Run of {self.strategy} on {self.set_name}: {counted(len(self.queries), 'question')}>"
        )


@dataclass(frozen=True, slots=True)
class Difference(Shaped):
    """A mean and its 95 % interval, `low` to `high`; `is_noise` if it may well be 0."""

    mean: float
    low: float
    high: float
    is_noise: bool


@dataclass(frozen=True, slots=True)
class Change(Shaped):
    """A metric's difference, `run` less `before`, which are ids of recorded evaluations."""

    before: int
    run: int
    strategy: str
    metric: str
    difference: Difference


@dataclass(frozen=True, slots=True)
class Evaluation(Shown):
    """What came of an evaluation: a run for each strategy, in the order that was asked for.

    `comparisons` are to an earlier run, if one was named. `warnings` say in one line each what
    could not be done, `failures` which questions failed and which gates were not kept.
    """

    runs: tuple[EvaluationRun, ...]
    comparisons: tuple[Change, ...] = ()
    warnings: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """The means by strategy and metric."""
        return {run.strategy: run.means for run in self.runs}
