"""The command that changes the embedding model of what is stored."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexichord.cli import render
from lexichord.cli.options import Invocation, command
from lexichord.cli.progress import ChunkProgress
from lexichord.errors import ConfigError

if TYPE_CHECKING:
    from lexichord.ingest.reembed import ReembedOptions

reembed_app = typer.Typer()


@command(reembed_app)
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
