"""The search of a vector store, and lists in OpenAI's shape."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from lexichord.client.passages import ScoredPassage, passage_options
from lexichord.db.files import Page, sent_file
from lexichord.db.pool import Row
from lexichord.errors import ConfigError, NotFoundError
from lexichord.serve.access import ScopedClient
from lexichord.serve.http import ERROR_RESPONSES, AuthorizedRoute, Caller
from lexichord.serve.http.bodies import FilterValue, JsonBody, StrictModel
from lexichord.serve.limits import (
    MAX_FILTER_DEPTH,
    MAX_FILTER_VALUES,
    MAX_LISTED_FILES,
    MAX_NAME_CHARS,
    MAX_QUERY_CHARS,
    MAX_VECTOR_STORE_QUERIES,
    MAX_VECTOR_STORE_RESULTS,
)
from lexichord.types import Json, Response

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


router = openai_router()

type StoreQuery = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARS)]


class ComparisonFilter(BaseModel):
    """A condition on an attribute of a document."""

    type: Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"]
    key: str
    value: FilterValue | Annotated[list[FilterValue], Field(max_length=MAX_FILTER_VALUES)]


class CompoundFilter(BaseModel):
    """Conditions that hold all at once, or one at least."""

    type: Literal["and", "or"]
    filters: Annotated[
        list["ComparisonFilter | CompoundFilter"], Field(max_length=MAX_FILTER_VALUES)
    ]


class RankingOptions(JsonBody):
    """How good a result must be; the ranker is the server's."""

    model_config = ConfigDict(extra="ignore")

    ranker: str | None = None
    score_threshold: float | None = Field(None, ge=0, le=1)


class VectorStoreSearch(JsonBody):
    """What is body."""

    model_config = ConfigDict(
        extra="ignore",  # clients know options that we do not
        json_schema_extra={
            "examples": [
                {
                    "query": "How long do the confidentiality obligations survive?",
                    "max_num_results": 5,
                    "ranking_options": {"score_threshold": 0.1},
                    "filters": {"type": "eq", "key": "kind", "value": "nda"},
                }
            ]
        },
    )

    query: (
        StoreQuery
        | Annotated[list[StoreQuery], Field(min_length=1, max_length=MAX_VECTOR_STORE_QUERIES)]
    )
    filters: ComparisonFilter | CompoundFilter | None = None
    max_num_results: int = Field(10, ge=1, le=MAX_VECTOR_STORE_RESULTS)
    ranking_options: RankingOptions | None = None
    rewrite_query: bool = False


class ResultContent(BaseModel):
    """A text of a result."""

    type: Literal["text"] = "text"
    text: str


class VectorStoreResult(BaseModel):
    """A passage; `score` is the probability, 0 to 1, that it holds an answer.

    `file_id` is its document's id; `attributes` are what filters know of its document: the metadata
    that are texts, numbers and truth values, its dataset, uri, title, media type and folder.
    """

    file_id: str
    filename: str
    score: float
    attributes: dict[str, FilterValue]
    content: list[ResultContent]


class VectorStorePage(BaseModel):
    """All that was asked for, best first; `search_query` is what was searched."""

    object: Literal["vector_store.search_results.page"] = "vector_store.search_results.page"
    search_query: list[str]
    data: list[VectorStoreResult]
    has_more: bool = False
    next_page: str | None = None


@router.post("/vector_stores/{vector_store_id}/search", operation_id="search_vector_store")
async def search_vector_store(
    vector_store_id: StoreId, body: VectorStoreSearch, caller: Caller
) -> VectorStorePage:
    """Search a dataset as OpenAI's clients search a vector store."""
    texts = [body.query] if isinstance(body.query, str) else body.query
    filter = None if body.filters is None else compile_filter(body.filters)
    min_score = (body.ranking_options and body.ranking_options.score_threshold) or 0.0
    options: Json = {
        "datasets": [vector_store_id],
        "k": body.max_num_results,
        "filter": filter,
        "rewrite": body.rewrite_query,
    }
    searched: list[str] = []
    best: dict[str, ScoredPassage] = {}
    for text in texts:
        response = await caller.query(text, **passage_options(options))
        searched += searched_texts(text, response)
        for passage in await caller.passages(response, body.max_num_results, min_score):
            known = best.setdefault(passage.hit.chunk_id, passage)
            if passage.score > known.score:
                best[passage.hit.chunk_id] = passage
    ranked = sorted(best.values(), key=lambda passage: -passage.score)[: body.max_num_results]
    return VectorStorePage(search_query=searched, data=await describe_results(caller, ranked))


def compile_filter(filter: ComparisonFilter | CompoundFilter, depth: int = 1) -> Json:
    """Return the same filter in the form of docs/sql/search.md. Raises ConfigError."""
    if depth > MAX_FILTER_DEPTH:
        raise ConfigError(f"filters: at most {MAX_FILTER_DEPTH} in one another")
    if isinstance(filter, CompoundFilter):
        return {filter.type: [compile_filter(part, depth + 1) for part in filter.filters]}
    return {"key": filter.key, "op": filter.type, "value": filter.value}


def searched_texts(text: str, response: Response) -> list[str]:
    """Return the question and, if it was searched in other words as well, those."""
    rewrites = [step.made or {} for step in response.trace if step.stage == "rewrite"]
    return [text, *(one["text"] for one in rewrites if one.get("kind", "none") != "none")]


async def describe_results(
    caller: ScopedClient, passages: Sequence[ScoredPassage]
) -> list[VectorStoreResult]:
    """Return passages as results, each of the file that was sent, else of its document."""
    sent = {sent_file(passage.hit.dataset, passage.hit.uri) for passage in passages} - {""}
    rows = await caller.kept_files(file_ids=sorted(sent)) if sent else ()
    kept = {row["file_id"] for row in rows}
    return [_result(passage, kept) for passage in passages]


def _result(passage: ScoredPassage, kept: Collection[str]) -> VectorStoreResult:
    file_id = sent_file(passage.hit.dataset, passage.hit.uri)
    return VectorStoreResult(
        file_id=file_id if file_id in kept else passage.hit.document_id,
        filename=passage.name,
        score=passage.score,
        attributes=_attributes(passage),
        content=[ResultContent(text=passage.hit.content)],
    )


def _attributes(passage: ScoredPassage) -> dict[str, Any]:
    hit, kinds = passage.hit, (str, bool, int, float)
    known = {"dataset": hit.dataset, "uri": hit.uri, "title": hit.title, **passage.metadata}
    return {key: value for key, value in known.items() if isinstance(value, kinds)}
