"""How the server does, for Prometheus: numbers only, nothing of what is asked or stored."""

import asyncio
from time import perf_counter
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lexichord.errors import ForbiddenError, LexichordError
from lexichord.serve.access import Limited
from lexichord.serve.http.caller import Caller
from lexichord.serve.http.replies import ERRORS

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
METHODS = (
    "GET",
    "HEAD",
    "POST",
    "DELETE",
    "OPTIONS",
)  # any other is "other": names are the caller's
PATIENCE = 1  # seconds for the database to count

router = APIRouter(tags=["health"])

BODY = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
SAMPLE = 'lexichord_requests_total{method="POST",route="/v1/search",status="200"} 3.0\n'
ANSWERS: dict[int | str, dict[str, Any]] = {
    **{key: {"description": each["description"], "content": BODY} for key, each in ERRORS.items()},
    200: {"content": {"text/plain": {"example": SAMPLE}}},
}


class Metrics:
    """The numbers of one application, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = own = CollectorRegistry()
        labels = ("method", "route", "status")
        self.requests = Counter("lexichord_requests", "Answered.", labels, registry=own)
        self.refused = Counter("lexichord_requests_refused", "By 413 or 429.", registry=own)
        self.running = Gauge("lexichord_requests_running", "Not yet answered.", registry=own)
        self.seconds = Histogram(
            "lexichord_request_seconds", "To answer.", ("route",), buckets=SECONDS, registry=own
        )
        self.connections = Gauge(
            "lexichord_connections",
            "To the database: open, lent, and requests that wait for one.",
            ("state",),
            registry=own,
        )
        self.stored = Gauge("lexichord_stored", "What there is.", ("what",), registry=own)
        ProcessCollector(registry=own)

    def count(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in METHODS else "other"
        self.requests.labels(method, route, status).inc()
        self.seconds.labels(route).observe(seconds)
        if status in (413, 429):
            self.refused.inc()


class Metered:
    """An ASGI application in front of another, which counts what that one answers."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through and count it; without an answer it is 499, the client was gone."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, started = 499, perf_counter()

        async def told(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        with self.metrics.running.track_inprogress():
            try:
                await self.app(scope, receive, told)
            finally:
                self.metrics.count(scope, status, perf_counter() - started)


@router.get("/metrics", response_class=PlainTextResponse, responses=ANSWERS)
async def metrics(request: Request, caller: Caller) -> PlainTextResponse:
    """Give the numbers in Prometheus' format. A key needs to reach all datasets."""
    if caller.rights.datasets is not None:
        raise ForbiddenError("these numbers are of all datasets: the API key reaches some only")
    found: Metrics = request.app.state.metrics
    for state, number in caller.core.database.connections().items():
        found.connections.labels(state).set(number)
    await _count_stored(found, caller)
    return PlainTextResponse(generate_latest(found.registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)


async def _count_stored(found: Metrics, caller: Limited) -> None:
    """Count documents and chunks; where the database cannot answer, tell none, not old ones."""
    found.stored.clear()
    try:
        async with asyncio.timeout(PATIENCE):
            rows = await caller.datasets()
    except (LexichordError, TimeoutError):
        return
    for what in ("documents", "chunks"):
        found.stored.labels(what).set(sum(row[what] for row in rows))
