"""The commands, one function each."""

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args

import typer

from lexichord.cli import config, contextualize, keys, mcp, query, reembed, render, serve, vechord
from lexichord.cli import eval as evaluation
from lexichord.cli.options import (
    FAILED,
    SEARCH,
    DatasetsOption,
    Explain,
    FilterOption,
    Hint,
    Query,
    References,
    Run,
    UnderOption,
    command,
    search_options,
)
from lexichord.cli.progress import Progress
from lexichord.errors import ConfigError
from lexichord.types import ContextKind, ContextPart

if TYPE_CHECKING:
    from lexichord.ingest.pipeline import IngestOptions

PARTS = get_args(ContextPart)

app = typer.Typer(
    help="Context-aware retrieval that lives in your Postgres.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
models = typer.Typer(help="The local embedder's model.", no_args_is_help=True)
app.add_typer(models, name="models")
app.add_typer(contextualize.app)
app.add_typer(query.app)
app.add_typer(vechord.app)
app.add_typer(reembed.app)
app.add_typer(evaluation.app)
app.add_typer(config.app)
app.add_typer(serve.app)
app.add_typer(mcp.app)
app.add_typer(keys.app, name="keys")


def main() -> None:
    """Run the command line."""
    app()


@command(app)
def init(
    run: Run,
    engine: Annotated[
        Literal["pgvector", "vectorchord"] | None, typer.Option(help="By default what is there.")
    ] = None,
    text_config: Annotated[
        str | None, typer.Option(help="Postgres' text configuration; english by default.")
    ] = None,
    embedding: Annotated[
        str | None, typer.Option(help="The vectors' space: provider/model/dimension.")
    ] = None,
) -> None:
    """Prepare a database, or bring it up to date. Engine and text are for good."""
    from lexichord.client.setup import initialise

    run.arguments.update(engine=engine, text_config=text_config, embedding=embedding)
    initialise(run.settings)
    with run.open() as lexichord:
        run.show(lexichord.status(), render.status)


@command(app)
def ingest(
    run: Run,
    paths: Annotated[list[Path] | None, typer.Argument(help="Files and folders.")] = None,
    chunked: Annotated[
        Path | None, typer.Option(help="JSON lines of documents that are cut into chunks already.")
    ] = None,
    dataset: Annotated[str, typer.Option(help="Where to store them.")] = "default",
    context: Annotated[
        ContextKind, typer.Option(help="What is added to a chunk before it is indexed.")
    ] = "structural",
    without: Annotated[
        list[str] | None,
        typer.Option(help=f"Leave out of the context: {', '.join(PARTS)}; repeatable."),
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete what is gone from the folders.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on with each change, until Ctrl-C.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Take up again the files that failed.")
    ] = False,
) -> None:
    """Store documents with their chunks; what is stored already, unchanged, is skipped."""
    _check_ingest(bool(paths), bool(chunked), prune, watch, retry_failed)
    with run.open() as lexichord, Progress() as progress:
        given = {
            "dataset": dataset,
            "context": context,
            "without": cast("list[ContextPart]", without or []),
            "on_usage": progress.spend,
        }
        options = cast("IngestOptions", {**given, **progress.listening()})
        if watch:
            with closing(lexichord.watch(paths or [], prune=prune, **options)) as reports:
                for report in reports:
                    run.show(report.to_dict(), render.report)
        elif retry_failed:
            report = lexichord.retry_failed(**options)
        else:
            report = lexichord.ingest(paths or [], chunked_file=chunked, prune=prune, **options)
    run.show(report.to_dict(), render.retried if retry_failed else render.report)
    if report.failed:
        raise typer.Exit(FAILED)


def _check_ingest(paths: bool, chunked: bool, prune: bool, watch: bool, retry_failed: bool) -> None:
    if retry_failed and (paths or chunked or prune or watch):
        raise ConfigError("--retry-failed goes alone: it knows which files failed")
    if watch and chunked:
        raise ConfigError("--watch follows files and folders, not --chunked")
    if not (paths or chunked or retry_failed):
        raise ConfigError("nothing to ingest: name files, folders, or --chunked FILE.jsonl")


@command(app)
def copy(
    run: Run,
    to: Annotated[str, typer.Option(help="The database to copy to: a DSN.", show_default=False)],
    source: Annotated[
        str | None, typer.Option("--from", help="The one to copy from; by default as everywhere.")
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(help="Only this one; repeatable. By default all.")
    ] = None,
) -> None:
    """Copy datasets to another database, of any engine; what is the same there is skipped."""
    if source and run.arguments["dsn"]:
        raise ConfigError("--from and --dsn both say where to copy from: leave one out")
    run.arguments["dsn"] = source or run.arguments["dsn"]
    with run.open() as lexichord, Progress("copy") as bar:
        reports = lexichord.copy_to(to, dataset or (), **bar.listening())
    run.show({"datasets": [report.to_dict() for report in reports]}, render.copied)


@command(app, asks=SEARCH)
def search(
    run: Run,
    query: Query,
    options: dict[str, Any],
    hint: Hint = None,
    explain: Explain = False,
) -> None:
    """Find the chunks that answer a query."""
    with run.open() as lexichord:
        result = lexichord.search(query, hint=hint, **options)
    run.show(result, lambda found: render.search(found, explain))


@command(app, asks=SEARCH)
def files(
    run: Run,
    query: Query,
    options: dict[str, Any],
    hint: Hint = None,
    explain: Explain = False,
) -> None:
    """Find the documents that a query is about."""
    with run.open() as lexichord:
        result = lexichord.files(query, hint=hint, **options)
    run.show(result, lambda found: render.files(found, explain))


@command(app, "list")
def list_documents(
    run: Run,
    dataset: DatasetsOption = None,
    under: UnderOption = None,
    filter: FilterOption = None,
) -> None:
    """List the documents."""
    options = search_options(dataset=dataset, under=under, filter=filter)
    with run.open() as lexichord:
        documents = lexichord.list(**options)
    run.show(documents.to_dict(), lambda _: render.documents(documents))


@command(app)
def show(
    run: Run,
    reference: Annotated[str, typer.Argument(help="A document's id, uri or uri's end.")] = "",
    chunk: Annotated[int | None, typer.Option(help="A chunk, with the text around it.")] = None,
    neighbours: Annotated[int, typer.Option(help="Chunks on each side of it.")] = 1,
) -> None:
    """Show a document with its chunks, or one chunk in its surroundings."""
    if bool(reference) == (chunk is not None):
        raise ConfigError("name a document, or --chunk with a chunk's id")
    with run.open() as lexichord:
        if chunk is not None:
            run.show(lexichord.expand(chunk, neighbours=neighbours), render.passage)
        else:
            run.show(lexichord.show(reference), render.document)


@command(app)
def rm(
    run: Run,
    references: References,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete documents with all that hangs on them."""
    with run.open() as lexichord:
        if not yes:
            if not sys.stdin.isatty():
                raise ConfigError("rm deletes for good: add --yes")
            typer.confirm(f"Delete {', '.join(references)}?", abort=True, err=True)
        run.show({"deleted": lexichord.delete(references)}, render.deleted)


@command(app)
def status(run: Run) -> None:
    """Say what the database holds and how the latest ingests went."""
    with run.open() as lexichord:
        run.show(lexichord.status(), render.status)


@command(app)
def doctor(run: Run) -> None:
    """Check versions, indexes, statistics and vectors."""
    with run.open() as lexichord:
        report = lexichord.doctor()
    run.show(report, render.doctor)
    if report.problems:
        raise typer.Exit(FAILED)


@command(app)
def reindex(run: Run) -> None:
    """Build both indexes anew, to fit what the database holds now."""
    with run.open() as lexichord:
        indexes = lexichord.reindex()
    run.show({"indexes": indexes}, lambda _: render.indexes(indexes))


@command(app)
def start(run: Run) -> None:
    """Start the embedded server and keep it up for other programs."""
    from lexichord.client.setup import start_server

    run.show({"dsn": start_server(run.settings)}, render.dsn)


@command(app)
def stop(run: Run) -> None:
    """Stop the embedded server, whoever uses it."""
    from lexichord.client.setup import stop_server

    run.show({"stopped": stop_server(run.settings)}, render.stopped)


@command(app)
def dsn(run: Run) -> None:
    """Print the address of the running server, for psql and other programs."""
    from lexichord.client.setup import server_address

    run.show({"dsn": server_address(run.settings)}, render.dsn)


@command(models, "list")
def list_models(run: Run) -> None:
    """Say where the model's files are."""
    from lexichord.client.setup import find_models

    run.show({"folder": find_models(run.settings)}, render.model)


@command(models)
def fetch(run: Run) -> None:
    """Download the model's files (91 MB) from their public address."""
    from lexichord.client.setup import fetch_models

    run.show({"folder": fetch_models(run.settings)}, render.model)
