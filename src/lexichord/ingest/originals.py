"""The files that documents were read from, looked at again: those kept, or those at their place."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, IngestError, NotFoundError
from lexichord.ingest.files import checked_bytes, file_digest
from lexichord.ingest.load.containers import ContainedFile
from lexichord.ingest.load.kinds import CONTAINER_TYPES, PDF_TYPE, kind_of, named_by_type
from lexichord.ingest.load.marks import LoadOptions
from lexichord.ingest.load.text import CHANGED
from lexichord.ingest.reader import Reader
from lexichord.ingest.sources import GIVEN_RECIPE_PREFIX, path_of_uri, storable_name
from lexichord.types import Original, PageBox, PageSize, StoredDocument

MAX_LOOKS = 2  # at files at the same time, each by a process of its own
LOOK_SECONDS = 20.0  # for one look: a page is drawn in less than 1

# Threads of its own, so that who scrolls through pages keeps no thread from a query.
_LOOKS = ThreadPoolExecutor(MAX_LOOKS, "lexichord-original")


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """The file of the document `uri`, or the file that contains it as its `part`.

    At its place it has the digest `sha256`, which another that comes there has not.
    """

    uri: str
    file: Path
    part: ContainedFile | None = None
    sha256: str | None = None


def check_pages(document: StoredDocument) -> None:
    """Raise NotFoundError for a document without pages to show."""
    if document.media_type != PDF_TYPE:
        raise NotFoundError(f"{document.uri} is no PDF: it has no pages to show")


@asynccontextmanager
async def opened_original(
    database: Database, document: StoredDocument
) -> AsyncIterator[OriginalFile]:
    """Yield the file of a document for as long as the block lasts. Raises NotFoundError.

    A uri may be anybody's words: what is given has the bytes that were read, of which those of a
    part are looked at when it is unpacked.
    """
    content = await store.read_original(database, document.document_id)
    if content is None:
        rows = await store.document_digests(database, document.dataset, [document.uri])
        row = rows[document.uri]
        yield await asyncio.to_thread(_at_its_place, document.uri, row["sha256"], row["recipe"])
        return
    with TemporaryDirectory(prefix="lexichord-") as folder:
        name = named_by_type("original", document.media_type)
        file = await asyncio.to_thread(_kept, Path(folder), name, content)
        yield OriginalFile(document.uri, file)


def _kept(folder: Path, name: str, content: bytes) -> Path:
    file = folder.resolve() / name
    file.write_bytes(content)
    return file


def _at_its_place(uri: str, sha256: str, recipe: str) -> OriginalFile:
    file = path_of_uri(uri)
    if recipe.startswith(GIVEN_RECIPE_PREFIX) or not file.is_absolute():
        raise NotFoundError(f"{uri} was sent or fetched: no file of it is here, it was not kept")
    try:
        if container := _container(file):
            name = uri.removeprefix(f"{storable_name(container.as_posix())}/")
            return OriginalFile(uri, container.resolve(), ContainedFile(name, sha256))
        digest = file_digest(file)
    except OSError as error:
        raise NotFoundError(f"{uri} cannot be looked for: {error.strerror}") from None
    except IngestError as error:
        raise NotFoundError(f"the file {uri} {error}") from None
    if digest != sha256:
        raise NotFoundError(f"{uri} is not there as it was read: ingest it again")
    return OriginalFile(uri, file.resolve(), sha256=sha256)


def _container(path: Path) -> Path | None:
    """Return the file on the way to a path that contains files."""
    file = next((parent for parent in path.parents if parent.is_file()), None)
    return file if file is not None and kind_of(file.name) in CONTAINER_TYPES else None


def read_original(original: OriginalFile, document: StoredDocument) -> Original:
    """Return a document's bytes. Raises NotFoundError."""
    name = PurePosixPath(document.uri).name or "original"
    try:
        if original.part:
            with Reader() as reader:
                content = reader.read_bytes(original.file, original.part)
        elif original.sha256:
            content = checked_bytes(original.file, original.sha256)
        else:
            content = original.file.read_bytes()
    except (OSError, IngestError) as error:
        raise NotFoundError(f"{document.uri}: {error}") from None
    return Original(name, document.media_type, content)


async def look[**P, R](at: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return what a function of these finds, when its turn comes."""
    return await asyncio.get_running_loop().run_in_executor(_LOOKS, partial(at, *args, **kwargs))


def draw_page(original: OriginalFile, page: int, passage: str, options: LoadOptions) -> bytes:
    """Return a page as PNG with a passage marked. Raises NotFoundError; ConfigError."""
    with _reader(original, f"page {page} of ", options) as reader:
        return reader.picture(original.file, original.part, page, passage)


def find_boxes(
    original: OriginalFile, page: int, passage: str, options: LoadOptions
) -> list[PageBox]:
    """Return where a passage stands, from a page on. Raises NotFoundError; ConfigError."""
    with _reader(original, f"page {page} of ", options) as reader:
        return reader.boxes(original.file, original.part, page, passage)


def read_page_sizes(original: OriginalFile, options: LoadOptions) -> list[PageSize]:
    """Return how large the pages are. Raises NotFoundError; ConfigError."""
    with _reader(original, "", options) as reader:
        return reader.page_sizes(original.file, original.part)


@contextmanager
def _reader(original: OriginalFile, what: str, options: LoadOptions) -> Iterator[Reader]:
    try:
        with Reader(options, seconds=LOOK_SECONDS) as reader:
            yield reader
    except IngestError as error:
        message = f"{what}{original.uri}: {error}"
        failed = NotFoundError if str(error) == CHANGED else ConfigError
        raise failed(message) from None
