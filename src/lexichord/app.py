"""The composition root: settings in, a working application out."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any, Self, Unpack, cast

from lexichord.copy import Copied, copy_datasets
from lexichord.db import engine, reembed, search, store, vechord
from lexichord.db.pool import Database
from lexichord.errors import ConfigError
from lexichord.ingest import jobs, recontextualize
from lexichord.ingest.pipeline import Ingest, IngestOptions
from lexichord.ingest.report import Hearing, Report
from lexichord.keys import InKeys
from lexichord.llm.stages import find_model, with_model
from lexichord.providers.base import Reranker
from lexichord.providers.registry import find_reranker
from lexichord.retrieve import pipeline
from lexichord.retrieve.discover import discover
from lexichord.retrieve.embedding import with_vectors
from lexichord.retrieve.record import recorded
from lexichord.retrieve.stages import STAGES, Stages
from lexichord.retrieve.trace import BUDGET_MS, Trace
from lexichord.settings import Settings, load_settings
from lexichord.space import InSpace, in_current_space
from lexichord.stored import InStore, no_other_options, no_single_text
from lexichord.types import (
    FilesResult,
    Json,
    QueryOptions,
    Question,
    Response,
    SearchOptions,
    SearchResult,
)

RUNS = 5  # the latest ingests that status shows
LISTS = ("fallbacks", "neutral", "llm_stages")  # options that take several texts

type Reasons = list[str]  # inside Lexichord, `list` is a method


class Lexichord(InSpace, InStore, InKeys):
    """Documents in, evidence out: an open application on one database.

    Used as `async with Lexichord() as lexichord`. Without a DSN it starts the embedded server, or
    attaches to it. Methods raise ConfigError for what the caller can mend, else another
    LexichordError. A `reranker`, the caller's or the settings', chooses files and a query's chunks.
    """

    reranker: Reranker | None = None
    stages: Stages = STAGES
    contextualize = recontextualize.contextualize

    def __init__(self, settings: Settings | None = None, **arguments: object) -> None:
        self.settings = settings or load_settings(**arguments)
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self.reranker = self.reranker or find_reranker(self.settings)
        server = engine.open_server(self.settings)
        dsn = await asyncio.to_thread(server.__enter__)
        self._open.push_async_callback(asyncio.to_thread, server.__exit__, None, None, None)
        try:
            self.database = Database(dsn, self.settings.pool_size)
            await self._open.enter_async_context(self.database)
            await self._follow()
        except BaseException:
            await self._open.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

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
        """Find the k chunks that answer a query best; `hint` prefers the documents it names."""
        question, degraded = await self._question(query, hint, options)
        hits = await pipeline.search_chunks(self.database, question)
        return SearchResult(query, hits, degraded)

    @in_current_space
    async def files(
        self, query: str, *, hint: str | None = None, **options: Unpack[SearchOptions]
    ) -> FilesResult:
        """Find the k documents that the hint names, or else that the query is about."""
        question, degraded = await self._question(query, hint, options)
        trace = Trace(degraded=degraded)
        files = await discover(self.database, question, trace, question.k, self.reranker)
        return FilesResult(query, files, trace.degraded)

    @in_current_space
    async def query(self, query: str, **options: Unpack[QueryOptions]) -> Response:
        """Find the files, and evidence in and around them, by the query's intent.

        Says what it is sure of; an answer, in the evidence's own words, is written if asked for.
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

    async def export_vechord(self, namespace: str, datasets: Iterable[str] = ()) -> dict[str, Any]:
        """Write datasets, by default all, as a new vechord namespace of the same database."""
        no_single_text(datasets=datasets)
        return await vechord.export_vechord(self.database, namespace, list(datasets))

    async def ping(self) -> None:
        """Raise DatabaseError unless the database answers."""
        await search.configuration(self.database)

    async def status(self) -> dict[str, Any]:
        """Say what the database is and holds, and how the latest ingests went."""
        return {
            **await search.database_status(self.database),
            "embedder": str(self.embedder.space) if self.embedder else None,
            "by_dataset": await search.list_datasets(self.database),
            "runs": await search.list_runs(self.database, RUNS),
            "reembed": await reembed.reembed_status(self.database),
            "degraded": self.degraded,
        }

    async def doctor(self) -> dict[str, Any]:
        """Say all that `status` says, whether the indexes are used, and what is wrong."""
        return {
            **await self.status(),
            "server": await search.server_versions(self.database),
            "indexes": await search.index_use(self.database),
            "faults": await search.count_faults(self.database),
            "problems": await search.find_problems(self.database),
        }

    async def reindex(self) -> Sequence[dict[str, Any]]:
        """Build both indexes anew for the size that the tables have now; give what `doctor` does.

        Writers wait meanwhile, on pgvector also searches.
        """
        await store.rebuild_indexes(self.database)
        return await search.index_use(self.database)

    def _ingest(self, options: IngestOptions) -> Ingest:
        no_other_options(options, IngestOptions)
        given = (self.database, self.embedder, self.space, self.settings)
        return Ingest(*given, follow=self._follow, **options)

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
        )

    def _degraded(self, question: Question) -> Reasons:
        return [] if question.mode == "keyword" else self.degraded
