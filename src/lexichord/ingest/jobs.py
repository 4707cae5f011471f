"""What can be asked for: to ingest, to take up again what failed, to follow folders."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from itertools import chain
from pathlib import Path

from lexichord.db import store
from lexichord.errors import ConfigError
from lexichord.ingest import chunked, sources
from lexichord.ingest.pipeline import Ingest
from lexichord.ingest.reader import Reader
from lexichord.ingest.report import Report
from lexichord.ingest.sources import GoneError, Source
from lexichord.ingest.vechord import find_namespace
from lexichord.ingest.watch import changes
from lexichord.types import Json


async def ingest(
    run: Ingest,
    paths: Sequence[Path],
    documents: Iterable[Json],
    chunked_file: Path | None,
    prune: bool,
) -> Report:
    """Ingest files, folders, documents with their chunks and files of such; see `Lexichord`."""
    folders = [path.resolve() for path in paths if path.is_dir()]
    if prune and not folders:
        raise ConfigError("prune deletes what is gone from a folder: name one")
    with Reader() as reader:
        given = chain(
            sources.files(paths, run.dataset, run.recipe, reader, run.uris),
            chunked.documents(documents, run.dataset, run.recipe, reader),
            chunked.lines(chunked_file, run.dataset, run.recipe, reader) if chunked_file else (),
        )
        todo = await asyncio.to_thread(list, given)
        names = [str(path.resolve()) for path in (*paths, chunked_file) if path is not None]
        names = [run.uris.get(name, name) for name in names]
        return await run.run(todo, " ".join(names), folders if prune else ())


async def retry_failed(run: Ingest) -> Report:
    """Take up again the files that failed when they were last ingested."""
    rows = await store.failed_files(run.database, run.dataset)
    places = [row["uri"] for row in rows if not _is_file(row["uri"])]
    names = [row["uri"] for row in rows if _is_file(row["uri"])]
    with Reader() as reader:
        todo = await asyncio.to_thread(list, (_again(name, run, reader) for name in names))
        report = await run.run(todo, "--retry-failed") if todo else Report()
    if places:
        report.degraded.append(f"no files, ingest again what held them: {', '.join(places)}")
    return report


async def import_vechord(run: Ingest, namespace: str, table: str | None) -> Report:
    """Take over a vechord namespace of the same database, with its vectors and contexts."""
    found = await find_namespace(run.database, namespace, table, run.space)
    todo = await found.sources(run.dataset, run.recipe)
    try:
        report = await run.run(todo, f"vechord:{namespace}")
    finally:
        found.stop()
    report.degraded += await found.remarks()
    return report


async def watch(
    start: Callable[[], Ingest], paths: Sequence[Path], prune: bool, home: Path
) -> AsyncGenerator[Report]:
    """Ingest, and again after each batch of changes, for ever."""
    if not paths:
        raise ConfigError("nothing to watch: name files or folders")
    first = True
    async with aclosing(changes(paths, home)) as batches:
        async for _ in batches:
            try:
                yield await ingest(start(), paths, (), None, prune)
            except ConfigError as error:  # a folder that is away now may come back
                if first:
                    raise
                yield Report(degraded=[str(error)])
            first = False


def _is_file(uri: str) -> bool:
    path = sources.file_of(uri)
    return path.is_absolute() and not os.path.isdir(path)  # noqa: PTH112 - that one may raise


def _again(uri: str, run: Ingest, reader: Reader) -> Source:
    path = sources.file_of(uri)
    if sources.is_gone(path):
        return sources.refused(uri, GoneError("the file is gone"))
    return sources.file(path, run.dataset, run.recipe, reader)
