"""An evaluation as callers ask for it: a set, strategies' names, gates, an earlier run."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from lexichord.errors import ConfigError
from lexichord.evaluate import Application
from lexichord.types.evaluation import (
    Calibrated,
    EvalSet,
    Evaluation,
    EvaluationRun,
)
from lexichord.types.query_options import DEFAULT_KS, DEFAULT_STRATEGIES, Extractor, several

if TYPE_CHECKING:
    from lexichord.evaluate.run import Plan

GateOperator = Literal[">=", ">", "<=", "<"]
GATE_OPERATORS: Mapping[GateOperator, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}
GATE_PATTERN = re.compile(r"\s*([a-z_@.0-9]+)\s*(>=|<=|>|<)\s*([-+.\de]+)\s*", re.I)


@dataclass(frozen=True, slots=True)
class Gate:
    """The mean of `metric` must stand in the relation `operator` to `bound`."""

    metric: str
    operator: GateOperator
    bound: float

    def __str__(self) -> str:
        return f"{self.metric}{self.operator}{self.bound:g}"


def parse_gate(text: str) -> Gate:
    """Parse `metric>=number`, the sign being one of >=, >, <=, <. Raises ConfigError."""
    match = GATE_PATTERN.fullmatch(text)
    try:
        if match is None or not isfinite(bound := float(match[3])):
            raise ValueError
    except ValueError:
        raise ConfigError(f"not a gate: {text!r}; write one like 'pass@5>=0.84'") from None
    sign = next(sign for sign in GATE_OPERATORS if sign == match[2])
    return Gate(match[1].lower(), sign, bound)


def check_gate(gate: Gate, means: Mapping[str, float]) -> str | None:
    """Return why the means fail the gate, None if they pass.

    Raises ConfigError for a metric that is not among them.
    """
    if gate.metric not in means:
        there = ", ".join(sorted(means)) or "none"
        raise ConfigError(f"gate {gate}: no metric {gate.metric!r} in this run; there are {there}")
    mean = means[gate.metric]
    if GATE_OPERATORS[gate.operator](mean, gate.bound):
        return None
    return f"gate {gate} failed: {gate.metric} is {mean:.4f}"


def check_gates(gates: Sequence[Gate], runs: Sequence[EvaluationRun]) -> list[str]:
    """Return a line for each run and gate that it fails, or whose metric it lacks."""
    reasons = [(run, _reason(gate, run)) for gate in gates for run in runs]
    return [f"{run.strategy}: {reason}" for run, reason in reasons if reason]


def _reason(gate: Gate, run: EvaluationRun) -> str | None:
    try:
        return check_gate(gate, run.means)
    except ConfigError as error:  # the runs are done by now, and worth more than the complaint
        return str(error)


async def evaluate(
    app: Application,
    questions: EvalSet | Path | str,
    *,
    strategies: Sequence[str] | None = None,
    ks: Sequence[int] = DEFAULT_KS,
    compare: int | None = None,
    gates: Sequence[str] = (),
    clients: Sequence[int] = (),
    extract: Extractor = "rules",
    kinds: Sequence[str] | None = None,
    limit: int | None = None,
    on_progress: Callable[[str, int, int], None] | None = None,
    on_warning: Callable[[str], None] | None = None,
) -> Evaluation:
    """Ask a set's questions by several strategies and measure what comes back.

    `questions` is a file or folder, `"sample"` or a set. Its documents go into scratch databases on
    the same server, so nothing that is stored changes; each run is recorded in this one.

    `strategies` are by default keyword, vector, hybrid and pipeline, which runs with the caller's
    own stages; `pipeline-without-` and the name of one's function leaves it out. Metrics look at
    ranks up to each of `ks`. `compare` is the id of an earlier run of the same set. `gates` are
    bounds that each strategy's mean must keep, as `pass@5>=0.84`. `clients` are numbers of clients
    to measure queries per second with; milliseconds then include embedding. `extract` says what
    finds the entities of answers. `kinds` are those of questions to ask, if not all, `limit` how
    many of each at most, spread evenly; the documents are all there. `on_progress` is called with a
    task, how many of its steps are done and of how many, `on_warning` with one line on what could
    not be done.

    A strategy that lacks a requirement is a warning, a failed question a zero. Raises ConfigError.
    """
    # imported late: a program that only searches need not wait
    from lexichord.evaluate import run
    from lexichord.evaluate.datasets import load_set
    from lexichord.evaluate.kinds import choose

    strategies, kinds = (each and [*several(each)] for each in (strategies, kinds))
    _check_numbers("limit", [] if limit is None else [limit])
    parsed_gates, warnings = [parse_gate(text) for text in several(gates)], WarningLog(on_warning)
    plan = _plan(app, strategies, ks, clients, extract, on_progress, warnings.warn)
    loaded = questions if isinstance(questions, EvalSet) else load_set(questions)
    eval_set = choose(loaded, kinds, limit)
    if compare is not None:
        await run.check_evaluation(app, compare)
    runs = await run.run_evaluation(app, eval_set, plan)
    changes = await run.compare_runs(app, compare, runs, warnings.warn)
    failures = [*run.describe_failures(runs), *check_gates(parsed_gates, runs)]
    return Evaluation(tuple(runs), tuple(changes), tuple(warnings.lines), tuple(failures))


async def calibrate(
    app: Application,
    questions: Path | str,
    *,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> Calibrated:
    """Ask questions of what is stored, fit confidence by vectors on them, and store that.

    `questions` is a file like a set's `questions.jsonl`: what nothing answers is among them; of the
    others `relevant_files` are ends of uris, and a quote or `first` is what an answer is known by.
    What is fitted is for the database's embedding space, and judges its queries from then on in
    place of words or of the program's own. Raises ConfigError.
    """
    from lexichord.evaluate.calibrate import run_calibration

    return await run_calibration(
        app, Path(questions), on_progress or (lambda task, done, total: None)
    )


def _plan(
    app: Application,
    strategies: Sequence[str] | None,
    ks: Sequence[int],
    clients: Sequence[int],
    extract: Extractor,
    on_progress: Callable[[str, int, int], None] | None,
    on_warning: Callable[[str], None],
) -> "Plan":
    """Return the plan of arguments that can be meant. Raises ConfigError."""
    from lexichord.evaluate import run
    from lexichord.evaluate.strategies import find_strategies

    ks, clients = [*several(ks)], [*several(clients)]
    if extract not in get_args(Extractor):
        raise ConfigError(f"there is no extractor {extract}: {', '.join(get_args(Extractor))}")
    if not ks or (strategies is not None and not strategies):
        raise ConfigError("name at least one of ks and of strategies, or leave them out")
    return run.Plan(
        find_strategies(DEFAULT_STRATEGIES if strategies is None else strategies, app.stages),
        _check_numbers("ks", ks),
        _check_numbers("clients", clients),
        extract,
        on_progress or (lambda task, done, total: None),
        on_warning,
    )


def _check_numbers(name: str, numbers: Sequence[int]) -> tuple[int, ...]:
    """Return numbers from 1, each once and in order. Raises ConfigError."""
    for number in numbers:
        if not isinstance(number, int) or number < 1:
            raise ConfigError(f"{name} are numbers from 1, not {number!r}")
    return tuple(sorted(set(numbers)))


class WarningLog:
    """What could not be done, each line once."""

    def __init__(self, on_warning: Callable[[str], None] | None) -> None:
        self.lines: list[str] = []
        self._on_warning = on_warning

    def warn(self, line: str) -> None:
        """Keep a line, and pass it on."""
        if line not in self.lines:
            self.lines.append(line)
            if self._on_warning:
                self._on_warning(line)
