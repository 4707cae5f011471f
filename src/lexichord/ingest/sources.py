"""What is ingested: documents that are read when their turn comes."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from lexichord.errors import IngestError
from lexichord.ingest import chunk, find
from lexichord.ingest.reader import Reader
from lexichord.types import Chunk, Document

CHUNKED = "chunked "  # how the recipe of a document begins that was given, not read from a file
NO_NAMES: Mapping[str, str] = MappingProxyType({})


class GoneError(IngestError):
    """A file that was there once is no more."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document and its chunks; `vectors` are of `space`, and empty unless they came along."""

    document: Document
    chunks: Sequence[Chunk]
    vectors: Sequence[Sequence[float]] = ()
    space: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Something to ingest. `read` may raise IngestError.

    Stored with the same `sha256` and `recipe` before, it need not be read at all.
    """

    uri: str
    sha256: str
    recipe: str
    read: Callable[[], Prepared]


def files(
    paths: Iterable[Path],
    dataset: str,
    context: str,
    reader: Reader,
    uris: Mapping[str, str] = NO_NAMES,
) -> Iterator[Source]:
    """Give the files among `paths` and in its folders. Raises ConfigError for a missing path.

    `context` is the part of the recipe that says how chunks get theirs; `uris` gives other names
    than their paths.
    """
    for path in find.find_files(paths):
        yield file(path, dataset, context, reader, uris)


def file(
    path: Path, dataset: str, context: str, reader: Reader, uris: Mapping[str, str] = NO_NAMES
) -> Source:
    """Give a file; its uri is its whole path, unless `uris` names it."""
    uri = uris.get(str(path)) or find.storable(path.as_posix())
    recipe = f"{chunk.RECIPE} {context}"
    try:
        sha256 = find.digest(path)
    except IngestError as error:
        return refused(uri, error)
    read = partial(_read_file, reader, path, uri, dataset, sha256, recipe)
    return Source(uri, sha256, recipe, read)


def file_of(uri: str) -> Path:
    """Give the file that a uri names; bytes that are not UTF-8 are written out in it."""
    if os.path.lexists(uri):
        return Path(uri)
    raw = re.sub(rb"\\x([0-9a-f]{2})", lambda match: bytes([int(match[1], 16)]), uri.encode())
    return Path(os.fsdecode(raw))


def is_gone(file: Path) -> bool:
    """Tell whether there is no such file; one that cannot be looked at may be there."""
    try:
        file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def refused(uri: str, error: IngestError) -> Source:
    """Give a source that cannot be read; no stored document has its digest."""
    return Source(uri, "", "", partial(_refuse, error))


def _refuse(error: IngestError) -> Prepared:
    raise error


def _read_file(
    reader: Reader, file: Path, uri: str, dataset: str, sha256: str, recipe: str
) -> Prepared:
    loaded, chunks = reader.read(file)
    if find.digest(file) != sha256:
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
    return Prepared(document, chunks)
