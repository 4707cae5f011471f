"""The commands that read and store documents."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args, get_type_hints

import typer

from lexichord.cli.options import (
    EXIT_FAILED,
    STORE_PANEL,
    CliOption,
    Invocation,
    command,
    progress,
    render,
)
from lexichord.cli.stored import parse_pairs
from lexichord.errors import ConfigError
from lexichord.types.query_options import ContextKind, ContextPart, Marking

if TYPE_CHECKING:
    from lexichord.cli.progress import FileProgress
    from lexichord.client.sync import SyncLexichord
    from lexichord.ingest.options import IngestOptions

CONTEXT_PART_NAMES = ", ".join(get_args(ContextPart))
STDIN = "-"
MAX_STDIN_BYTES = 1_000_000_000
COPY_BYTES = 1 << 20

ingest_app = typer.Typer()


@dataclass(frozen=True)
class IngestArguments:
    """What the command takes beside its paths."""

    chunked: Annotated[
        Path | None, typer.Option(help="JSON lines of documents that are cut into chunks already.")
    ] = None
    dataset: Annotated[str, typer.Option(help="Where to store them.")] = "default"
    context: Annotated[
        ContextKind, typer.Option(help="What is added to a chunk before it is indexed.")
    ] = "structural"
    without: Annotated[
        list[str] | None,
        typer.Option(help=f"Leave out of the context: {CONTEXT_PART_NAMES}; repeatable."),
    ] = None
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete what is gone from the folders.")
    ] = False
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on with each change, until Ctrl-C.")
    ] = False
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Take up again the files that failed.")
    ] = False
    name: Annotated[
        str | None, typer.Option(help="Of -, standard input: a file's name, by which it is read.")
    ] = None
    include: Annotated[
        list[str] | None,
        typer.Option(help="Of folders only what matches, as in .gitignore; repeatable."),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="Of folders not what matches, as in .gitignore; repeatable."),
    ] = None
    follow_links: Annotated[
        bool,
        typer.Option("--follow-links", help="Of folders, follow links that lead out of them, too."),
    ] = False
    given: Annotated[
        list[str] | None,
        typer.Option("--metadata", help="KEY=VALUE for each document; repeatable."),
    ] = None
    keep_originals: Annotated[
        bool,
        typer.Option("--keep-originals", help="Keep the files' bytes in the database, to look at."),
    ] = False
    workers: Annotated[
        int | None, typer.Option(help="Files read at once; by default one a processor, up to 8.")
    ] = None
    depth: Annotated[int, typer.Option(help="Of pages: links followed, within their site.")] = 0
    max_pages: Annotated[int, typer.Option(help="Of the web, pages at most.")] = 1000
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Fetch pages from private addresses, too.")
    ] = False
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Name each file and folder that was left out.")
    ] = False
    password: Annotated[
        str | None,
        typer.Option(help="Opens PDFs that are encrypted; others see it in the list of processes."),
    ] = None
    ocr: Annotated[
        str | None,
        typer.Option(
            help="Recognizes scanned pages of PDFs: rapidocr, tesseract, tesseract/eng+deu."
        ),
    ] = None
    hidden: Annotated[
        Marking | None, typer.Option(help="What files hide: keep as text, mark (default), drop.")
    ] = None
    comments: Annotated[
        Marking | None, typer.Option(help="Comments in files: keep as text, mark (default), drop.")
    ] = None
    max_chunks: Annotated[
        int | None, typer.Option(min=1, help="Refuse a document of more chunks than that.")
    ] = None

    def check(self, paths: list[str]) -> None:
        """Raise ConfigError for what does not go together."""
        if self.retry_failed and (paths or self.chunked or self.prune or self.watch):
            raise ConfigError("--retry-failed goes alone: it knows which files failed")
        if self.watch and self.chunked:
            raise ConfigError("--watch follows files and folders, not --chunked")
        if (STDIN in paths) != (self.name is not None):
            raise ConfigError("standard input is read by its name: lexichord ingest - --name a.pdf")
        if STDIN in paths and (len(paths) > 1 or self.watch):
            raise ConfigError("standard input is read alone, and once: leave out what is beside -")
        if not (paths or self.chunked or self.retry_failed):
            raise ConfigError("nothing to ingest: name files, folders, or --chunked FILE.jsonl")

    def options(self, bars: "FileProgress") -> "IngestOptions":
        """Return the application's options."""
        options: IngestOptions = {
            "dataset": self.dataset,
            "context": self.context,
            "without": cast("list[ContextPart]", self.without or []),
            "include": self.include or [],
            "exclude": self.exclude or [],
            "follow_links": self.follow_links,
            "metadata": parse_pairs(self.given or []),
            "keep_originals": self.keep_originals,
            "workers": self.workers,
            "depth": self.depth,
            "max_pages": self.max_pages,
            "allow_private": self.allow_private,
            "on_usage": bars.show_usage,
            "on_estimate": bars.estimate,
            "on_reading": bars.show_files,
            "on_slow": bars.name_slow,
        }
        return options | cast("IngestOptions", bars.callbacks())


class IngestGroup:
    """The fields of `IngestArguments` as options of the command."""

    @property
    def cli_options(self) -> dict[str, CliOption]:
        """The type and the default of each option."""
        hints = get_type_hints(IngestArguments, include_extras=True)
        return {each.name: (hints[each.name], each.default) for each in fields(IngestArguments)}

    def parse(self, values: Mapping[str, Any]) -> IngestArguments:
        """Return the options together."""
        return IngestArguments(**values)


@command(
    ingest_app,
    group=IngestGroup(),
    panel=STORE_PANEL,
    examples=(
        "lexichord ingest contracts/ --dataset contracts --prune",
        "lexichord ingest https://example.com/sitemap.xml",
        "lexichord ingest s3://contracts/signed/ --prune",
        "lexichord ingest notes/ --exclude drafts/ --metadata year=2024",
        "cat report.pdf | lexichord ingest - --name report.pdf",
    ),
)
def ingest(
    invocation: Invocation,
    options: IngestArguments,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files, folders, pages or sitemaps, s3://BUCKET, sftp://HOST/PATH; - is stdin."
        ),
    ] = None,
) -> None:
    """Store documents with their chunks; what is stored already, unchanged, is skipped."""
    options.check(paths or [])
    invocation.arguments.update(
        file_password=options.password,
        ocr=options.ocr,
        hidden=options.hidden,
        comments=options.comments,
        max_chunks=options.max_chunks,
    )
    shown = partial(render.report, verbose=options.verbose)
    if options.retry_failed:
        shown = partial(render.retried)
    with invocation.open() as lexichord, progress.FileProgress() as bars:
        if options.watch:
            watched = lexichord.watch(paths or [], prune=options.prune, **options.options(bars))
            with closing(watched) as reports:
                for report in reports:
                    invocation.show(report, shown)
            return
        report = _run(lexichord, paths or [], options, bars)
    invocation.show(report, shown)
    if report.failed or (report.is_empty and not options.retry_failed):
        raise typer.Exit(EXIT_FAILED)


@command(ingest_app, panel=STORE_PANEL, examples=("lexichord reread lease.pdf",))
def reread(
    invocation: Invocation,
    reference: Annotated[
        str, typer.Argument(help="A document's id, uri or uri's end.", show_default=False)
    ],
) -> None:
    """Read a document again from the bytes that it was read from, with today's readers."""
    with invocation.open() as lexichord:
        report = lexichord.reread(reference)
    invocation.show(report, render.report)
    if report.failed:
        raise typer.Exit(EXIT_FAILED)


def _run(
    lexichord: "SyncLexichord", paths: list[str], given: IngestArguments, bars: "FileProgress"
) -> Any:  # noqa: ANN401
    options = given.options(bars)
    if given.retry_failed:
        return lexichord.retry_failed(**options)
    if given.name is None:
        return lexichord.ingest(paths, chunked_file=given.chunked, prune=given.prune, **options)
    with _standard_input(given.name) as file:
        options["uris"] = {str(file): f"stdin://{given.name}"}
        return lexichord.ingest([file], chunked_file=given.chunked, **options)


@contextmanager
def _standard_input(name: str) -> Iterator[Path]:
    """Yield what comes in as a file of a name. Raises ConfigError."""
    from lexichord.ingest.sandbox import ScratchFolder

    last = PurePath(name).name
    if sys.stdin is None:
        raise ConfigError("standard input is closed: name a file")
    if not last or not name.isprintable():
        raise ConfigError(f"--name {name!r} names no file: write one such as report.pdf")
    with ScratchFolder() as folder:
        file = Path(folder).resolve() / last
        left = MAX_STDIN_BYTES
        with file.open("xb") as stream:
            while piece := sys.stdin.buffer.read(COPY_BYTES):
                left -= len(piece)
                if left < 0:
                    limit = MAX_STDIN_BYTES // 10**6
                    raise ConfigError(f"standard input holds more than {limit} MB: name a file")
                stream.write(piece)
        yield file
