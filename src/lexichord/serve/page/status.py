"""The page of how the database is: as much of it as the caller's rights reach."""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from lexichord.client.status import STATUS_RUNS
from lexichord.display.text import status_rows
from lexichord.errors import DatabaseError
from lexichord.serve.access import ScopedClient
from lexichord.serve.page.render import page, page_caller
from lexichord.serve.page.routes import PAGE_METHODS, PageRoute
from lexichord.types.state import Health, IndexedTable, Status

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True)
class DatabaseView:
    """How the database is, for who reaches all of it.

    `health` is None unless it was checked, `shards` None where one does not answer: the documents
    of each, by its number.
    """

    status: Status
    facts: Sequence[tuple[str, str]]
    health: Health | None
    tables: Sequence[IndexedTable]
    shards: Mapping[int, int] | None


@router.api_route("/status", methods=PAGE_METHODS)
async def show_status(request: Request) -> Response:
    """Show what is stored and the latest ingests; to who reaches all datasets, all the rest."""
    caller = await page_caller(request)
    caller.check_any("read")
    rights = caller.rights
    checks = request.query_params.get("check") == "1"
    return page(
        request,
        "status.html",
        rows=await caller.datasets(),
        runs=await _or_none(caller.jobs(STATUS_RUNS)),
        view=await _look(caller, checks) if rights.reaches_all else None,
        may_check=rights.writes,
    )


async def _look(caller: ScopedClient, checks: bool) -> DatabaseView:
    health = await caller.doctor() if checks else None
    status = health or await caller.status()
    shards = await _or_none(caller.shards())
    return DatabaseView(status, status_rows(status), health, await caller.tables(), shards)


async def _or_none[R](reading: Awaitable[R]) -> R | None:
    """Return what is read; None where a database does not answer, or lets this role see none."""
    try:
        return await reading
    except DatabaseError:
        return None
