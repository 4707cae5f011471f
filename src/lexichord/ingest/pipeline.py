"""The order of an ingest: what is new, read, contextualize, embed, store."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice, repeat
from typing import Any, get_args

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.db.search import Vector
from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.contextualize import (
    Reference,
    embedding_text,
    keyphrases,
    structural_context,
)
from lexichord.ingest.find import storable
from lexichord.ingest.sources import ContextKind, Prepared, Source
from lexichord.providers.base import Embedder
from lexichord.types import Chunk

GROUP = 128  # chunks embedded at once: enough to sort by length, few enough to lose in a crash
REFERENCE = 300  # texts at most that tell what is rare

type Listener = Callable[[str, str, str], None]


@dataclass(slots=True)
class Report:
    """What became of the documents of one ingest; `failed` says why, by uri."""

    run_id: int = 0
    inserted: int = 0
    replaced: int = 0
    skipped: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    chunks: int = 0
    vectors_filled: int = 0
    degraded: list[str] = field(default_factory=list)


@dataclass
class Ingest:
    """One run into one dataset. `listener` hears (uri, status, reason) once a document is done.

    Without an embedder chunks are stored without vectors; a later run with one fills them in.
    """

    database: Database
    embedder: Embedder | None
    space: str
    dataset: str
    context: ContextKind
    listener: Listener
    report: Report = field(default_factory=Report)
    reference: Reference = field(default_factory=Reference)

    async def run(self, sources: Sequence[Source], description: str) -> Report:
        """Ingest what is new or changed. Raises ConfigError, DatabaseError, ProviderError."""
        self._check()
        await self.database.mend_keyword_index()
        self.report.run_id = await store.start_run(
            self.database, self.dataset, storable(description)
        )
        todo = await self._skip_stored(sources)
        if self.context == "structural":
            await self._count_words(todo)
        storing = asyncio.create_task(self._fail({}))
        try:
            async for group, refused in self._groups(todo):
                vectors = await asyncio.to_thread(self._embed, group)
                await storing  # one group is stored while the next is embedded
                await self._fail(refused)
                storing = asyncio.create_task(self._store(group, vectors))
        finally:
            await storing
        await self._fill_vectors()
        await store.finish_run(self.database, self.report.run_id)
        return self.report

    def _check(self) -> None:
        kinds = get_args(ContextKind)
        if self.context not in kinds:
            raise ConfigError(f"there is no context '{self.context}': {', '.join(kinds)}")
        if not self.dataset:
            raise ConfigError("the dataset needs a name")

    async def _skip_stored(self, sources: Sequence[Source]) -> list[Source]:
        uris = [source.uri for source in sources]
        stored = await store.document_digests(self.database, self.dataset, uris)
        todo = [s for s in sources if stored.get(s.uri) != (s.sha256, s.recipe)]
        same = sorted(set(uris).difference(source.uri for source in todo))
        await store.record_files(self.database, self.report.run_id, same, "skipped")
        self.report.skipped = len(same)
        for uri in same:
            self.listener(uri, "skipped", "")
        return todo

    async def _count_words(self, todo: Sequence[Source]) -> None:
        """Count words over some of the new texts and, up to the same number, of the stored ones."""
        sample = sorted(todo, key=lambda source: source.sha256)[:REFERENCE]
        await asyncio.to_thread(self._add_new, sample)
        without = [source.uri for source in todo]
        for text in await store.sample_texts(self.database, REFERENCE - len(sample), without):
            self.reference.add(text)

    def _add_new(self, sources: Iterable[Source]) -> None:
        for source in sources:
            with suppress(IngestError):  # said when its turn comes
                self.reference.add(source.read().document.text)

    async def _groups(
        self, todo: Sequence[Source]
    ) -> AsyncIterator[tuple[list[Prepared], dict[str, str]]]:
        """Read the documents, in groups of about GROUP chunks, with those that cannot be read."""
        queue = iter(todo)
        while True:
            group, refused = await asyncio.to_thread(self._next_group, queue)
            if not group and not refused:
                return
            yield group, refused

    def _next_group(self, queue: Iterator[Source]) -> tuple[list[Prepared], dict[str, str]]:
        group: list[Prepared] = []
        refused: dict[str, str] = {}
        for source in queue:
            try:
                group.append(self._prepare(source))
            except IngestError as error:
                refused[source.uri] = str(error)
            if sum(len(prepared.chunks) for prepared in group) >= GROUP:
                break
        return group, refused

    def _prepare(self, source: Source) -> Prepared:
        prepared = source.read()
        if prepared.vectors and prepared.space != self.space:
            raise IngestError(
                f"its vectors are of {prepared.space}, the database is bound to {self.space}"
            )
        if self.context == "given":
            return prepared
        return replace(prepared, chunks=self._contextualized(prepared))

    def _contextualized(self, prepared: Prepared) -> list[Chunk]:
        """Give chunks that bring no context of their own the structural one, or drop all."""
        if self.context == "none":
            return [replace(chunk, context="") for chunk in prepared.chunks]
        phrases = keyphrases(prepared.document.text, self.reference)
        title = prepared.document.title
        return [
            chunk if chunk.context else structural_context(chunk, title, phrases)
            for chunk in prepared.chunks
        ]

    def _embed(self, group: Sequence[Prepared]) -> list[Sequence[Vector | None]]:
        """Give each document's vectors: those that came along, else new ones, else None."""
        missing = [prepared for prepared in group if not prepared.vectors]
        made: Iterator[Vector | None] = repeat(None)
        if self.embedder and missing:
            texts = [embedding_text(c.context, c.content) for p in missing for c in p.chunks]
            made = iter(self.embedder.embed(texts, "document").tolist())
        return [p.vectors or list(islice(made, len(p.chunks))) for p in group]

    async def _store(self, group: Sequence[Prepared], vectors: Sequence[Any]) -> None:
        for prepared, own in zip(group, vectors, strict=True):
            document = prepared.document
            try:
                row = await store.store_document(
                    self.database, document, prepared.chunks, own, self.report.run_id
                )
            except ConfigError as error:  # this document's data, not the server
                await self._fail({document.uri: str(error)})
                continue
            self.report.chunks += row["chunks"]
            self.report.inserted += row["status"] == "inserted"
            self.report.replaced += row["status"] == "replaced"
            self.listener(document.uri, row["status"], "")

    async def _fail(self, refused: dict[str, str]) -> None:
        for uri, reason in refused.items():
            self.report.failed[uri] = reason
            await store.record_files(self.database, self.report.run_id, [uri], "failed", reason)
            self.listener(uri, "failed", reason)

    async def _fill_vectors(self) -> None:
        """Embed what was stored while there was no embedder."""
        after = 0
        while self.embedder and (
            rows := await store.chunks_without_vector(self.database, after, GROUP)
        ):
            texts = [embedding_text(row["context"], row["content"]) for row in rows]
            vectors = await asyncio.to_thread(self.embedder.embed, texts, "document")
            after = rows[-1]["chunk_id"]
            await store.set_vectors(
                self.database, [row["chunk_id"] for row in rows], vectors.tolist()
            )
            self.report.vectors_filled += len(rows)
