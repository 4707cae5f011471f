"""The composition root: settings in, a working application out."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Self, Unpack, cast

import lexichord.display.record_html  # noqa: F401  # str(record) and notebooks show it so
from lexichord.client.admin import KeyMethods, StatusMethods, TenantMethods
from lexichord.client.copy import Copied, copy_datasets
from lexichord.client.documents import IngestMethods
from lexichord.client.space import in_current_space
from lexichord.client.training import judge_query, training_triplets, write_judged_set
from lexichord.db import catalogue
from lexichord.db.pool import Database
from lexichord.db.server import open_server, restart_server
from lexichord.db.session import time_limit
from lexichord.errors import ConfigError, NotFoundError
from lexichord.evaluate.measure import calibrate, evaluate
from lexichord.ingest.llm_context import backfill
from lexichord.ingest.report import ProgressCallbacks
from lexichord.ingest.table_worker import TableWorker
from lexichord.providers import Embed, Generator, Reader, Reranker
from lexichord.providers.models import MULTILINGUAL_STEPS, reads
from lexichord.providers.registry import find_reader, find_reranker, opened_generator
from lexichord.retrieve.cache import QueryCache
from lexichord.retrieve.search import discover, search_chunks, with_vectors
from lexichord.retrieve.trace import Trace, record_response, remarks, streamed
from lexichord.settings import Settings, given_settings
from lexichord.types import (
    Explanation,
    Exported,
    FilesResult,
    KeywordSets,
    Mode,
    QueryOptions,
    Question,
    Response,
    SearchOptions,
    SearchResult,
)
from lexichord.types.query_options import (
    QueryArguments,
    SearchArguments,
    describe,
    read_datasets,
    read_number,
    read_question,
)

if TYPE_CHECKING:
    from lexichord.retrieve.stages import Stages

SEARCH_SECONDS = QueryOptions.budget_ms / 1000  # of the database, for a search
MAX_GONE = 3  # times that a query begins anew because what it found is deleted: four clients do it
NOT_OPEN = "Lexichord is not open: use it inside `async with`, or await open() first"

type Reasons = list[str]  # inside Lexichord, `list` is a method


async def _leave(server: AbstractContextManager[str]) -> None:
    try:
        await asyncio.to_thread(server.__exit__, None, None, None)
    except RuntimeError:  # the interpreter ends, and starts no more threads
        server.__exit__(None, None, None)


class ClosedDatabase:
    """In the place of a database while there is none."""

    def __getattr__(self, name: str) -> object:
        raise ConfigError(NOT_OPEN)


class Lexichord(IngestMethods, StatusMethods, KeyMethods, TenantMethods):
    """Documents in, evidence out: an application on one database.

    Used as `async with Lexichord() as lexichord`. Without a DSN it starts the embedded server, or
    attaches to it; `arguments` are settings, see `lexichord config show`. Methods raise ConfigError
    for what the caller can mend, else another LexichordError. They return records with a
    `to_dict()` for JSON; notebooks show them as HTML. A `reranker`, the caller's or the settings',
    chooses files and a query's chunks; `stages` of the caller's take the place of a query's own,
    see `lexichord.retrieve.stages`.
    """

    reranker: Reranker | None = None
    reader: Reader | None = None
    _no_reader: Sequence[str] = ()
    contextualize = backfill.contextualize
    calibrate = calibrate
    evaluate = evaluate
    training_triplets = training_triplets
    judge_query = judge_query
    write_judged_set = write_judged_set

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        stages: "Stages | None" = None,
        **arguments: object,
    ) -> None:
        self.settings = given_settings(settings, arguments)
        self._stages: Stages | None = None
        if stages is not None:
            self.stages = stages
        self.cache = QueryCache()
        self._open: AsyncExitStack | None = None
        self._close()

    @property
    def stages(self) -> "Stages":
        """What does each stage of a query, by default without a language model."""
        from lexichord.retrieve.stages import STAGES

        return self._stages or STAGES

    @stages.setter
    def stages(self, stages: "Stages") -> None:
        from lexichord.retrieve.stages import check_stages

        self._stages = check_stages(stages)

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> Self:
        """Open it where no `with` fits, as from one notebook cell to the next; `close` it then."""
        if self._open is not None:
            return self
        self.reranker = self.reranker or find_reranker(self.settings)
        if self.reader is None:
            self.reader, self._no_reader = find_reader(self.settings)
        server = open_server(self.settings)
        dsn = await asyncio.to_thread(server.__enter__)
        self._open = AsyncExitStack()
        self._open.callback(self._close)
        self._open.push_async_callback(_leave, server)
        try:
            restart = partial(restart_server, self.settings)
            size, read_dsn = self.settings.pool_size, self.settings.read_dsn
            self.database = Database(dsn, size, restart, read_dsn)
            await self._open.enter_async_context(self.database)
            await self._follow()
        except BaseException:
            await self._open.aclose()
            raise
        return self

    async def close(self) -> None:
        """Leave the database, as the end of `with` does."""
        if self._open is not None:
            await self._open.aclose()

    def with_models(self, settings: Settings, reranker: Reranker | None) -> Self:
        """Return an application on the same open database that asks other models.

        It shares the connections, the embedder, the reader and the stages, and is closed with this
        one.
        """
        other = type(self)(settings)
        other.database, other.find_embedder = self.database, self.find_embedder
        other.space, other.embedder, other.degraded = self.space, self.embedder, self.degraded
        other.reader, other._no_reader = self.reader, self._no_reader
        other.reranker, other.stages = reranker, self.stages
        other.cache = self.cache
        return other

    async def position(self) -> str:
        """Return the position after all that was written before, as reports of ingests have it."""
        return await self.database.position()

    def reading_after(self, position: str) -> AbstractContextManager[None]:
        """Find, in a `with`, all that was stored up to a position, whatever a replica lacks yet."""
        return self.database.reading_after(position)

    def _close(self) -> None:
        self._open, self.database, self.space = None, cast(Database, ClosedDatabase()), ""
        self.embedder, self.degraded = None, [NOT_OPEN]

    async def index_changes(self) -> None:
        """Do what a worker would, until no change of an indexed table waits."""
        await self.worker().run(until_idle=True)

    def worker(self) -> TableWorker:
        """Return a worker that keeps indexed tables in sync: `await worker.run()`.

        SQL's `index_table` makes an indexed table of one of the user's own.
        """
        return TableWorker(self.database, self._follow, self.ingest_limits)

    async def search(
        self,
        query: str,
        *,
        hint: str | None = None,
        **options: Unpack[SearchArguments],
    ) -> SearchResult:
        """Find the k chunks that answer a query best; `hint` prefers the documents it names.

        Options are described in `lexichord.types.SearchOptions`: where to look, by `datasets`,
        `documents` (ids, uris or ends of uris), `uri_prefix`, `filter`, and how: `k` results from
        `depth` candidates per channel, `mode` hybrid, dense or keyword. An empty list of datasets
        or documents is refused. `lexichord.types.ChunkHit` describes the scores.
        """
        return await self._search(query, hint, SearchOptions.read(options, "search"))

    async def files(
        self,
        query: str,
        *,
        hint: str | None = None,
        **options: Unpack[SearchArguments],
    ) -> FilesResult:
        """Find the k documents that the hint names, or else that the query is about.

        Options are those of `search`. `lexichord.types.FileHit` describes the scores.
        """
        return await self._files(query, hint, SearchOptions.read(options, "files"))

    async def keywords(
        self,
        query: str,
        *,
        sets: int = 5,
        budget_ms: float = 30_000.0,
        **options: Unpack[SearchArguments],
    ) -> KeywordSets:
        """Return up to `sets` sets of keywords: the query's, the documents' own, the model's.

        Options are those of `search`; `k` changes nothing.
        """
        read = SearchOptions.read(options, "keywords", ("sets",))
        budget_ms = describe(QueryOptions)["budget_ms"].read(budget_ms)
        return await self._keywords(query, read, read_number("sets", sets, 1), budget_ms)

    async def query(self, query: str, **options: Unpack[QueryArguments]) -> Response:
        """Find the files, and evidence in and around them, by the query's intent.

        The response has a confidence; an answer, in the evidence's own words, if it is asked for.
        Options are described in `lexichord.types.QueryOptions`.
        """
        return await self._query(query, QueryOptions.read(options, "query"))

    stream = streamed(query)

    @staticmethod
    def explain(response: Response) -> Explanation:
        """Show each stage of a response, and each hit's rank and score in every list."""
        return Explanation(response)

    async def copy_to(
        self,
        target: str,
        datasets: Iterable[str] | None = None,
        **callbacks: Unpack[ProgressCallbacks],
    ) -> Sequence[Copied]:
        """Copy datasets, by default all, to a DSN's database; what is there already is skipped.

        Raises ConfigError, as for an empty DSN, which libpq takes for any.
        """
        if not target:
            raise ConfigError("name the database to copy to: its DSN is empty")
        return await copy_datasets(self.database, target, read_datasets(datasets), **callbacks)

    async def export_vechord(
        self, namespace: str, datasets: Iterable[str] | None = None
    ) -> Exported:
        """Write datasets, by default all, as a new vechord namespace of the same database."""
        from lexichord.db import vechord

        names = read_datasets(datasets)
        return Exported(**await vechord.export_vechord(self.database, namespace, list(names)))

    @in_current_space
    async def _search(self, query: str, hint: str | None, options: SearchOptions) -> SearchResult:
        degraded = self._degraded(options.mode)
        question = await self._question(query, hint, options, degraded)
        with time_limit(SEARCH_SECONDS):
            question, hits = await search_chunks(
                self.database, self._embed_kept, question, degraded
            )
            degraded += await remarks(self.database, question, hits)
        return SearchResult(query, hits, degraded + self.database.notes())

    @in_current_space
    async def _files(self, query: str, hint: str | None, options: SearchOptions) -> FilesResult:
        degraded = self._degraded(options.mode)
        question = await self._embedded_question(query, hint, options, degraded)
        trace = Trace(degraded=degraded)
        with time_limit(SEARCH_SECONDS):
            files = await discover(self.database, question, trace, question.k, self.reranker)
            trace.degraded.extend(await remarks(self.database, question, files))
        return FilesResult(query, files, trace.degraded + self.database.notes())

    @in_current_space
    async def _keywords(
        self, query: str, options: SearchOptions, sets: int, budget_ms: float
    ) -> KeywordSets:
        from lexichord.retrieve.llm_stages import KEYWORD_PASSAGES, keyword_sets

        degraded = self._degraded(options.mode)
        options = replace(options, k=KEYWORD_PASSAGES)
        question = await self._embedded_question(query, None, options, degraded)
        async with opened_generator(self.settings) as model:
            trace = Trace(budget_ms / 1000, degraded)
            with time_limit(budget_ms / 1000):
                return await keyword_sets(self.database, question, model, trace, sets)

    @in_current_space
    async def _query(self, query: str, options: QueryOptions) -> Response:
        degraded = self._degraded(options.mode)
        question = await self._question(query, options.hint, options, degraded)
        async with opened_generator(self.settings) as model:
            trace = Trace(options.budget_ms / 1000, list(degraded))
            response = await self._ask_what_is_there(question, options, trace, model)
        degraded = response.degraded
        if self.reader is None and response.intent.wants_one_thing:
            degraded += self._no_reader
        response = replace(response, degraded=degraded + self.database.notes())
        return await record_response(
            self.database, response, question, trace.started, self.settings.record
        )

    async def _ask_what_is_there(
        self, question: Question, options: QueryOptions, trace: Trace, model: Generator | None
    ) -> Response:
        """Ask, and again where a document that was found is deleted before it is read."""
        degraded = list(trace.degraded)
        with time_limit(trace.seconds):
            for _ in range(MAX_GONE):
                with suppress(NotFoundError):
                    return await self._ask(question, options, trace, model)
                # Raises where it was what the caller named that is gone.
                await catalogue.count_documents(self.database, question.scope)
                trace = Trace(trace.seconds, list(degraded), started=trace.started)
            return await self._ask(question, options, trace, model)

    async def _ask(
        self, question: Question, options: QueryOptions, trace: Trace, model: Generator | None
    ) -> Response:
        from lexichord.retrieve import pipeline

        return await pipeline.query(
            self.database,
            self.embedder,
            question,
            options,
            trace=trace,
            cache=self.cache,
            reranker=self.reranker,
            reader=self.reader,
            stages=self.stages,
            generator=model,
        )

    async def _embedded_question(
        self, query: str, hint: str | None, options: SearchOptions | QueryOptions, degraded: Reasons
    ) -> Question:
        question = await self._question(query, hint, options, degraded)
        return await with_vectors(self._embed_kept, question, degraded)

    @property
    def _embed_kept(self) -> Embed | None:
        """Embeds questions; those that were asked last are not embedded anew."""
        return None if self.embedder is None else partial(self.cache.vectors.embed, self.embedder)

    async def _question(
        self, query: str, hint: str | None, options: SearchOptions | QueryOptions, degraded: Reasons
    ) -> Question:
        """Return what is asked, by words alone where the model cannot read it: `degraded` tells."""
        query = read_question("query", query)
        hint = None if hint is None else read_question("hint", hint)
        if options.mode == "dense" and not self.embedder:
            raise ConfigError(f"mode dense needs an embedder: {self.degraded[0]}")
        mode = options.mode
        if mode == "hybrid" and self.embedder and not reads(self.space, query):
            mode = "keyword"
            degraded.append(f"{self.space} knows English only: by words only; {MULTILINGUAL_STEPS}")
        return Question(
            query=query,
            hint=hint,
            space=self.space if self.embedder else None,
            scope=await self.scope(options),
            mode=mode,
            k=options.k,
            depth=options.depth,
            dense_share=options.dense_share,
        )

    def _degraded(self, mode: Mode) -> Reasons:
        return [] if mode == "keyword" else [*self.degraded]
