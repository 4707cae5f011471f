"""Embedding providers: texts in, vectors out; those of any server that speaks OpenAI's.

Here: embedding by a service, in batches, several at once, at its rate limit, with retries.
"""

import asyncio
import re
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import SecretStr

from lexichord.errors import BadResponseError, ProviderError, ProviderTimeoutError
from lexichord.providers import EmbedKind, Vectors
from lexichord.providers.http import (
    RetryPolicy,
    host,
    new_client,
    post_json,
    retry,
    told_tokens,
)
from lexichord.types import EmbeddingSpace
from lexichord.types.questions import Usage
from lexichord.work import check_wanted

if TYPE_CHECKING:
    from httpx import AsyncClient


@dataclass(slots=True)
class RequestPacer:
    """A rate limit: requests at even distances, over all threads; `interval` is in seconds."""

    interval: float
    _next: float = 0.0
    _lock: Lock = field(default_factory=Lock)

    def reserve(self) -> float:
        """Reserve the next request; return the seconds until it may be made."""
        with self._lock:
            now = monotonic()
            start = max(now, self._next)
            self._next = start + self.interval
            return start - now


ONE_TEXT_STATUSES = (400, 413, 422)  # refusals that may be one text's fault
PROBE_TEXT = "word"  # what any service embeds that embeds at all

EMBEDDING_RETRY = RetryPolicy(8, base_seconds=0.5, max_seconds=30.0, requested_pauses_count=False)


@dataclass(frozen=True, slots=True)
class EmbeddingTiming:
    """How long embedding by a service may take, with all that is tried again."""

    query_seconds: float = 10.0  # all that a query asks: a small server loads its model meanwhile
    batch_seconds: float = 600.0  # a batch of an ingest, with all pauses that the service asks for
    retry: RetryPolicy = EMBEDDING_RETRY  # requested pauses are bounded by batch_seconds alone


EMBEDDING_TIMING = EmbeddingTiming()


@dataclass(frozen=True, slots=True)
class EmbeddingReply:
    """A vector for each text, in their order; `tokens` that are paid for, 0 where unknown."""

    vectors: Sequence[Sequence[float]]
    tokens: int = 0


type EmbedRequest = Callable[[Sequence[str], EmbedKind], Awaitable[EmbeddingReply]]


class EmbeddingService(Protocol):
    """What differs between vendors: how one request is written, and its reply read."""

    @property
    def space(self) -> EmbeddingSpace:
        """Which space the vectors live in."""
        ...

    @property
    def who(self) -> str:
        """Return its name in messages."""
        ...

    @property
    def max_texts(self) -> int:
        """How many texts a request may hold."""
        ...

    def connect(self) -> AbstractAsyncContextManager[EmbedRequest]:
        """Open a connection; what it yields makes one request. Both raise ProviderError."""
        ...


@dataclass(slots=True)
class _EmbedJob:
    """One call of `embed`."""

    ask: EmbedRequest
    texts: Sequence[str]
    kind: EmbedKind
    seconds: float  # for each batch
    slots: asyncio.Semaphore
    vectors: NDArray[np.float64]


class BatchedEmbedder:
    """Embeds by a service; several threads may share one, each without an event loop of its own.

    `per_minute` limits the requests, failed ones among them, `at_once` those of one call under way;
    `timeout` is in seconds, for one request; `price` in dollars a million tokens. `timing` bounds
    what is tried again.
    """

    def __init__(
        self,
        service: EmbeddingService,
        *,
        per_minute: int | None = None,
        at_once: int = 4,
        timeout: float = 60.0,
        price: float | None = None,
        timing: EmbeddingTiming = EMBEDDING_TIMING,
    ) -> None:
        self._service = service
        self._pace = RequestPacer(60 / per_minute if per_minute else 0.0)
        self._at_once = at_once
        self._timeout = timeout
        self._price = price
        self._timing = timing
        self._for_queries = False
        self._state = _State()

    @property
    def space(self) -> EmbeddingSpace:
        """The database's."""
        return self._service.space

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        """Embed each text; the row of one that the service refuses by itself is NaN.

        Returns a float32 array of shape (len(texts), space.dimension), the other rows of length 1.
        A query's call ends within `timing.query_seconds`. Raises ProviderError.
        """
        if not texts:
            return np.empty((0, self.space.dimension), np.float32)
        return asyncio.run(self._stoppable(texts, kind)).astype(np.float32)

    def for_queries(self) -> Self:
        """Return the same embedder with a query's time limit for documents, too."""
        embedder = copy(self)
        embedder._for_queries = True
        return embedder

    def used(self) -> Usage:
        """Return what was asked of the service since it was opened."""
        with self._state.lock:
            requests, tokens = self._state.requests, self._state.tokens
        known = tokens > 0 and self._price is not None
        dollars = tokens * (self._price or 0.0) / 1e6 if known else None
        return Usage(requests, tokens, 0, dollars)

    def stop(self) -> None:
        """Cancel what other threads are embedding now: they raise ProviderError."""
        with self._state.lock:
            for task in self._state.running:
                task.get_loop().call_soon_threadsafe(task.cancel)

    async def _stoppable(self, texts: Sequence[str], kind: EmbedKind) -> NDArray[np.float64]:
        task = asyncio.ensure_future(self._embed(texts, kind))
        with self._state.lock:
            self._state.running.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            raise ProviderError("embedding was stopped: run it again") from None
        finally:
            with self._state.lock:
                self._state.running.discard(task)

    async def _embed(self, texts: Sequence[str], kind: EmbedKind) -> NDArray[np.float64]:
        timing, short = self._timing, self._for_queries or kind == "query"
        clean = [text.encode(errors="replace").decode() for text in texts]  # no half characters
        vectors = np.full((len(texts), self.space.dimension), np.nan)
        async with self._service.connect() as ask:
            seconds = timing.query_seconds if short else timing.batch_seconds
            slots = asyncio.Semaphore(self._at_once)
            job = _EmbedJob(ask, clean, kind, seconds, slots, vectors)
            try:
                async with (
                    asyncio.timeout(timing.query_seconds if short else None),
                    asyncio.TaskGroup() as group,
                ):
                    for places in _shares(len(texts), self._service.max_texts):
                        group.create_task(self._fill(job, places))
            except TimeoutError:
                raise self._late(timing.query_seconds) from None
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from None
        return vectors

    async def _fill(self, job: _EmbedJob, places: range) -> None:
        """Fill in the vectors of some texts; those that are refused are halved, down to one."""
        try:
            reply = await self._retry(job, job.texts[places.start : places.stop])
        except ProviderError as error:
            if error.status not in ONE_TEXT_STATUSES:
                raise
            await self._probe(job, error)
            half = len(places) // 2
            for part in (places[:half], places[half:]) if half else ():
                await self._fill(job, part)
            return
        rows = self._unit(reply, len(places))
        if np.isnan(rows).any():
            what = f"{self._service.who} gives vectors that are zero or no numbers: check its model"
            await self._probe(job, BadResponseError(what))
        self._state.has_embedded = True
        job.vectors[places.start : places.stop] = rows

    async def _probe(self, job: _EmbedJob, error: ProviderError) -> None:
        """Raise the error unless the service embeds at all: then a text is at fault."""
        if self._state.has_embedded:
            return
        try:
            rows = self._unit(await self._retry(job, [PROBE_TEXT]), 1)
        except ProviderError as other:
            raise (error if other.status == error.status else other) from None
        if np.isnan(rows).any():
            raise error
        self._state.has_embedded = True

    def _unit(self, reply: EmbeddingReply, wanted: int) -> NDArray[np.float64]:
        """Return a reply's vectors with length 1, NaN for those that have none."""
        who, dimension = self._service.who, self.space.dimension
        try:
            rows = np.array(reply.vectors, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise BadResponseError(
                f"{who} gave no vectors of one length: check its model"
            ) from None
        if len(rows) != wanted or rows.ndim != 2:
            count = len(rows) if rows.ndim else 0
            raise BadResponseError(
                f"{who} gave {count} vectors for {wanted} texts: check its address and model"
            )
        if rows.shape[1] != dimension:
            raise BadResponseError(
                f"{who} gave vectors of {rows.shape[1]} numbers, the database's have {dimension}: "
                "check the model"
            )
        with np.errstate(all="ignore"):
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            return np.where(np.isfinite(lengths) & (lengths > 0), rows / lengths, np.nan)

    async def _retry(self, job: _EmbedJob, texts: Sequence[str]) -> EmbeddingReply:
        deadline = monotonic() + job.seconds
        return await retry(lambda: self._request(job, texts), self._timing.retry, deadline)

    async def _request(self, job: _EmbedJob, texts: Sequence[str]) -> EmbeddingReply:
        async with job.slots:
            check_wanted()
            await asyncio.sleep(self._pace.reserve())
            self._state.count(requests=1)
            try:
                async with asyncio.timeout(self._timeout):
                    reply = await job.ask(texts, job.kind)
            except TimeoutError:
                raise self._late(self._timeout) from None
        self._state.count(tokens=reply.tokens)
        return reply

    def _late(self, seconds: float) -> ProviderTimeoutError:
        return ProviderTimeoutError(
            f"{self._service.who} did not answer within {seconds:.3g} s: try later"
        )


@dataclass(slots=True)
class _State:
    """What all threads share."""

    lock: Lock = field(default_factory=Lock)
    requests: int = 0
    tokens: int = 0
    has_embedded: bool = False  # then a text that is refused is itself at fault
    running: set[asyncio.Future[NDArray[np.float64]]] = field(default_factory=set)

    def count(self, requests: int = 0, tokens: int = 0) -> None:
        with self.lock:
            self.requests += requests
            self.tokens += tokens


def _shares(count: int, max_texts: int) -> list[range]:
    """Part so many places into as few batches as can be, of about the same size."""
    batches = -(-count // max_texts)
    bounds = [count * number // batches for number in range(batches + 1)]
    return [range(*pair) for pair in pairwise(bounds)]


OPENAI_URL = "https://api.openai.com/v1"
# Texts a request: what TEI takes, unless --max-client-batch-size says otherwise.
OPENAI_BATCH_TEXTS = 32

# Models that are known to shorten their vectors. Others are asked without `dimensions`, which vLLM
# and older servers refuse; where they return another length, with it.
SHORTENING_MODELS = r"text-embedding-3|jina-embeddings-v[3-9]"

# What the makers of open models put before a query and a document, where servers do not.
MODEL_PREFIXES = (
    (r"nomic-embed-text", "search_query: ", "search_document: "),
    (r"e5-(small|base|large)(?!.*instruct)", "query: ", "passage: "),
    (r"mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
    (
        r"qwen3-embedding",
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\n"
        "Query:",
        "",
    ),
)
JINA_TASKS = {"query": "retrieval.query", "document": "retrieval.passage"}  # Jina's field for it


class OpenAIEmbeddings:
    """Asks POST {base_url}/embeddings; several threads may share it."""

    max_texts = OPENAI_BATCH_TEXTS

    def __init__(self, space: EmbeddingSpace, key: SecretStr, base_url: str = OPENAI_URL) -> None:
        self.space = space
        self._key = key
        self._base_url = base_url
        self._shortens = re.search(SHORTENING_MODELS, space.model) is not None
        self._prefixes = next(
            (
                (query, doc)
                for name, query, doc in MODEL_PREFIXES
                if re.search(name, space.model.lower())
            ),
            ("", ""),
        )

    @property
    def who(self) -> str:
        """Return its name in messages."""
        return f"the embedder at {host(self._base_url)}"

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[EmbedRequest]:
        """Open a connection."""
        async with new_client() as client:
            yield partial(self._ask, client)

    async def _ask(
        self, client: "AsyncClient", texts: Sequence[str], kind: EmbedKind
    ) -> EmbeddingReply:
        reply = await self._embed(client, texts, kind)
        if self._shortens or _length(reply) in (0, self.space.dimension):
            return reply
        self._shortens = True  # from now on
        return await self._embed(client, texts, kind)

    async def _embed(
        self, client: "AsyncClient", texts: Sequence[str], kind: EmbedKind
    ) -> EmbeddingReply:
        prefix = self._prefixes[kind == "document"]
        body: dict[str, Any] = {
            "model": self.space.model,
            "input": [prefix + text for text in texts],
            "encoding_format": "float",
        }
        if self._shortens:
            body["dimensions"] = self.space.dimension
        if self.space.provider == "jina":
            body["task"] = JINA_TASKS[kind]
        url = f"{self._base_url}/embeddings"
        return self._read(await post_json(client, url, self._key, body, self.who))

    def _read(self, reply: Any) -> EmbeddingReply:  # noqa: ANN401 - any JSON
        try:
            data = reply["data"]
            vectors = {item["index"]: _numbers(item["embedding"]) for item in data}
            ordered = [vectors[place] for place in range(len(data))]
            tokens = (reply.get("usage") or {}).get("prompt_tokens")
        except (AttributeError, KeyError, TypeError, ValueError):
            message = f"{self.who} gave a reply that holds no vectors: check its address"
            raise BadResponseError(message) from None
        return EmbeddingReply(ordered, told_tokens(tokens if isinstance(tokens, int) else None))


def _length(reply: EmbeddingReply) -> int:
    return len(reply.vectors[0]) if reply.vectors else 0


def _numbers(embedding: Any) -> Sequence[float]:  # noqa: ANN401
    """Read a vector: a list, or base64 of float32, which some servers write unasked."""
    if isinstance(embedding, str):
        return np.frombuffer(b64decode(embedding, validate=True), "<f4").tolist()
    return list(embedding)
