"""How many more of the expected entities one strategy's answers name than another's.

Micro averages, in which every entity counts alike, their difference in points and relative to the
other, with the interval of the difference by bootstrap over whole documents.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lexichord.evaluate.entities import EntityCounts, count_by_part
from lexichord.evaluate.metrics import find_group
from lexichord.evaluate.statistics import FloatArray, is_noise, resample_sums
from lexichord.types.base import MISSING
from lexichord.types.evaluation import Difference, EvaluationRun

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
