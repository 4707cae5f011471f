"""A row as a document: cut, with its context, in its language."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lexichord.db.pool import Row
from lexichord.errors import IngestError
from lexichord.ingest.chunk import CHUNK_RECIPE
from lexichord.ingest.language import find_text_config, tell_language
from lexichord.ingest.load.text import MAX_TEXT_BYTES, too_long_error
from lexichord.ingest.reader import Reader
from lexichord.ingest.structural_context import MAX_CONTEXT_TITLE_CHARS
from lexichord.types import Chunk

ROW_CONTEXT_VERSION = 1  # raise it when contexts come out differently: rows are then done again
ROW_RECIPE = f"row/{ROW_CONTEXT_VERSION} {CHUNK_RECIPE}"


@dataclass(frozen=True, slots=True)
class CutRow:
    """A row and its chunks."""

    key: str
    sha256: str
    language: str | None
    text_config: str | None
    chunks: Sequence[Chunk]


def cut_rows(
    rows: Sequence[Row], reader: Reader, by_document: bool
) -> tuple[list[CutRow], dict[str, str]]:
    """Return what can be stored of some rows, and by key why the others cannot."""
    cut, refused = list[CutRow](), dict[str, str]()
    for row in rows:
        try:
            cut.append(_cut(row, reader, by_document))
        except IngestError as error:
            refused[row["key"]] = str(error)
    return cut, refused


def _cut(row: Row, reader: Reader, by_document: bool) -> CutRow:
    text = row["content"]
    if not text.strip():
        raise IngestError("its text is empty")
    if len(text) > MAX_TEXT_BYTES:
        raise too_long_error()
    language = tell_language(text)
    config = find_text_config(language) if by_document else None
    chunks = [_in_context(chunk, row) for chunk in reader.cut(text, "text/plain", row["title"])]
    return CutRow(row["key"], row["sha256"], language, config, chunks)


def _in_context(chunk: Chunk, row: Row) -> Chunk:
    """Add what the chunk does not say itself: the row's title, its columns of context."""
    lines = [row["title"][:MAX_CONTEXT_TITLE_CHARS], row["context"]]
    context = "\n".join(line for line in lines if line and line not in chunk.content)
    return replace(chunk, context=context, keyword_context=chunk.heading)
