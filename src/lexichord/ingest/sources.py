"""What is ingested: documents that are read when their turn comes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from lexichord.errors import IngestError
from lexichord.ingest import chunk, find, load
from lexichord.types import Chunk, Document

ContextKind = Literal["none", "structural", "given"]

SPLITTER = "recursive/1"  # raise it when chunks come out differently: files are then done again


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


def files(paths: Iterable[Path], dataset: str, kind: ContextKind) -> Iterator[Source]:
    """Give the text files among `paths` and in its folders; a file's uri is its whole path."""
    recipe = f"{SPLITTER} context={kind}"
    for file in find.find_files(paths):
        try:
            sha256 = find.digest(file)
        except IngestError as error:
            yield refused(find.storable(file.as_posix()), str(error))
        else:
            read = partial(_read_file, file, dataset, sha256, recipe)
            yield Source(find.storable(file.as_posix()), sha256, recipe, read)


def refused(uri: str, reason: str) -> Source:
    """Give a source that cannot be read; no stored document has its digest."""
    return Source(uri, "", "", partial(_refuse, reason))


def _refuse(reason: str) -> Prepared:
    raise IngestError(reason)


def _read_file(file: Path, dataset: str, sha256: str, recipe: str) -> Prepared:
    loaded = load.load(file)
    document = Document(
        dataset=dataset,
        uri=find.storable(file.as_posix()),
        title=loaded.title,
        media_type=loaded.media_type,
        sha256=sha256,
        recipe=recipe,
        text=loaded.text,
        metadata=loaded.metadata,
    )
    return Prepared(document, chunk.split(loaded.text))
