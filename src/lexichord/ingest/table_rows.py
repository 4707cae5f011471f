"""Rows of the user's tables as documents: a batch of changed ones is cut, embedded and stored."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256

from lexichord.db import tables
from lexichord.db.pool import Conn, Database, Row
from lexichord.db.search import Vector
from lexichord.db.tables import StagedRow
from lexichord.errors import IngestError
from lexichord.ingest.chunk.splitter import CHUNK_RECIPE
from lexichord.ingest.load.text import MAX_TEXT_BYTES, too_long_error
from lexichord.ingest.sandbox import Sandbox
from lexichord.ingest.structural_context import (
    MAX_CONTEXT_TITLE_CHARS,
    find_text_config,
    tell_language,
)
from lexichord.ingest.vectors import ChunkEmbedder, embedding_text
from lexichord.providers import Embedder, RemoteEmbedder
from lexichord.types import Chunk

ROW_CONTEXT_VERSION = 1  # raise it when contexts come out differently: rows are then done again
# A row's context stands before each of its chunks, of which a model reads some 2,000 characters.
MAX_ROW_CONTEXT_CHARS = 10_000
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
    rows: Sequence[Row], sandbox: Sandbox, by_document: bool
) -> tuple[list[CutRow], dict[str, str]]:
    """Return what can be stored of some rows, and by key why the others cannot."""
    cut, refused = list[CutRow](), dict[str, str]()
    for row in rows:
        try:
            cut.append(_cut(row, sandbox, by_document))
        except IngestError as error:
            refused[row["key"]] = str(error)
    return cut, refused


def _cut(row: Row, sandbox: Sandbox, by_document: bool) -> CutRow:
    if row["characters"] > MAX_TEXT_BYTES:
        raise too_long_error()
    if len(row["context"] or "") > MAX_ROW_CONTEXT_CHARS:
        raise IngestError(f"its context is longer than {MAX_ROW_CONTEXT_CHARS:,} characters")
    text = row["content"]
    if not text.strip():
        raise IngestError("its text is empty")
    language = tell_language(text)
    config = find_text_config(language) if by_document else None
    chunks = [_in_context(chunk, row) for chunk in sandbox.cut(text, "text/plain", row["title"])]
    return CutRow(row["key"], row["sha256"], language, config, chunks)


def _in_context(chunk: Chunk, row: Row) -> Chunk:
    """Add what the chunk does not say itself: the row's title, its columns of context."""
    lines = [row["title"][:MAX_CONTEXT_TITLE_CHARS], row["context"]]
    context = "\n".join(line for line in lines if line and line not in chunk.content)
    return replace(chunk, context=context, keyword_context=chunk.heading)


BATCH_ROWS = 512
WARM_UP_TEXT = "The first sentence that is cut and embedded."


@dataclass(slots=True)
class BatchReport:
    """What became of a batch: rows by status, texts that were embedded, the oldest change."""

    keys: int = 0
    stored: int = 0
    kept: int = 0
    deleted: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    embedded: int = 0
    waiting_since: datetime | None = None


@dataclass(slots=True)
class RowIndexer:
    """Indexes changed rows; one batch embeds at a time, others read and store meanwhile."""

    database: Database
    sandbox: Sandbox
    by_document: bool
    embedding: asyncio.Lock = field(default_factory=asyncio.Lock)

    def warm_up(self, embedder: Embedder | None) -> None:
        """Cut a row, and embed it unless a service would. Raises IngestError, ProviderError."""
        row: Row = {"key": "", "title": "", "context": "", "sha256": ""}
        row |= {"content": WARM_UP_TEXT, "characters": len(WARM_UP_TEXT)}
        cut_rows([row], self.sandbox, self.by_document)
        if embedder is not None and not isinstance(embedder, RemoteEmbedder):
            embedder.embed([WARM_UP_TEXT], "document")

    async def index_batch(self, embedder: ChunkEmbedder) -> BatchReport | None:
        """Index the oldest changes; return None if there are none.

        Raises DatabaseError, ProviderError; everything is then as it was.
        """
        async with self.database.transaction() as connection:
            taken = await tables.take_changes(connection, BATCH_ROWS)
            if taken is None:
                return None
            report = BatchReport(len(taken["keys"]), waiting_since=taken["waiting_since"])
            waiting = keys = taken["keys"]
            while waiting:
                place = connection, taken["table_id"], waiting
                waiting = await self._index(*place, embedder, report)
            if keys:
                await tables.finish_changes(connection, taken["changes"])
        return report

    async def _index(
        self,
        connection: Conn,
        table: int,
        keys: Sequence[str],
        embedder: ChunkEmbedder,
        report: BatchReport,
    ) -> list[str]:
        """Index those whose texts may be held together; return the keys of the others."""
        rows = await _read(connection, table, keys, report.refused)
        waiting = {row["key"] for row in rows if _waits(row)}
        keys = [key for key in keys if key not in waiting]
        rows = [row for row in rows if row["key"] not in waiting]
        cut, refused = await asyncio.to_thread(cut_rows, rows, self.sandbox, self.by_document)
        report.refused |= refused
        digests = [row.sha256 for row in cut]
        known = await tables.known_row_texts(connection, table, keys, digests)
        staged = await self._embed(cut, known, embedder, report)
        store = _Store(connection, table, embedder.space, report)
        await store.store(keys, {row.key: row for row in staged}, report.refused)
        return sorted(waiting)

    async def _embed(
        self,
        rows: Sequence[CutRow],
        known: set[str],
        embedder: ChunkEmbedder,
        report: BatchReport,
    ) -> list[StagedRow]:
        """Embed each text once that the database does not have."""
        texts = {_hash(text): text for row in rows for text in _texts(row)}
        new = {digest: text for digest, text in texts.items() if digest not in known}
        vectors = dict[str, Vector | None]()
        if new and embedder.embedder is not None:
            async with self.embedding:
                made = await embedder.embed(list(new.values()), list(new))
            vectors = dict(zip(new, made, strict=True))
            report.embedded = len(new)
        return [_staged(row, vectors, known) for row in rows]


def _waits(row: Row) -> bool:
    """Return whether a row's text did not come, as those before it are as long as may come."""
    return row["content"] is None and row["characters"] <= MAX_TEXT_BYTES


async def _read(
    connection: Conn, table: int, keys: Sequence[str], refused: dict[str, str]
) -> list[Row]:
    """Read changed rows; where they cannot be read, halves of them, down to one."""
    try:
        return await tables.changed_rows(connection, table, keys, ROW_RECIPE, MAX_TEXT_BYTES)
    except IngestError as error:
        if len(keys) == 1:
            refused[keys[0]] = str(error)
            return []
        middle = len(keys) // 2
        first = await _read(connection, table, keys[:middle], refused)
        return first + await _read(connection, table, keys[middle:], refused)


@dataclass(frozen=True, slots=True)
class _Store:
    connection: Conn
    table: int
    space: str
    report: BatchReport

    async def store(
        self, keys: Sequence[str], rows: Mapping[str, StagedRow], refused: Mapping[str, str]
    ) -> None:
        """Store rows together; where their data cannot be stored, halves of them, down to one."""
        staged = [rows[key] for key in keys if key in rows]
        mine = {key: refused[key] for key in keys if key in refused}
        place = (self.connection, self.table, keys, staged, ROW_RECIPE, self.space)
        try:
            done = await tables.store_rows(*place, mine)
        except IngestError as error:
            if len(keys) > 1:
                middle = len(keys) // 2
                await self.store(keys[:middle], rows, refused)
                await self.store(keys[middle:], rows, refused)
            elif mine:
                raise
            else:
                self.report.refused[keys[0]] = str(error)
                await self.store(keys, {}, self.report.refused)
        else:
            self.report.stored += done["stored"]
            self.report.kept += done["kept"]
            self.report.deleted += done["deleted"]


def _texts(row: CutRow) -> list[str]:
    return [embedding_text(chunk.context, chunk.content) for chunk in row.chunks]


def _hash(text: str) -> str:
    """See sql/documents/content_hash.sql, which does the same."""
    return sha256(text.encode()).hexdigest()


def _staged(row: CutRow, vectors: Mapping[str, Vector | None], known: set[str]) -> StagedRow:
    digests = [_hash(text) for text in _texts(row)]
    return StagedRow(
        *(row.key, row.sha256, row.language, row.text_config, row.chunks),
        vectors=[vectors.get(digest) for digest in digests],
        kept=[digest in known for digest in digests],
    )
