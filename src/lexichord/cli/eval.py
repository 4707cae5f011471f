"""The command that measures retrieval on a set of questions."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Self

import typer
from rich import progress
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lexichord.cli.options import FAILED, Run, command
from lexichord.cli.render import err, out, printable
from lexichord.display.text import comparison_table, evaluation_table
from lexichord.errors import ConfigError
from lexichord.types.evaluation import Evaluation, Extractor

app = typer.Typer()

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
    chosen = [name.strip() for name in strategies.split(",")] if strategies else None
    ks, numbers = _numbers("k", k), _numbers("clients", clients)
    run.arguments["llm"] = llm
    with run.open() as lexichord, _Progress() as bar:
        found = lexichord.evaluate(
            questions,
            strategies=chosen,
            ks=ks,
            compare=compare,
            gates=gate or (),
            clients=numbers,
            extract=extract,
            on_progress=bar.tell,
            on_warning=bar.warn,
        )
    run.show(found, _print)
    if report is not None:
        from lexichord.evaluate.report import write_report

        for file in write_report(found.runs, report):
            err.print(Text(f"written: {file}"))
    for line in found.failures:
        err.print(Text(f"lexichord: {line}"))
    if found.failures or found.warnings:
        raise typer.Exit(FAILED)


def _numbers(name: str, text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(sorted({int(part) for part in text.split(",")})) if text else ()
    except ValueError:
        numbers = (0,)
    if min(numbers, default=1) < 1 or (name == "k" and not numbers):
        raise ConfigError(f"--{name} takes numbers from 1, with commas: 5,10,20, not '{text}'")
    return numbers


def _print(found: Evaluation) -> None:
    """Print a column a strategy, then what differs from the earlier run."""
    if found.runs:
        _table(evaluation_table(found))
    if found.comparisons:
        _table(comparison_table(found))


def _table(lines: Sequence[Sequence[str]]) -> None:
    """Draw a table on a terminal; elsewhere it is Markdown."""
    head, *rows = lines
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

    def __init__(self) -> None:
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
        err.print(Text(f"lexichord: {line}"))
