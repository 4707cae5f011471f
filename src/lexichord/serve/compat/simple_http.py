"""A plain search service in two routes, for programs that know no more."""

from collections.abc import Sequence
from time import perf_counter
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from lexichord.retrieve.confidence import chunk_confidences
from lexichord.serve.http import ERROR_RESPONSES, AuthorizedRoute, Caller, JsonReply, reply
from lexichord.serve.http.bodies import JsonBody, QueryText, StrictModel, option
from lexichord.serve.limits import MAX_URL_QUERY_CHARS
from lexichord.types import SearchOptions

DESCRIPTION_CHARS = 500  # of a passage
NO_ANSWER = "Nothing relevant was found for your question."

router = APIRouter(tags=["plain"], route_class=AuthorizedRoute, responses=ERROR_RESPONSES)


class PlainSearchParams(StrictModel):
    """A search as parameters of an address."""

    query: str = Field(
        min_length=1, max_length=MAX_URL_QUERY_CHARS, examples=["notice of termination"]
    )
    top_k: int = option("k")


class AskBody(JsonBody):
    """A question to answer by the `top_k` best passages."""

    question: QueryText
    top_k: int = option("k")

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": "Who pays for travel?", "top_k": 5}]}
    )


class ItemShape(BaseModel):
    """A passage that a plain search found: the ids are a chunk's and its document's."""

    id: str
    title: str
    description: str
    score: float


class ItemsShape(BaseModel):
    """The passages that a plain search found, best first."""

    query: str
    results: list[ItemShape]
    total: int
    search_time_ms: float


class SourceItemShape(BaseModel):
    """A passage that an answer was written from: its chunk's id, and its document's."""

    id: str
    title: str
    dataset_id: str
    score: float


class AnswerShape(BaseModel):
    """An answer in the evidence's own words, with the passages that it was written from."""

    question: str
    answer: str
    sources: list[SourceItemShape]
    context_used: int
    confidence: float


@router.get("/search", response_model=ItemsShape)
async def plain_search(caller: Caller, params: Annotated[PlainSearchParams, Query()]) -> JsonReply:
    """Find the `top_k` passages that answer a query best."""
    started = perf_counter()
    result = await caller.search(
        params.query, k=params.top_k, depth=max(SearchOptions.depth, params.top_k)
    )
    items = [
        {
            "id": hit.chunk_id,
            "title": hit.title or hit.uri,
            "description": hit.content[:DESCRIPTION_CHARS],
            "score": hit.score,
        }
        for hit in result.hits
    ]
    milliseconds = round((perf_counter() - started) * 1000, 1)
    shape = {"query": params.query, "results": items, "total": len(items)}
    return reply({**shape, "search_time_ms": milliseconds})


@router.post("/ask", response_model=AnswerShape)
async def ask(caller: Caller, body: AskBody) -> JsonReply:
    """Answer a question in the evidence's own words, with its confidence."""
    k = body.top_k
    response = await caller.query(body.question, k=k, answer=True)
    titles = {quote.document_id: quote.title for quote in response.quotes}
    scores = chunk_confidences(response)
    sources = [
        SourceItemShape(
            id=source.chunk_id,
            title=titles.get(source.document_id) or source.uri,
            dataset_id=source.document_id,
            score=scores.get(source.chunk_id, 0.0),
        )
        for source in response.sources
    ]
    answer = AnswerShape(
        question=body.question,
        answer=response.answer or _substitute(response.abstained, sources),
        sources=sources,
        context_used=len(sources),
        confidence=response.confidence,
    )
    return reply(answer.model_dump())


def _substitute(abstained: bool, sources: Sequence[SourceItemShape]) -> str:
    """Describe what there is where no sentence can stand as an answer."""
    if abstained or not sources:
        return NO_ANSWER
    titles = list(dict.fromkeys(source.title for source in sources))[:3]
    return f"Found {len(sources)} relevant passages: {', '.join(titles)}."
