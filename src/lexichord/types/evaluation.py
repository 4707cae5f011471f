"""What retrieval is measured by: sets of questions with their answers, and what came out.

Metrics are 0 to 1, higher is better.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean, quantiles
from typing import Any, Literal

from lexichord.types.json import Json, Shaped, plain
from lexichord.types.options import IntentKind
from lexichord.types.text import visible, write_number

Extractor = Literal["rules", "llm"]  # of the entities of answers


@dataclass(frozen=True, slots=True)
class Span(Shaped):
    """A stretch of a file that answers, `start` to `end` in characters of its stored text."""

    file: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class EvalQuery(Shaped):
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
class Passage(Shaped):
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


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """A strategy asked all questions of a set, once; `id` is None until it is stored.

    `outcomes` and the values of each metric are in the order of `queries`; a value is None where
    the query has no judgment of that kind. `qps` are queries per second by number of clients. What
    the metrics are is told in `lexichord.evaluate.metrics`.
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
        """Give the JSON shape: numbers of the whole run, each question's are in the database."""
        same = ("id", "set_name", "strategy", "settings", "ks", "qps", "started_at")
        return {
            **{name: plain(getattr(self, name)) for name in same},
            "queries": len(self.queries),
            "failed": len(self.failed),
            "milliseconds": self.milliseconds,
            "means": self.means,
        }

    def __repr__(self) -> str:
        return f"<Run of {self.strategy} on {self.set_name}: {len(self.queries)} questions>"


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

    def cells(self) -> list[str]:
        """Give it as texts, with the verdict last."""
        found = self.difference
        verdict = "noise" if found.is_noise else "better" if found.mean > 0 else "worse"
        interval = f"{found.low:+.4f} to {found.high:+.4f}"
        return [self.strategy, self.metric, f"{found.mean:+.4f}", interval, verdict]


@dataclass(frozen=True, slots=True)
class Evaluation(Shaped):
    """What came of an evaluation: a run for each strategy, in the order that was asked for.

    `comparisons` are to an earlier run, if one was named. `warnings` say in one line each what
    could not be done, `failures` which questions failed and which gates were not kept.
    """

    runs: tuple[Run, ...]
    comparisons: tuple[Change, ...] = ()
    warnings: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """The means by strategy and metric."""
        return {run.strategy: run.means for run in self.runs}

    def table(self) -> list[list[str]]:
        """Give means, speed and failures as rows of text, a column a strategy, the head first."""
        runs = self.runs
        names = dict.fromkeys(name for run in runs for name in run.means)
        clients = dict.fromkeys(number for run in runs for number in run.qps)
        timed = f"{{}} ms {runs[0].settings.get('milliseconds', '')}" if runs else ""
        return [
            ["", *(run.strategy for run in runs)],
            *_rows("{}", names, [run.means for run in runs], 4),
            *_rows(timed, ("p50", "p95") if runs else (), [run.milliseconds for run in runs], 1),
            *_rows("queries/s, {} clients", clients, [run.qps for run in runs], 1),
            ["failed", *(f"{len(run.failed)} of {len(run.queries)}" for run in runs)],
            ["run", *(str(run.id or "not recorded") for run in runs)],
        ]

    def comparison_table(self) -> list[list[str]]:
        """Give the differences from the earlier run as rows of text; none if there was none."""
        if not self.comparisons:
            return []
        head = ["strategy", "metric", f"less run {self.comparisons[0].before}", "95 %", ""]
        return [head, *(change.cells() for change in self.comparisons)]

    def __str__(self) -> str:
        """Give the tables in Markdown, after what could not be done."""
        tables = "\n\n".join(map(_markdown, filter(None, (self.table(), self.comparison_table()))))
        return "\n".join([*self.warnings, *self.failures, tables])

    def _repr_html_(self) -> str:
        from lexichord.types import notebook

        return notebook.evaluation(self)


def _rows(
    label: str, names: Iterable[Any], columns: Sequence[Mapping[Any, float]], digits: int
) -> list[list[str]]:
    return [
        [label.format(name), *(write_number(column.get(name), digits) for column in columns)]
        for name in names
    ]


def _markdown(table: Sequence[Sequence[str]]) -> str:
    head, *rows = table
    lines = (head, ["---"] * len(head), *rows)
    return "\n".join(f"| {' | '.join(map(visible, cells))} |" for cells in lines)
