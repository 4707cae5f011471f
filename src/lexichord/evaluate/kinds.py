"""Runs by kind or type of question, as tables: what is answerable, near misses, foreign questions.

A cell holds percents and their 95 % interval, by bootstrap over the documents asked about.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lexichord.errors import ConfigError
from lexichord.evaluate.metrics import (
    ANSWER_HOLDS,
    FIRST_SENTENCE,
    HIT_DOCUMENT,
    NOT_WRONG,
    find_group,
    first_sentence,
    is_right,
)
from lexichord.evaluate.statistics import (
    BOOTSTRAP_SEED,
    auroc,
    bootstrap_difference,
    calibration_error,
    reliability,
)
from lexichord.types.base import MISSING
from lexichord.types.evaluation import EvalQuery, EvalSet, EvaluationRun, Outcome

By = Literal["kind", "type"]
ALL = "all"
NEAR_MISS, FOREIGN = "near-miss", "foreign"
RESAMPLES = 500  # of the calibration error and the AUROC, which are slow
ABSTAINS, WRONG = "abstains", "wrong ≥ .7"
FOUND_METRICS = ("evidence@4000", HIT_DOCUMENT)
FOUND_HEAD = ("evidence@4000", "first hit's document")
ANSWERED_HEAD = ("first sentence", "answer holds", ABSTAINS, WRONG)

type Table = list[list[str]]


@dataclass(frozen=True, slots=True)
class Judged:
    """A question of a run, what came of it, and its metrics."""

    query: EvalQuery
    outcome: Outcome
    metrics: dict[str, float | None]

    @property
    def is_right(self) -> bool | None:
        """Whether the answer is right; to what nothing answers, none is. None: not judged."""
        return is_right(self.metrics) if self.query.answerable else False

    @property
    def type(self) -> str:
        """The type of question, "" where the set does not say."""
        return self.query.expected.type if self.query.expected else ""


def choose(eval_set: EvalSet, kinds: Sequence[str] | None, limit: int | None) -> EvalSet:
    """Return a set with the questions of some kinds, at most `limit` of each, spread evenly.

    All documents stay. Raises ConfigError for a kind that is not there.
    """
    if kinds is None and limit is None:
        return eval_set
    by_kind: dict[str, list[EvalQuery]] = {}
    for query in eval_set.queries:
        by_kind.setdefault(_name(query, "kind"), []).append(query)
    wanted = list(by_kind) if kinds is None else list(dict.fromkeys(kinds))
    for kind in wanted:
        if kind not in by_kind:
            there = ", ".join(filter(None, by_kind)) or "none"
            raise ConfigError(f"{eval_set.name} has no questions of kind '{kind}': {there}")
    chosen = [query for kind in wanted for query in _spread(by_kind[kind], limit)]
    return replace(eval_set, queries=tuple(chosen))


def _spread(queries: Sequence[EvalQuery], limit: int | None) -> Sequence[EvalQuery]:
    count = len(queries) if limit is None else min(limit, len(queries))
    return [queries[number * len(queries) // count] for number in range(count)]


def tables(runs: Sequence[EvaluationRun], by: By) -> list[Table]:
    """Return what was found, by how much more than by the first strategy, what was answered, what
    was not to be answered, and how sure that was.

    A table without questions is left out.
    """
    judged = {run.strategy: _judged(run) for run in runs}
    written = {
        name: rows
        for name, rows in judged.items()
        if any(row.outcome.confidence is not None for row in rows)
    }
    drawn = [
        _table(by, judged, "answerable", FOUND_HEAD, _found),
        _differences(by, judged),
        _table(by, written, "answerable", ANSWERED_HEAD, _answered),
        _table(by, written, NEAR_MISS, (ABSTAINS, WRONG), _unanswerable),
        _table(by, written, FOREIGN, (ABSTAINS, WRONG), _unanswerable),
        _table(by, written, "", ("calibration error", "AUROC near misses"), _sureness),
    ]
    return [lines for lines in drawn if len(lines) > 1]


def _judged(run: EvaluationRun) -> list[Judged]:
    return [
        Judged(query, outcome, {name: values[at] for name, values in run.metrics.items()})
        for at, (query, outcome) in enumerate(zip(run.queries, run.outcomes, strict=True))
    ]


def _table(
    by: By,
    judged: dict[str, list[Judged]],
    sort: str,
    head: Sequence[str],
    cells: Callable[[Sequence[Judged]], list[str]],
) -> Table:
    """Return a row a kind and strategy, of questions of a sort, and one for all kinds."""
    lines = [[sort or "all questions", "", "questions", *head]]
    for name in _names(judged, by):
        for strategy, rows in judged.items():
            own = [row for row in rows if name in (_name(row.query, by), ALL) and _is(row, sort)]
            if own:
                lines.append([name, strategy, str(len(own)), *cells(own)])
    return lines


def _differences(by: By, judged: dict[str, list[Judged]]) -> Table:
    """Return a row a kind and strategy beside the first: differences question by question."""
    first, *others = judged
    lines = [["answerable", "difference", "questions", *FOUND_HEAD]]
    for name in _names(judged, by):
        for strategy in others:
            pairs = [
                pair
                for pair in zip(judged[strategy], judged[first], strict=True)
                if name in (_name(pair[0].query, by), ALL) and pair[0].query.answerable
            ]
            if pairs:
                cells = [_gain(pairs, metric) for metric in FOUND_METRICS]
                lines.append([name, f"{strategy} - {first}", str(len(pairs)), *cells])
    return lines


def _gain(pairs: Sequence[tuple[Judged, Judged]], metric: str) -> str:
    own, other = ([row.metrics.get(metric) for row in rows] for rows in zip(*pairs, strict=True))
    if not any(None not in values for values in zip(own, other, strict=True)):
        return MISSING
    gain = bootstrap_difference(own, other, [find_group(row.query) for row, _ in pairs])
    return f"{100 * gain.mean:+.1f} ({100 * gain.low:+.0f} to {100 * gain.high:+.0f})"


def _names(judged: dict[str, list[Judged]], by: By) -> list[str]:
    names = (_name(row.query, by) for rows in judged.values() for row in rows)
    return [*dict.fromkeys(names), ALL]


def _name(query: EvalQuery, by: By) -> str:
    return str(getattr(query.expected, by)) if query.expected else ""


def _is(row: Judged, sort: str) -> bool:
    if sort == "answerable":
        return row.query.answerable
    return sort in ("", row.type)


def _found(rows: Sequence[Judged]) -> list[str]:
    return [_mean(rows, _metric(rows, name)) for name in FOUND_METRICS]


def _answered(rows: Sequence[Judged]) -> list[str]:
    shares = [_mean(rows, _metric(rows, name)) for name in (FIRST_SENTENCE, ANSWER_HOLDS)]
    return [*shares, *_unanswerable(rows)]


def _unanswerable(rows: Sequence[Judged]) -> list[str]:
    abstained = [float(row.outcome.abstained) for row in rows]
    wrong = [None if kept is None else 1 - kept for kept in _metric(rows, NOT_WRONG)]
    return [_mean(rows, abstained), _mean(rows, wrong)]


def _metric(rows: Sequence[Judged], name: str) -> list[float | None]:
    return [row.metrics.get(name) for row in rows]


def _mean(rows: Sequence[Judged], values: Sequence[float | None]) -> str:
    if all(value is None for value in values):
        return MISSING
    groups = [find_group(row.query) for row in rows]
    mean = bootstrap_difference(values, [0.0] * len(values), groups)
    return _percents(mean.mean, mean.low, mean.high)


def _percents(value: float, low: float, high: float) -> str:
    return f"{100 * value:.1f} ({100 * low:.0f}–{100 * high:.0f})"


def _sureness(rows: Sequence[Judged]) -> list[str]:
    near = [row for row in rows if row.query.answerable or row.type == NEAR_MISS]
    return [_interval(rows, _calibration), _interval(near, _separation)]


def _calibration(rows: Iterable[Judged]) -> float | None:
    pairs = [
        (row.outcome.confidence, row.is_right)
        for row in rows
        if row.outcome.confidence is not None and row.is_right is not None
    ]
    return calibration_error(reliability(*map(list, zip(*pairs, strict=True)))) if pairs else None


def _separation(rows: Iterable[Judged]) -> float | None:
    sure = [row for row in rows if row.outcome.confidence is not None]
    confidences = [row.outcome.confidence or 0.0 for row in sure]
    return auroc(confidences, [row.query.answerable for row in sure])


def _interval(rows: Sequence[Judged], statistic: Callable[[Iterable[Judged]], float | None]) -> str:
    """Return a statistic and the percentiles of its resamples, whole documents being drawn."""
    value = statistic(rows)
    if value is None:
        return MISSING
    groups: dict[str, list[Judged]] = {}
    for row in rows:
        groups.setdefault(find_group(row.query), []).append(row)
    members, rng = list(groups.values()), np.random.default_rng(BOOTSTRAP_SEED)
    draws = rng.integers(len(members), size=(RESAMPLES, len(members)))
    resampled = (statistic(row for at in draw for row in members[at]) for draw in draws)
    low, high = np.percentile([one for one in resampled if one is not None], [2.5, 97.5])
    return _percents(value, low, high)


def write_records(runs: Sequence[EvaluationRun], file: Path) -> None:
    """Write what came of each question, a line of JSON each. Raises ConfigError."""
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in _records(runs))
    try:
        file.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write the records to '{file}': {error}") from error


def _records(runs: Sequence[EvaluationRun]) -> Iterator[dict[str, Any]]:
    for run in runs:
        for row in _judged(run):
            query, outcome = row.query, row.outcome
            yield {
                "strategy": run.strategy,
                "id": query.id,
                "kind": _name(query, "kind"),
                "type": row.type,
                "query": query.text,
                "answerable": query.answerable,
                "confidence": outcome.confidence,
                "abstained": outcome.abstained,
                "right": row.is_right,
                "first_sentence": first_sentence(outcome.written),
                "source": outcome.source,
                "first_hit": outcome.passages[0].uri if outcome.passages else None,
                "written": outcome.written,
                "milliseconds": outcome.milliseconds,
                "error": outcome.error,
                "metrics": {
                    name: value for name, value in row.metrics.items() if value is not None
                },
            }
