"""Runs side by side, and against an earlier one: which difference is more than noise."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexichord.app import Lexichord
from lexichord.db.evaluation import compare_evaluations
from lexichord.errors import ConfigError
from lexichord.evaluate.metrics import find_group, summarise
from lexichord.evaluate.significance import Difference, compare
from lexichord.types.evaluation import Run


@dataclass(frozen=True, slots=True)
class Comparison:
    """A metric's difference, `run` less `before`, which are ids of recorded evaluations."""

    before: int
    run: int
    strategy: str
    metric: str
    difference: Difference


async def compare_run(app: Lexichord, before: int, run: Run) -> list[Comparison]:
    """Compare a run to an earlier one on the questions that both judged, metric by metric.

    Questions to the same document count as one group. Raises ConfigError if the earlier one is of
    other questions.
    """
    if run.id is None:
        raise ConfigError(f"{run.strategy} is not recorded, so there is nothing to compare")
    rows = await compare_evaluations(app.database, before, run.id)
    groups = {query.id: find_group(query) for query in run.queries}
    return [
        Comparison(
            *(before, run.id, run.strategy, metric),
            compare(
                [row["b_value"] for row in some],
                [row["a_value"] for row in some],
                [groups[row["query_id"]] for row in some],
            ),
        )
        for metric in run.metrics
        if (some := [row for row in rows if row["metric"] == metric])
    ]


async def check_evaluation(app: Lexichord, evaluation: int) -> None:
    """Raise ConfigError if there is no such evaluation: better before a long run than after."""
    await compare_evaluations(app.database, evaluation, evaluation)


def means(run: Run) -> dict[str, float]:
    """Give the mean of each metric that judges any question of a run, by name."""
    found = {name: summarise(values) for name, values in run.metrics.items()}
    return {name: mean for name, mean in found.items() if mean is not None}


def milliseconds(run: Run) -> dict[str, float]:
    """Give p50 and p95 over the questions that did not fail; empty if all did."""
    taken = [outcome.milliseconds for outcome in run.outcomes if outcome.error is None]
    return {f"p{n}": float(np.percentile(taken, n)) for n in (50, 95)} if taken else {}


def failures(runs: Sequence[Run]) -> list[str]:
    """Say of each run with failed questions how many there are, and what became of the first."""
    lines = []
    for run in runs:
        failed = [outcome for outcome in run.outcomes if outcome.error is not None]
        if failed:
            first = f"{failed[0].query_id}: {failed[0].error}"
            lines.append(
                f"{run.strategy}: {len(failed)} of {len(run.queries)} questions failed, {first}"
            )
    return lines
