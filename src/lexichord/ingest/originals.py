"""The files that documents were read from, looked at again."""

from dataclasses import dataclass
from pathlib import Path

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, IngestError, NotFoundError
from lexichord.ingest.files import file_digest
from lexichord.ingest.find import storable_name
from lexichord.ingest.load.containers import CHANGED, ContainedFile
from lexichord.ingest.load.kinds import CONTAINER_TYPES, PDF_TYPE, kind_of
from lexichord.ingest.load.options import LoadOptions
from lexichord.ingest.reader import Reader
from lexichord.ingest.sources import GIVEN_RECIPE_PREFIX, path_of_uri
from lexichord.types import StoredDocument


@dataclass(frozen=True, slots=True)
class Original:
    """A file that became a document, or the file that contains it as its `part`."""

    file: Path
    part: ContainedFile | None = None


async def find_original(database: Database, document: StoredDocument) -> Original:
    """Return the file of a PDF that was stored. Raises NotFoundError.

    A uri may be anybody's words: what is drawn has the bytes that were read, of which those of a
    part are looked at when it is unpacked.
    """
    rows = await store.document_digests(database, document.dataset, [document.uri])
    row, file = rows[document.uri], path_of_uri(document.uri)
    if document.media_type != PDF_TYPE:
        raise NotFoundError(f"{document.uri} is no PDF: it has no pages to show")
    if row["recipe"].startswith(GIVEN_RECIPE_PREFIX) or not file.is_absolute():
        raise NotFoundError(f"{document.uri} was sent: there is no file to draw its pages from")
    try:
        if container := _container(file):
            name = document.uri.removeprefix(f"{storable_name(container.as_posix())}/")
            return Original(container, ContainedFile(name, row["sha256"]))
        digest = file_digest(file)
    except OSError as error:
        raise NotFoundError(f"{document.uri} cannot be looked for: {error.strerror}") from None
    except IngestError as error:
        raise NotFoundError(f"the file {document.uri} {error}") from None
    if digest != row["sha256"]:
        raise NotFoundError(f"{document.uri} is not there as it was read: ingest it again")
    return Original(file)


def _container(path: Path) -> Path | None:
    """Return the file on the way to a path that contains files."""
    file = next((parent for parent in path.parents if parent.is_file()), None)
    return file if file is not None and kind_of(file.name) in CONTAINER_TYPES else None


def draw_page(original: Original, page: int, passage: str, options: LoadOptions) -> bytes:
    """Return a page as PNG with a passage marked. Raises NotFoundError; ConfigError."""
    try:
        with Reader(options) as reader:
            return reader.picture(original.file, original.part, page, passage)
    except IngestError as error:
        inner = f"/{original.part.name}" if original.part else ""
        message = f"page {page} of {original.file}{inner}: {error}"
        raise (NotFoundError if str(error) == CHANGED else ConfigError)(message) from None
