"""Who asks: what each route is given of the application."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer

from lexichord.serve.access import Limited

# Only for the OpenAPI document: the door itself reads the header.
_scheme = HTTPBearer(auto_error=False, description="An API key: lexichord keys create NAME.")


async def caller(request: Request, _: Annotated[object, Depends(_scheme)] = None) -> Limited:
    """Give the application as the sender of a request may use it. Raises AccessError."""
    if not hasattr(request.state, "caller"):
        door = request.app.state.door
        request.state.caller = await door.enter(request.headers.get("authorization"))
    found: Limited = request.state.caller
    return found


Caller = Annotated[Limited, Depends(caller)]


class KeyFirst(APIRoute):
    """A route that reads no body, file or field before it has seen the key."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Give what answers a request."""
        handle = super().get_route_handler()

        async def seen_first(request: Request) -> Response:
            await caller(request)
            return await handle(request)

        return seen_first
