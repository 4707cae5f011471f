"""The command that has a language model write contexts for what is stored."""

from typing import Annotated, Any

import typer

from lexichord.cli import render
from lexichord.cli.options import EXIT_FAILED, DatasetsOption, Invocation, command
from lexichord.cli.progress import FileProgress

contextualize_app = typer.Typer()


@command(contextualize_app)
def contextualize(
    invocation: Invocation,
    dataset: DatasetsOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would take; nobody is asked.")
    ] = False,
    budget: Annotated[
        float | None, typer.Option(help="Stop before this is passed, in dollars.", min=0)
    ] = None,
) -> None:
    """Have a language model say of each stored chunk where in its document it belongs."""
    with invocation.open() as lexichord, FileProgress("contextualize") as progress:
        report = lexichord.contextualize(
            dataset or (), dry_run=dry_run, budget=budget, **progress.callbacks()
        )
    invocation.show(report.to_dict(), _print)
    if report.llm.failed or report.llm.stopped or report.changed:
        raise typer.Exit(EXIT_FAILED)


def _print(row: dict[str, Any]) -> None:
    if row["dry_run"]:
        _expected(row["documents"], row["llm"])
    else:
        render.out.print(f"{row['documents']} documents changed, {row['embedded']} chunks embedded")
        render.written(row["llm"])
    if row["brought"]:
        render.out.print(f"{row['brought']} documents brought their own contexts and keep them")


def _expected(documents: int, row: dict[str, Any]) -> None:
    chunks = f"{row['chunks']} chunks lack a context by {row['model']}"
    known = f"{row['cached']} are known from before"
    calls = f"{row['requests']} calls"
    render.out.print(render.printable(f"{documents} documents, {chunks}; {known}"))
    tokens = f"about {row['input_tokens']} tokens in, {row['output_tokens']} out"
    render.out.print(f"{calls}, {tokens}, {render.dollars(row['dollars'])}")
    if row["dollars"] is None:
        hint = "no price is known of it: lexichord.toml can hold one under [prices]"
        render.err.print(render.printable(hint))
