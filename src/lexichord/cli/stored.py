"""The commands that work on what is stored: contexts, another embedding model, vechord tables."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexichord.cli import render
from lexichord.cli.options import (
    EXIT_FAILED,
    STORE_PANEL,
    DatasetsOption,
    Invocation,
    command,
)
from lexichord.cli.progress import ChunkProgress, FileProgress
from lexichord.errors import ConfigError

if TYPE_CHECKING:
    from lexichord.ingest.reembed import ReembedOptions


vechord_app = typer.Typer()


@command(vechord_app, "import", panel=STORE_PANEL)
def import_(
    invocation: Invocation,
    from_vechord: Annotated[
        str, typer.Option(help="A vechord namespace in the same database.", show_default=False)
    ],
    table: Annotated[
        str | None, typer.Option(help="Which of its tables holds the chunks, if several do.")
    ] = None,
    dataset: Annotated[str, typer.Option(help="Where to store it.")] = "default",
) -> None:
    """Take over documents, chunks, contexts and vectors; nothing is embedded again."""
    with invocation.open() as lexichord, FileProgress("import") as progress:
        report = lexichord.import_vechord(
            from_vechord, table=table, dataset=dataset, **progress.callbacks()
        )
    invocation.show(report.to_dict(), render.report)
    if report.failed:
        raise typer.Exit(EXIT_FAILED)


@command(vechord_app, panel=STORE_PANEL)
def export(
    invocation: Invocation,
    to_vechord: Annotated[
        str, typer.Option(help="A new vechord namespace in the same database.", show_default=False)
    ],
    dataset: DatasetsOption = None,
) -> None:
    """Write tables that programs of the vechord library search."""
    with invocation.open() as lexichord:
        invocation.show(lexichord.export_vechord(to_vechord, dataset), render.exported)


contextualize_app = typer.Typer()


@command(contextualize_app, panel=STORE_PANEL)
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
            dataset, dry_run=dry_run, budget=budget, **progress.callbacks()
        )
    invocation.show(report.to_dict(), _print_contexts)
    if report.llm.failed or report.llm.stopped or report.changed:
        raise typer.Exit(EXIT_FAILED)


def _print_contexts(row: dict[str, Any]) -> None:
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


reembed_app = typer.Typer()


@command(reembed_app, panel=STORE_PANEL)
def reembed(
    invocation: Invocation,
    to: Annotated[
        str | None,
        typer.Option(help="The new space: provider/model/dimension; without, go on."),
    ] = None,
    sample: Annotated[
        Path | None, typer.Option(help="Queries to compare old and new by, one a line.")
    ] = None,
    min_overlap: Annotated[
        float | None, typer.Option(help="Swap only if so much of the 10 nearest stays, 0 to 1.")
    ] = None,
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Change back to the old vectors.")
    ] = False,
    drop: Annotated[
        bool,
        typer.Option("--drop", help="Delete the old vectors, or new ones that are unfinished."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Change the embedding model while searches go on; run again what was interrupted."""
    if drop and not yes:
        if not sys.stdin.isatty():
            raise ConfigError("--drop deletes vectors for good: add --yes")
        typer.confirm("Delete the vectors that are not in use?", abort=True, err=True)
    with invocation.open() as lexichord, ChunkProgress("reembed") as progress:
        options: ReembedOptions = {"sample": sample, "min_overlap": min_overlap}
        options |= {"on_start": progress.start, "on_chunks": progress.add_chunks}
        report = lexichord.reembed(to, rollback=rollback, drop=drop, **options)
    invocation.show(report.to_dict(), _print)


def _print(row: dict[str, Any]) -> None:
    """Print the outcome."""
    if row["dropped"]:
        render.out.print(render.printable(f"dropped: vectors of {row['dropped']}"))
        return
    if compared := row["comparison"]:
        shares = f"{compared['overlap']:.2f} in the mean, {compared['lowest']:.2f} at least"
        queries = f"{compared['queries']} queries"
        render.out.print(f"of the {compared['k']} nearest to {queries} the same: {shares}")
    render.out.print(render.printable(f"space: {row['space']}, {row['embedded']} chunks embedded"))
    kept = f"kept: vectors of {row['kept']} (--rollback changes back, --drop deletes them)"
    render.out.print(render.printable(kept))
    render.degraded(row["degraded"])
