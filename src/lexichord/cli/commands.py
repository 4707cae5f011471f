"""The commands, one function each."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lexichord.cli import admin, serve, show_version, stored
from lexichord.cli import eval as evaluation
from lexichord.cli.ingest import STDIN, ingest_app
from lexichord.cli.options import (
    CHECK_PANEL,
    EXIT_FAILED,
    QUERY_OPTIONS,
    SCOPE_OPTIONS,
    SEARCH_OPTIONS,
    SEARCH_PANEL,
    SERVE_PANEL,
    SIMILAR_OPTIONS,
    STORE_PANEL,
    CommandGroup,
    ExplainOption,
    HintOption,
    Invocation,
    QueryArgument,
    ReferencesArgument,
    YesOption,
    command,
    confirm_deletion,
    progress,
    render,
    say_error,
    show_examples,
)
from lexichord.errors import ConfigError
from lexichord.types.base import ID_PATTERN
from lexichord.types.query_options import Recording

if TYPE_CHECKING:
    from lexichord.client.sync import SyncLexichord
    from lexichord.types import Response
    from lexichord.types.response import QueryEvent

RecordOption = Annotated[
    Recording | None, typer.Option(help="Keep it in the database; text: with its words.")
]
RerankerOption = Annotated[
    str | None,
    typer.Option(help="Reranks what is found: cohere/MODEL, jina/MODEL, local/FOLDER, tei."),
]
LlmOption = Annotated[
    str | None, typer.Option(help="A language model as DSPy names it: vendor/model.")
]

app = typer.Typer(
    cls=CommandGroup,
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog=show_examples(
        [
            "lexichord ingest FOLDER",
            "lexichord search how do refunds work",
            "lexichord query 'When does the lease start?' --answer",
        ]
    ),
)
app.add_typer(admin.models_app, name="models", rich_help_panel=CHECK_PANEL)
app.add_typer(ingest_app)
app.add_typer(stored.contextualize_app)
app.add_typer(stored.training_app)
app.add_typer(stored.judged_app)
app.add_typer(stored.vechord_app)
app.add_typer(stored.reembed_app)
app.add_typer(evaluation.eval_app)
app.add_typer(admin.config_app)
app.add_typer(serve.serve_app)
app.add_typer(admin.keys_app, name="keys", rich_help_panel=SERVE_PANEL)
app.add_typer(admin.tenants_app, name="tenants", rich_help_panel=SERVE_PANEL)
app.add_typer(stored.datasets_app, name="datasets", rich_help_panel=STORE_PANEL)
app.add_typer(stored.metadata_app, name="metadata", rich_help_panel=STORE_PANEL)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        show_version()
        raise typer.Exit


@app.callback()
def lexichord(
    _: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Context-aware retrieval that lives in your Postgres."""


def _note_nothing_stored(
    lexichord: "SyncLexichord", found: Sequence[object], options: dict[str, Any]
) -> None:
    """Say why nothing was found, where nothing could be."""
    if found:
        return
    if not lexichord.status().documents:
        say_error("nothing is stored yet: lexichord ingest FOLDER")
        return
    under = options.get("uri_prefix")
    if under and not lexichord.count(uri_prefix=under, datasets=options.get("datasets")):
        say_error(f"nothing is stored under {under}: see lexichord list")


@command(
    app,
    group=SEARCH_OPTIONS,
    panel=SEARCH_PANEL,
    examples=(
        "lexichord search how do refunds work",
        "lexichord search notice period -k 3 --under contracts/",
        "lexichord search late delivery --filter '{\"year\": 2024}' --json",
    ),
)
def search(
    invocation: Invocation,
    query: QueryArgument,
    options: dict[str, Any],
    hint: HintOption = None,
    explain: ExplainOption = False,
) -> None:
    """Find the chunks that answer a query."""
    with invocation.open() as lexichord:
        result = lexichord.search(" ".join(query), hint=hint, **options)
        _note_nothing_stored(lexichord, result.hits, options)
    invocation.show(result, lambda result: render.search(result, explain))


@command(
    app,
    group=SEARCH_OPTIONS,
    panel=SEARCH_PANEL,
    examples=(
        "lexichord files data protection -k 5",
        "lexichord files liability --hint 'the lease'",
    ),
)
def files(
    invocation: Invocation,
    query: QueryArgument,
    options: dict[str, Any],
    hint: HintOption = None,
    explain: ExplainOption = False,
) -> None:
    """Find the documents that a query is about."""
    with invocation.open() as lexichord:
        result = lexichord.files(" ".join(query), hint=hint, **options)
        _note_nothing_stored(lexichord, result.files, options)
    invocation.show(result, lambda result: render.files(result, explain))


@command(
    app,
    group=QUERY_OPTIONS,
    panel=SEARCH_PANEL,
    examples=(
        "lexichord query 'When does the lease start?' --answer",
        "lexichord query compare the liability caps --dataset contracts --format qa",
        "lexichord query sum up the lease --answer --stream --llm openai/gpt-4o-mini",
    ),
)
def query(
    invocation: Invocation,
    query: QueryArgument,
    options: dict[str, Any],
    record: RecordOption = None,
    reranker: RerankerOption = None,
    llm: LlmOption = None,
    explain: ExplainOption = False,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream", help="Show on the way, on stderr, what is found and a model's draft."
        ),
    ] = False,
) -> None:
    """Find the files, then chunks in and around them, and print the evidence with its sources."""
    invocation.arguments.update(record=record, reranker=reranker, llm=llm)
    with invocation.open() as lexichord:
        if stream:
            response = _show_events(invocation, lexichord.stream(" ".join(query), **options))
        else:
            response = lexichord.query(" ".join(query), **options)
        _note_nothing_stored(lexichord, response.hits, options)
    if not (stream and invocation.as_json):
        invocation.show(response, lambda response: render.response(response, explain))


def _show_events(invocation: Invocation, events: "Iterable[QueryEvent]") -> "Response":
    """Show a query's events as they come, as JSON a line each; return the response."""
    from lexichord.types import Response

    for event in events:
        shape = {"event": event.kind, "data": event} if invocation.as_json else event
        invocation.show(shape, render.event)
    assert isinstance(event, Response)
    return event


@command(
    app, group=SIMILAR_OPTIONS, panel=SEARCH_PANEL, examples=("lexichord similar lease.pdf -k 3",)
)
def similar(
    invocation: Invocation,
    reference: Annotated[str, typer.Argument(help="A document's id, uri or uri's end.")],
    options: dict[str, Any],
    explain: ExplainOption = False,
) -> None:
    """Find the documents most like a stored one, by their vectors."""
    with invocation.open() as lexichord:
        result = lexichord.similar(reference, **options)
        _note_nothing_stored(lexichord, result.files, options)
    invocation.show(result, lambda result: render.files(result, explain))


@command(
    app,
    "list",
    group=SCOPE_OPTIONS,
    panel=SEARCH_PANEL,
    examples=(
        "lexichord list --dataset contracts",
        "lexichord list --filter '{\"year\": 2024}'",
    ),
)
def list_documents(invocation: Invocation, options: dict[str, Any]) -> None:
    """List the documents."""
    with invocation.open() as lexichord:
        documents = lexichord.list(**options)
        invocation.show_list("documents", documents, render.documents)
        _note_nothing_stored(lexichord, documents, options)


@command(
    app,
    panel=SEARCH_PANEL,
    examples=(
        "lexichord show lease.pdf",
        "lexichord show --chunk chunk_aaaaaaaaaaaaaaaa --neighbours 2",
    ),
)
def show(
    invocation: Invocation,
    reference: Annotated[
        str, typer.Argument(help="A document's id, uri or uri's end, or a chunk's id.")
    ] = "",
    chunk: Annotated[str | None, typer.Option(help="A chunk, with the text around it.")] = None,
    neighbours: Annotated[int, typer.Option(help="Chunks on each side of it.")] = 1,
) -> None:
    """Show a document with its chunks, or one chunk in its surroundings."""
    if bool(reference) == (chunk is not None):
        raise ConfigError("name a document, or --chunk with a chunk's id")
    if re.fullmatch(ID_PATTERN["chunk"], reference):
        chunk = reference
    with invocation.open() as lexichord:
        if chunk is not None:
            invocation.show(lexichord.expand(chunk, neighbours=neighbours), render.passage)
        else:
            invocation.show(lexichord.show(reference), render.document)


@command(app, panel=STORE_PANEL, examples=("lexichord rm lease.pdf --yes",))
def rm(
    invocation: Invocation,
    references: ReferencesArgument,
    yes: YesOption = False,
) -> None:
    """Delete documents with their chunks and all that belongs to them."""
    with invocation.open() as lexichord:
        confirm_deletion(", ".join(references), yes)
        invocation.show({"deleted": lexichord.delete(references)}, render.deleted)


@command(app, panel=STORE_PANEL, examples=("lexichord backup lexichord.backup",))
def backup(
    invocation: Invocation,
    file: Annotated[Path, typer.Argument(help="A file that is not there yet.", show_default=False)],
) -> None:
    """Write all that is stored, keys too, to one file; searches and ingests go on."""
    from lexichord.db.server import make_backup

    if str(file) == STDIN:
        raise ConfigError("a backup is written to a file: name one such as lexichord.backup")
    invocation.show(make_backup(invocation.settings, file), render.backup)


@command(
    app,
    panel=STORE_PANEL,
    examples=("lexichord restore lexichord.backup --dsn postgresql://user@host/db",),
)
def restore(
    invocation: Invocation,
    file: Annotated[Path, typer.Argument(help="A file of backup's.", show_default=False)],
    engine: Annotated[
        Literal["plain", "textsearch", "vectorchord", "citus"] | None,
        typer.Option(help="By default the backup's, where the server has it."),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run SQL in it that this version does not write.")
    ] = False,
) -> None:
    """Put a backup, of this or an earlier version, into a database that holds nothing."""
    from lexichord.db.server import restore_backup

    invocation.arguments["engine"] = engine
    restored = restore_backup(invocation.settings, file, trust=trust)
    invocation.show(restored, render.restored)


@command(
    app,
    panel=STORE_PANEL,
    examples=("lexichord copy --to postgresql://user@host/db --dataset contracts",),
)
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
    if source == "":
        raise ConfigError("name the database to copy from: its DSN is empty")
    if source and invocation.arguments["dsn"]:
        raise ConfigError("--from and --dsn both say where to copy from: leave one out")
    invocation.arguments["dsn"] = source or invocation.arguments["dsn"]
    with invocation.open() as lexichord, progress.FileProgress("copy") as bars:
        reports = lexichord.copy_to(to, dataset, **bars.callbacks())
    invocation.show({"datasets": [report.to_dict() for report in reports]}, render.copied)


@command(app, panel=CHECK_PANEL)
def status(invocation: Invocation) -> None:
    """Show what the database holds and how the latest ingests went."""
    with invocation.open() as lexichord:
        invocation.show(lexichord.status(), render.status)


@command(app, panel=CHECK_PANEL)
def doctor(invocation: Invocation) -> None:
    """Check versions, indexes, statistics and vectors."""
    with invocation.open() as lexichord:
        report = lexichord.doctor()
    invocation.show(report, render.doctor)
    if report.problems:
        raise typer.Exit(EXIT_FAILED)


@command(app, panel=CHECK_PANEL)
def reindex(invocation: Invocation) -> None:
    """Rebuild both indexes, to fit what the database holds now."""
    with invocation.open() as lexichord:
        indexes = lexichord.reindex()
    invocation.show({"indexes": indexes}, lambda _: render.indexes(indexes))


@command(
    app,
    panel=SERVE_PANEL,
    examples=(
        "lexichord init",
        "lexichord init --engine vectorchord --dsn postgresql://user@host/db",
    ),
)
def init(
    invocation: Invocation,
    engine: Annotated[
        Literal["plain", "textsearch", "vectorchord", "citus"] | None,
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


@command(app, panel=SERVE_PANEL)
def start(invocation: Invocation) -> None:
    """Start the embedded server and keep it up for other programs."""
    from lexichord.db.server import start_server

    invocation.show({"dsn": start_server(invocation.settings)}, render.dsn)


@command(app, panel=SERVE_PANEL)
def stop(invocation: Invocation) -> None:
    """Stop the embedded server, whoever uses it."""
    from lexichord.db.server import stop_server

    invocation.show({"stopped": stop_server(invocation.settings)}, render.stopped)


@command(app, panel=SERVE_PANEL)
def dsn(invocation: Invocation) -> None:
    """Print the address of the running server, for psql and other programs."""
    from lexichord.db.server import server_address

    invocation.show({"dsn": server_address(invocation.settings)}, render.dsn)
