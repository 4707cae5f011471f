"""The pipeline of an ingest: skip what is stored, read, contextualize, embed, store, prune."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import aclosing, closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import gettempdir
from typing import get_args

from lexichord.db import store
from lexichord.db.catalogue import configuration
from lexichord.db.files import sent_file
from lexichord.db.pool import Database, Row
from lexichord.db.store import Turn
from lexichord.errors import ConfigError, EmbeddingMismatchError, IngestError, ProviderError
from lexichord.ingest.flow import (
    INGEST_LIMITS,
    IngestLimits,
    background_sealing,
    bounded_gather,
    flattened,
    gather_in_turns,
    heartbeat,
    prefetch,
    unbounded_gather,
    yielded,
)
from lexichord.ingest.llm_context import ContextWriter, opened_writer
from lexichord.ingest.llm_context.prompt import find_template, model_label, with_contexts
from lexichord.ingest.report import (
    DocumentListener,
    Forecast,
    Reading,
    Report,
    RunRecorder,
    reported,
)
from lexichord.ingest.sandbox import default_workers
from lexichord.ingest.sources import (
    IngestSource,
    PreparedDocument,
    Pruned,
    Spool,
    copies_last,
    find_gone,
    storable_name,
)
from lexichord.ingest.structural_context import (
    CONTEXT_PARTS,
    LANGUAGE,
    STRUCTURE_VERSION,
    DocumentSample,
    find_text_config,
    keyphrases,
    structural_context,
    tell_language,
)
from lexichord.ingest.vectors import ChunkEmbedder, EmbeddedDocument
from lexichord.ingest.web import WEB_LIMITS
from lexichord.providers import Embedder
from lexichord.providers.model_folders import best_embedder
from lexichord.providers.models import MULTILINGUAL_STEPS, known_languages
from lexichord.providers.registry import find_embedder
from lexichord.settings import Settings
from lexichord.types import Chunk, ContextKind, ContextPart, Document, EmbeddingSpace, Json
from lexichord.types.base import check_name
from lexichord.types.query_options import read_metadata, read_number
from lexichord.types.questions import Usage

STRUCTURED_CONTEXTS = ("structural", "llm")
MAX_ORIGINAL_BYTES = 200_000_000  # of a file whose bytes are kept in the database
STORED_AT_ONCE = 2  # documents: the next one's chunks are analyzed while one is stored

type FollowSpace = Callable[[], Awaitable[tuple[Embedder | None, str]]]
type VectorOrigins = dict[str, tuple[str | None, str | None]]


async def open_to_all() -> None:
    """Let in whoever has started a run."""


@dataclass
class IngestPipeline:
    """One run into one dataset. Raises ConfigError for a wrong `context` or `dataset`.

    Without an embedder chunks are stored without vectors; a later run with one fills them in.
    `follow` returns the database's space now and its embedder: another process may change them.
    """

    database: Database
    embedder: Embedder | None
    space: str
    settings: Settings
    dataset: str = "default"
    context: ContextKind = "structural"
    without: Collection[ContextPart] = ()
    on_start: Callable[[int], None] = lambda total: None
    on_chunks: Callable[[int], None] = lambda count: None
    listener: DocumentListener = lambda uri, status, reason: None
    on_usage: Callable[[Usage], None] = lambda usage: None
    on_run: Callable[[int], None] = lambda run: None
    uris: Mapping[str, str] = field(default_factory=dict)
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    follow_links: bool = False
    metadata: Json = field(default_factory=dict)
    keep_originals: bool = False
    workers: int | None = None
    on_estimate: Callable[[int], None] = lambda chunks: None
    on_reading: Callable[[Reading], None] = lambda reading: None
    on_slow: Callable[[str, float], None] = lambda uri, seconds: None
    depth: int = 0
    max_pages: int = WEB_LIMITS.pages
    allow_private: bool = False
    fetch_hosts: Sequence[str] | None = None
    admit: Callable[[], Awaitable[None]] = open_to_all
    follow: FollowSpace | None = None
    limits: IngestLimits = INGEST_LIMITS
    rereads: str | None = field(init=False, default=None)  # the document that is stored anew
    recorder: RunRecorder = field(init=False)
    sample: DocumentSample = field(init=False)
    chunk_embedder: ChunkEmbedder = field(init=False)
    writer: ContextWriter | None = field(init=False, default=None)
    stored: dict[str, Row] = field(init=False)
    by_document: bool = field(init=False, default=False)
    is_bound: bool = field(init=False, default=False)  # whether a first look at its space was had
    languages: list[str] = field(init=False, default_factory=list)
    forecast: Forecast = field(init=False)

    def __post_init__(self) -> None:
        _check("context", [self.context], get_args(ContextKind))
        _check("part of a context", self.without, CONTEXT_PARTS)
        self.metadata = read_metadata(self.metadata)
        if self.workers is not None:
            self.workers = read_number("workers", self.workers, 1)
        self.depth = read_number("depth", self.depth, 0)
        self.max_pages = read_number("max_pages", self.max_pages, 1)
        self.forecast = Forecast(self.on_estimate, self.on_slow, self.on_reading)
        check_name("the dataset", self.dataset)
        self.recorder = RunRecorder(self.database, self.listener, self.limits)
        self.sample = DocumentSample(self.database, self.dataset)
        report = self.recorder.report
        callbacks = self.on_chunks, self.on_usage
        self.chunk_embedder = ChunkEmbedder(
            *(self.database, self.embedder, self.space, *callbacks),
            *(report, self.limits, self.forecast.files),
        )

    @property
    def files_at_once(self) -> int:
        """How many files are read at the same time."""
        return default_workers() if self.workers is None else self.workers

    @cached_property
    def recipe(self) -> str:
        """The part of a document's recipe on its chunks' context."""
        if self.context not in STRUCTURED_CONTEXTS:
            return f"context={self.context}"
        left_out = "".join(f" without={part}" for part in CONTEXT_PARTS if part in self.without)
        by = ""
        if self.context == "llm":
            template = find_template(self.settings.context_prompt)
            by = f" llm={model_label(self.settings.llm or '', template)}"
        return f"context=structural/{STRUCTURE_VERSION}{left_out}{by}"

    async def run(
        self, sources: Sequence[IngestSource], description: str, pruned: Sequence[Pruned] = ()
    ) -> Report:
        """Ingest what is new or changed, delete what is gone from the `pruned` places.

        Raises ConfigError, DatabaseError, ProviderError.
        """
        if self.context != "llm":
            return await self._run(sources, description, pruned)
        async with opened_writer(self.database, self.settings, limits=self.limits) as self.writer:
            self.recorder.report.llm = self.writer.report
            return await self._run(sources, description, pruned)

    async def _run(
        self, sources: Sequence[IngestSource], description: str, pruned: Sequence[Pruned]
    ) -> Report:
        self.on_start(len(sources))
        uris = {source.uri for source in sources}
        await find_gone(self.database, self.dataset, pruned, uris)  # refuses before it is too late
        await self._renew()
        self.by_document = (await configuration(self.database))["by_document"]
        await self.recorder.start(self.dataset, storable_name(description), len(sources))
        files = self.forecast.files
        async with heartbeat(self.database, self.recorder.report.run_id, files.largest):
            await self.admit()
            self.on_run(self.recorder.report.run_id)
            async with background_sealing(self.database), reported(self.forecast):
                await self._store_new(sources)
                await self._fill()
            await self.recorder.record_failed()
            await self._keep_originals(sources)
            self._warn_of_languages()
            gone = await find_gone(self.database, self.dataset, pruned, uris)
            await self.recorder.prune(gone)
            await store.finish_run(self.database, self.recorder.report.run_id)
        return self.recorder.report

    async def _store_new(self, sources: Sequence[IngestSource]) -> None:
        todo = await self._skip_stored(sources)
        todo = self.forecast.expect(todo)
        with closing(Spool(Path(gettempdir()))) as spool:
            if self.context in STRUCTURED_CONTEXTS and todo:
                await self.sample.count(todo, spool, self.files_at_once)
            await self._store_all(todo)

    async def _store_all(self, todo: Sequence[IngestSource]) -> None:
        changing = {source.uri for source in todo}
        for part in copies_last(todo):
            origins = await self._origins(part, changing)
            async with aclosing(prefetch(self._embedded(part, origins, changing))) as embedded:
                store_one = partial(self._store, origins)
                with self.database.ingesting():
                    await gather_in_turns(flattened(embedded), store_one, STORED_AT_ONCE)
            changing.difference_update(origins)

    async def _skip_stored(self, sources: Sequence[IngestSource]) -> list[IngestSource]:
        uris = [source.uri for source in sources]
        self.stored = await store.document_digests(self.database, self.dataset, uris)
        todo = [source for source in sources if not self._is_stored(source)]
        await self.recorder.skip(sorted(set(uris).difference(source.uri for source in todo)))
        return todo

    def _is_stored(self, source: IngestSource) -> bool:
        row = None if self.rereads else self.stored.get(source.uri)
        return row is not None and _is_same(row, source)

    async def _origins(
        self, part: Sequence[IngestSource], changing: AbstractSet[str]
    ) -> VectorOrigins:
        """Return the ids of each document's earlier version, and of one of its bytes that stays."""
        twins = await self._twins({source.sha256 for source in part}, changing)
        owns = {uri: row["document_id"] for uri, row in self.stored.items()}
        return {source.uri: (owns.get(source.uri), twins.get(source.sha256)) for source in part}

    async def _twins(
        self, digests: AbstractSet[str], changing: AbstractSet[str]
    ) -> Mapping[str, str]:
        rows = await store.document_twins(self.database, self.dataset, list(digests))
        return {
            row["sha256"]: row["document_id"]
            for row in reversed(rows)  # the first one wins
            if row["uri"] not in changing
        }

    async def _embedded(
        self, part: Sequence[IngestSource], origins: VectorOrigins, changing: AbstractSet[str]
    ) -> AsyncGenerator[list[EmbeddedDocument]]:
        fetched = {source.uri for source in part if not source.sha256}

        async def embed(group: list[PreparedDocument]) -> list[EmbeddedDocument]:
            embedder = self.chunk_embedder
            read = [one.document for one in group if one.document.uri in fetched]
            if read:  # their digests are known by now
                twins = await self._twins({one.sha256 for one in read}, changing)
                origins.update({o.uri: (origins[o.uri][0], twins.get(o.sha256)) for o in read})
            pairs = zip(group, await embedder.vectors(group, origins), strict=True)
            return [EmbeddedDocument(*pair, embedder.space) for pair in pairs]

        async with aclosing(self._groups(part)) as groups:
            gathered = bounded_gather(groups, embed, self.chunk_embedder.at_once)
            async with aclosing(gathered) as embedded:
                async for _, documents in embedded:
                    yield documents

    async def _groups(self, part: Sequence[IngestSource]) -> AsyncGenerator[list[PreparedDocument]]:
        async with aclosing(prefetch(self._read(part))) as groups:
            async for group in groups:
                read = await self._still_new(group)
                await self._choose_model(read)
                yield await self._written(self.writer, read) if self.writer else read

    async def _still_new(self, group: list[PreparedDocument]) -> list[PreparedDocument]:
        """Return those that another run has not stored meanwhile."""
        if self.rereads:
            return group
        documents = {prepared.document.uri: prepared.document for prepared in group}
        rows = await store.document_digests(self.database, self.dataset, [*documents])
        if meanwhile := [uri for uri, row in rows.items() if _is_same(row, documents[uri])]:
            await self.recorder.skip(meanwhile)
        return [prepared for prepared in group if prepared.document.uri not in meanwhile]

    async def _written(
        self, writer: ContextWriter, read: Sequence[PreparedDocument]
    ) -> list[PreparedDocument]:
        """Add chunks' structural context, and below it what a model writes of them."""
        written: dict[str, PreparedDocument] = {}

        async def write(prepared: PreparedDocument) -> None:
            chunks = prepared.chunks
            places = [place for place, chunk in enumerate(chunks) if not chunk.context]
            contexts = await writer.write(prepared.document, chunks, places)
            contextualized = await asyncio.to_thread(self._contextualized, prepared)
            is_complete = len(contexts) == len(places)
            document, chunks = with_contexts(
                prepared.document, contextualized, contexts, writer.by, is_complete=is_complete
            )
            written[document.uri] = replace(prepared, document=document, chunks=chunks)

        await unbounded_gather(write(prepared) for prepared in read)
        return [written[prepared.document.uri] for prepared in read]

    async def _read(self, part: Sequence[IngestSource]) -> AsyncGenerator[list[PreparedDocument]]:
        """Read the documents, in groups of at least so many chunks as `limits` says."""
        group: list[PreparedDocument] = []
        sizes = self.limits.group_sizes()
        size = next(sizes)
        gathered = bounded_gather(yielded(part), self._outcome, self.files_at_once)
        async with aclosing(gathered) as outcomes:
            async for source, outcome in outcomes:
                if isinstance(outcome, IngestError):
                    await self.recorder.fail(source.uri, outcome)
                else:
                    group.append(outcome)
                if sum(len(prepared.chunks) for prepared in group) >= size:
                    await self.recorder.record_failed()
                    yield group
                    group, size = [], next(sizes)
        await self.recorder.record_failed()
        if group:
            yield group

    async def _outcome(self, source: IngestSource) -> PreparedDocument | IngestError:
        try:
            return await asyncio.to_thread(self._prepare, source)
        except IngestError as error:
            self.forecast.files.end(source.uri)
            return error

    def _prepare(self, source: IngestSource) -> PreparedDocument:
        prepared = self.sample.read(source)
        prepared.check_size(self.settings.max_chunks)
        prepared = self._in_its_language(prepared)
        if prepared.vectors and prepared.space != self.space:
            raise IngestError(self._not_of_this_space(str(prepared.space)))
        if self.context == "llm" and prepared.vectors:
            raise IngestError("brings vectors, which know no context by a model: leave them out")
        if self.context in ("given", "llm"):  # the model's come before the structural one
            return prepared
        return replace(prepared, chunks=self._contextualized(prepared))

    def _in_its_language(self, prepared: PreparedDocument) -> PreparedDocument:
        """Return it with its language, and its text configuration unless one serves all."""
        document = prepared.document
        language = tell_language(document.text)
        if language is not None:
            self.languages.append(language)  # of several threads
            document = replace(document, metadata={LANGUAGE: language, **document.metadata})
        if self.by_document:
            document = replace(document, text_config=find_text_config(language))
        return replace(prepared, document=document)

    def _warn_of_languages(self) -> None:
        """Report once a run that the embedder does not know the language of what it embedded."""
        known = known_languages(self.space) if self.embedder else None
        told = sorted(Counter(self.languages).items(), key=lambda each: (-each[1], each[0]))
        foreign = [each for each in told if known and each[0] not in known]
        if known and foreign:
            knows = "English" if known == {"en"} else f"{len(known)} languages"
            counts = ", ".join(f"{language} {count}" for language, count in foreign)
            self.recorder.report.degraded.append(
                f"{self.space} knows {knows} only, and documents are in other languages "
                f"({counts}): for search by meaning there {MULTILINGUAL_STEPS}"
            )

    def _contextualized(self, prepared: PreparedDocument) -> list[Chunk]:
        """Return the chunks with the structural context where they bring none, or without any."""
        if self.context == "none":
            return [replace(c, context="", keyword_context="") for c in prepared.chunks]
        phrases = keyphrases(prepared.document.text, self.sample.reference)
        parts = [part for part in CONTEXT_PARTS if part not in self.without]
        return structural_context(prepared.chunks, prepared.document.title, phrases, parts)

    async def _store(self, origins: VectorOrigins, embedded: EmbeddedDocument, turn: Turn) -> None:
        prepared, uri = embedded.prepared, embedded.prepared.document.uri
        try:
            row = await self._store_one(embedded, origins[uri][1], turn)
        except (ConfigError, IngestError) as error:  # this document's data, not the server
            await turn()
            await self.recorder.fail(uri, error)
        else:
            self.recorder.store(uri, row, prepared.flags)

    async def _store_one(self, embedded: EmbeddedDocument, twin: str | None, turn: Turn) -> Row:
        """Store a document; without vectors if the database has moved to another space since."""
        prepared, vectors, space = embedded.prepared, embedded.vectors, embedded.space
        run, chunks = self.recorder.report.run_id, prepared.chunks
        own = self.database, prepared.document, chunks
        sent = sent_file(prepared.document.dataset, prepared.document.uri) if self.uris else ""
        stored = partial(
            store.store_document,
            *own,
            unless_stored=self.rereads is None,
            rereads=self.rereads,
            sent_file=sent or None,
            turn=turn,
        )
        try:
            return await stored(vectors, run, twin, space)
        except EmbeddingMismatchError:
            await self._renew()
            if space == self.space:
                raise
        if prepared.vectors:
            raise IngestError(self._not_of_this_space(space))
        return await stored([None] * len(chunks), run, twin)

    async def _fill(self) -> None:
        try:
            await self.chunk_embedder.fill()
        except EmbeddingMismatchError:
            await self._renew()
            await self.chunk_embedder.fill()

    async def _choose_model(self, first: Sequence[PreparedDocument]) -> None:
        """Take the best model that is here for the languages of an empty database's first files.

        Not where somebody named the space, or they bring vectors; nothing is fetched.
        """
        is_named = self.settings.embedding or any(prepared.vectors for prepared in first)
        if self.is_bound or self.embedder is None or is_named:
            return
        self.is_bound = True
        if not self.languages or not await store.may_choose_space(self.database):
            return
        languages = Counter(self.languages)
        best = await asyncio.to_thread(best_embedder, self.settings, languages)
        if best is None or best.setting == self.space:
            return
        if reason := await asyncio.to_thread(_why_unusable, self.settings, best.setting):
            self.recorder.report.degraded.append(f"{best.setting} is not taken: {reason}")
            return
        if await store.choose_space(self.database, EmbeddingSpace.parse(best.setting)):
            await self._renew()
            told = ", ".join(sorted(languages))
            self.recorder.report.model = f"{self.space}: the best here for documents in {told}"

    async def _renew(self) -> None:
        """Take the embedder of the space that the database is bound to by now."""
        if self.follow is not None:
            self.embedder, self.space = await self.follow()
            embedder, space = self.embedder, self.space
            self.chunk_embedder = replace(self.chunk_embedder, embedder=embedder, space=space)

    async def _keep_originals(self, sources: Sequence[IngestSource]) -> None:
        """Keep the bytes of the files that are stored, those that were stored before, too."""
        if not self.keep_originals:
            return
        kept = await store.list_originals(self.database, self.dataset)
        lacking = {source.uri: source for source in sources if source.original}
        rows = await store.document_digests(self.database, self.dataset, list(lacking))
        for uri, row in rows.items():
            source = lacking[uri]
            if source.sha256 in ("", row["sha256"]) and uri not in kept:
                await self._keep_original(source, row["document_id"])

    async def _keep_original(self, source: IngestSource, document: str) -> None:
        reason = f"its {source.size // 10**6} MB are too many"
        try:
            if source.original and source.size <= MAX_ORIGINAL_BYTES:
                content = await asyncio.to_thread(source.original)
                await store.keep_original(self.database, document, content)
                return
        except IngestError as error:
            reason = str(error)
        self.recorder.flag(source.uri, f"the original is not kept: {reason}")

    def _not_of_this_space(self, space: str) -> str:
        return f"its vectors are of {space}, the database is bound to {self.space}"


def _is_same(row: Row, made: IngestSource | Document) -> bool:
    return (row["sha256"], row["recipe"]) == (made.sha256, made.recipe)


def _why_unusable(settings: Settings, space: str) -> str | None:
    """Return why a model that is here embeds nothing, so that no database is bound to it."""
    embedder, reasons = find_embedder(settings, space)
    if embedder is None:
        return "; ".join(reasons)
    try:
        embedder.embed(["text"], "document")
    except ProviderError as error:
        return str(error)
    return None


def _check(what: str, names: Collection[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise ConfigError(f"there is no {what} '{name}': {', '.join(known)}")
