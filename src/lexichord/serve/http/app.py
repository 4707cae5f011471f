"""The HTTP application: its routes, and how they fail."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.types import ASGIApp

from lexichord.serve.access import AccessPolicy
from lexichord.serve.compat import dify, openai, simple_http
from lexichord.serve.http import health, jobs, routes, uploads
from lexichord.serve.http.health import MetricsMiddleware, ServerMetrics
from lexichord.serve.http.jobs import JobRunner
from lexichord.serve.http.middleware import TimeoutMiddleware
from lexichord.serve.http.routing import JsonReply, handle_errors
from lexichord.serve.page import routes as page
from lexichord.serve.page.render import static_files
from lexichord.serve.server import add_middleware

ROUTERS = (
    routes.router,
    uploads.router,
    jobs.router,
    simple_http.router,
    dify.router,
    openai.router,
    page.router,
    health.router,
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
        docs_url=None,  # these pages load their scripts from elsewhere
        redoc_url=None,
        default_response_class=JsonReply,
        generate_unique_id_function=_operation_id,
        lifespan=_lifespan,
    )
    app.state.policy, app.state.jobs, app.state.metrics = policy, JobRunner(), ServerMetrics()
    app.add_middleware(TimeoutMiddleware, seconds=policy.settings.request_timeout)
    handle_errors(app)
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", static_files)
    return app


def create_http_server(policy: AccessPolicy) -> ASGIApp:
    """Build the application with all that a server needs in front of it."""
    app = create_http_app(policy)
    return MetricsMiddleware(add_middleware(app, policy), app.state.metrics)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with jobs.ended_jobs(app.state.jobs):
        yield


def _operation_id(route: APIRoute) -> str:
    return route.name
