"""What is ingested, as sources that are read when their turn comes; what became of files."""

import asyncio
import os
import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, IngestError
from lexichord.types import Chunk, Document
from lexichord.types.base import counted

# How the recipe begins of a document that was passed in, not read from a file.
GIVEN_RECIPE_PREFIX = "chunked "


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

    Stored with the same `sha256` and `recipe` before, it need not be read at all. `size` is in
    bytes, `kind` a media type, as far as they are known. `original` returns its bytes, where it has
    been a file. Of what is fetched when it is read `sha256` is empty until then, and `stand_in` a
    digest that takes its place where sources are ordered.
    """

    uri: str
    sha256: str
    recipe: str
    read: Callable[[], PreparedDocument]
    size: int = 0
    kind: str = ""
    original: Callable[[], bytes] | None = None
    stand_in: str = ""


@dataclass(frozen=True, slots=True)
class Pruned:
    """A place to prune. Of the documents that are missing among the listed `lost` returns the gone.

    Its first argument are their uris, its second all that were listed.
    """

    uri: str
    lost: Callable[[Sequence[str], AbstractSet[str]], list[str]]


def storable_name(name: str) -> str:
    """Return a file's name or path; bytes that are not UTF-8 are written as \\x and digits."""
    return os.fsencode(name).decode(errors="backslashreplace")


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


def pruned_folder(folder: Path) -> Pruned:
    """Return a folder of this machine as a place to prune."""
    return Pruned(storable_name(folder.as_posix()), _lost)


async def find_gone(
    database: Database, dataset: str, places: Sequence[Pruned], listed: AbstractSet[str]
) -> list[str]:
    """Return the uris under `places` that are not among the `listed` ones and name no file now.

    Documents that came with their chunks never were files. Raises ConfigError for a place that
    lost all it had: more likely its disk is not mounted.
    """
    gone = set[str]()
    for place in places:
        name = place.uri
        rows = await store.documents_under(database, dataset, name)
        uris = [row["uri"] for row in rows if not row["recipe"].startswith(GIVEN_RECIPE_PREFIX)]
        missing = [uri for uri in uris if uri not in listed]
        lost = await asyncio.to_thread(place.lost, missing, listed)
        if lost and not any(uri.startswith(f"{name.rstrip('/')}/") for uri in listed):
            raise ConfigError(
                f"{name} holds no files now, {counted(len(lost), 'document')} would be deleted: "
                "if that is right, delete them with lexichord rm"
            )
        gone.update(lost)
    return sorted(gone)


def containing(uri: str) -> set[str]:
    """Return what a uri lies in: folders, and files that contain others, archives and mails."""
    return {uri[:place] for place, sign in enumerate(uri) if sign == "/"}


def _lost(uris: Sequence[str], listed: AbstractSet[str]) -> list[str]:
    """Return what is gone; not what a listed file contains: one not looked into, or a mail."""
    outside = (uri for uri in uris if not listed & containing(uri))
    return [uri for uri in outside if is_gone(path_of_uri(uri))]


def copies_last(todo: Sequence[IngestSource]) -> tuple[list[IngestSource], list[IngestSource]]:
    """Part the first of each digest from its copies, which can keep its vectors once it is stored.

    So they do whether or not a run was interrupted in between.
    """
    seen = set[str]()
    parts: tuple[list[IngestSource], list[IngestSource]] = [], []
    for source in todo:
        parts[source.sha256 in seen].append(source)
        if source.sha256:
            seen.add(source.sha256)
    return parts
