"""Documents and chunks as resources: document://3 and chunk://12, plain text."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from fastmcp import FastMCP
from fastmcp.exceptions import ResourceError
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from lexichord import errors
from lexichord.guard.public import public_error
from lexichord.mcp_server.asker import Enter
from lexichord.mcp_server.chatgpt import read_id

PLAIN = "text/plain"


def add_resources(mcp: FastMCP, enter: Enter) -> None:
    """Register the templates of both kinds."""

    async def document(id: str) -> str:
        """Give a document's whole text."""
        async with _told():
            limited = (await enter()).limited
            return (await limited.show(read_id(f"document://{id}")[1])).text

    async def chunk(id: str) -> str:
        """Give a chunk's text with that around it."""
        async with _told():
            limited = (await enter()).limited
            return (await limited.expand(read_id(f"chunk://{id}")[1])).content

    templates: list[tuple[str, Callable[[str], Awaitable[str]], str]] = [
        ("document", document, "A document's text"),
        ("chunk", chunk, "A passage with its neighbours"),
    ]
    for name, read, title in templates:
        mcp.resource(f"{name}://{{id}}", name=name, title=title, mime_type=PLAIN)(read)


@asynccontextmanager
async def _told() -> AsyncIterator[None]:
    """Tell an error in the protocol's way, as a stranger may see it."""
    try:
        yield
    except errors.NotFoundError as error:
        raise MCPError(INVALID_PARAMS, str(error)) from None
    except Exception as error:
        raise ResourceError(public_error(error).message) from None
