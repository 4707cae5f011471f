"""Statistics of runs: differences by paired bootstrap, and how well confidence is calibrated.

Among them how many more of the expected entities one strategy's answers name than another's: micro
averages, in which every entity counts alike, their difference in points and relative to the
other, with the interval of the difference by bootstrap over whole documents.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexichord.errors import ConfigError
from lexichord.evaluate.entities import EntityCounts, count_by_part
from lexichord.evaluate.metrics import compute_metrics, find_group
from lexichord.types.base import MISSING, write_number
from lexichord.types.evaluation import Difference, EvalQuery, EvaluationRun, Outcome

BOOTSTRAP_RESAMPLES = 10_000
BOOTSTRAP_SEED = 20261121
MAX_DRAWS_AT_ONCE = 2**20  # random numbers in memory
# By chance n groups all change in one direction with probability 2 / 2^n: above .05 below 6.
MIN_DIFFERING_GROUPS = 6

FloatArray = NDArray[np.float64]


def bootstrap_difference(
    a: Sequence[float | None], b: Sequence[float | None], groups: Sequence[str] | None = None
) -> Difference:
    """Return the mean of a - b over the questions judged in both, with its bootstrap interval.

    Efron and Tibshirani, "An Introduction to the Bootstrap", 1993: percentiles of 10,000 resamples,
    always the same. Whole groups are drawn, one for each question where none are given: questions
    to one document are not independent. It is noise if the interval holds 0, or if fewer than six
    groups differ at all. Raises ConfigError if there is nothing to compare.
    """
    names = list(map(str, range(len(a)))) if groups is None else groups
    if not len(a) == len(b) == len(names):
        raise ConfigError("runs over different questions cannot be compared: run both on one set")
    pairs = [
        (one - other, name)
        for one, other, name in zip(a, b, names, strict=True)
        if one is not None and other is not None
    ]
    if not pairs:
        raise ConfigError("no question was judged in both runs: there is nothing to compare")
    changes = np.array([change for change, _ in pairs])
    sums, counts = _by_group(changes, [name for _, name in pairs])
    drawn = resample_sums(np.stack([sums, counts], axis=1))
    low, high = map(float, np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5]))
    noise = is_noise(low, high, int(np.count_nonzero(sums)))
    return Difference(float(changes.mean()), low, high, noise)


def is_noise(low: float, high: float, differing: int) -> bool:
    """Return whether a difference of this interval, carried by so many groups, may be chance."""
    return low <= 0 <= high or differing < MIN_DIFFERING_GROUPS


def _by_group(changes: FloatArray, names: Sequence[str]) -> tuple[FloatArray, NDArray[Any]]:
    """Return each group's sum and its number of questions."""
    _, group = np.unique(np.array(names), return_inverse=True)
    return np.bincount(group, changes), np.bincount(group)


def resample_sums(rows: FloatArray) -> FloatArray:
    """Draw as many groups as there are rows, with replacement; return each resample's sums."""
    rng, size = np.random.default_rng(BOOTSTRAP_SEED), len(rows)
    sums = np.empty((BOOTSTRAP_RESAMPLES, rows.shape[1]))
    step = max(1, MAX_DRAWS_AT_ONCE // size)
    for first in range(0, BOOTSTRAP_RESAMPLES, step):
        drawn = rng.integers(size, size=(min(step, BOOTSTRAP_RESAMPLES - first), size))
        for column in range(rows.shape[1]):  # one by one: numpy then adds up with least error
            sums[first : first + step, column] = rows[:, column][drawn].sum(axis=1)
    return sums


INTERVAL_TO = "\xa0to\xa0"  # keeps an interval on one line


def metric_values(run: EvaluationRun, metric: str) -> Sequence[float | None]:
    """Return a metric's values, all None where the run lacks it."""
    return run.metrics.get(metric, [None] * len(run.queries))


def is_judged(runs: Sequence[EvaluationRun], metric: str) -> bool:
    """Return whether any question of any run has a value."""
    return any(value is not None for run in runs for value in metric_values(run, metric))


def compare_metric(
    run: EvaluationRun, other: EvaluationRun | None, metric: str
) -> Difference | None:
    """Compare two runs, or return the mean of one; None if there is nothing to compare."""
    values = metric_values(run, metric)
    others = [0.0] * len(values) if other is None else metric_values(other, metric)
    if all(None in pair for pair in zip(values, others, strict=True)):
        return None
    return bootstrap_difference(values, others, [find_group(query) for query in run.queries])


def write_numbers(values: Iterable[float | None], digits: int = 4) -> list[str]:
    """Format numbers, missing ones as such."""
    return [write_number(value, digits) for value in values]


def write_interval(mean: Difference | None) -> str:
    """Format a mean and its interval."""
    return (
        MISSING if mean is None else f"{mean.mean:.4f} ({mean.low:.4f}{INTERVAL_TO}{mean.high:.4f})"
    )


def write_difference(change: Difference | None) -> str:
    """Format a difference and its interval, and whether it is noise."""
    if change is None:
        return MISSING
    return write_signed(change, ",\xa0noise" if change.is_noise else "")


def write_signed(change: Difference, remark: str = "") -> str:
    """Format a difference and its interval, with a remark between them."""
    if change.mean == change.low == change.high == 0:
        return "no difference"
    return f"{change.mean:+.4f}{remark} ({change.low:+.4f}{INTERVAL_TO}{change.high:+.4f})"


CALIBRATION_BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Confidences from `low` up to `high`: how many, their mean, the share that was right."""

    low: float
    high: float
    count: int
    confidence: float
    right: float


def judge_confidence(
    queries: Sequence[EvalQuery], outcomes: Sequence[Outcome]
) -> tuple[list[float], list[bool]]:
    """Return the confidences, and for each whether an answer was retrieved.

    It was if the question can be answered and, where relevant passages are judged, one of them was
    retrieved, at any rank. Outcomes without confidence, such as errors, are left out.
    """
    ranks = compute_metrics(queries, outcomes, [1]).get("mrr", [])
    judged = [
        (out.confidence, query.answerable and rank != 0)
        for query, out, rank in zip(queries, outcomes, ranks, strict=True)
        if out.confidence is not None and out.error is None
    ]
    return [confidence for confidence, _ in judged], [right for _, right in judged]


def reliability(confidences: Sequence[float], right: Sequence[bool]) -> list[Bin]:
    """Return the bins of equal width, ten from 0 to 1, that are not empty (reliability diagram)."""
    rows = sorted(zip(confidences, right, strict=True))
    return [
        _make_bin(number, list(inside))
        for number, inside in groupby(rows, lambda row: _bin_number(row[0]))
    ]


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """Return the expected calibration error, the mean distance of confidence to share, 0 to 1.

    Naeini et al., "Obtaining well calibrated probabilities using Bayesian binning", 2015. None
    without confidences.
    """
    count = sum(bin_.count for bin_ in bins)
    distance = sum(bin_.count * abs(bin_.confidence - bin_.right) for bin_ in bins)
    return distance / count if count else None


def auroc(confidences: Sequence[float], right: Sequence[bool]) -> float | None:
    """Return the probability that a right answer has the higher confidence; .5 is chance.

    The area under the ROC curve, by ranks (Mann and Whitney, 1947); ties count half. None unless
    there is both right and wrong.
    """
    rows = sorted(zip(confidences, right, strict=True))
    positives = sum(right)
    negatives = len(rows) - positives
    if not positives or not negatives:
        return None
    negatives_below, wins = 0, 0.0
    for _, tied in groupby(rows, lambda row: row[0]):
        labels = [label for _, label in tied]
        tied_negatives = labels.count(False)
        wins += (len(labels) - tied_negatives) * (negatives_below + tied_negatives / 2)
        negatives_below += tied_negatives
    return wins / (positives * negatives)


def _bin_number(confidence: float) -> int:
    return min(int(confidence * CALIBRATION_BINS), CALIBRATION_BINS - 1)


def _make_bin(number: int, rows: Sequence[tuple[float, bool]]) -> Bin:
    mean = sum(confidence for confidence, _ in rows) / len(rows)
    share = sum(right for _, right in rows) / len(rows)
    return Bin(number / CALIBRATION_BINS, (number + 1) / CALIBRATION_BINS, len(rows), mean, share)


MICRO_METRICS: Sequence[tuple[str, str, int]] = (
    # name, part of the entities, place among precision, recall and F1
    ("precision", "micro", 0),
    ("recall", "micro", 1),
    ("F1", "micro", 2),
    ("recall, all types", "micro_all", 1),
    ("recall, critical types", "micro_critical", 1),
)
IMPROVEMENT_COLUMNS = ("improvement, points", "95 % interval", "improvement, relative")


@dataclass(frozen=True, slots=True)
class Improvement:
    """A micro average of two runs, 0 to 1, and what the second differs by from the first."""

    metric: str
    base: float
    value: float
    difference: Difference

    @property
    def relative(self) -> float | None:
        """The difference as a share of the first."""
        return self.difference.mean / self.base if self.base else None

    def cells(self) -> list[str]:
        """Return it as a table shows it, in percent."""
        change = self.difference
        noise = ", noise" if change.is_noise else ""
        return [
            self.metric,
            f"{self.base:.2%}",
            f"{self.value:.2%}",
            f"{100 * change.mean:+.2f}",
            f"{100 * change.low:+.1f} to {100 * change.high:+.1f}{noise}",
            MISSING if self.relative is None else f"{self.relative:+.1%}",
        ]


def compare_entities(base: EvaluationRun, run: EvaluationRun) -> list[Improvement]:
    """Return what a run improves on another; nothing where no question expects entities."""
    groups = [find_group(query) for query in run.queries]
    was, now = _count(base, groups), _count(run, groups)
    return [
        _improvement(name, was[part], now[part], _scored(place))
        for name, part, place in MICRO_METRICS
        if was[part][:, 0].any()
    ]


def _count(run: EvaluationRun, groups: Sequence[str]) -> Mapping[str, FloatArray]:
    """Return counts by part, a row for each group: gold, matched, extracted, right."""
    rows = [count_by_part(query, out) for query, out in zip(run.queries, run.outcomes, strict=True)]
    return {part: _sum_groups([row[part] for row in rows], groups) for part in rows[0]}


def _sum_groups(counts: Sequence[EntityCounts], groups: Sequence[str]) -> FloatArray:
    _, group = np.unique(np.array(groups), return_inverse=True)
    rows = np.array([[one.gold, one.matched, one.extracted, one.right] for one in counts])
    columns: list[FloatArray] = [np.bincount(group, column) for column in rows.T]
    return np.stack(columns, axis=1)


def _scored(place: int) -> Callable[[FloatArray], FloatArray]:
    """Return what makes precision, recall or F1 of sums of counts."""

    def score(sums: FloatArray) -> FloatArray:
        gold, matched, extracted, right = np.moveaxis(sums, -1, 0)
        recall = _share(matched, gold)
        precision = _share(right, extracted)
        f1 = _share(2 * precision * recall, precision + recall)
        return (precision, recall, f1)[place]

    return score


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole != 0)


def _improvement(
    name: str, base: FloatArray, other: FloatArray, score: Callable[[FloatArray], FloatArray]
) -> Improvement:
    was, value = (float(score(counts.sum(axis=0))) for counts in (base, other))
    both = resample_sums(np.concatenate([base, other], axis=1))
    low, high = np.percentile(score(both[:, 4:]) - score(both[:, :4]), [2.5, 97.5])
    differing = int(np.any(base != other, axis=1).sum())
    noise = is_noise(float(low), float(high), differing)
    return Improvement(name, was, value, Difference(value - was, float(low), float(high), noise))
