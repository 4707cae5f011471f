"""The HTTP application: its routes, how they fail, the end of a request out of time, its health.

Metrics are numbers only, nothing of what is asked or stored.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from time import perf_counter
from typing import Any, Literal

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import PlainTextResponse
from fastapi.routing import APIRoute
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from pydantic import BaseModel, ConfigDict
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lexichord.errors import DatabaseError, LexichordError
from lexichord.serve.access import AccessPolicy, ScopedClient
from lexichord.serve.compat import dify, openai, simple_http
from lexichord.serve.errors import CLIENT_GONE, public_error
from lexichord.serve.http import (
    ERROR_RESPONSES,
    Caller,
    JsonReply,
    error_reply,
    handle_errors,
    jobs,
    routes,
)
from lexichord.serve.http.jobs import JobRunner
from lexichord.serve.limits import METRICS_DATABASE_SECONDS, READINESS_SECONDS
from lexichord.serve.middleware import BODYLESS_METHODS
from lexichord.serve.page import manage, questions, static_files, status
from lexichord.serve.page import routes as page
from lexichord.serve.page.language import LanguageMiddleware, load_language
from lexichord.serve.page.questions import ExampleSearches, ended_searches
from lexichord.serve.page.routes import FoundResponses, swagger_files
from lexichord.serve.server import add_middleware

LATENCY_BUCKETS_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
# Any other is counted as "other": the names of methods are the caller's.
COUNTED_METHODS = ("GET", "HEAD", "POST", "DELETE", "OPTIONS")

METRICS_SAMPLE = 'lexichord_requests_total{method="POST",route="/v1/search",status="200"} 3.0\n'
ERROR_CONTENT = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
METRICS_RESPONSES: dict[int | str, dict[str, Any]] = {
    **{
        status: {"description": error["description"], "content": ERROR_CONTENT}
        for status, error in ERROR_RESPONSES.items()
    },
    200: {"content": {"text/plain": {"example": METRICS_SAMPLE}}},
}

router = APIRouter(tags=["health"])


class ProbeStatus(BaseModel):
    """How it is."""

    status: Literal["ok", "ready"]
    model_config = ConfigDict(title="Health", json_schema_extra={"examples": [{"status": "ok"}]})


@router.get("/healthz")
async def healthz() -> ProbeStatus:
    """Answer that the process is alive; nothing else is looked at."""
    return ProbeStatus(status="ok")


@router.get("/readyz", responses={503: ERROR_RESPONSES[503]})
async def readyz(request: Request) -> ProbeStatus:
    """Answer that the database answers."""
    policy: AccessPolicy = request.app.state.policy
    try:
        async with asyncio.timeout(READINESS_SECONDS):
            await policy.ping()
    except TimeoutError:
        raise DatabaseError(f"no answer in {READINESS_SECONDS} s") from None
    return ProbeStatus(status="ready")


class ServerMetrics:
    """What is counted as requests come: of one application, or by all processes of a server."""

    def __init__(self) -> None:
        own = CollectorRegistry()
        labels = ("method", "route", "status")
        self.requests = Counter("lexichord_requests", "Answered.", labels, registry=own)
        self.refused = Counter("lexichord_requests_refused", "By 413 or 429.", registry=own)
        self.running = Gauge(
            "lexichord_requests_running",
            "Not yet answered.",
            registry=own,
            multiprocess_mode="livesum",
        )
        self.seconds = Histogram(
            "lexichord_request_seconds",
            "To answer.",
            ("route",),
            buckets=LATENCY_BUCKETS_SECONDS,
            registry=own,
        )
        ProcessCollector(registry=own)
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:  # where they are kept, see serve/server.py
            own = CollectorRegistry()
            MultiProcessCollector(own)  # type: ignore[no-untyped-call]
        self.registry = own

    def count(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in COUNTED_METHODS else "other"
        self.requests.labels(method, route, status).inc()
        self.seconds.labels(route).observe(seconds)
        if status in (413, 429):
            self.refused.inc()


class MetricsMiddleware:
    """An ASGI application in front of another, which counts what that one answers."""

    def __init__(self, app: ASGIApp, metrics: ServerMetrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through and count it, one without an answer as `CLIENT_GONE`."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, started = CLIENT_GONE, perf_counter()

        async def send_counted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        with self.metrics.running.track_inprogress():
            try:
                await self.app(scope, receive, send_counted)
            finally:
                self.metrics.count(scope, status, perf_counter() - started)


@router.get("/metrics", response_class=PlainTextResponse, responses=METRICS_RESPONSES)
async def metrics(request: Request, caller: Caller) -> PlainTextResponse:
    """Return the numbers in Prometheus' format. A key needs to reach all datasets."""
    numbers: ServerMetrics = request.app.state.metrics
    asked = _Asked([_connections(caller), await _stored(caller), *await _rows(caller)])
    own = CollectorRegistry()
    own.register(asked)
    text = generate_latest(numbers.registry) + generate_latest(own)
    return PlainTextResponse(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)


@dataclass(frozen=True, eq=False)
class _Asked(Collector):
    """Numbers that are asked for when they are shown."""

    families: Sequence[GaugeMetricFamily]

    def collect(self) -> Sequence[GaugeMetricFamily]:
        return self.families


def _connections(caller: ScopedClient) -> GaugeMetricFamily:
    text = "Of this process to the database: open, lent, and requests that wait for one."
    family = GaugeMetricFamily("lexichord_connections", text, labels=["state"])
    for state, count in caller.connections().items():
        family.add_metric([state], count)
    return family


async def _stored(caller: ScopedClient) -> GaugeMetricFamily:
    """Count documents and chunks; where the database cannot answer, show none, not old ones."""
    family = GaugeMetricFamily("lexichord_stored", "What there is.", labels=["what"])
    with suppress(LexichordError, TimeoutError):
        async with asyncio.timeout(METRICS_DATABASE_SECONDS):
            datasets = await caller.datasets()
        for what in ("documents", "chunks"):
            family.add_metric([what], sum(row[what] for row in datasets))
    return family


async def _rows(caller: ScopedClient) -> tuple[GaugeMetricFamily, GaugeMetricFamily]:
    """Show the rows of indexed tables, as `_stored` does documents, and how late they are."""
    text = "Of indexed tables: rows stored, waiting for a worker, and that could not be stored."
    rows = GaugeMetricFamily("lexichord_table_rows", text, labels=["state"])
    waiting: list[datetime] = []
    with suppress(LexichordError, TimeoutError):
        async with asyncio.timeout(METRICS_DATABASE_SECONDS):
            tables = await caller.tables()
        for state in ("stored", "waiting", "failed"):
            rows.add_metric([state], sum(getattr(table, f"rows_{state}") for table in tables))
        waiting = [table.waiting_since for table in tables if table.waiting_since]
    late = (datetime.now(UTC) - min(waiting)).total_seconds() if waiting else 0.0
    name, text = "lexichord_table_lag_seconds", "The age of the oldest change."
    return rows, GaugeMetricFamily(name, text, value=late)


class TimeoutMiddleware:
    """An ASGI application in front of another, whose work is cancelled, its SQL with it.

    What takes longer than `seconds` is answered by 504; a client that is gone, by nothing. An error
    that no handler knows is answered, too.
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self.app, self.seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or have it answered."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        connection = _Connection(scope, receive, send)
        work = asyncio.ensure_future(self.app(scope, connection.receive, connection.send))
        error = await self._outcome(work, connection)
        if error is not None and connection.is_answered:
            raise error
        if error is not None:
            await error_reply(public_error(error))(scope, receive, send)

    async def _outcome(
        self, work: asyncio.Future[None], connection: "_Connection"
    ) -> BaseException | None:
        """Wait for the end of the work; return what it raised, or that it took too long."""
        awaited = {work, connection.gone}
        try:
            await asyncio.wait(awaited, timeout=self.seconds, return_when=asyncio.FIRST_COMPLETED)
            if connection.is_complete:  # what is left is to tidy up
                await asyncio.wait({work}, timeout=self.seconds)
            if work.done():
                return work.exception()
            if not connection.gone.done():
                return TimeoutError()
            connection.gone.result()  # raises where what came was too much
            return None
        finally:
            for future in awaited:
                future.cancel()
            await asyncio.gather(*awaited, return_exceptions=True)


class _Connection:
    """The connection to the client: once all is read of a request, it is listened to for its end.

    `gone` is done when the client is gone, or has the whole answer.
    """

    is_answered = is_complete = False  # in part, and in whole

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive, self._send, self._is_read = receive, send, asyncio.Event()
        if scope["method"] in BODYLESS_METHODS:
            self._is_read.set()
        self.gone = asyncio.ensure_future(self._listen())

    async def receive(self) -> Message:
        """Return the next part of the body, after its end the news that the client is gone."""
        if self._is_read.is_set():
            await asyncio.wait({self.gone})
            return {"type": "http.disconnect"}
        message = await self._receive()
        if not message.get("more_body"):
            self._is_read.set()
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        self.is_answered = True
        await self._send(message)
        is_body = message["type"] == "http.response.body"
        self.is_complete = is_body and not message.get("more_body")

    async def _listen(self) -> None:
        await self._is_read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass


ROUTERS = (
    routes.router,
    jobs.router,
    simple_http.router,
    dify.router,
    openai.router,
    page.router,
    questions.router,
    manage.router,
    status.router,
    router,
)

API_DESCRIPTION = """Context-aware retrieval that lives in your Postgres.

Offsets are in characters; of scores, more is better. Errors are `{error: {type, message, code,
param}}`. On this machine alone no key is needed.
"""


def create_http_app(policy: AccessPolicy) -> FastAPI:
    """Build the application of an access policy."""
    app = FastAPI(
        title="lexichord",
        version=version("lexichord"),
        description=API_DESCRIPTION,
        docs_url=None,  # FastAPI's pages load their scripts from elsewhere: page/routes.py
        redoc_url=None,
        default_response_class=JsonReply,
        generate_unique_id_function=_operation_id,
        lifespan=_lifespan,
    )
    app.state.policy, app.state.jobs, app.state.metrics = policy, JobRunner(), ServerMetrics()
    app.state.found, app.state.examples = FoundResponses(), ExampleSearches()
    language = load_language(policy.settings.page_language)
    app.add_middleware(LanguageMiddleware, language=language)
    app.add_middleware(TimeoutMiddleware, seconds=policy.settings.request_timeout)
    handle_errors(app)
    for part in ROUTERS:
        app.include_router(part)
    app.mount("/static/swagger", swagger_files)
    app.mount("/static", static_files)
    return app


def create_http_server(policy: AccessPolicy) -> ASGIApp:
    """Build the application with all that a server needs in front of it."""
    app = create_http_app(policy)
    return MetricsMiddleware(add_middleware(app, policy), app.state.metrics)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with jobs.ended_jobs(app.state.jobs), ended_searches(app.state.examples):
        yield


def _operation_id(route: APIRoute) -> str:
    return route.name
