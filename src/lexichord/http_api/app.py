"""The HTTP application: its routes, and how they fail."""

from importlib.metadata import version

from fastapi import FastAPI

from lexichord.guard.door import Door
from lexichord.http_api import dify, health, vector_stores
from lexichord.http_api.errors import Deadline, handle_errors
from lexichord.http_api.page import routes as page
from lexichord.http_api.page.render import static

ROUTERS = (health.router, dify.router, vector_stores.router, page.router)


def make_app(door: Door) -> FastAPI:
    """Give the application behind a door."""
    app = FastAPI(
        title="lexichord",
        version=version("lexichord"),
        description="Context-aware retrieval that lives in your Postgres.",
        docs_url=None,  # these pages load their scripts from elsewhere
        redoc_url=None,
    )
    app.state.door = door
    app.add_middleware(Deadline, seconds=door.core.settings.request_timeout)
    handle_errors(app)
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", static)
    return app
