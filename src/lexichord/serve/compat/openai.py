"""OpenAI's search of a vector store; a store is a dataset, its id the dataset's name."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from lexichord.client.passages import Passage, find_passages
from lexichord.errors import ConfigError
from lexichord.serve.compat.filters import query
from lexichord.serve.http.bodies import JsonBody
from lexichord.serve.http.caller import Caller, KeyFirst
from lexichord.serve.http.replies import ERRORS
from lexichord.serve.limits import LONGEST
from lexichord.types import Json, Response

router = APIRouter(tags=["OpenAI"], route_class=KeyFirst, responses=ERRORS)

MOST = 50  # results, by OpenAI's specification
QUERIES = 10  # in one request; each is a whole search
DEEPEST = 8  # filters in one another
VALUES = 100  # in a list

type Value = str | bool | int | float
type Question = Annotated[str, Field(min_length=1, max_length=LONGEST)]


class Comparison(BaseModel):
    """A condition on an attribute of a document."""

    type: Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"]
    key: str
    value: Value | Annotated[list[Value], Field(max_length=VALUES)]


class Compound(BaseModel):
    """Conditions that hold all at once, or one at least."""

    type: Literal["and", "or"]
    filters: Annotated[list["Comparison | Compound"], Field(max_length=VALUES)]


class RankingOptions(JsonBody):
    """How good a result must be; the ranker is the server's."""

    model_config = ConfigDict(extra="ignore")

    ranker: str | None = None
    score_threshold: float | None = Field(None, ge=0, le=1)


class VectorStoreSearch(JsonBody):
    """What is asked."""

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

    query: Question | Annotated[list[Question], Field(min_length=1, max_length=QUERIES)]
    filters: Comparison | Compound | None = None
    max_num_results: int = Field(10, ge=1, le=MOST)
    ranking_options: RankingOptions | None = None
    rewrite_query: bool = False


class Content(BaseModel):
    """A text of a result."""

    type: Literal["text"] = "text"
    text: str


class Result(BaseModel):
    """A passage; `score` is the probability, 0 to 1, that it holds an answer.

    `file_id` is its document's id, `attributes` are its document's metadata as far as they are
    texts, numbers and truth values.
    """

    file_id: str
    filename: str
    score: float
    attributes: dict[str, Value]
    content: list[Content]


class Page(BaseModel):
    """All that was asked for, best first; `search_query` is what was searched."""

    object: Literal["vector_store.search_results.page"] = "vector_store.search_results.page"
    search_query: list[str]
    data: list[Result]
    has_more: bool = False
    next_page: str | None = None


@router.post("/v1/vector_stores/{vector_store_id}/search", operation_id="search_vector_store")
async def search_vector_store(
    vector_store_id: str, asked: VectorStoreSearch, limited: Caller
) -> Page:
    """Search a dataset as OpenAI's clients search a vector store."""
    texts = [asked.query] if isinstance(asked.query, str) else asked.query
    filter = None if asked.filters is None else compile_filter(asked.filters)
    least = (asked.ranking_options and asked.ranking_options.score_threshold) or 0.0
    searched: list[str] = []
    best: dict[int, Passage] = {}
    for text in texts:
        found = await query(
            limited,
            text,
            datasets=[vector_store_id],
            k=asked.max_num_results,
            filter=filter,
            rewrite=asked.rewrite_query,
        )
        searched += _searched(text, found)
        database = limited.core.database
        for passage in await find_passages(database, found, asked.max_num_results, least):
            known = best.setdefault(passage.hit.chunk_id, passage)
            if passage.score > known.score:
                best[passage.hit.chunk_id] = passage
    ranked = sorted(best.values(), key=lambda passage: -passage.score)[: asked.max_num_results]
    return Page(search_query=searched, data=[_result(passage) for passage in ranked])


def compile_filter(given: Comparison | Compound, depth: int = 1) -> Json:
    """Give the filter of the same meaning, described in sql/README.md. Raises ConfigError."""
    if depth > DEEPEST:
        raise ConfigError(f"filters: at most {DEEPEST} in one another")
    if isinstance(given, Compound):
        return {given.type: [compile_filter(each, depth + 1) for each in given.filters]}
    return {"key": given.key, "op": given.type, "value": given.value}


def _searched(text: str, found: Response) -> list[str]:
    """Give the question and, if it was searched in other words as well, those."""
    made = [step.get("made", {}) for step in found.trace if step["stage"] == "rewrite"]
    return [text, *(each["text"] for each in made if each.get("kind", "none") != "none")]


def _result(passage: Passage) -> Result:
    return Result(
        file_id=str(passage.hit.document_id),
        filename=passage.name,
        score=passage.score,
        attributes=_attributes(passage.metadata),
        content=[Content(text=passage.hit.content)],
    )


def _attributes(metadata: Json) -> dict[str, Any]:
    kinds = (str, bool, int, float)
    return {key: value for key, value in metadata.items() if isinstance(value, kinds)}
