"""Ask: for chunks, for files, for evidence and an answer."""

from typing import Any

from fastapi import APIRouter

from lexichord.serve.http.bodies import QueryBody, SearchBody
from lexichord.serve.http.caller import Caller, KeyFirst
from lexichord.serve.http.replies import ERRORS, Reply, reply
from lexichord.serve.http.shapes import ResponseShape
from lexichord.types import FilesResult, SearchResult

router = APIRouter(prefix="/v1", tags=["search"], route_class=KeyFirst, responses=ERRORS)


@router.post("/search", response_model=SearchResult)
async def search(caller: Caller, body: SearchBody) -> Reply:
    """Find the k chunks that answer a query best, with every score and rank."""
    return reply(await caller.search(body.query, **_options(body)))


@router.post("/files:discover", response_model=FilesResult)
async def discover_files(caller: Caller, body: SearchBody) -> Reply:
    """Find the k documents that the hint names, or else that the query is about."""
    return reply(await caller.files(body.query, **_options(body)))


@router.post("/query", response_model=ResponseShape)
async def query(caller: Caller, body: QueryBody) -> Reply:
    """Find the files, evidence in and around them and, if asked for, an answer."""
    return reply(await caller.query(body.query, **_options(body)))


def _options(body: SearchBody) -> dict[str, Any]:
    """Give what was asked for, so that all else is as the library has it."""
    return body.model_dump(exclude_unset=True, exclude={"query"})
