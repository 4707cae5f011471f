"""Whether the server lives, and whether it can answer."""

import asyncio
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict

from lexichord.errors import DatabaseError
from lexichord.serve.access import Door
from lexichord.serve.http.replies import ERRORS

PATIENCE = 5  # seconds; who asks, asks again

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """How it is."""

    status: Literal["ok", "ready"]
    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "ok"}]})


@router.get("/healthz")
async def healthz() -> Health:
    """Say that the process is alive; nothing else is looked at."""
    return Health(status="ok")


@router.get("/readyz", responses={503: ERRORS[503]})
async def readyz(request: Request) -> Health:
    """Say that the database answers."""
    door: Door = request.app.state.door
    try:
        async with asyncio.timeout(PATIENCE):
            await door.core.ping()
    except TimeoutError:
        raise DatabaseError(f"no answer in {PATIENCE} s") from None
    return Health(status="ready")
