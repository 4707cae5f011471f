"""Run an ASGI application behind the limits, until it is told to stop."""

from typing import TYPE_CHECKING, cast

from lexichord.guard.door import Door
from lexichord.guard.limits import Asgi, Limits
from lexichord.guard.origins import Origins

if TYPE_CHECKING:
    from starlette.types import ASGIApp

# What a page in a browser may send, by hand or by its MCP client.
HEADERS = (
    *("authorization", "content-type", "last-event-id", "mcp-session-id", "mcp-protocol-version"),
    *("mcp-method", "mcp-name", "x-retrieval-endpoint", "x-retrieval-api-key"),
    *("x-llm-api-url", "x-llm-model", "x-rerank-url", "x-rerank-model"),
)
PATIENCE = 10  # seconds for requests that are under way when the server is told to stop


def guarded(app: Asgi, door: Door) -> "ASGIApp":
    """Put what all servers need in front of an application: limits, origins, hosts."""
    from starlette.middleware.cors import CORSMiddleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    given = door.core.settings
    limited = Limits(app, given.max_body, given.max_requests)
    inner = cast("ASGIApp", Origins(limited, given.allowed_origins))
    shared = CORSMiddleware(
        inner,
        allow_origins=given.allowed_origins,
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=HEADERS,
        expose_headers=["mcp-session-id", "retry-after"],
    )
    return TrustedHostMiddleware(shared, allowed_hosts=[*door.hosts], www_redirect=False)


async def serve(app: "ASGIApp", host: str, port: int) -> None:
    """Listen until interrupted. Requests are not logged: their addresses may hold questions."""
    import uvicorn

    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=PATIENCE,
    )
    await uvicorn.Server(config).serve()
