"""Who may use what: the policy by which a server lets callers in, and the client that each gets."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Mapping,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import wraps
from ipaddress import ip_address
from typing import Any, Concatenate, Self, Unpack, cast

import numpy as np

from lexichord.client.lexichord import Lexichord
from lexichord.client.passages import ScoredPassage, find_passages
from lexichord.db import catalogue, store
from lexichord.db.pool import Row
from lexichord.db.session import asking_for
from lexichord.errors import (
    AccessError,
    ConfigError,
    ForbiddenError,
    KeyExpiredError,
    NotFoundError,
    TooManyRequestsError,
)
from lexichord.ingest.options import IngestOptions
from lexichord.ingest.report import Report
from lexichord.providers import Reranker
from lexichord.providers.registry import find_reranker
from lexichord.retrieve.trace import streamed
from lexichord.serve.errors import (
    public_line,
    public_result,
    public_run_of,
    public_status,
    public_status_report,
)
from lexichord.serve.files import FileMethods
from lexichord.serve.limits import RequestRates
from lexichord.serve.permissions import CallLog, recorded
from lexichord.settings import Settings
from lexichord.types import (
    Excerpt,
    Json,
    Original,
    PageBox,
    PageSize,
    Response,
    Rights,
    ShownDocument,
)
from lexichord.types.base import unknown_id
from lexichord.types.state import Health, IndexedTable, IngestRun, JobFile, Status
from lexichord.work import in_thread

# Texts that are embedded for others: one request at a time, so that searches have the other
# threads, and a share of the processor.
TEXT_THREADS = ThreadPoolExecutor(1, "lexichord-texts")


def _scoped[**P, R](
    method: Callable[Concatenate[Lexichord, P], Coroutine[Any, Any, R]],
) -> "Callable[Concatenate[ScopedClient, P], Coroutine[Any, Any, R]]":
    """Keep a method within reach of the rights, and from its result what is not for others."""

    @wraps(method)
    async def call(self: "ScopedClient", /, *args: P.args, **kwargs: P.kwargs) -> R:
        options = cast(dict[str, Any], kwargs)
        scope = self._scope("read", options.get("datasets"))
        result = await method(self._client, *args, **cast(Any, {**options, **scope}))
        await self._check_names()
        return cast(R, public_result(result))

    return recorded(call)


@dataclass(frozen=True, slots=True)
class ScopedClient(FileMethods):
    """The methods of `Lexichord` that other programs may call, of the same names and results.

    A dataset that the rights do not reach raises ForbiddenError, whether it is there or not; a
    document of one is not there, NotFoundError. What a key calls is put on record.
    """

    @property
    def settings(self) -> Settings:
        """The settings of the application, with the models that the caller named."""
        return self._client.settings

    @property
    def reranker(self) -> Reranker | None:
        """What looks again at what is found, if anything does."""
        return self._client.reranker

    @property
    def space(self) -> str:
        """The database's embedding space."""
        return self._client.space

    def with_models(self, changes: Mapping[str, object]) -> Self:
        """Return the same client asking the models that these settings name."""
        settings = self.settings.model_copy(update=dict(changes))
        reranker = find_reranker(settings) if "reranker" in changes else self._client.reranker
        return replace(self, _client=self._client.with_models(settings, reranker))

    def without_reranker(self) -> Self:
        """Return the same client asking no reranker."""
        return replace(self, _client=self._client.with_models(self.settings, None))

    def unnoted(self) -> Self:
        """Return the same client asking no model, no record left: for what nobody asked."""
        silent = self.with_models({"llm": None, "record": "off"}).without_reranker()
        return replace(silent, _log=None)

    search = _scoped(Lexichord.search)
    files = _scoped(Lexichord.files)
    keywords = _scoped(Lexichord.keywords)
    query = _scoped(Lexichord.query)
    stream = streamed(query)
    similar = _scoped(Lexichord.similar)
    list = _scoped(Lexichord.list)
    count = _scoped(Lexichord.count)
    count_by = _scoped(Lexichord.count_by)
    complete = _scoped(Lexichord.complete)

    @recorded
    async def passages(
        self, response: Response, k: int, min_score: float = 0.0
    ) -> Sequence[ScoredPassage]:
        """See `client.passages.find_passages`; `response` is one of this client's."""
        self._check("read")
        return await find_passages(self._client.database, response, k, min_score)

    def judgment_id(self, response: Response) -> str:
        """Return by what a response's answer is judged, "" where it was not recorded.

        Its own id counts: by that anybody could judge what others asked. Raises MissingScopeError
        for a caller who may not write.
        """
        self._check("write")
        if response.query_id is None:
            return ""
        return self._client.database.ids.write("query", response.query_id)

    @recorded
    async def judge(self, judgment_id: str, right: bool) -> None:
        """See `Lexichord.judge_query`. Raises NotFoundError, MissingScopeError."""
        self._check("write")
        number = self._client.database.ids.read("query", judgment_id)
        await self._client.judge_query(number, right=right)

    @recorded
    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return the vectors of texts in the database's space, as of questions.

        Raises ConfigError where a text or all cannot be embedded, ProviderError.
        """
        self._check("read")
        if sum(map(len, texts)) > self.settings.max_texts:
            raise ConfigError(
                f"input: at most {self.settings.max_texts:,} characters (LEXICHORD_MAX_TEXTS)"
            )
        embedder = self._client.embedder
        if embedder is None:
            raise ConfigError(self._client.degraded[0])
        vectors = await in_thread(embedder.embed, texts, "query", threads=TEXT_THREADS)
        if np.isnan(vectors).any():
            raise ConfigError("input: a text cannot be embedded")
        return [[float(number) for number in vector] for vector in vectors]

    @recorded
    async def show(self, document: str, datasets: Sequence[str] | None = None) -> ShownDocument:
        """See `Lexichord.show`."""
        return await self._client.show(document, **self._scope("read", datasets))

    @recorded
    async def page_image(
        self, document: str, page: int, *, mark: tuple[int, int] | None = None
    ) -> bytes:
        """See `Lexichord.page_image`."""
        return await self._client.page_image(document, page, mark=mark, **self._scope("read"))

    @recorded
    async def boxes(self, document: str, start: int, end: int) -> Sequence[PageBox]:
        """See `Lexichord.boxes`."""
        return await self._client.boxes(document, start, end, **self._scope("read"))

    @recorded
    async def page_sizes(self, document: str) -> Sequence[PageSize]:
        """See `Lexichord.page_sizes`."""
        return await self._client.page_sizes(document, **self._scope("read"))

    @recorded
    async def original(self, document: str) -> Original:
        """See `Lexichord.original`."""
        return await self._client.original(document, **self._scope("read"))

    @recorded
    async def expand(
        self, chunk: str, *, neighbours: int = 1, whole_section: bool = False
    ) -> Excerpt:
        """See `Lexichord.expand`."""
        scope = self._scope("read")
        excerpt = await self._client.expand(
            chunk, neighbours=neighbours, whole_section=whole_section
        )
        try:
            await self._client.resolve(excerpt.document_id, **scope)
        except NotFoundError:
            raise NotFoundError(unknown_id("chunk", chunk)) from None
        return excerpt

    @recorded
    async def delete(self, documents: Sequence[str], datasets: Sequence[str] | None = None) -> int:
        """See `Lexichord.delete`."""
        return await self._client.delete(documents, **self._scope("delete", datasets))

    @recorded
    async def move(self, documents: Sequence[str], dataset: str) -> int:
        """See `Lexichord.move`; it takes from one dataset what it writes into the other."""
        self._scope("write", [dataset])
        return await self._client.move(documents, dataset, **self._scope("delete"))

    @recorded
    async def set_metadata(self, document: str, changes: Json) -> Json:
        """See `Lexichord.set_metadata`; what is returned may only be seen by who may read."""
        self._check("read")
        return await self._client.set_metadata(document, changes, **self._scope("write"))

    @recorded
    async def ingest(
        self,
        paths: Iterable[Any] = (),
        *,
        documents: Iterable[Any] = (),
        **options: Unpack[IngestOptions],
    ) -> Report:
        """See `Lexichord.ingest`."""
        self._scope("write", [options.get("dataset", "default")])
        options["fetch_hosts"] = self.settings.fetch_hosts
        options["admit"] = self._check_rights
        return await self._client.ingest(paths, documents=documents, **options)

    @recorded
    async def datasets(self) -> Sequence[dict[str, Any]]:
        """List the datasets that are there and in reach, with their documents and chunks."""
        self._check("read")
        reach = self.rights.datasets
        stored = await self._client.datasets()
        return [row.to_dict() for row in stored if reach is None or row.dataset in reach]

    @recorded
    async def jobs(self, latest: int = 20, datasets: Sequence[str] = ()) -> Sequence[IngestRun]:
        """List the latest ingests in reach, newest first."""
        scope = self._scope("read", datasets or None).get("datasets")
        rows = await catalogue.list_runs(self._client.database, latest, scope)
        return [public_run_of(row) for row in rows]

    @recorded
    async def job(self, job: int) -> IngestRun:
        """Return an ingest, also to who may write but not read. Raises NotFoundError."""
        return await self._find_job(job)

    @recorded
    async def cancel_job(self, job: int) -> IngestRun:
        """End an ingest, of whichever process. Raises NotFoundError, ForbiddenError."""
        run = await self._find_job(job)
        self._scope("write", [run.dataset])
        await store.cancel_run(self._client.database, job)
        return run  # as it is until the ingest learns of it

    @recorded
    async def job_files(self, job: int, limit: int) -> Sequence[JobFile]:
        """List what became of files of an ingest, those that failed first. Raises NotFoundError."""
        await self._find_job(job)
        return await self._job_files(job, limit)

    async def watch_job(
        self, job: int, limit: int, every: float
    ) -> AsyncGenerator[tuple[IngestRun, Sequence[JobFile]]]:
        """Yield an ingest and what became of its files every so many seconds, until it has ended.

        On record is what led here, a call of `job`, not each look. Raises NotFoundError.
        """
        while True:
            await self._check_rights()
            with asking_for(self.rights.tenant, self.rights.principals):
                # The run first: what its end says must be true of the files, too.
                run = await self._find_job(job)
                files = await self._job_files(job, limit)
            yield run, files
            if run.state != "running":
                return
            await asyncio.sleep(every)

    async def _job_files(self, job: int, limit: int) -> Sequence[JobFile]:
        rows = await catalogue.list_run_files(self._client.database, job, limit)
        return [JobFile(**{**row, "reason": public_line(row["reason"])}) for row in rows]

    async def _find_job(self, job: int) -> IngestRun:
        scope = self._scope("write" if self.rights.writes else "read").get("datasets")
        rows = await catalogue.list_runs(self._client.database, 1, scope, [job])
        if not rows:
            raise NotFoundError(f"there is no job {job}")
        return public_run_of(rows[0])

    @recorded
    async def tables(self) -> Sequence[IndexedTable]:
        """List the indexed tables. Raises ForbiddenError unless the caller reaches all datasets."""
        self._check_all_datasets()
        return await self._client.tables()

    @recorded
    async def status(self) -> Status:
        """See `Lexichord.status`. Raises ForbiddenError unless the caller reaches all datasets."""
        self._check_all_datasets()
        return public_status_report(await self._client.status())

    @recorded
    async def doctor(self) -> Health:
        """See `Lexichord.doctor`; as it reads all that is stored, only who may write may ask.

        Raises ForbiddenError unless the caller reaches all datasets.
        """
        self._check("write")
        self._check_all_datasets()
        return public_status_report(await self._client.doctor())

    @recorded
    async def evaluations(self, latest: int) -> Sequence[Row]:
        """List the latest evaluations: see sql/records/list_evaluations.sql.

        Questions may be of all datasets. Raises ForbiddenError as `status`.
        """
        self._check_all_datasets()
        return await catalogue.list_evaluations(self._client.database, latest)

    @recorded
    async def evaluation_results(self, evaluation: int) -> Sequence[Row]:
        """List what became of each question: see sql/records/evaluation_results.sql.

        Raises ForbiddenError as `status`.
        """
        self._check_all_datasets()
        return await catalogue.evaluation_results(self._client.database, evaluation)

    def position(self) -> Awaitable[str]:
        """See `Lexichord.position`; it tells nothing of what is stored."""
        return self._client.position()

    def reading_after(self, position: str) -> AbstractContextManager[None]:
        """See `Lexichord.reading_after`."""
        return self._client.reading_after(position)

    def connections(self) -> Mapping[str, int]:
        """Count the connections to the database by state. Raises ForbiddenError.

        They serve all datasets, so that a caller must reach all.
        """
        self._check_all_datasets()
        return self._client.database.connections()

    def _check_all_datasets(self) -> None:
        self._check("read")
        if not self.rights.reaches_all:
            raise ForbiddenError("these numbers are of all datasets: the API key reaches some only")


LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]", "::1")  # that reach this machine alone


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """Where a server listens, and whether those who come need a key.

    They need none where only this machine can reach it and only by its own names: a page elsewhere
    that has its name point here, or a proxy in front, comes by another (DNS rebinding).
    """

    _client: Lexichord
    host: str
    hosts: tuple[str, ...]
    needs_key: bool
    _log: CallLog | None = None
    has_tenants: bool = False
    _rates: RequestRates = field(default_factory=RequestRates)

    @classmethod
    async def open(cls, client: Lexichord, host: str) -> Self:
        """Return the policy for a server at `host`. Raises ConfigError where a key is lacking."""
        others = tuple(client.settings.allowed_hosts)
        has_tenants = await client.check_serving()
        needs_key = not is_loopback(host) or bool(others) or has_tenants
        if needs_key and not await _has_keys(client):
            raise ConfigError(
                f"whoever reaches {', '.join(others) or host} could read everything: make a key "
                "with lexichord keys create NAME, or listen on 127.0.0.1"
            )
        # A name is checked to keep off pages that point theirs here; with a key they get nowhere.
        hosts = (*LOOPBACK_NAMES, *others) if others or is_loopback(host) else ("*",)
        return cls(client, host, hosts, needs_key, CallLog(client), has_tenants)

    @property
    def settings(self) -> Settings:
        """The settings of the application."""
        return self._client.settings

    @property
    def degraded(self) -> Sequence[str]:
        """What the application has to do without, a line each."""
        return self._client.degraded

    async def ping(self) -> None:
        """Raise DatabaseError unless the database answers."""
        await self._client.ping()

    async def authorize(self, authorization: str | None) -> ScopedClient:
        """Return what the sender of an Authorization header may use. Raises AccessError.

        Where no key is needed and none is valid, one that is sent keeps nobody out: there are
        clients that must send one.
        """
        if not self.needs_key and (authorization is None or not await _has_keys(self._client)):
            return ScopedClient(self._client)
        kind, _, secret = (authorization or "").partition(" ")
        if kind.lower() != "bearer" or not secret.strip():
            raise AccessError("send an API key: Authorization: Bearer KEY")
        rights = await self._check_key(secret.strip())
        return ScopedClient(
            self._client, rights, self._log, lambda: self._client.check_key(secret.strip())
        )

    async def aclose(self) -> None:
        """Write what calls of keys are not on record yet."""
        if self._log is not None:
            await self._log.aclose()

    async def _check_key(self, secret: str) -> Rights:
        """Return what the owner of a secret may do, now. Raises AccessError."""
        try:
            rights = await self._client.check_key(secret)
        except KeyExpiredError as error:
            self._refuse(error.key_id, error)
            raise
        if rights.key_id is not None and rights.requests_per_minute is not None:
            try:
                self._rates.count(rights.key_id, rights.requests_per_minute)
            except TooManyRequestsError as error:
                self._refuse(rights.key_id, error)
                raise
        return rights

    def _refuse(self, key_id: int, error: AccessError) -> None:
        if self._log is not None:
            self._log.add(key_id, datetime.now(UTC), "authorize", public_status(error))


async def _has_keys(client: Lexichord) -> bool:
    return any(key.valid for key in await client.list_keys())


def is_loopback(host: str) -> bool:
    """Return whether an address to listen on is reached from this machine alone."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
