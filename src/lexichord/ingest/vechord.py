"""A vechord namespace of the same database, as documents that come with their chunks."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import accumulate, takewhile
from threading import Lock
from typing import Any

from pydantic import ValidationError

from lexichord.db import vechord
from lexichord.db.pool import Database, Row
from lexichord.errors import ConfigError, IngestError
from lexichord.ingest import given_documents
from lexichord.ingest.flow import INGEST_LIMITS, IngestLimits
from lexichord.ingest.sources import (
    GIVEN_RECIPE_PREFIX,
    IngestSource,
    PreparedDocument,
    refused_source,
)
from lexichord.types import EmbeddingSpace
from lexichord.types.base import MAX_NAME_BYTES, counted, explain_invalid

log = logging.getLogger("lexichord")

VECHORD_TITLE_CHARS = 80  # characters of a first line that stands in for a title

type TableRows = Sequence[Row]


def choose_chunk_table(tables: TableRows, namespace: str, wanted: str | None) -> Row:
    """Return the table of a namespace that holds its chunks. Raises ConfigError."""
    if not tables:
        raise ConfigError(f"this database has no tables of a vechord namespace '{namespace}'")
    candidates = [row for row in tables if row["document_table"] and _is(row, namespace, wanted)]
    candidates = [
        row for row in candidates if "_" not in row["class"]
    ] or candidates  # else of NAMESPACE_more
    candidates = [row for row in candidates if row["context_column"]] or candidates
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        names = ", ".join(row["table_name"] for row in tables)
        meant = "holds chunks" if wanted is None else f"is a chunk table '{wanted}'"
        raise ConfigError(
            f"none of {names} {meant}: it would have one vector column, text or content, and a "
            "foreign key to a table of documents without vectors"
        )
    names = ", ".join(row["table_name"] for row in candidates)
    raise ConfigError(f"several tables of '{namespace}' hold chunks: name one, --table: {names}")


def _is(row: Row, namespace: str, wanted: str | None) -> bool:
    if wanted is None:
        return not row["document_has_vector"]
    return wanted in (row["class"], row["table_name"], f"{namespace}_{row['class']}")


@dataclass
class VechordNamespace:
    """A namespace to import; `joined` are the documents whose text was made of their chunks."""

    database: Database
    name: str
    chunk_table: str
    space: str
    limits: IngestLimits = INGEST_LIMITS
    listed: list[Row] = field(default_factory=list)
    joined: list[str] = field(default_factory=list)
    ahead: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    reading: Future[None] | None = None
    stopped: bool = False
    lock: Lock = field(default_factory=Lock)  # of what stops a reading
    turn: Lock = field(
        default_factory=Lock
    )  # of the thread that takes documents, or waits for them

    async def sources(self, dataset: str, context: str) -> list[IngestSource]:
        """List the documents; they are read when their turn comes, some ahead."""
        self.loop = asyncio.get_running_loop()
        await self._list()
        self.places = {row["key"]: place for place, row in enumerate(self.listed)}
        return [self._source(row, dataset, context) for row in self.listed]

    def stop(self) -> None:
        """Let no thread wait any longer for a loop that may be gone soon."""
        with self.lock:
            self.stopped = True
            if self.reading:
                self.reading.cancel()

    async def remarks(self) -> list[str]:
        """Return remarks on what was not imported as it was."""
        return list(self._remarks(await vechord.vechord_orphans(*self._from)))

    def _remarks(self, orphans: int) -> Iterator[str]:
        if orphans:
            yield f"{counted(orphans, 'chunk')} of {self.chunk_table} without a document: left out"
        if self.joined:
            yield (
                f"{counted(len(self.joined), 'document')} with its chunks one below the other as "
                f"text, for a chunk does not stand in its own: {', '.join(self.joined[:3])}"
            )

    @property
    def _from(self) -> tuple[Database, str, str]:
        return self.database, self.name, self.chunk_table

    async def _list(self) -> None:
        after = None
        while rows := await vechord.vechord_digests(
            *self._from, after, self.limits.vechord_page_documents
        ):
            self.listed += rows
            after = rows[-1]["key"]

    def _source(self, row: Row, dataset: str, context: str) -> IngestSource:
        uri, digest = f"vechord:{self.name}/{row['key']}", row["sha256"]
        if len(uri.encode()) > MAX_NAME_BYTES:
            return refused_source(
                f"vechord:{self.name}/{digest}", IngestError("its key is too long")
            )
        if not row["chunks"]:
            return refused_source(uri, IngestError("has no chunks"))
        read = partial(self._read, row["key"], uri, dataset, context)
        return IngestSource(uri, digest, _recipe(context, digest), read)

    def _read(self, key: str, uri: str, dataset: str, context: str) -> PreparedDocument:
        """Read a document as it is by now. Called in several threads, while the loop runs."""
        digest, taken = self._take(key)
        try:
            document = given_documents.GivenDocument.model_validate(
                {"uri": uri, "space": self.space, **taken}
            )
        except ValidationError as error:
            raise IngestError(explain_invalid(error)) from None
        return self._prepare(document, dataset, digest, _recipe(context, digest))

    def _take(self, key: str) -> tuple[str, dict[str, Any]]:
        """Return a document's digest and its fields. Raises IngestError."""
        with self.turn:
            if key not in self.ahead:
                self._wait_for(key)
            if key not in self.ahead:
                raise IngestError("is gone since it was listed: import again")
            return self.ahead.pop(key)

    def _wait_for(self, key: str) -> None:
        with self.lock:
            if self.stopped:
                raise IngestError("was not read: interrupted")
            self.reading = asyncio.run_coroutine_threadsafe(self._read_ahead(key), self.loop)
        self.reading.result()

    def _prepare(
        self, document: given_documents.GivenDocument, dataset: str, digest: str, recipe: str
    ) -> PreparedDocument:
        try:
            return given_documents.prepare_document(document, dataset, digest, recipe)
        except IngestError:
            if not document.text:
                raise
        joined = document.model_copy(update={"text": None})
        prepared = given_documents.prepare_document(joined, dataset, digest, recipe)
        self.joined.append(document.uri)
        return prepared

    async def _read_ahead(self, key: str) -> None:
        rows = self.listed[self.places[key] :]
        totals = accumulate(row["chunks"] for row in rows)
        limit = self.limits.vechord_prefetch_chunks
        fitting = sum(1 for _ in takewhile(lambda total: total <= limit, totals))
        keys = [row["key"] for row in rows[: max(1, fitting)]]
        documents, rows = await vechord.read_vechord(*self._from, keys)
        chunks = defaultdict[str, list[Row]](list)
        for row in rows:
            chunks[row["key"]].append(row)
        self.ahead = {
            row["key"]: (_digest(row, chunks[row["key"]]), _document(row, chunks[row["key"]]))
            for row in documents
        }


async def find_namespace(
    database: Database,
    name: str,
    table: str | None,
    space: str,
    limits: IngestLimits = INGEST_LIMITS,
) -> VechordNamespace:
    """Find a namespace, whose vectors must be of `space`. Raises ConfigError."""
    row = choose_chunk_table(await vechord.vechord_tables(database, name), name, table)
    bound = EmbeddingSpace.parse(space).dimension
    if row["dimension"] != bound:
        raise ConfigError(
            f"the vectors of {row['table_name']} have {row['dimension']} numbers, the database is "
            f"bound to {space}: import them where init was given --embedding "
            f"provider/model/{row['dimension']}"
        )
    log.warning(
        "reading %s and %s: their vectors are taken to be of %s",
        *(row["table_name"], row["document_table"], space),
    )
    return VechordNamespace(database, name, row["table_name"], space, limits)


def _recipe(context: str, digest: str) -> str:
    """Return a document's recipe: no vector is kept, each comes along."""
    return f"{GIVEN_RECIPE_PREFIX}{context} {digest}"


def _digest(document: Row, chunks: Sequence[Row]) -> str:
    """Return the digest of a document with all its chunks; see sql/vechord/vechord_digests.sql."""
    return sha256(b"".join(row["digest"] for row in (document, *chunks))).hexdigest()


def _document(row: Row, rows: Sequence[Row]) -> dict[str, Any]:
    chunks = [_chunk(each) for each in rows if each["content"]]
    text = row["content"] or "".join(chunk["content"] for chunk in chunks[:1])
    first = next(filter(None, map(str.strip, text.splitlines())), "")
    return {
        "chunks": chunks,
        "text": row["content"] or None,
        "title": row["title"] or first[:VECHORD_TITLE_CHARS],
        "metadata": row["metadata"],
    }


def _chunk(row: Row) -> dict[str, Any]:
    return {
        "content": row["content"],
        "context": row["context"] or "",
        "metadata": row["metadata"],
        "vector": row["embedding"],
    }
