"""What is ingested: files found in folders, as sources that are read when their turn comes."""

import asyncio
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, IngestError
from lexichord.ingest import chunk
from lexichord.ingest.load.kinds import MEDIA_TYPES, PDF_TYPE
from lexichord.ingest.reader import Reader
from lexichord.types import Chunk, Document

SKIPPED_FOLDERS = {"node_modules", "__pycache__"}  # folders that tools fill
ENVIRONMENT_FILE = "pyvenv.cfg"  # in a folder of installed Python packages


def find_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield each file once, folders searched in order of name, hidden ones left out.

    In a folder, files of kinds that cannot be read are passed over, and so are node_modules,
    __pycache__, Python environments and links to folders; a link to a file yields that file. A
    file that is named itself, and a folder that cannot be listed, is yielded as it is, so that
    reading it raises what is wrong. Raises ConfigError for a path that is missing.
    """
    seen = set[Path]()
    for path in paths:
        if not path.exists():
            raise ConfigError(f"there is no file or folder {path}")
        for file in _walk(path.resolve()) if path.is_dir() else [path.resolve()]:
            if file not in seen:
                seen.add(file)
                yield file


def _walk(folder: Path) -> Iterator[Path]:
    closed: list[OSError] = []
    for here, folders, names in os.walk(folder, onerror=closed.append):
        if ENVIRONMENT_FILE in names:
            folders.clear()
            continue
        folders[:] = sorted(
            name for name in folders if name not in SKIPPED_FOLDERS and name[0] != "."
        )
        for name in sorted(names):
            if name[0] != "." and Path(name).suffix.lower() in MEDIA_TYPES:
                yield _linked(Path(here, name))
    yield from (Path(error.filename) for error in closed)


def _linked(file: Path) -> Path:
    """Follow a link, unless it leads back to itself."""
    try:
        return file.resolve() if file.is_symlink() else file
    except RuntimeError:  # Python 3.12; later ones return the link itself
        return file


def storable_name(name: str) -> str:
    """Return a file's name or path; bytes that are not UTF-8 are written as \\x and digits."""
    return os.fsencode(name).decode(errors="backslashreplace")


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
    paths: Iterable[Path],
    dataset: str,
    context: str,
    reader: Reader,
    uris: Mapping[str, str] = NO_URIS,
) -> Iterator[IngestSource]:
    """Yield the files among `paths` and in its folders. Raises ConfigError for a missing path.

    `context` is the part of the recipe on how chunks get theirs; `uris` holds other names than
    their paths.
    """
    for path in find_files(paths):
        yield file_source(path, dataset, context, reader, uris)


def file_source(
    path: Path, dataset: str, context: str, reader: Reader, uris: Mapping[str, str] = NO_URIS
) -> IngestSource:
    """Return a file; its uri is its whole path, unless `uris` names it."""
    uri = uris.get(str(path)) or storable_name(path.as_posix())
    ocr = f" ocr={reader.options.ocr}" if reader.options.ocr and _is_pdf(path) else ""
    recipe = f"{chunk.CHUNK_RECIPE} {context}{ocr}"
    try:
        sha256 = file_digest(path)
    except IngestError as error:
        return refused_source(uri, error)
    read = partial(_read_file, reader, path, uri, dataset, sha256, recipe)
    return IngestSource(uri, sha256, recipe, read)


def _is_pdf(path: Path) -> bool:
    return MEDIA_TYPES.get(path.suffix.lower()) == PDF_TYPE


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
        raise IngestError("changed while it was read: ingest it again")
    document = Document(
        dataset=dataset,
        uri=uri,
        title=loaded.title,
        media_type=loaded.media_type,
        sha256=sha256,
        recipe=recipe,
        text=loaded.text,
        metadata=loaded.metadata,
    )
    return PreparedDocument(document, chunks)


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
        lost = await asyncio.to_thread(_lost, [uri for uri in uris if uri not in listed])
        if lost and not any(uri.startswith(f"{name.rstrip('/')}/") for uri in listed):
            raise ConfigError(
                f"{name} holds no files now, {len(lost)} documents would be deleted: "
                "if that is right, delete them with lexichord rm"
            )
        gone.update(lost)
    return sorted(gone)


def _lost(uris: Iterable[str]) -> list[str]:
    return [uri for uri in uris if is_gone(path_of_uri(uri))]
