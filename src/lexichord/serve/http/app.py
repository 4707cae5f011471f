"""The HTTP application: its routes, how they fail, and the end of a request whose time is up."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lexichord.serve.access import AccessPolicy
from lexichord.serve.compat import dify, openai, simple_http
from lexichord.serve.errors import public_error
from lexichord.serve.http import JsonReply, error_reply, handle_errors, health, jobs, routes
from lexichord.serve.http.health import MetricsMiddleware, ServerMetrics
from lexichord.serve.http.jobs import JobRunner
from lexichord.serve.middleware import BODYLESS_METHODS
from lexichord.serve.page import manage, questions, static_files, status
from lexichord.serve.page import routes as page
from lexichord.serve.page.language import LanguageMiddleware, load_language
from lexichord.serve.page.questions import ExampleSearches, ended_searches
from lexichord.serve.page.routes import FoundResponses, swagger_files
from lexichord.serve.server import add_middleware


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
        connection, is_answered = _Connection(scope, receive), False

        async def send_noted(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            await send(message)

        work = asyncio.ensure_future(self.app(scope, connection.receive, send_noted))
        error = await self._outcome(work, connection)
        if error is not None and is_answered:
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

    `gone` is done when the client is gone.
    """

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive, self._is_read = receive, asyncio.Event()
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
    for router in ROUTERS:
        app.include_router(router)
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
