"""The commands that exchange tables with programs of the vechord library."""

from typing import Annotated

import typer

from lexichord.cli import render
from lexichord.cli.options import EXIT_FAILED, DatasetsOption, Invocation, command
from lexichord.cli.progress import FileProgress

vechord_app = typer.Typer()


@command(vechord_app, "import")
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


@command(vechord_app)
def export(
    invocation: Invocation,
    to_vechord: Annotated[
        str, typer.Option(help="A new vechord namespace in the same database.", show_default=False)
    ],
    dataset: DatasetsOption = None,
) -> None:
    """Write tables that programs of the vechord library search."""
    with invocation.open() as lexichord:
        invocation.show(lexichord.export_vechord(to_vechord, dataset or ()), render.exported)
