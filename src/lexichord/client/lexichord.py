"""The composition root: settings in, a working application out."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, aclosing
from pathlib import Path
from typing import Self, Unpack, cast

from lexichord.client.copy import Copied, copy_datasets
from lexichord.client.documents import InStore
from lexichord.client.keys import InKeys
from lexichord.client.space import InSpace, in_current_space
from lexichord.client.status import InState
from lexichord.db import vechord
from lexichord.db.pool import Database
from lexichord.db.server import open_server
from lexichord.errors import ConfigError
from lexichord.evaluate.measure import evaluate
from lexichord.ingest import jobs
from lexichord.ingest.llm_context import backfill
from lexichord.ingest.pipeline import Ingest, IngestOptions
from lexichord.ingest.report import Hearing, Report
from lexichord.providers.base import Reranker
from lexichord.providers.registry import find_reranker
from lexichord.retrieve import pipeline
from lexichord.retrieve.llm_stages import find_model, with_model
from lexichord.retrieve.search.discover import discover
from lexichord.retrieve.search.embedding import with_vectors
from lexichord.retrieve.search.llm_keywords import FOUND, keyword_sets
from lexichord.retrieve.stages import STAGES, Stages
from lexichord.retrieve.trace import BUDGET_MS, Trace, recorded
from lexichord.settings import Settings, load_settings
from lexichord.types import (
    Explanation,
    Exported,
    FilesResult,
    Json,
    KeywordSets,
    QueryOptions,
    Question,
    Response,
    SearchOptions,
    SearchResult,
)
from lexichord.types.questions import no_other_options, no_single_text

CLOSED = "Lexichord is not open: use it inside `async with`, or await open() first"
LISTS = ("fallbacks", "neutral", "llm_stages")  # options that take several texts

type Reasons = list[str]  # inside Lexichord, `list` is a method


async def _leave(server: AbstractContextManager[str]) -> None:
    try:
        await asyncio.to_thread(server.__exit__, None, None, None)
    except RuntimeError:  # the interpreter ends, and starts no more threads
        server.__exit__(None, None, None)


class Closed:
    """In the place of a database while there is none."""

    def __getattr__(self, name: str) -> object:
        raise ConfigError(CLOSED)


class Lexichord(InSpace, InStore, InState, InKeys):
    """Documents in, evidence out: an application on one database.

    Used as `async with Lexichord() as lexichord`. Without a DSN it starts the embedded server, or
    attaches to it; `arguments` are settings, see `lexichord config show`. Methods raise ConfigError
    for what the caller can mend, else another LexichordError. What they give are records with a
    `to_dict()` for JSON; notebooks show them as HTML. A `reranker`, the caller's or the settings',
    chooses files and a query's chunks.
    """

    reranker: Reranker | None = None
    stages: Stages = STAGES
    contextualize = backfill.contextualize
    evaluate = evaluate

    def __init__(self, settings: Settings | None = None, **arguments: object) -> None:
        self.settings = settings or load_settings(**arguments)
        self._open: AsyncExitStack | None = None
        self._close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> Self:
        """Open it where no `with` fits, as from one notebook cell to the next; `close` it then."""
        if self._open is not None:
            return self
        self.reranker = self.reranker or find_reranker(self.settings)
        server = open_server(self.settings)
        dsn = await asyncio.to_thread(server.__enter__)
        self._open = AsyncExitStack()
        self._open.callback(self._close)
        self._open.push_async_callback(_leave, server)
        try:
            self.database = Database(dsn, self.settings.pool_size)
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

    def _close(self) -> None:
        self._open, self.database, self.space = None, cast(Database, Closed()), ""
        self.embedder, self.degraded = None, [CLOSED]

    async def ingest(
        self,
        paths: Iterable[Path | str] = (),
        *,
        documents: Iterable[Json] = (),
        chunked_file: Path | str | None = None,
        prune: bool = False,
        **options: Unpack[IngestOptions],
    ) -> Report:
        """Store files and folders, `documents` or the lines of `chunked_file` with their chunks.

        What is stored already, unchanged, is skipped; of what changed only new chunks are embedded.
        `documents` are shaped like the lines; see `ingest.chunked.GivenDocument`. `prune` deletes
        what was stored from the folders among `paths` and is no longer there.
        """
        no_single_text(paths=paths, documents=documents)
        run, found = self._ingest(options), [Path(path) for path in paths]
        chunked = None if chunked_file is None else Path(chunked_file)
        return self._told(await jobs.ingest(run, found, documents, chunked, prune))

    async def retry_failed(self, **options: Unpack[IngestOptions]) -> Report:
        """Take up again the files of a dataset that failed; `run_id` is 0 if there are none."""
        return self._told(await jobs.retry_failed(self._ingest(options)))

    async def watch(
        self,
        paths: Iterable[Path | str],
        *,
        prune: bool = False,
        **options: Unpack[IngestOptions],
    ) -> AsyncGenerator[Report]:
        """Ingest, and again after each batch of changes, for ever; give each one's report."""
        no_single_text(paths=paths)
        found, home = [Path(path) for path in paths], self.settings.home
        async with aclosing(jobs.watch(lambda: self._ingest(options), found, prune, home)) as told:
            async for report in told:
                yield self._told(report)

    @in_current_space
    async def search(
        self, query: str, *, hint: str | None = None, **options: Unpack[SearchOptions]
    ) -> SearchResult:
        """Find the k chunks that answer a query best; `hint` prefers the documents it names.

        `options` are `SearchOptions`: `k` results (10) from `depth` candidates per channel (100),
        `mode` hybrid, dense or keyword, and where to look: `datasets`, `documents` (ids, uris or
        ends of uris), `uri_prefix`, `filter`. What scores mean is told by
        `lexichord.types.ChunkHit`.
        """
        question, degraded = await self._question(query, hint, options)
        hits = await pipeline.search_chunks(self.database, question)
        return SearchResult(query, hits, degraded)

    @in_current_space
    async def files(
        self, query: str, *, hint: str | None = None, **options: Unpack[SearchOptions]
    ) -> FilesResult:
        """Find the k documents that the hint names, or else that the query is about.

        `options` are those of `search`. What scores mean is told by `lexichord.types.FileHit`.
        """
        question, degraded = await self._question(query, hint, options)
        trace = Trace(degraded=degraded)
        files = await discover(self.database, question, trace, question.k, self.reranker)
        return FilesResult(query, files, trace.degraded)

    @in_current_space
    async def keywords(
        self,
        query: str,
        *,
        sets: int = 5,
        budget_ms: float = BUDGET_MS,
        **options: Unpack[SearchOptions],
    ) -> KeywordSets:
        """Give up to `sets` sets of keywords: the query's, the documents' own, the model's."""
        question, degraded = await self._question(query, None, {**options, "k": FOUND})
        model = await find_model(self.settings, {})
        trace = Trace(budget_ms / 1000, degraded)
        return await keyword_sets(self.database, question, model, trace, sets)

    @in_current_space
    async def query(self, query: str, **options: Unpack[QueryOptions]) -> Response:
        """Find the files, and evidence in and around them, by the query's intent.

        Says what it is sure of; an answer, in the evidence's own words, is written if asked for.
        `options` are those of `search` and `lexichord.types.QueryOptions`.
        """
        no_other_options(options, QueryOptions)
        no_single_text(**{name: options.get(name) for name in LISTS})
        shared = {k: value for k, value in options.items() if k in SearchOptions.__annotations__}
        question = await self._unembedded(query, options.get("hint"), cast(SearchOptions, shared))
        model = await find_model(self.settings, options)
        trace = Trace(options.get("budget_ms", BUDGET_MS) / 1000, [*self._degraded(question)])
        stages = with_model(self.stages, model, trace, options)
        found = await pipeline.query(
            self.database, self.embedder, question, options, trace, self.reranker, stages
        )
        return await recorded(self.database, found, question, trace.started, self.settings.record)

    async def explain(self, query: str, **options: Unpack[QueryOptions]) -> Explanation:
        """Ask as `query` does; show each stage, and each hit's rank and score in every list.

        Of a response that is there already, `lexichord.types.Explanation(response)` is the same.
        """
        return Explanation(await self.query(query, **options))

    async def copy_to(
        self, target: str, datasets: Iterable[str] = (), **hearing: Unpack[Hearing]
    ) -> Sequence[Copied]:
        """Copy datasets, by default all, to a DSN's database; what is there already is skipped."""
        no_single_text(datasets=datasets)
        return await copy_datasets(self.database, target, list(datasets), **hearing)

    async def import_vechord(
        self, namespace: str, *, table: str | None = None, **options: Unpack[IngestOptions]
    ) -> Report:
        """Take over a vechord namespace of the same database; nothing is embedded again.

        `table` holds the chunks, if several do; vectors are taken to be of the database's space.
        """
        options["context"] = "given"
        return self._told(await jobs.import_vechord(self._ingest(options), namespace, table))

    async def export_vechord(self, namespace: str, datasets: Iterable[str] = ()) -> Exported:
        """Write datasets, by default all, as a new vechord namespace of the same database."""
        no_single_text(datasets=datasets)
        return Exported(**await vechord.export_vechord(self.database, namespace, list(datasets)))

    def _ingest(self, options: IngestOptions) -> Ingest:
        no_other_options(options, IngestOptions)
        given = (self.database, self.embedder, self.space, self.settings)
        return Ingest(*given, follow=self._follow, limits=self.ingest_limits, **options)

    def _told(self, report: Report) -> Report:
        report.degraded += self.degraded
        return report

    async def _question(
        self, query: str, hint: str | None, options: SearchOptions
    ) -> tuple[Question, Reasons]:
        asked = await self._unembedded(query, hint, options)
        degraded = [*self._degraded(asked)]
        return await with_vectors(self.embedder, asked, degraded), degraded

    async def _unembedded(self, query: str, hint: str | None, options: SearchOptions) -> Question:
        mode = options.get("mode", "hybrid")
        if mode == "dense" and not self.embedder:
            raise ConfigError(f"mode dense needs an embedder: {self.degraded[0]}")
        return Question(
            text=query,
            hint=hint,
            space=self.space if self.embedder else None,
            scope=await self.scope(options),
            mode=mode,
            k=options.get("k", 10),
            depth=options.get("depth", 100),
            dense_share=options.get("dense_share"),
        )

    def _degraded(self, question: Question) -> Reasons:
        return [] if question.mode == "keyword" else self.degraded
