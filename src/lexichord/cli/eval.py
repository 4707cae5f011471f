"""The command that measures retrieval on a set of questions."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lexichord.cli.options import CHECK_PANEL, EXIT_FAILED, Invocation, command, progress, render
from lexichord.errors import ConfigError
from lexichord.types.base import counted
from lexichord.types.query_options import DEFAULT_KS, DEFAULT_STRATEGIES, Extractor

if TYPE_CHECKING:
    from lexichord.types.evaluation import Calibrated, Evaluation

eval_app = typer.Typer()

QuestionsArgument = Annotated[
    str, typer.Argument(metavar="SET", help="A file or folder, or sample.", show_default=False)
]
StrategiesOption = Annotated[
    str | None,
    typer.Option(help=f"Names, with commas; by default {', '.join(DEFAULT_STRATEGIES)}."),
]
KsOption = Annotated[str, typer.Option("--k", help="Ranks that metrics look at, with commas.")]
GatesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--gate", help="As pass@5>=0.84, of each strategy's mean; else exit code 1; repeatable."
    ),
]
CompareOption = Annotated[
    int | None, typer.Option(help="The number of an earlier run of this set.", metavar="RUN")
]
ReportOption = Annotated[Path | None, typer.Option(help="A folder to write a report to.")]
ClientsOption = Annotated[
    str, typer.Option(help="Measure queries/s by so many at once, with commas; and embedding.")
]
LlmOption = Annotated[
    str | None,
    typer.Option(help="A language model as DSPy names it, for pipeline-llm and --extract llm."),
]
KindsOption = Annotated[
    str, typer.Option(help="Ask the questions of these kinds only, with commas.")
]
LimitOption = Annotated[
    int | None, typer.Option(help="Ask so many of each kind at most, spread evenly.", min=1)
]
ByOption = Annotated[
    Literal["kind", "type"] | None,
    typer.Option(help="Print what came of each kind or type of question, with intervals."),
]
RecordsOption = Annotated[
    Path | None, typer.Option(help="A file for what came of each question, as lines of JSON.")
]
ExtractOption = Annotated[Extractor, typer.Option(help="What finds the entities of answers.")]


DEFAULT_KS_TEXT = ",".join(map(str, DEFAULT_KS))


@command(
    eval_app,
    "eval",
    panel=CHECK_PANEL,
    examples=(
        "lexichord eval sample",
        "lexichord eval questions.jsonl --strategies hybrid-fuse,pipeline",
    ),
)
def evaluate(
    invocation: Invocation,
    questions: QuestionsArgument,
    strategies: StrategiesOption = None,
    k: KsOption = DEFAULT_KS_TEXT,
    gate: GatesOption = None,
    compare: CompareOption = None,
    report: ReportOption = None,
    clients: ClientsOption = "",
    llm: LlmOption = None,
    extract: ExtractOption = "rules",
    kinds: KindsOption = "",
    limit: LimitOption = None,
    by: ByOption = None,
    records: RecordsOption = None,
) -> None:
    """Ask a set's questions by several strategies and measure what comes back."""
    names, asked_kinds = _names(strategies or ""), _names(kinds)
    ks, client_counts = _numbers("k", k), _numbers("clients", clients)
    invocation.arguments["llm"] = llm
    _prepare_outputs(records, report)
    with invocation.open() as lexichord, progress.TaskProgress() as bars:
        evaluation = lexichord.evaluate(
            questions,
            strategies=names,
            ks=ks,
            compare=compare,
            gates=gate or (),
            clients=client_counts,
            extract=extract,
            kinds=asked_kinds,
            limit=limit,
            on_progress=bars.update,
            on_warning=bars.warn,
        )
    invocation.show(evaluation, partial(_print, by=by))
    if records is not None:
        from lexichord.evaluate.kinds import write_records

        write_records(evaluation.runs, records)
    if report is not None:
        from lexichord.evaluate.report import write_report

        for file in write_report(evaluation.runs, report):
            render.err.print(render.printable(f"written: {file}"))
    for line in evaluation.failures:
        render.err.print(render.printable(f"lexichord: {line}"))
    if evaluation.failures or evaluation.warnings:
        raise typer.Exit(EXIT_FAILED)


def _prepare_outputs(records: Path | None, report: Path | None) -> None:
    """Make what is written to in the end. Raises ConfigError, before anything is asked."""
    try:
        if records is not None and not records.is_fifo():  # whose reader would see its end
            records.open("a").close()
        if report is not None:
            report.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot write to '{error.filename}': {error.strerror}") from error


@command(eval_app, panel=CHECK_PANEL, examples=("lexichord calibrate questions.jsonl",))
def calibrate(
    invocation: Invocation,
    questions: Annotated[
        Path, typer.Argument(metavar="FILE", help="Questions as lines of JSON.", show_default=False)
    ],
) -> None:
    """Fit confidence by vectors on your own questions about what is stored."""
    with invocation.open() as lexichord, progress.TaskProgress() as bars:
        calibrated = lexichord.calibrate(questions, on_progress=bars.update)
    invocation.show(calibrated, _calibrated)


def _calibrated(calibrated: "Calibrated") -> None:
    """Print how it does on questions left out; they are what `--risk` goes by."""
    judged = counted(calibrated.holds + calibrated.lacks, "question")
    render.out.print(render.printable(f"confidence for {calibrated.space} is fitted on {judged}"))
    render.out.print(f"AUROC, questions left out: {calibrated.auroc:.2f}")
    render.out.print(f"refused of {calibrated.holds} with an answer: {calibrated.refused:.0%}")
    render.out.print(f"refused of {calibrated.lacks} without one: {calibrated.turned_away:.0%}")


def _names(text: str) -> list[str] | None:
    return [name.strip() for name in text.split(",")] if text else None


def _numbers(name: str, text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(sorted({int(part) for part in text.split(",")})) if text else ()
    except ValueError:
        numbers = (0,)
    if min(numbers, default=1) < 1 or (name == "k" and not numbers):
        raise ConfigError(f"--{name} takes numbers from 1, with commas: 5,10,20, not '{text}'")
    return numbers


def _print(evaluation: "Evaluation", by: Literal["kind", "type"] | None) -> None:
    """Print a column a strategy or tables by kind, then what differs from the earlier run."""
    from lexichord.display.record_text import comparison_table, evaluation_table

    if evaluation.runs and by:
        from lexichord.evaluate.kinds import tables

        for lines in tables(evaluation.runs, by):
            _table(lines)
            render.out.print()
    elif evaluation.runs:
        _table(evaluation_table(evaluation))
    if evaluation.comparisons:
        _table(comparison_table(evaluation))


def _table(lines: Sequence[Sequence[str]]) -> None:
    """Draw a table on a terminal; elsewhere it is Markdown."""
    from rich.table import Table

    head, *rows = lines
    if not render.out.is_terminal:
        for cells in (head, ["---"] * len(head), *rows):
            render.out.print(render.printable(f"| {' | '.join(cells)} |"))
        return
    table = Table()
    for number, name in enumerate(head):
        table.add_column(render.printable(name), justify="right" if number else "left")
    for cells in rows:
        table.add_row(*map(render.printable, cells))
    render.out.print(table, soft_wrap=False)
