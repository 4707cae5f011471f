"""The files that documents were read from, looked at again."""

from pathlib import Path

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, IngestError, NotFoundError
from lexichord.ingest.load.kinds import PDF_TYPE
from lexichord.ingest.load.options import LoadOptions
from lexichord.ingest.reader import Reader
from lexichord.ingest.sources import file_digest, path_of_uri
from lexichord.types import StoredDocument


async def check_original(database: Database, document: StoredDocument) -> Path:
    """Return the file of a PDF that was stored, unchanged since. Raises NotFoundError.

    A uri may be anybody's words: what is opened has the bytes that were read.
    """
    if document.media_type != PDF_TYPE:
        raise NotFoundError(f"{document.uri} is no PDF: it has no pages to show")
    rows = await store.document_digests(database, document.dataset, [document.uri])
    file = path_of_uri(document.uri)
    try:
        digest = file_digest(file) if file.is_absolute() else ""
    except IngestError as error:
        raise NotFoundError(f"the file {document.uri} {error}") from None
    if digest != rows[document.uri]["sha256"]:
        raise NotFoundError(f"{document.uri} is not there as it was read: ingest it again")
    return file


def draw_page(file: Path, page: int, passage: str, options: LoadOptions) -> bytes:
    """Return a page as PNG with a passage marked. Raises ConfigError."""
    try:
        with Reader(options) as reader:
            return reader.picture(file, page, passage)
    except IngestError as error:
        raise ConfigError(f"page {page} of {file}: {error}") from None
