"""What is ingested: files and what they contain, as sources that are read when their turn comes."""

import asyncio
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, IngestError
from lexichord.ingest import chunk
from lexichord.ingest.find import FileSearch, storable_name
from lexichord.ingest.load.containers import CHANGED, ContainedFile
from lexichord.ingest.load.kinds import CONTAINER_TYPES, ZIP_TYPE, kind_of
from lexichord.ingest.reader import Reader
from lexichord.types import Chunk, Document, LoadedText


def file_digest(file: Path) -> str:
    """Return the sha256 of the file's bytes. Raises IngestError."""
    if file.exists() and not file.is_file():
        raise IngestError("is no file")  # opening a pipe would wait for ever
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error


# How the recipe begins of a document that was passed in, not read from a file.
GIVEN_RECIPE_PREFIX = "chunked "
NO_URIS: Mapping[str, str] = MappingProxyType({})


class FileGoneError(IngestError):
    """A file that was there once is no more."""


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document and its chunks; `vectors` are of `space`, and empty unless they came along."""

    document: Document
    chunks: Sequence[Chunk]
    vectors: Sequence[Sequence[float]] = ()
    space: str | None = None


@dataclass(frozen=True, slots=True)
class IngestSource:
    """Something to ingest. `read` may raise IngestError.

    Stored with the same `sha256` and `recipe` before, it need not be read at all.
    """

    uri: str
    sha256: str
    recipe: str
    read: Callable[[], PreparedDocument]


def file_sources(
    search: FileSearch,
    paths: Iterable[Path],
    dataset: str,
    context: str,
    reader: Reader,
    uris: Mapping[str, str] = NO_URIS,
) -> Iterator[IngestSource]:
    """Yield the files among `paths` and in its folders, and the files that these contain.

    `context` is the part of the recipe on how chunks get theirs; `uris` holds other names than
    their paths. What is contained and cannot be read is put on the search's record. Raises
    ConfigError for a missing path.
    """
    for path in search.find(paths):
        kind = kind_of(path.name)
        if kind not in CONTAINER_TYPES:
            yield file_source(path, dataset, context, reader, uris)
            continue
        if kind != ZIP_TYPE:  # a mail is a document itself
            yield file_source(path, dataset, context, reader, uris)
        yield from _part_sources(search, path, dataset, context, reader, uris)


def file_source(
    path: Path, dataset: str, context: str, reader: Reader, uris: Mapping[str, str] = NO_URIS
) -> IngestSource:
    """Return a file; its uri is its whole path, unless `uris` names it."""
    uri = _uri(path, uris)
    recipe = f"{chunk.CHUNK_RECIPE} {context}"
    try:
        sha256 = file_digest(path)
    except IngestError as error:
        return refused_source(uri, error)
    read = partial(_read_file, reader, path, uri, dataset, sha256, recipe)
    return IngestSource(uri, sha256, recipe, read)


def _part_sources(
    search: FileSearch,
    path: Path,
    dataset: str,
    context: str,
    reader: Reader,
    uris: Mapping[str, str],
) -> Iterator[IngestSource]:
    """Yield what a file contains; the file itself where it cannot be looked into."""
    uri = _uri(path, uris)
    try:
        parts = reader.list_parts(path)
    except IngestError as error:
        if kind_of(path.name) == ZIP_TYPE:  # reading a mail says the same
            yield refused_source(uri, error)
        return
    recipe = f"{chunk.CHUNK_RECIPE} {context}"
    for part in parts:
        name = f"{uri}/{part.name}"
        if part.unread:
            search.unread[name] = part.unread
        elif part.left_out:
            search.left_out[name] = part.left_out
        elif part.error:
            yield refused_source(name, IngestError(part.error))
        else:
            read = partial(_read_part, reader, path, part, name, dataset, recipe)
            yield IngestSource(name, part.sha256, recipe, read)


def source_again(uri: str, dataset: str, context: str, reader: Reader) -> IngestSource:
    """Return the file, or the part of one, that a uri names."""
    path = path_of_uri(uri)
    file = next((parent for parent in path.parents if parent.is_file()), None)
    if file is not None and kind_of(file.name) in CONTAINER_TYPES:
        parts = _part_sources(FileSearch(), file, dataset, context, reader, NO_URIS)
        for source in parts:
            if source.uri in (uri, _uri(file, NO_URIS)):  # the file itself cannot be looked into
                return replace(source, uri=uri)
        return refused_source(uri, FileGoneError("the file contains it no more"))
    if is_gone(path):
        return refused_source(uri, FileGoneError("the file is gone"))
    return file_source(path, dataset, context, reader)


def _uri(path: Path, uris: Mapping[str, str]) -> str:
    return uris.get(str(path)) or storable_name(path.as_posix())


def path_of_uri(uri: str) -> Path:
    """Return the file that a uri names; bytes that are not UTF-8 are written out in it."""
    if os.path.lexists(uri):
        return Path(uri)
    raw = re.sub(rb"\\x([0-9a-f]{2})", lambda match: bytes([int(match[1], 16)]), uri.encode())
    return Path(os.fsdecode(raw))


def is_gone(file: Path) -> bool:
    """Return whether there is no such file; one that cannot be looked at may be there."""
    try:
        file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def refused_source(uri: str, error: IngestError) -> IngestSource:
    """Return a source that cannot be read; no stored document has its digest."""
    return IngestSource(uri, "", "", partial(_refuse, error))


def _refuse(error: IngestError) -> PreparedDocument:
    raise error


def _read_file(
    reader: Reader, file: Path, uri: str, dataset: str, sha256: str, recipe: str
) -> PreparedDocument:
    loaded, chunks = reader.read(file)
    if file_digest(file) != sha256:
        raise IngestError(CHANGED)
    return PreparedDocument(_document(loaded, uri, dataset, sha256, recipe), chunks)


def _read_part(
    reader: Reader, file: Path, part: ContainedFile, uri: str, dataset: str, recipe: str
) -> PreparedDocument:
    loaded, chunks = reader.read_part(file, part)
    return PreparedDocument(_document(loaded, uri, dataset, part.sha256, recipe), chunks)


def _document(loaded: LoadedText, uri: str, dataset: str, sha256: str, recipe: str) -> Document:
    return Document(
        dataset=dataset,
        uri=uri,
        title=loaded.title,
        media_type=loaded.media_type,
        sha256=sha256,
        recipe=recipe,
        text=loaded.text,
        metadata=loaded.metadata,
    )


async def find_gone(
    database: Database, dataset: str, folders: Sequence[Path], listed: AbstractSet[str]
) -> list[str]:
    """Return the uris under `folders` that are not among the `listed` ones and name no file now.

    Documents that came with their chunks never were files. Raises ConfigError for a folder that
    lost all it had: more likely its disk is not mounted.
    """
    gone = set[str]()
    for folder in folders:
        name = storable_name(folder.as_posix())
        rows = await store.documents_under(database, dataset, name)
        uris = [row["uri"] for row in rows if not row["recipe"].startswith(GIVEN_RECIPE_PREFIX)]
        missing = [uri for uri in uris if uri not in listed and not _is_within(uri, listed)]
        lost = await asyncio.to_thread(_lost, missing)
        if lost and not any(uri.startswith(f"{name.rstrip('/')}/") for uri in listed):
            raise ConfigError(
                f"{name} holds no files now, {len(lost)} documents would be deleted: "
                "if that is right, delete them with lexichord rm"
            )
        gone.update(lost)
    return sorted(gone)


def _is_within(uri: str, listed: AbstractSet[str]) -> bool:
    """Return whether a listed file contains it: one that cannot be looked into, or a mail."""
    return any(parent.as_posix() in listed for parent in PurePosixPath(uri).parents)


def _lost(uris: Iterable[str]) -> list[str]:
    return [uri for uri in uris if is_gone(path_of_uri(uri))]
