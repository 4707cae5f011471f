"""The commands, one function each."""

import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args

import typer

from lexichord.cli import config, keys, metadata, render, serve, stored
from lexichord.cli import eval as evaluation
from lexichord.cli.options import (
    EXIT_FAILED,
    QUERY_OPTIONS,
    SCOPE_OPTIONS,
    SEARCH_OPTIONS,
    ExplainOption,
    HintOption,
    Invocation,
    QueryArgument,
    ReferencesArgument,
    command,
)
from lexichord.cli.progress import FileProgress
from lexichord.errors import ConfigError
from lexichord.types import ContextKind, ContextPart
from lexichord.types.response import Recording

if TYPE_CHECKING:
    from lexichord.ingest.pipeline import IngestOptions

CONTEXT_PART_NAMES = ", ".join(get_args(ContextPart))

RecordOption = Annotated[
    Recording | None, typer.Option(help="Keep it in the database; text: with its words.")
]
RerankerOption = Annotated[
    str | None, typer.Option(help="Reranks what is found: cohere/MODEL, jina/MODEL, tei.")
]

app = typer.Typer(
    help="Context-aware retrieval that lives in your Postgres.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
models = typer.Typer(help="The local embedder's model.", no_args_is_help=True)
app.add_typer(models, name="models")
app.add_typer(stored.contextualize_app)
app.add_typer(stored.vechord_app)
app.add_typer(stored.reembed_app)
app.add_typer(evaluation.eval_app)
app.add_typer(config.config_app)
app.add_typer(serve.serve_app)
app.add_typer(keys.keys_app, name="keys")
app.add_typer(metadata.metadata_app, name="metadata")


def main() -> None:
    """Run the command line."""
    app()


@command(app)
def init(
    invocation: Invocation,
    engine: Annotated[
        Literal["plain", "textsearch", "vectorchord"] | None,
        typer.Option(help="By default what is there."),
    ] = None,
    text_config: Annotated[
        str | None,
        typer.Option(help="Postgres' text configuration for all; by default each language's."),
    ] = None,
    embedding: Annotated[
        str | None, typer.Option(help="The vectors' space: provider/model/dimension.")
    ] = None,
) -> None:
    """Prepare a database, or bring it up to date. The engine is for good."""
    from lexichord.db.server import initialise

    invocation.arguments.update(engine=engine, text_config=text_config, embedding=embedding)
    initialise(invocation.settings)
    with invocation.open() as lexichord:
        invocation.show(lexichord.status(), render.status)


@command(app)
def ingest(
    invocation: Invocation,
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
        typer.Option(help=f"Leave out of the context: {CONTEXT_PART_NAMES}; repeatable."),
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
    include: Annotated[
        list[str] | None,
        typer.Option(help="Of folders only what matches, as in .gitignore; repeatable."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="Of folders not what matches, as in .gitignore; repeatable."),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--metadata", help="KEY=VALUE for each document; repeatable."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Name each file and folder that was left out.")
    ] = False,
    password: Annotated[
        str | None,
        typer.Option(help="Opens PDFs that are encrypted; others see it in the list of processes."),
    ] = None,
    ocr: Annotated[
        str | None,
        typer.Option(help="Recognizes scanned pages of PDFs: tesseract, tesseract/eng+deu."),
    ] = None,
) -> None:
    """Store documents with their chunks; what is stored already, unchanged, is skipped."""
    _check_ingest(bool(paths), bool(chunked), prune, watch, retry_failed)
    invocation.arguments.update(file_password=password, ocr=ocr)
    with invocation.open() as lexichord, FileProgress() as progress:
        options: IngestOptions = {
            "dataset": dataset,
            "context": context,
            "without": cast("list[ContextPart]", without or []),
            "on_usage": progress.show_usage,
            "include": include or [],
            "exclude": exclude or [],
            "metadata": metadata.parse_pairs(given or []),
        }
        options |= cast("IngestOptions", progress.callbacks())
        if watch:
            with closing(lexichord.watch(paths or [], prune=prune, **options)) as reports:
                for report in reports:
                    invocation.show(report.to_dict(), partial(render.report, verbose=verbose))
        elif retry_failed:
            report = lexichord.retry_failed(**options)
        else:
            report = lexichord.ingest(paths or [], chunked_file=chunked, prune=prune, **options)
    shown = render.retried if retry_failed else partial(render.report, verbose=verbose)
    invocation.show(report.to_dict(), shown)
    if report.failed or report.is_empty:
        raise typer.Exit(EXIT_FAILED)


def _check_ingest(paths: bool, chunked: bool, prune: bool, watch: bool, retry_failed: bool) -> None:
    if retry_failed and (paths or chunked or prune or watch):
        raise ConfigError("--retry-failed goes alone: it knows which files failed")
    if watch and chunked:
        raise ConfigError("--watch follows files and folders, not --chunked")
    if not (paths or chunked or retry_failed):
        raise ConfigError("nothing to ingest: name files, folders, or --chunked FILE.jsonl")


@command(app)
def copy(
    invocation: Invocation,
    to: Annotated[str, typer.Option(help="The database to copy to: a DSN.", show_default=False)],
    source: Annotated[
        str | None, typer.Option("--from", help="The one to copy from; by default as everywhere.")
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(help="Only this one; repeatable. By default all.")
    ] = None,
) -> None:
    """Copy datasets to another database, of any engine; what is the same there is skipped."""
    if source and invocation.arguments["dsn"]:
        raise ConfigError("--from and --dsn both say where to copy from: leave one out")
    invocation.arguments["dsn"] = source or invocation.arguments["dsn"]
    with invocation.open() as lexichord, FileProgress("copy") as progress:
        reports = lexichord.copy_to(to, dataset, **progress.callbacks())
    invocation.show({"datasets": [report.to_dict() for report in reports]}, render.copied)


@command(app, group=SEARCH_OPTIONS)
def search(
    invocation: Invocation,
    query: QueryArgument,
    options: dict[str, Any],
    hint: HintOption = None,
    explain: ExplainOption = False,
) -> None:
    """Find the chunks that answer a query."""
    with invocation.open() as lexichord:
        result = lexichord.search(query, hint=hint, **options)
    invocation.show(result, lambda result: render.search(result, explain))


@command(app, group=SEARCH_OPTIONS)
def files(
    invocation: Invocation,
    query: QueryArgument,
    options: dict[str, Any],
    hint: HintOption = None,
    explain: ExplainOption = False,
) -> None:
    """Find the documents that a query is about."""
    with invocation.open() as lexichord:
        result = lexichord.files(query, hint=hint, **options)
    invocation.show(result, lambda result: render.files(result, explain))


@command(app, group=QUERY_OPTIONS)
def query(
    invocation: Invocation,
    query: QueryArgument,
    options: dict[str, Any],
    record: RecordOption = None,
    reranker: RerankerOption = None,
    explain: ExplainOption = False,
) -> None:
    """Find the files, then chunks in and around them, and print the evidence with its sources."""
    invocation.arguments.update(record=record, reranker=reranker)
    with invocation.open() as lexichord:
        response = lexichord.query(query, **options)
    invocation.show(response, lambda response: render.response(response, explain))


@command(app, "list", group=SCOPE_OPTIONS)
def list_documents(invocation: Invocation, options: dict[str, Any]) -> None:
    """List the documents."""
    with invocation.open() as lexichord:
        documents = lexichord.list(**options)
    invocation.show(documents.to_dict(), lambda _: render.documents(documents))


@command(app)
def show(
    invocation: Invocation,
    reference: Annotated[str, typer.Argument(help="A document's id, uri or uri's end.")] = "",
    chunk: Annotated[str | None, typer.Option(help="A chunk, with the text around it.")] = None,
    neighbours: Annotated[int, typer.Option(help="Chunks on each side of it.")] = 1,
) -> None:
    """Show a document with its chunks, or one chunk in its surroundings."""
    if bool(reference) == (chunk is not None):
        raise ConfigError("name a document, or --chunk with a chunk's id")
    with invocation.open() as lexichord:
        if chunk is not None:
            invocation.show(lexichord.expand(chunk, neighbours=neighbours), render.passage)
        else:
            invocation.show(lexichord.show(reference), render.document)


@command(app)
def rm(
    invocation: Invocation,
    references: ReferencesArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete documents with their chunks and all that belongs to them."""
    with invocation.open() as lexichord:
        if not yes:
            if not sys.stdin.isatty():
                raise ConfigError("rm deletes for good: add --yes")
            typer.confirm(f"Delete {', '.join(references)}?", abort=True, err=True)
        invocation.show({"deleted": lexichord.delete(references)}, render.deleted)


@command(app)
def status(invocation: Invocation) -> None:
    """Show what the database holds and how the latest ingests went."""
    with invocation.open() as lexichord:
        invocation.show(lexichord.status(), render.status)


@command(app)
def doctor(invocation: Invocation) -> None:
    """Check versions, indexes, statistics and vectors."""
    with invocation.open() as lexichord:
        report = lexichord.doctor()
    invocation.show(report, render.doctor)
    if report.problems:
        raise typer.Exit(EXIT_FAILED)


@command(app)
def reindex(invocation: Invocation) -> None:
    """Rebuild both indexes, to fit what the database holds now."""
    with invocation.open() as lexichord:
        indexes = lexichord.reindex()
    invocation.show({"indexes": indexes}, lambda _: render.indexes(indexes))


@command(app)
def start(invocation: Invocation) -> None:
    """Start the embedded server and keep it up for other programs."""
    from lexichord.db.server import start_server

    invocation.show({"dsn": start_server(invocation.settings)}, render.dsn)


@command(app)
def stop(invocation: Invocation) -> None:
    """Stop the embedded server, whoever uses it."""
    from lexichord.db.server import stop_server

    invocation.show({"stopped": stop_server(invocation.settings)}, render.stopped)


@command(app)
def dsn(invocation: Invocation) -> None:
    """Print the address of the running server, for psql and other programs."""
    from lexichord.db.server import server_address

    invocation.show({"dsn": server_address(invocation.settings)}, render.dsn)


@command(models, "list")
def list_models(invocation: Invocation) -> None:
    """Print where the model's files are."""
    from lexichord.providers.embed.local import find_model

    settings = invocation.settings
    invocation.show({"folder": find_model(settings.model_dir, settings.home)}, render.model)


@command(models)
def fetch(invocation: Invocation) -> None:
    """Download the model's files (91 MB) from their public address."""
    from lexichord.providers.embed.local import fetch_model

    invocation.show({"folder": fetch_model(invocation.settings.home)}, render.model)
