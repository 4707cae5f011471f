"""Whether the server lives, and whether it can answer."""

from fastapi import APIRouter, Request

from lexichord.guard.door import Door

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Say that the process is alive; nothing else is looked at."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(request: Request) -> dict[str, str]:
    """Say that the database answers; 503 if it does not."""
    door: Door = request.app.state.door
    await door.core.ping()
    return {"status": "ready"}
