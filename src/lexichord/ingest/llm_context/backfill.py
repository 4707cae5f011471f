"""Contexts by a language model for what is stored, put in place document by document."""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Protocol, Unpack

from lexichord.db import catalogue, store
from lexichord.db.pool import Database, Row
from lexichord.errors import ConfigError
from lexichord.ingest.flow import IngestLimits, prefetch, unbounded_gather
from lexichord.ingest.llm_context import ContextWriter, opened_writer
from lexichord.ingest.llm_context.prompt import GIVEN_CONTEXTS_DIGEST, has_context, with_contexts
from lexichord.ingest.report import ContextReport, DocumentListener, ProgressCallbacks, Report
from lexichord.ingest.vectors import ChunkEmbedder, ChunkVectors, embedding_text
from lexichord.providers import Embedder
from lexichord.settings import Settings
from lexichord.types import Chunk, Document, Shaped
from lexichord.types.documents import CONTEXT_BY
from lexichord.types.query_options import no_other_options, read_datasets

GIVEN_CONTEXT_RECIPE = "context=given"  # in a recipe: chunks have the contexts they came with


class OpenApplication(Protocol):
    """An open application, as far as it is needed here."""

    database: Database
    embedder: Embedder | None
    settings: Settings
    degraded: list[str]
    space: str
    ingest_limits: IngestLimits


@dataclass(slots=True)
class Contextualized(Shaped):
    """What became of the documents, or would: `dry_run` writes nothing and asks no model.

    `documents` got contexts (a dry run: lack some), `brought` are left alone because some of their
    chunks came with their own, `changed` are uris of those that somebody replaced meanwhile.
    """

    dry_run: bool
    llm: ContextReport
    documents: int = 0
    brought: int = 0
    embedded: int = 0
    changed: list[str] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Stored:
    """A document as it is stored, and the places of its chunks that lack a context."""

    row: Row
    document: Document
    chunks: Sequence[Chunk]
    places: Sequence[int]


type _Changed = tuple[_Stored, Document, list[Chunk]]


async def contextualize(
    app: OpenApplication,
    datasets: Iterable[str] | None = None,
    *,
    dry_run: bool = False,
    budget: float | None = None,
    **callbacks: Unpack[ProgressCallbacks],
) -> Contextualized:
    """Have the settings' model write contexts for stored chunks, of these datasets or all.

    Those that lack one of this model are asked for, and embedded again. A document's chunks change
    at once, and each context is kept as it comes: run it again after an interruption. `budget`, in
    dollars, is not passed. Raises ConfigError, DatabaseError, ProviderError of the embedder.
    """
    names = read_datasets(datasets)
    no_other_options(callbacks, ProgressCallbacks.__annotations__)
    await catalogue.check_datasets(app.database, names)
    rows = await store.document_recipes(app.database, names or None)
    async with opened_writer(app.database, app.settings, budget, app.ingest_limits) as writer:
        run = _Run(app.database, app.embedder, app.space, writer, dry_run, **callbacks)
        if dry_run:
            return await run.estimate(rows)
        await _check_embedder(app)
        return await run.write(rows)


async def _check_embedder(app: OpenApplication) -> None:
    """Refuse to put contexts where the vectors could not follow."""
    if app.embedder is None:
        held = await catalogue.database_status(app.database)
        if held["chunks_without_vector"] < held["chunks"]:
            raise ConfigError(f"contexts need vectors made anew, but {app.degraded[0]}")


@dataclass
class _Run:
    """One run over stored documents."""

    database: Database
    embedder: Embedder | None
    space: str
    writer: ContextWriter
    dry_run: bool
    on_start: Callable[[int], None] = lambda total: None
    on_chunks: Callable[[int], None] = lambda count: None
    listener: DocumentListener = lambda uri, status, reason: None
    report: Contextualized = field(init=False)

    def __post_init__(self) -> None:
        self.report = Contextualized(self.dry_run, self.writer.report)

    async def estimate(self, rows: Sequence[Row]) -> Contextualized:
        """Count what `write` would take."""
        seen = set[str]()
        async for group in self._groups(rows):
            for stored in group:
                self.report.documents += 1
                await self.writer.estimate(stored.document, stored.chunks, stored.places, seen)
        return self.report

    async def write(self, rows: Sequence[Row]) -> Contextualized:
        """Write what lacks, and store it."""
        async with aclosing(prefetch(self._written(rows))) as written:
            async for group in written:
                for stored, document, chunks in group:
                    await self._store(stored, document, chunks)
        return self.report

    async def _groups(self, rows: Sequence[Row]) -> AsyncGenerator[list[_Stored]]:
        """Read the documents that lack contexts, in groups of at least `limits.group_chunks`."""
        todo = self._todo(rows)
        self.on_start(len(todo))
        group: list[_Stored] = []
        for row in todo:
            if stored := await self._read(row):
                group.append(stored)
            if sum(len(stored.chunks) for stored in group) >= self.writer.limits.group_chunks:
                yield group
                group = []
        if group:
            yield group

    def _todo(self, rows: Sequence[Row]) -> list[Row]:
        done = f"llm={self.writer.by}"
        without = [row for row in rows if done not in row["recipe"].split(" ")]
        # A context that came along cannot be told from a title: such documents are left alone.
        todo = [
            row
            for row in without
            if GIVEN_CONTEXT_RECIPE in row["recipe"]
            or not GIVEN_CONTEXTS_DIGEST.search(row["recipe"])
        ]
        self.report.brought = len(without) - len(todo)
        return todo

    async def _read(self, row: Row) -> _Stored | None:
        stored = await store.read_document(self.database, row["document_id"])
        if stored is None:
            return None
        document, chunks = stored
        is_given = GIVEN_CONTEXT_RECIPE in document.recipe
        places = [
            place
            for place, chunk in enumerate(chunks)
            if not has_context(chunk, self.writer.by)
            and not (is_given and chunk.context and CONTEXT_BY not in chunk.metadata)
        ]
        return _Stored(row, document, chunks, places) if places else None

    async def _written(self, rows: Sequence[Row]) -> AsyncGenerator[list[_Changed]]:
        async with aclosing(self._groups(rows)) as groups:
            async for group in groups:
                changed: list[_Changed] = []
                await unbounded_gather(self._write(stored, changed) for stored in group)
                yield changed

    async def _write(self, stored: _Stored, changed: list[_Changed]) -> None:
        own = (stored.document, stored.chunks)
        if contexts := await self.writer.write(*own, stored.places):
            is_complete = len(contexts) == len(stored.places)
            changed.append(
                (stored, *with_contexts(*own, contexts, self.writer.by, is_complete=is_complete))
            )

    async def _store(self, stored: _Stored, document: Document, chunks: Sequence[Chunk]) -> None:
        """Put a document's contexts in place, with the vectors and words that belong to them."""
        vectors = await self._vectors(stored.chunks, chunks)
        row = stored.row
        place = (row["document_id"], row["updated_at"])
        if await store.replace_contexts(
            self.database, *place, document, chunks, vectors, self.space
        ):
            self.report.documents += 1
            self.report.embedded += sum(vector is not None for vector in vectors)
            self.listener(document.uri, "replaced", "")
        else:
            self.report.changed.append(document.uri)
            self.listener(document.uri, "failed", "it was replaced meanwhile: run it again")

    async def _vectors(self, old: Sequence[Chunk], new: Sequence[Chunk]) -> ChunkVectors:
        """Embed the chunks that change; None keeps what there is."""
        vectors: ChunkVectors = [None] * len(new)
        if self.embedder is None:
            return vectors
        places = [
            place
            for place, (before, after) in enumerate(zip(old, new, strict=True))
            if store.vector_key(before) != store.vector_key(after)
        ]
        callbacks = self.on_chunks, lambda usage: None
        chunk_embedder = ChunkEmbedder(
            self.database, self.embedder, self.space, *callbacks, Report(), self.writer.limits
        )
        texts = [embedding_text(new[place].context, new[place].content) for place in places]
        names = [f"chunk {place}" for place in places]
        for place, vector in zip(places, await chunk_embedder.embed(texts, names), strict=True):
            vectors[place] = vector
        return vectors
