"""The jobs: ingest, retry what failed, read again, import a vechord namespace, watch."""

import asyncio
import hashlib
import os
import re
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import aclosing, closing, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from threading import Event
from time import monotonic

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, IngestError, NotFoundError
from lexichord.ingest import sources
from lexichord.ingest.files import FileSources, look, opened_original, read_original
from lexichord.ingest.given_documents import GivenSources
from lexichord.ingest.load import kind_of_file, named_by_type
from lexichord.ingest.load.containers import plain_name
from lexichord.ingest.load.marks import load_options
from lexichord.ingest.options import IngestOptions
from lexichord.ingest.pipeline import IngestPipeline
from lexichord.ingest.remote import RemoteAddress, RemotePlace, split_remote
from lexichord.ingest.remote.objects import RemoteSources
from lexichord.ingest.report import Report
from lexichord.ingest.sandbox import Sandbox, ScratchFolder
from lexichord.ingest.sources import (
    SKIPPED_FOLDERS,
    FileSearch,
    IngestSource,
    PreparedDocument,
    Spool,
    pruned_folder,
)
from lexichord.ingest.vechord import find_namespace
from lexichord.ingest.web import WEB_LIMITS, Reach, WebLimits, check_url
from lexichord.ingest.web.crawl import WebSources, file_name, is_address, split_addresses
from lexichord.types import Json, StoredDocument


async def ingest(
    run: IngestPipeline,
    named: Sequence[str],
    documents: Iterable[Json],
    chunked_file: Path | None,
    prune: bool,
) -> Report:
    """Ingest files, folders, pages, documents with their chunks, files of such; see `Lexichord`."""
    if "" in named:
        raise ConfigError("a path is empty: name a file, or a folder, this one as .")
    remote, named = split_remote(named)
    addresses, names = split_addresses(named)
    reach = _reach(run)
    if remote and run.fetch_hosts is not None:
        raise ConfigError("buckets and servers are read by who runs this, not for a request")
    urls, paths = [check_url(one, reach) for one in addresses], [Path(name) for name in names]
    own = [path.resolve() for path in paths if path.is_dir()]
    if prune and not own and not remote:
        if gone := [str(path) for path in paths if not path.exists()]:
            raise ConfigError(f"{gone[0]} is not there: prune deletes what is gone from a folder")
        raise ConfigError("prune deletes what is gone from a folder: name one")
    search = FileSearch(run.include, run.exclude, run.follow_links)
    with (
        _sandbox(run) as sandbox,
        ScratchFolder() as scratch,
        closing(Spool(Path(scratch))) as spool,
    ):
        files = FileSources(run.dataset, run.recipe, sandbox, run.uris, run.metadata, search)
        given = GivenSources(run.dataset, run.recipe, sandbox, spool)
        listed = chain(
            files.find(paths),
            given.documents(documents),
            given.json_lines(chunked_file) if chunked_file else (),
        )
        todo = await asyncio.to_thread(list, listed)
        if urls:
            pages = WebSources(files, Path(scratch), _web_limits(run), reach)
            todo += await pages.find(run.database, urls)
        objects = RemoteSources(files, Path(scratch), run.files_at_once, 1 + run.keep_originals)
        todo += await objects.find(run.database, [RemotePlace(address) for address in remote])
        names = [str(path.resolve()) for path in (*paths, chunked_file) if path is not None]
        names = [*(run.uris.get(name, name) for name in names), *urls]
        names += [address.uri for address in remote]
        run.recorder.take(search)
        pruned = [*map(pruned_folder, own), *objects.pruned] if prune else ()
        return await run.run(todo, " ".join(names), pruned)


def _reach(run: IngestPipeline) -> Reach:
    return Reach(run.allow_private) if run.fetch_hosts is None else Reach.of(run.fetch_hosts)


def _web_limits(run: IngestPipeline) -> WebLimits:
    """Return the limits of pages; for who asks over a network those of what it may send itself."""
    limits = replace(WEB_LIMITS, pages=run.max_pages, depth=run.depth)
    if run.fetch_hosts is None:
        return limits
    size = min(limits.page_bytes, run.settings.max_body)
    seconds = run.settings.request_timeout / 2  # they are fetched before the request is answered
    page_seconds = min(limits.page_seconds, seconds)
    sizes = {"page_bytes": size, "total_bytes": size}
    return replace(limits, **sizes, page_seconds=page_seconds, total_seconds=seconds)


async def retry_failed(run: IngestPipeline) -> Report:
    """Ingest again the files that failed when they were last ingested."""
    rows = await store.failed_files(run.database, run.dataset)
    places = [row["uri"] for row in rows if not _is_file(row["uri"])]
    names = [row["uri"] for row in rows if _is_file(row["uri"])]
    with _sandbox(run) as sandbox:
        files = FileSources(run.dataset, run.recipe, sandbox, metadata=run.metadata)
        todo = await asyncio.to_thread(list, map(files.again, names))
        report = await run.run(todo, "--retry-failed") if todo else Report()
    if places:
        report.degraded.append(f"no files, ingest again what held them: {', '.join(places)}")
    return report


async def import_vechord(run: IngestPipeline, namespace: str, table: str | None) -> Report:
    """Take over a vechord namespace of the same database, with its vectors and contexts."""
    tables = await find_namespace(run.database, namespace, table, run.space, run.limits)
    todo = await tables.sources(run.dataset, run.recipe)
    try:
        report = await run.run(todo, f"vechord:{namespace}")
    finally:
        tables.stop()
    report.degraded += await tables.remarks()
    return report


async def watch(
    start: Callable[[], IngestPipeline],
    named: Sequence[str],
    prune: bool,
    home: Path,
    seconds: float,
    *,
    follow_links: bool,
) -> AsyncGenerator[Report]:
    """Ingest, and again after each batch of changes, until cancelled.

    Buckets and servers are asked for theirs after so many seconds.
    """
    remote, local = split_remote(named)
    addresses, names = split_addresses(local)
    if addresses or not (names or remote):
        raise ConfigError("nothing to watch: name files or folders, which pages of the web are not")
    paths = [Path(name) for name in names]
    first = True
    watched = changes(paths, home, remote, seconds, follow_links=follow_links)
    async with aclosing(watched) as batches:
        async for _ in batches:
            try:
                yield await ingest(start(), named, (), None, prune)
            except ConfigError as error:  # a folder that is away now may come back
                if first:
                    raise
                yield Report(degraded=[str(error)])
            first = False


def _sandbox(run: IngestPipeline) -> Sandbox:
    return Sandbox(load_options(run.settings), workers=run.files_at_once)


def _is_file(uri: str) -> bool:
    path = sources.path_of_uri(uri)
    return path.is_absolute() and not os.path.isdir(path)  # noqa: PTH112 - that one may raise


# In a recipe: what its ingest did with hidden text and comments, which stays so.
GIVEN_MARKING = re.compile(r"\b(hidden|comments)=(keep|drop)\b")
GIVEN_METADATA = re.compile(r"metadata=\S+")  # in a recipe: metadata were given with the file
VERSION = re.compile(r"version=\S+ ")  # in a recipe: of the object in a bucket or on a server


async def reread_options(database: Database, document: StoredDocument) -> tuple[IngestOptions, str]:
    """Return how a document was made, as options of an ingest, and its recipe."""
    rows = await store.document_digests(database, document.dataset, [document.uri])
    recipe = rows[document.uri]["recipe"]
    kind = re.search(r"context=(given|none)", recipe)
    context = kind[1] if kind else "llm" if " llm=" in recipe else "structural"
    without = re.findall(r" without=(\S+)", recipe)
    options = {"dataset": document.dataset, "context": context, "without": without}
    return IngestOptions(**options), recipe  # type: ignore[typeddict-item]


async def reread(run: IngestPipeline, document: StoredDocument, recipe: str) -> Report:
    """Store a document as it is read now. Raises NotFoundError where its bytes are nowhere."""
    content = await _content(run, document)
    marking = dict(GIVEN_MARKING.findall(recipe))
    options = replace(load_options(run.settings), **marking)
    scratch = ScratchFolder()
    with Sandbox(options, workers=1) as sandbox, scratch as folder:
        file = Path(folder, _name(document))
        await asyncio.to_thread(file.write_bytes, content)
        source = FileSources(run.dataset, run.recipe, sandbox).source(file, document.uri)
        given = GIVEN_METADATA.search(recipe)
        if given:
            own = source.recipe.removesuffix(run.recipe)
            source = replace(source, recipe=f"{own}{given[0]} {run.recipe}")
        version = VERSION.search(recipe)
        if version:
            source = replace(source, recipe=source.recipe.replace(" ", f" {version[0]}", 1))
        read = partial(_read, source, document, keeps_title=given is not None)
        run.rereads = document.document_id
        return await run.run([replace(source, read=read)], document.uri)


async def _content(run: IngestPipeline, document: StoredDocument) -> bytes:
    try:
        async with opened_original(run.database, document) as original:
            found = await look(read_original, original, document)
    except NotFoundError as error:
        raise NotFoundError(
            f"{error}; ingest its file again, with keep_originals if it is to be read again later"
        ) from None
    return found.content


def _name(document: StoredDocument) -> str:
    """Return the name of the file, by which it is read."""
    if is_address(document.uri):
        return file_name(document.uri, document.media_type)
    return named_by_type(plain_name(document.uri), document.media_type)


def _read(source: IngestSource, stored: StoredDocument, *, keeps_title: bool) -> PreparedDocument:
    """Read a source; a title that may have been given stays."""
    prepared = source.read()
    document = replace(
        prepared.document,
        recipe=source.recipe,
        title=stored.title if keeps_title else prepared.document.title,
    )
    return replace(prepared, document=document)


async def changes(
    paths: Sequence[Path],
    home: Path,
    remote: Sequence[RemoteAddress],
    seconds: float,
    *,
    follow_links: bool,
) -> AsyncGenerator[None]:
    """Yield one item soon and one after each batch of changes; `home` is not looked at.

    The `remote` places are listed again after so many seconds. Nothing is lost in between: what
    changes meanwhile makes the next item. Raises ConfigError.
    """
    stop = Event()
    batches = _ticks(stop)
    if paths:
        batches = _batches(paths, home, stop, follow_links=follow_links)
    started, listed, due = False, "", monotonic()
    try:
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            before = listed
            if remote and monotonic() >= due:
                listed = await asyncio.to_thread(_listing, remote)
                due = monotonic() + seconds
            if batch or listed != before or not started:
                started = True
                yield
    except OSError as error:
        raise ConfigError(f"cannot watch {', '.join(map(str, paths))}: {error}") from error
    finally:
        stop.set()


def _batches(
    paths: Sequence[Path], home: Path, stop: Event, *, follow_links: bool
) -> Iterator[Collection[object]]:
    """Return what changed, an empty set where nothing did for a while."""
    for path in paths:
        if not path.exists():
            raise ConfigError(f"there is no file or folder {path}")
    # A folder by its own name: what a link leads to may be another one tomorrow. A file's folder,
    # not the file: editors put a new one in its place.
    roots = [path.absolute() if path.is_dir() else path.resolve() for path in paths]
    places = {path if path.is_dir() else path.parent for path in roots}
    matters = partial(_matters, roots=roots, home=home.resolve())
    return batches(places, matters, stop, follow_links=follow_links)


def _ticks(stop: Event) -> Iterator[Collection[object]]:
    """Yield nothing now and then."""
    yield ()
    while not stop.wait(WATCH_POLL_MS / 1000):
        yield ()


def _matters(path: Path, roots: Sequence[Path], home: Path) -> bool:
    """Return whether an ingest of the given paths may see a change; a folder may hold anything."""
    path = path.parent.resolve() / path.name
    if path.is_relative_to(home) or (path.is_file() and kind_of_file(path) is None):
        return False
    real = [root.resolve() for root in roots]
    inside = (path.relative_to(root).parts for root in real if path.is_relative_to(root))
    return any(not any(part.startswith(".") for part in parts) for parts in inside)


def _listing(remote: Sequence[RemoteAddress]) -> str:
    """Return a digest of what places hold by now, or of why they cannot be listed."""
    digest = hashlib.sha256()
    for address in remote:
        try:
            for each in RemotePlace(address).list():
                told = f"{each.uri}\n{each.version}\n{each.size}\n{each.error}\n"
                digest.update(told.encode(errors="replace"))
        except IngestError as error:
            digest.update(str(error).encode(errors="replace"))
    return digest.hexdigest()


WATCH_POLL_MS = 500  # milliseconds, also until the first ingest: the watch is up by then

MAX_RESTARTS = 20  # in a row, of a watch whose folders go while it starts

type Batch = Collection[tuple[object, str]]
type Folders = dict[Path, tuple[int, int]]  # with the device and the inode of each


def batches(
    places: Collection[Path], matters: Callable[[Path], bool], stop: Event, *, follow_links: bool
) -> Iterator[Batch]:
    """Yield what changed, an empty set where nothing did for a while. Raises OSError."""
    try:
        from watchfiles import watch
    except ModuleNotFoundError as error:
        raise ConfigError("--watch needs watchfiles: pip install 'lexichord[files]'") from error
    start = partial(
        watch,
        watch_filter=lambda _, path: matters(Path(path)),
        stop_event=stop,
        rust_timeout=WATCH_POLL_MS,
        yield_on_timeout=True,
        recursive=follow_links,
    )
    return _of_all_folders(places, partial(_looked_up if follow_links else _folders, places), start)


def _of_all_folders(
    places: Collection[Path], look: Callable[[], Folders], start: Callable[..., Iterator[Batch]]
) -> Iterator[Batch]:
    """Yield what changed; folders that have come are watched before their coming is told.

    So is one that has taken the name of another: the system watches folders, not their names.
    """
    folders, own, batch = _start_watch(look, start)
    while batch is not None:
        while (batch or _is_other(places, folders)) and folders != (found := look()):
            told = {(None, str(path)) for path, _ in folders.items() ^ found.items()}
            folders, own, more = _start_watch(look, start)
            if more is None:
                return
            batch = {*batch, *told, *more}
        yield batch
        batch = next(own, None)


def _start_watch(
    look: Callable[[], Folders], start: Callable[..., Iterator[Batch]]
) -> tuple[Folders, Iterator[Batch], Batch | None]:
    """Watch the folders that are there, looked up again where one goes meanwhile."""
    restarts = 0
    while True:
        folders = look()
        own = start(*folders)
        try:
            return folders, own, next(own, None)
        except (FileNotFoundError, NotADirectoryError):
            restarts += 1
            if restarts > MAX_RESTARTS:
                raise


def _is_other(places: Iterable[Path], folders: Folders) -> bool:
    now = _looked_up(places)
    return any(now.get(place) != folders.get(place) for place in places)


def _folders(places: Iterable[Path]) -> Folders:
    """Return folders with those in them that an ingest may look into."""
    found = set[Path]()
    for place in places:
        for here, folders, _ in os.walk(place):
            inner = [Path(here, name) for name in folders if _is_looked_into(here, name)]
            folders[:] = [folder.name for folder in inner]
            found.update((Path(here), *inner))
    return _looked_up(found)


def _looked_up(paths: Iterable[Path]) -> Folders:
    """Return which folders stand under these names; those that are gone are left out."""
    found: Folders = {}
    for path in paths:
        with suppress(OSError):
            told = path.stat()
            found[path] = told.st_dev, told.st_ino
    return found


def _is_looked_into(parent: str, name: str) -> bool:
    path = Path(parent, name)
    is_open = os.access(path, os.R_OK | os.X_OK)  # one that is closed would end the watch
    is_skipped = name.startswith(".") or name in SKIPPED_FOLDERS
    return is_open and not is_skipped and not path.is_symlink()
