"""The command that changes the embedding model of what is stored."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import progress
from rich.console import Console

from lexichord.cli import render
from lexichord.cli.options import Run, command
from lexichord.errors import ConfigError

if TYPE_CHECKING:
    from lexichord.ingest.reembed import ReembedOptions

PARTS = 10  # lines that tell the progress where there is no terminal

app = typer.Typer()


@command(app)
def reembed(
    run: Run,
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
    with run.open() as lexichord, Progress() as bar:
        options: ReembedOptions = {"sample": sample, "min_overlap": min_overlap}
        options |= {"on_start": bar.begin, "on_chunks": bar.count}
        done = lexichord.reembed(to, rollback=rollback, drop=drop, **options)
    run.show(done.to_dict(), reembedded)


class Progress(progress.Progress):
    """How many chunks have their new vector: a bar on a terminal, elsewhere lines; on stderr."""

    def __init__(self) -> None:
        super().__init__(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("chunks, left"),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True, soft_wrap=True),
            disable=not sys.stderr.isatty(),
        )

    def begin(self, total: int) -> None:
        """Hear how many chunks there are."""
        self._filled, self._total = 0, total
        self._bar = self.add_task("reembed", total=total)

    def count(self, chunks: int) -> None:
        """Hear how many more have their vector."""
        before, self._filled = self._filled, self._filled + chunks
        self.advance(self._bar, chunks)
        step = max(self._total // PARTS, 1)
        if self.disable and before // step < self._filled // step:
            self.console.print(f"{self._filled} of {self._total} chunks")


def reembedded(row: dict[str, Any]) -> None:
    """Print what came of it."""
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
