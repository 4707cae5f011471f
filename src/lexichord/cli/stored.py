"""Commands on what is stored: contexts, another embedding model, vechord tables, training data.

Besides, on datasets, and on documents' metadata, with how keys with values are written.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexichord.cli.options import (
    CHECK_PANEL,
    EXIT_FAILED,
    SCOPE_OPTIONS,
    STORE_PANEL,
    DatasetsOption,
    Invocation,
    ReferencesArgument,
    YesOption,
    command,
    command_group,
    confirm_deletion,
    progress,
    render,
    say_error,
)
from lexichord.errors import ConfigError, some_names
from lexichord.types.base import counted

if TYPE_CHECKING:
    from lexichord.client.sync import SyncLexichord
    from lexichord.ingest.llm_context.backfill import Contextualized
    from lexichord.ingest.report import ContextReport
    from lexichord.ingest.vectors import ReembedOptions
    from lexichord.types import Facet

vechord_app = typer.Typer()

datasets_app = command_group("Datasets, each a named set of documents.")

metadata_app = command_group("Documents' metadata.")


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
    from lexichord.display.record_text import dollars_text

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


@command(datasets_app, "list")
def list_datasets(invocation: Invocation) -> None:
    """List the datasets, with how many documents and chunks each holds."""
    with invocation.open() as lexichord:
        invocation.show_list("datasets", lexichord.datasets(), render.datasets)


@command(datasets_app, examples=("lexichord datasets delete contracts --yes",))
def delete(
    invocation: Invocation,
    dataset: Annotated[str, typer.Argument(help="Of the list.", show_default=False)],
    yes: YesOption = False,
) -> None:
    """Delete a dataset with its documents and all that belongs to them."""
    with invocation.open() as lexichord:
        held = [str(each) for each in lexichord.datasets() if each.dataset == dataset]
        for line in held:  # of one that is not there the application says so
            confirm_deletion(line, yes)
        documents = lexichord.delete_dataset(dataset)
    invocation.show(
        {"deleted": documents}, lambda _: render.out.print(f"{', '.join(held)} deleted")
    )


@command(datasets_app, examples=("lexichord datasets rename contracts agreements",))
def rename(
    invocation: Invocation,
    dataset: Annotated[str, typer.Argument(help="Its name until now.", show_default=False)],
    new_name: Annotated[str, typer.Argument(help="One that no dataset has.", show_default=False)],
) -> None:
    """Give a dataset another name; API keys and an indexed table that name it follow."""
    with invocation.open() as lexichord:
        lexichord.rename_dataset(dataset, new_name)
    row = {"dataset": new_name}
    invocation.show(
        row, lambda _: render.out.print(render.printable(f"{dataset} is {new_name} now"))
    )


@command(datasets_app, examples=("lexichord datasets move lease.pdf nda.pdf --to archive",))
def move(
    invocation: Invocation,
    references: ReferencesArgument,
    to: Annotated[str, typer.Option(help="A dataset; one that is not there is made.")],
) -> None:
    """Move documents into a dataset, with all that belongs to them; nothing is embedded again."""
    with invocation.open() as lexichord:
        moved = lexichord.move(references, to)
    invocation.show({"moved": moved}, lambda row: render.out.print(f"{row['moved']} moved"))


@command(metadata_app, "set", examples=("lexichord metadata set lease.pdf year=2024 party=Acme",))
def set_metadata(
    invocation: Invocation,
    reference: Annotated[str, typer.Argument(help="A document's id, uri or uri's end.")],
    pairs: Annotated[list[str], typer.Argument(help="KEY=VALUE, in JSON or text; null: none.")],
) -> None:
    """Set keys of a document's metadata; nothing is embedded again."""
    changes = parse_pairs(pairs)
    with invocation.open() as lexichord:
        _note_missing_keys(lexichord, reference, changes)
        metadata = lexichord.set_metadata(reference, changes)
    invocation.show({"metadata": metadata}, lambda _: render.metadata(metadata))


def _note_missing_keys(lexichord: "SyncLexichord", reference: str, changes: dict[str, Any]) -> None:
    """Say which keys that are to go are not there: they may be misspelt."""
    gone = [key for key, value in changes.items() if value is None]
    if not gone:
        return
    (document,) = lexichord.list(documents=[reference])
    keys = document.metadata.keys()
    for key in gone:
        if key not in keys:
            there = f"take one of {some_names(keys, [key])}" if keys else "it has no metadata"
            say_error(f"{reference} has no key '{key}': {there}")


@command(
    metadata_app,
    "count",
    group=SCOPE_OPTIONS,
    examples=("lexichord metadata count media_type --dataset contracts",),
)
def count_by(
    invocation: Invocation,
    key: Annotated[str, typer.Argument(help="A key, or dataset, uri, title, media_type, folder.")],
    options: dict[str, Any],
) -> None:
    """Count documents by the values of a key."""
    with invocation.open() as lexichord:
        invocation.show_list("facets", lexichord.count_by(key, **options), _print_facets)


def parse_pairs(pairs: Iterable[str]) -> dict[str, Any]:
    """Read KEY=VALUE; a value that is no JSON is text. Raises ConfigError."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, written = pair.partition("=")
        if not equals or not key:
            raise ConfigError(f"'{pair}' is no metadata: write KEY=VALUE")
        values[key] = _value(written)
    return values


def _value(written: str) -> Any:  # noqa: ANN401
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return written


def _print_facets(facets: "Iterable[Facet]") -> None:
    for facet in facets:
        shown = facet.value if isinstance(facet.value, str) else json.dumps(facet.value)
        render.out.print(render.printable(f"{facet.documents:>7}  {shown}"))
