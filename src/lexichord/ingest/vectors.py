"""Vectors for chunks: those that came along, those that can be kept, and new ones."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched

import numpy as np

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.db.search import Vector
from lexichord.ingest.flow import INGEST_LIMITS, IngestLimits
from lexichord.ingest.report import FilesInProgress, Report
from lexichord.ingest.sources import PreparedDocument
from lexichord.providers.base import Embedder, RemoteEmbedder
from lexichord.providers.base import Vectors as Rows
from lexichord.types.generation import Usage
from lexichord.types.state import FileProgress
from lexichord.work import in_thread

type ChunkVectors = list[Vector | None]


def embedding_text(context: str, content: str) -> str:
    """Return what is embedded for a chunk."""
    return f"{context}\n{content}" if context else content


@dataclass(slots=True)
class ChunkEmbedder:
    """Embeds chunks that have no vector; calls `on_chunks` with how many more are finished.

    A text that the embedder refuses is named in the report, and not tried again in this run.
    """

    database: Database
    embedder: Embedder | None
    space: str
    on_chunks: Callable[[int], None]
    on_usage: Callable[[Usage], None]
    report: Report
    limits: IngestLimits = INGEST_LIMITS
    files: FilesInProgress = field(default_factory=FilesInProgress)
    _refused: set[str] = field(default_factory=set)
    _before: Usage = field(init=False)

    def __post_init__(self) -> None:
        self._before = _used(self.embedder)

    @property
    def at_once(self) -> int:
        """How many groups to embed at the same time: a service idles while one waits for its last.

        1,000 chunks in two groups, Gemini's batches, 30 % of the calls failing: 84 % of what the
        rate limit allows with one at a time, 93 with two.
        """
        return 2 if isinstance(self.embedder, RemoteEmbedder) else 1

    async def vectors(
        self, group: Sequence[PreparedDocument], origins: Mapping[str, Sequence[str | None]]
    ) -> list[ChunkVectors]:
        """Return each document's vectors; None where the database has it, or where there is none.

        `origins` are the stored documents, by uri, whose chunks may lend theirs.
        """
        try:
            return await self._vectors(group, origins)
        finally:
            for prepared in group:
                self.files.end(prepared.document.uri)

    async def _vectors(
        self, group: Sequence[PreparedDocument], origins: Mapping[str, Sequence[str | None]]
    ) -> list[ChunkVectors]:
        vectors: list[ChunkVectors] = [list(p.vectors) or [None] * len(p.chunks) for p in group]
        places = [
            (own, index, prepared)
            for prepared, own in zip(group, vectors, strict=True)
            for index in await self._missing(prepared, origins[prepared.document.uri])
        ]
        self.on_chunks(sum(map(len, vectors)) - len(places))
        chunks = [prepared.chunks[index] for _, index, prepared in places]
        names = [f"{prepared.document.uri}: chunk {index}" for _, index, prepared in places]
        texts = [embedding_text(chunk.context, chunk.content) for chunk in chunks]
        uris = [prepared.document.uri for _, _, prepared in places]
        left = Counter(uris)
        for prepared in group:
            uri, size = prepared.document.uri, len(prepared.chunks)
            self.files.cut(uri, FileProgress(size, size - left[uri]))
        embedded = await self.embed(texts, names, uris)
        for (own, index, _), vector in zip(places, embedded, strict=True):
            own[index] = vector
            self.report.embedded += vector is not None
        return vectors

    async def fill(self) -> None:
        """Embed what was stored while there was no embedder, or lost the vector it was to keep."""
        after: str | None = None
        while self.embedder and (
            rows := await store.chunks_without_vector(
                self.database, after, self.limits.group_chunks
            )
        ):
            texts = [embedding_text(row["context"], row["content"]) for row in rows]
            names = [row["chunk_id"] for row in rows]
            uris = [row["uri"] for row in rows]
            for row in rows:
                self.files.begin(row["uri"], FileProgress(row["missing"]))
            pairs = zip(rows, await self.embed(texts, names, uris), strict=True)
            after = rows[-1]["chunk_id"]
            filled = {row["chunk_id"]: vector for row, vector in pairs if vector is not None}
            await store.set_vectors(self.database, list(filled), filled.values(), self.space)
            self.report.vectors_filled += len(filled)
            for uri in {*uris} - {uris[-1]}:  # chunks go by id: the last may have more
                self.files.end(uri)
        self.files.clear()

    async def _missing(
        self, prepared: PreparedDocument, origins: Sequence[str | None]
    ) -> list[int]:
        """Return the places of the chunks to embed."""
        if prepared.vectors or not self.embedder:
            return []
        known = set[str]()
        if documents := [origin for origin in origins if origin is not None]:
            recipe = prepared.document.recipe
            known = await store.reusable_chunks(self.database, documents, recipe)
        return [
            index
            for index, chunk in enumerate(prepared.chunks)
            if not known or store.vector_key(chunk) not in known
        ]

    async def embed(
        self, texts: Sequence[str], names: Sequence[str], uris: Sequence[str] = ()
    ) -> ChunkVectors:
        """Embed texts of about the same length together; None for one that is refused.

        Each has a name by which it is reported, and may have the uri of a file in progress.
        """
        vectors: ChunkVectors = [None] * len(texts)
        todo = [number for number, text in enumerate(texts) if text not in self._refused]
        is_remote = isinstance(self.embedder, RemoteEmbedder)
        size = max(len(todo), 1) if is_remote else self.limits.slice_chunks
        for batch in batched(sorted(todo, key=lambda n: len(texts[n])), size):
            rows = await self._ask([texts[number] for number in batch])
            bad = np.isnan(rows).any(axis=1)
            for number, row, is_bad in zip(batch, rows.tolist(), bad, strict=True):
                vectors[number] = None if is_bad else row
            self._refused.update(texts[number] for number in np.array(batch)[bad])
            self.report.refused += [names[number] for number in np.array(batch)[bad]]
            self.files.embed(uris[number] for number in batch if uris)
            self.on_chunks(len(batch))
        return vectors

    async def _ask(self, batch: Sequence[str]) -> Rows:
        assert self.embedder is not None
        try:
            return await in_thread(self.embedder.embed, batch, "document")
        except asyncio.CancelledError:
            if isinstance(self.embedder, RemoteEmbedder):
                self.embedder.stop()
            raise
        finally:
            if isinstance(self.embedder, RemoteEmbedder):
                self.report.usage = _since(self._before, self.embedder.used())
                self.on_usage(self.report.usage)


def _used(embedder: Embedder | None) -> Usage:
    return embedder.used() if isinstance(embedder, RemoteEmbedder) else Usage(0, 0, 0, None)


def _since(before: Usage, now: Usage) -> Usage:
    dollars = None if now.dollars is None else now.dollars - (before.dollars or 0.0)
    tokens = now.input_tokens - before.input_tokens
    return Usage(now.requests - before.requests, tokens, 0, dollars)
