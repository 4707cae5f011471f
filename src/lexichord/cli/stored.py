"""Commands on what is stored: contexts, another embedding model, vechord tables, training data."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexichord.cli.deferred import progress, render
from lexichord.cli.options import (
    CHECK_PANEL,
    EXIT_FAILED,
    STORE_PANEL,
    DatasetsOption,
    Invocation,
    YesOption,
    command,
    confirm_deletion,
)
from lexichord.errors import ConfigError
from lexichord.types.base import counted

if TYPE_CHECKING:
    from lexichord.ingest.llm_context.backfill import Contextualized
    from lexichord.ingest.report import ContextReport
    from lexichord.ingest.vectors import ReembedOptions


vechord_app = typer.Typer()


@command(
    vechord_app,
    "import",
    panel=STORE_PANEL,
    examples=("lexichord import --from-vechord documents",),
)
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
    with invocation.open() as lexichord, progress.FileProgress("import") as bars:
        report = lexichord.import_vechord(
            from_vechord, table=table, dataset=dataset, **bars.callbacks()
        )
    invocation.show(report, render.report)
    if report.failed:
        raise typer.Exit(EXIT_FAILED)


@command(
    vechord_app,
    panel=STORE_PANEL,
    examples=("lexichord export --to-vechord documents --dataset contracts",),
)
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


training_app = typer.Typer()


@command(
    training_app,
    "training-triplets",
    panel=CHECK_PANEL,
    examples=("lexichord training-triplets triplets.jsonl",),
)
def training_triplets(
    invocation: Invocation,
    file: Annotated[Path, typer.Argument(help="Where to write them.", show_default=False)],
    latest: Annotated[int, typer.Option(help="Of so many recorded queries.", min=1)] = 10_000,
    negatives: Annotated[int, typer.Option(help="Of each query at most.", min=1)] = 3,
) -> None:
    """Write recorded queries as lines of JSON to train an embedding model by."""
    with invocation.open() as lexichord:
        triplets = lexichord.training_triplets(latest=latest, negatives=negatives)
    lines = [json.dumps(triplet.to_dict(), ensure_ascii=False) + "\n" for triplet in triplets]
    try:
        file.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write '{file}': {error.strerror}") from None
    counts = {"file": str(file), "triplets": len(triplets)}
    line = f"{counted(len(triplets), 'triplet')} written"
    invocation.show(counts, lambda _: render.out.print(line))


judged_app = typer.Typer()


@command(
    judged_app,
    "judged-set",
    panel=CHECK_PANEL,
    examples=("lexichord judged-set judged",),
)
def judged_set(
    invocation: Invocation,
    folder: Annotated[Path, typer.Argument(help="A new or empty one.", show_default=False)],
    latest: Annotated[int, typer.Option(help="Of so many recorded queries.", min=1)] = 10_000,
) -> None:
    """Write questions whose answers were found right, and the documents, as a set for eval."""
    with invocation.open() as lexichord:
        written = lexichord.write_judged_set(folder, latest=latest)
    questions = counted(written.questions, "question")
    line = f"{questions} and {counted(written.documents, 'document')} written"
    invocation.show(written.to_dict(), lambda _: render.out.print(line))


contextualize_app = typer.Typer()


@command(
    contextualize_app,
    panel=STORE_PANEL,
    examples=(
        "lexichord contextualize --dry-run",
        "lexichord contextualize --dataset contracts --budget 2.50",
    ),
)
def contextualize(
    invocation: Invocation,
    dataset: DatasetsOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would take; nobody is asked.")
    ] = False,
    budget: Annotated[
        float | None, typer.Option(help="Stop before this is passed, in dollars.", min=0)
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            help="anthropic, or a file with {whole_document} and {chunk}; else lexichord's own.",
            metavar="NAME|FILE",
        ),
    ] = None,
) -> None:
    """Have a language model say of each stored chunk where in its document it belongs."""
    invocation.arguments["context_prompt"] = prompt
    with invocation.open() as lexichord, progress.FileProgress("contextualize") as bars:
        report = lexichord.contextualize(
            dataset, dry_run=dry_run, budget=budget, **bars.callbacks()
        )
    invocation.show(report, _print_contexts)
    if report.llm.failed or report.llm.stopped or report.changed:
        raise typer.Exit(EXIT_FAILED)


def _print_contexts(report: "Contextualized") -> None:
    from lexichord.ingest.report import contexts, missing_contexts

    if report.dry_run:
        _expected(report.documents, report.llm)
    else:
        changed = f"{counted(report.documents, 'document')} changed"
        render.out.print(f"{changed}, {counted(report.embedded, 'chunk')} embedded")
        for line in contexts(report.llm):
            render.out.print(render.printable(line))
        for line in missing_contexts(report.llm):
            render.err.print(render.printable(line), style="yellow")
    if report.brought:
        brought = counted(report.brought, "document")
        render.out.print(f"{brought} came with contexts, which stay")


def _expected(documents: int, llm: "ContextReport") -> None:
    from lexichord.display.text import dollars_text

    chunks = f"{counted(llm.chunks, 'chunk')} without a context by {llm.model}"
    known = f"{llm.cached} known from before"
    render.out.print(render.printable(f"{counted(documents, 'document')}, {chunks}; {known}"))
    tokens = f"about {counted(llm.input_tokens, 'token')} in, {llm.output_tokens} out"
    render.out.print(f"{counted(llm.requests, 'call')}, {tokens}, {dollars_text(llm.dollars)}")
    if llm.dollars is None:
        hint = "no price is known of it: lexichord.toml can hold one under [prices]"
        render.err.print(render.printable(hint))


reembed_app = typer.Typer()


@command(
    reembed_app,
    panel=STORE_PANEL,
    examples=(
        "lexichord reembed --to openai/text-embedding-3-small/1536",
        "lexichord reembed --rollback",
    ),
)
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
    yes: YesOption = False,
) -> None:
    """Change the embedding model while searches go on; run again what was interrupted."""
    if drop:
        confirm_deletion("the vectors that are not in use", yes)
    with invocation.open() as lexichord, progress.ChunkProgress("reembed") as bars:
        options: ReembedOptions = {"sample": sample, "min_overlap": min_overlap}
        options |= {"on_start": bars.start, "on_chunks": bars.add_chunks}
        report = lexichord.reembed(to, rollback=rollback, drop=drop, **options)
    invocation.show(report.to_dict(), _print)


def _print(row: dict[str, Any]) -> None:
    """Print the outcome."""
    if row["dropped"]:
        render.out.print(render.printable(f"dropped: vectors of {row['dropped']}"))
        return
    if compared := row["comparison"]:
        shares = f"{compared['overlap']:.2f} in the mean, {compared['lowest']:.2f} at least"
        queries = counted(compared["queries"], "query")
        render.out.print(f"of the {compared['k']} nearest to {queries} the same: {shares}")
    embedded = f"{counted(row['embedded'], 'chunk')} embedded"
    render.out.print(render.printable(f"space: {row['space']}, {embedded}"))
    kept = f"kept: vectors of {row['kept']} (--rollback changes back, --drop deletes them)"
    render.out.print(render.printable(kept))
    render.degraded(row["degraded"])
