"""The command that measures retrieval on a set of questions."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer
from rich import progress
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lexichord.cli.render import err, out, printable
from lexichord.cli.run import FAILED, Run, command
from lexichord.errors import ConfigError
from lexichord.types.evaluation import Extractor

if TYPE_CHECKING:
    from lexichord.evaluate import compare
    from lexichord.evaluate.gate import Gate
    from lexichord.evaluate.run import Plan
    from lexichord.sync import SyncLexichord
    from lexichord.types import evaluation

app = typer.Typer()

type Rows = list[list[str]]

Questions = Annotated[
    str, typer.Argument(metavar="SET", help="A file or folder, or sample.", show_default=False)
]
Strategies = Annotated[
    str | None,
    typer.Option(help="Names, with commas; by default keyword, vector, hybrid, pipeline."),
]
Ks = Annotated[str, typer.Option("--k", help="Ranks that metrics look at, with commas.")]
Gates = Annotated[
    list[str] | None,
    typer.Option(
        "--gate", help="As pass@5>=0.84, of each strategy's mean; else exit code 1; repeatable."
    ),
]
Compare = Annotated[
    int | None, typer.Option(help="The number of an earlier run of this set.", metavar="RUN")
]
Report = Annotated[Path | None, typer.Option(help="A folder to write a report to.")]
Clients = Annotated[
    str, typer.Option(help="Measure queries/s by so many at once, with commas; and embedding.")
]
Llm = Annotated[
    str | None,
    typer.Option(help="A language model as DSPy names it, for pipeline-llm and --extract llm."),
]
Extract = Annotated[Extractor, typer.Option(help="What finds the entities of answers.")]


@command(app, "eval")
def evaluate(
    run: Run,
    questions: Questions,
    strategies: Strategies = None,
    k: Ks = "5,10,20",
    gate: Gates = None,
    compare: Compare = None,
    report: Report = None,
    clients: Clients = "",
    llm: Llm = None,
    extract: Extract = "rules",
) -> None:
    """Ask a set's questions by several strategies and measure what comes back."""
    from lexichord.evaluate.datasets import load_set
    from lexichord.evaluate.gate import parse_gate
    from lexichord.evaluate.run import Plan
    from lexichord.evaluate.strategies import DEFAULT, find_strategies

    gates = [parse_gate(text) for text in gate or ()]
    names = strategies.split(",") if strategies else DEFAULT
    chosen, ks = find_strategies([name.strip() for name in names]), _numbers("k", k)
    warnings: list[str] = []
    run.arguments["llm"] = llm
    with run.open() as lexichord, _Progress(warnings) as bar:
        plan = Plan(chosen, ks, _numbers("clients", clients), extract, bar.tell, bar.warn)
        runs = _runs(lexichord, load_set(questions), plan, compare)
        changes = [] if compare is None else _changes(lexichord, compare, runs, bar)
    run.show(_shape(runs, changes, warnings), lambda _: _print(runs, changes))
    if report is not None:
        from lexichord.evaluate.report import write_report

        for file in write_report(runs, report):
            err.print(Text(f"written: {file}"))
    _fail(gates, runs, warnings)


def _runs(
    lexichord: "SyncLexichord", given: "evaluation.EvalSet", plan: "Plan", before: int | None
) -> list["evaluation.Run"]:
    from lexichord.evaluate.compare import check_evaluation
    from lexichord.evaluate.run import run_evaluation

    if before is not None:
        lexichord.run(check_evaluation(lexichord.core, before))
    return lexichord.run(run_evaluation(lexichord.core, given, plan))


def _changes(
    lexichord: "SyncLexichord", before: int, runs: Sequence["evaluation.Run"], bar: "_Progress"
) -> list["compare.Comparison"]:
    """Compare each run to an earlier one; if that is of other questions, the runs still count."""
    from lexichord.evaluate.compare import compare_run

    changes = []
    for run in runs:
        try:
            changes += lexichord.run(compare_run(lexichord.core, before, run))
        except ConfigError as error:
            bar.warn(str(error))
    return changes


def _numbers(name: str, text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(sorted({int(part) for part in text.split(",")})) if text else ()
    except ValueError:
        numbers = (0,)
    if min(numbers, default=1) < 1 or (name == "k" and not numbers):
        raise ConfigError(f"--{name} takes numbers from 1, with commas: 5,10,20, not '{text}'")
    return numbers


def _fail(
    gates: Sequence["Gate"], runs: Sequence["evaluation.Run"], warnings: Sequence[str]
) -> None:
    """Exit with 1 if a gate is not kept or something could not be done, after saying so."""
    from lexichord.evaluate.compare import failures, means
    from lexichord.evaluate.gate import check

    lines = failures(runs)
    for gate in gates:
        for run in runs:
            if reason := check(gate, means(run)):
                lines.append(f"{run.strategy}: {reason}")
    for line in lines:
        err.print(Text(f"lexichord: {line}"))
    if lines or warnings:
        raise typer.Exit(FAILED)


def _shape(
    runs: Sequence["evaluation.Run"],
    changes: Sequence["compare.Comparison"],
    warnings: Sequence[str],
) -> dict[str, Any]:
    """Give what --json prints; each question's results are in the database."""
    return {
        "runs": [_run_shape(run) for run in runs],
        "comparisons": [asdict(change) for change in changes],
        "warnings": list(warnings),
    }


def _run_shape(run: "evaluation.Run") -> dict[str, Any]:
    from lexichord.evaluate.compare import means, milliseconds

    same = ("id", "set_name", "strategy", "settings", "ks", "qps", "started_at")
    return {
        **{name: getattr(run, name) for name in same},
        "queries": len(run.queries),
        "failed": sum(outcome.error is not None for outcome in run.outcomes),
        "milliseconds": milliseconds(run),
        "means": means(run),
    }


def _print(runs: Sequence["evaluation.Run"], changes: Sequence["compare.Comparison"]) -> None:
    """Print a column a strategy, then what differs from the earlier run."""
    if runs:
        _table(["", *(run.strategy for run in runs)], _rows([_run_shape(run) for run in runs]))
    if changes:
        rows = [_change(change) for change in changes]
        _table(["strategy", "metric", f"less run {changes[0].before}", "95 %", ""], rows)


def _rows(shapes: Sequence[dict[str, Any]]) -> Rows:
    names = dict.fromkeys(name for shape in shapes for name in shape["means"])
    clients = dict.fromkeys(number for shape in shapes for number in shape["qps"])
    timed = shapes[0]["settings"]["milliseconds"]
    return [
        *([name, *(_number(shape["means"].get(name), 4) for shape in shapes)] for name in names),
        *(
            [f"{each} ms {timed}", *(_number(s["milliseconds"].get(each), 1) for s in shapes)]
            for each in ("p50", "p95")
        ),
        *(
            [f"queries/s, {each} clients", *(_number(s["qps"].get(each), 1) for s in shapes)]
            for each in clients
        ),
        ["failed", *(f"{shape['failed']} of {shape['queries']}" for shape in shapes)],
        ["run", *(str(shape["id"] or "not recorded") for shape in shapes)],
    ]


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _change(change: "compare.Comparison") -> list[str]:
    found = change.difference
    verdict = "noise" if found.is_noise else "better" if found.mean > 0 else "worse"
    interval = f"{found.low:+.4f} to {found.high:+.4f}"
    return [change.strategy, change.metric, f"{found.mean:+.4f}", interval, verdict]


def _table(head: Sequence[str], rows: Rows) -> None:
    """Draw a table on a terminal; elsewhere it is Markdown."""
    if not out.is_terminal:
        for cells in (head, ["---"] * len(head), *rows):
            out.print(printable(f"| {' | '.join(cells)} |"))
        return
    table = Table()
    for number, name in enumerate(head):
        table.add_column(printable(name), justify="right" if number else "left")
    for cells in rows:
        table.add_row(*map(printable, cells))
    out.print(table, soft_wrap=False)


class _Progress:
    """What goes on: a bar on a terminal, elsewhere a line a task; both on stderr."""

    def __init__(self, warnings: list[str]) -> None:
        self._warnings = warnings
        self._tasks: dict[str, progress.TaskID] = {}
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
        )

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def tell(self, what: str, done: int, total: int) -> None:
        """Hear how far a task is."""
        if what not in self._tasks:
            self._tasks[what] = self._bar.add_task(what, total=total)
            if self._bar.disable:
                err.print(Text(what))
        self._bar.update(self._tasks[what], completed=done)

    def warn(self, line: str) -> None:
        """Hear what could not be done."""
        if line not in self._warnings:
            self._warnings.append(line)
            err.print(Text(f"lexichord: {line}"))
