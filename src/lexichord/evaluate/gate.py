"""A bound that a metric must keep, as in `pass@5>=0.84`; a run that does not keep it has failed."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from lexichord.errors import ConfigError
from lexichord.types.evaluation import Run

Operator = Literal[">=", ">", "<=", "<"]
OPERATORS: Mapping[Operator, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}
GATE = re.compile(r"\s*([a-z_@.0-9]+)\s*(>=|<=|>|<)\s*([-+.\de]+)\s*", re.I)


@dataclass(frozen=True, slots=True)
class Gate:
    """The mean of `metric` must stand in the relation `operator` to `bound`."""

    metric: str
    operator: Operator
    bound: float

    def __str__(self) -> str:
        return f"{self.metric}{self.operator}{self.bound:g}"


def parse_gate(text: str) -> Gate:
    """Read `metric>=number`, the sign being one of >=, >, <=, <. Raises ConfigError."""
    match = GATE.fullmatch(text)
    try:
        if match is None or not isfinite(bound := float(match[3])):
            raise ValueError
    except ValueError:
        raise ConfigError(f"not a gate: {text!r}; write one like 'pass@5>=0.84'") from None
    sign = next(sign for sign in OPERATORS if sign == match[2])
    return Gate(match[1].lower(), sign, bound)


def check(gate: Gate, means: Mapping[str, float]) -> str | None:
    """Give the reason why the means fail the gate, None if they pass.

    Raises ConfigError for a metric that is not among them.
    """
    if gate.metric not in means:
        there = ", ".join(sorted(means)) or "none"
        raise ConfigError(f"gate {gate}: no metric {gate.metric!r} in this run; there are {there}")
    mean = means[gate.metric]
    if OPERATORS[gate.operator](mean, gate.bound):
        return None
    return f"gate {gate} failed: {gate.metric} is {mean:.4f}"


def check_all(gates: Sequence[Gate], runs: Sequence[Run]) -> list[str]:
    """Say which runs do not keep which gates, or have not such a metric."""
    reasons = [(run, _reason(gate, run)) for gate in gates for run in runs]
    return [f"{run.strategy}: {reason}" for run, reason in reasons if reason]


def _reason(gate: Gate, run: Run) -> str | None:
    try:
        return check(gate, run.means)
    except ConfigError as error:  # by now the runs are worth more than the complaint
        return str(error)
