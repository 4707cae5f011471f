"""Runs side by side, and against an earlier one: which difference is more than noise."""

from collections.abc import Callable, Sequence

from lexichord.db.catalogue import compare_evaluations
from lexichord.errors import ConfigError
from lexichord.evaluate.application import Application
from lexichord.evaluate.metrics import find_group
from lexichord.evaluate.significance import compare
from lexichord.types.evaluation import Change, Run


async def compare_run(app: Application, before: int, run: Run) -> list[Change]:
    """Compare a run to an earlier one on the questions that both judged, metric by metric.

    Questions to the same document count as one group. Raises ConfigError if the earlier one is of
    other questions.
    """
    if run.id is None:
        raise ConfigError(f"{run.strategy} is not recorded, so there is nothing to compare")
    rows = await compare_evaluations(app.database, before, run.id)
    groups = {query.id: find_group(query) for query in run.queries}
    return [
        Change(
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


async def compare_runs(
    app: Application, before: int | None, runs: Sequence[Run], warn: Callable[[str], None]
) -> list[Change]:
    """Compare each run to an earlier one, if any; where that is of other questions, only warn."""
    changes: list[Change] = []
    if before is None:
        return changes
    for run in runs:
        try:
            changes += await compare_run(app, before, run)
        except ConfigError as error:
            warn(str(error))
    return changes


async def check_evaluation(app: Application, evaluation: int) -> None:
    """Raise ConfigError if there is no such evaluation: better before a long run than after."""
    await compare_evaluations(app.database, evaluation, evaluation)


def failures(runs: Sequence[Run]) -> list[str]:
    """Say of each run with failed questions how many there are, and what became of the first."""
    lines = []
    for run in runs:
        if failed := run.failed:
            first = f"{failed[0].query_id}: {failed[0].error}"
            counts = f"{len(failed)} of {len(run.queries)} questions failed"
            lines.append(f"{run.strategy}: {counts}, {first}")
    return lines
