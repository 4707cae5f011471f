"""The HTTP application: its routes, and how they fail."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.types import ASGIApp

from lexichord.serve.access import Door
from lexichord.serve.compat import dify, openai, simple_http
from lexichord.serve.http import documents, health, jobs, metrics, search, uploads
from lexichord.serve.http.jobs import Jobs
from lexichord.serve.http.metrics import Metered, Metrics
from lexichord.serve.http.middleware import Watched
from lexichord.serve.http.replies import Reply, handle_errors
from lexichord.serve.page import routes as page
from lexichord.serve.page.render import static
from lexichord.serve.server import guarded

ROUTERS = (
    search.router,
    documents.router,
    uploads.router,
    jobs.router,
    simple_http.router,
    dify.router,
    openai.router,
    page.router,
    health.router,
    metrics.router,
)

ABOUT = """Context-aware retrieval that lives in your Postgres.

Offsets are in characters; of scores, more is better. Errors are `{error: {type, message, code,
param}}`. On this machine alone no key is needed.
"""


def make_app(door: Door) -> FastAPI:
    """Give the application behind a door."""
    app = FastAPI(
        title="lexichord",
        version=version("lexichord"),
        description=ABOUT,
        docs_url=None,  # these pages load their scripts from elsewhere
        redoc_url=None,
        default_response_class=Reply,
        generate_unique_id_function=_operation,
        lifespan=_lifespan,
    )
    app.state.door, app.state.jobs, app.state.metrics = door, Jobs(), Metrics()
    app.add_middleware(Watched, seconds=door.core.settings.request_timeout)
    handle_errors(app)
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", static)
    return app


def make_server(door: Door) -> ASGIApp:
    """Give the application with all that a server needs in front of it."""
    app = make_app(door)
    return Metered(guarded(app, door), app.state.metrics)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with jobs.ended_jobs(app.state.jobs):
        yield


def _operation(route: APIRoute) -> str:
    return route.name
