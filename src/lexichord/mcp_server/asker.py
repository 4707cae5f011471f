"""Who calls a tool: what it may use, and what of its headers is not heeded."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from lexichord.guard.limited import Limited
from lexichord.guard.services import with_named_services

ENDPOINT, KEY = "X-RETRIEVAL-ENDPOINT", "X-RETRIEVAL-API-KEY"
SCOPE = "lexichord.limited"  # the entry of a request's ASGI scope that the entrance makes

NO_ENDPOINT = "documents are in this server's own database: no other backend is ever asked"
OTHER_KEY = "the key of Authorization was taken"


@dataclass(frozen=True, slots=True)
class Asker:
    """One request's caller, and the seconds that its work may take.

    `ignored` says of what it sent that has no effect, and why.
    """

    limited: Limited
    ignored: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0


type Enter = Callable[[], Awaitable[Asker]]


def asker(limited: Limited, headers: Mapping[str, str]) -> Asker:
    """Give the caller of a request with these headers. Raises ForbiddenError, ConfigError."""
    ignored = {}
    if headers.get(ENDPOINT):
        ignored[ENDPOINT] = NO_ENDPOINT
    if headers.get(KEY) and headers.get("authorization"):
        ignored[KEY] = OTHER_KEY
    return Asker(with_named_services(limited, headers), ignored)


async def of_request() -> Asker:
    """Give the caller of the HTTP request that is being answered; fails where there is none."""
    from fastmcp.server.dependencies import get_http_request

    request = get_http_request()
    return asker(request.scope[SCOPE], request.headers)
