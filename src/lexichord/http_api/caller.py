"""Who asks: what each route is given of the application."""

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from lexichord.guard.limited import Limited

# Only for the OpenAPI document: the door itself reads the header.
_scheme = HTTPBearer(auto_error=False, description="An API key: lexichord keys create NAME.")


async def caller(request: Request) -> Limited:
    """Give the application as the sender of a request may use it. Raises AccessError."""
    found: Limited = await request.app.state.door.enter(request.headers.get("authorization"))
    return found


Caller = Annotated[Limited, Depends(caller), Depends(_scheme)]
