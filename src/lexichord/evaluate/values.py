"""The numbers of runs, and how they are written."""

from collections.abc import Iterable, Sequence

from lexichord.evaluate.metrics import find_group
from lexichord.evaluate.significance import compare
from lexichord.types.evaluation import Difference, Run
from lexichord.types.text import MISSING, write_number

TO = "\xa0to\xa0"  # keeps an interval on one line


def find_values(run: Run, metric: str) -> Sequence[float | None]:
    """Give a metric's values, all None where the run lacks it."""
    return run.metrics.get(metric, [None] * len(run.queries))


def is_judged(runs: Sequence[Run], metric: str) -> bool:
    """Tell whether any question of any run has a value."""
    return any(value is not None for run in runs for value in find_values(run, metric))


def compare_runs(run: Run, other: Run | None, metric: str) -> Difference | None:
    """Compare two runs, or give the mean of one; None if there is nothing to compare."""
    values = find_values(run, metric)
    others = [0.0] * len(values) if other is None else find_values(other, metric)
    if all(None in pair for pair in zip(values, others, strict=True)):
        return None
    return compare(values, others, [find_group(query) for query in run.queries])


def write_numbers(values: Iterable[float | None], digits: int = 4) -> list[str]:
    """Write numbers, or that they are missing."""
    return [write_number(value, digits) for value in values]


def write_interval(mean: Difference | None) -> str:
    """Write a mean and its interval."""
    return MISSING if mean is None else f"{mean.mean:.4f} ({mean.low:.4f}{TO}{mean.high:.4f})"


def write_difference(change: Difference | None) -> str:
    """Write a difference and its interval, and whether it is noise."""
    if change is None:
        return MISSING
    return write_signed(change, ",\xa0noise" if change.is_noise else "")


def write_signed(change: Difference, remark: str = "") -> str:
    """Write a difference and its interval, with a remark between them."""
    if change.mean == change.low == change.high == 0:
        return "no difference"
    return f"{change.mean:+.4f}{remark} ({change.low:+.4f}{TO}{change.high:+.4f})"
