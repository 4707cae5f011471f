"""Lists in OpenAI's shape: pages before or after an item, the newest first unless asked."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from lexichord.db.files import Page
from lexichord.db.pool import Row
from lexichord.errors import ConfigError, NotFoundError
from lexichord.serve.http.bodies import StrictModel
from lexichord.serve.http.routing import ERROR_RESPONSES, AuthorizedRoute
from lexichord.serve.limits import MAX_LISTED_FILES, MAX_NAME_CHARS

FILE_EXAMPLE = f"file-{'0a1b' * 6}"
StoreId = Annotated[str, Path(max_length=MAX_NAME_CHARS, examples=["default"])]
FileId = Annotated[str, Path(max_length=100, examples=[FILE_EXAMPLE])]


def openai_router() -> APIRouter:
    """Return a router for routes of OpenAI's API."""
    return APIRouter(
        prefix="/v1", tags=["OpenAI"], route_class=AuthorizedRoute, responses=ERROR_RESPONSES
    )


class ListParams(StrictModel):
    """Which part of a list: `after` and `before` are ids of items."""

    limit: int = Field(20, ge=1, le=100, examples=[20])
    order: Literal["asc", "desc"] = "desc"
    after: str | None = None
    before: str | None = None


class FileListParams(StrictModel):
    """Which part of the list of files."""

    limit: int = Field(MAX_LISTED_FILES, ge=1, le=MAX_LISTED_FILES, examples=[100])
    order: Literal["asc", "desc"] = "desc"
    after: str | None = None
    purpose: str | None = None

    @property
    def before(self) -> str | None:
        """None: files are listed forwards only."""
        return None


class Deleted(BaseModel):
    """That something is gone."""

    id: str
    object: str
    deleted: bool = True


class ListShape[Item: BaseModel](BaseModel):
    """A page of a list."""

    object: Literal["list"] = "list"
    data: list[Item]
    first_id: str | None
    last_id: str | None
    has_more: bool


async def list_page[Item: BaseModel](
    params: ListParams | FileListParams,
    fetch: Callable[[Page], Awaitable[Sequence[Row]]],
    find: Callable[[str], Awaitable[Row]],
    key: str,
    item: Callable[[Row], Item],
) -> ListShape[Item]:
    """Return the page that is asked for; `find` gives the row that it is beside.

    Rows are in the order of `created_at` and, of the same time, `key`.
    """
    if params.after is not None and params.before is not None:
        raise ConfigError("after and before: a page is beside one item, so give one of them")
    beside = params.after if params.before is None else params.before
    is_before = params.before is not None
    newest_first = (params.order == "desc") != is_before
    row = None if beside is None else await find(beside)
    past = None if row is None else (row["created_at"], row[key])
    rows = list(await fetch(Page(params.limit + 1, newest_first, past)))
    shown = rows[: params.limit]
    data = [item(row) for row in (reversed(shown) if is_before else shown)]
    ids = [getattr(each, "id") for each in data]  # noqa: B009 - no Item has it by its type
    return ListShape(
        data=data,
        first_id=ids[0] if ids else None,
        last_id=ids[-1] if ids else None,
        has_more=len(rows) > len(shown),
    )


def first_row(rows: Sequence[Row], missing: str) -> Row:
    """Return the only row. Raises NotFoundError."""
    if not rows:
        raise NotFoundError(missing)
    return rows[0]
