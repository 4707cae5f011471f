"""Who sends a request: what each route may use of the application."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer

from lexichord.serve.access import Limited

# Only for the OpenAPI document: the access policy itself reads the header.
_scheme = HTTPBearer(auto_error=False, description="An API key: lexichord keys create NAME.")


async def caller(request: Request, _: Annotated[object, Depends(_scheme)] = None) -> Limited:
    """Return the application as the sender of a request may use it. Raises AccessError."""
    if not hasattr(request.state, "caller"):
        policy = request.app.state.policy
        request.state.caller = await policy.authorize(request.headers.get("authorization"))
    scoped: Limited = request.state.caller
    return scoped


Caller = Annotated[Limited, Depends(caller)]


class AuthorizedRoute(APIRoute):
    """A route that reads no body, file or field before it has seen the key."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        handle = super().get_route_handler()

        async def handle_authorized(request: Request) -> Response:
            await caller(request)
            return await handle(request)

        return handle_authorized
