"""How the server is: probes, and metrics for Prometheus.

Metrics are numbers only, nothing of what is asked or stored.
"""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from pydantic import BaseModel, ConfigDict
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lexichord.errors import DatabaseError, LexichordError
from lexichord.serve.access import AccessPolicy, ScopedClient
from lexichord.serve.errors import CLIENT_GONE
from lexichord.serve.http import ERROR_RESPONSES, Caller
from lexichord.serve.limits import METRICS_DATABASE_SECONDS, READINESS_SECONDS

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
