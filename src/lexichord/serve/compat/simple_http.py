"""A plain search service in two routes, for programs that know no more."""

from collections.abc import Sequence
from time import perf_counter
from typing import Annotated

from fastapi import APIRouter, Query

from lexichord.client.passages import chunk_confidences
from lexichord.serve.http.bodies import AskBody, Asked
from lexichord.serve.http.caller import Caller, KeyFirst
from lexichord.serve.http.replies import ERRORS, Reply, reply
from lexichord.serve.http.shapes import AnswerShape, ItemsShape
from lexichord.types import Json

SHOWN = 500  # characters of a passage
NOTHING = "Nothing relevant was found for your question."

router = APIRouter(tags=["plain"], route_class=KeyFirst, responses=ERRORS)


@router.get("/search", response_model=ItemsShape)
async def plain_search(caller: Caller, asked: Annotated[Asked, Query()]) -> Reply:
    """Find the `top_k` passages that answer a query best."""
    started = perf_counter()
    found = await caller.search(asked.query, k=asked.top_k, depth=max(100, asked.top_k))
    results = [
        {
            "id": str(hit.chunk_id),
            "title": hit.title or hit.uri,
            "description": hit.content[:SHOWN],
            "score": hit.score,
        }
        for hit in found.hits
    ]
    spent = round((perf_counter() - started) * 1000, 1)
    shape = {"query": asked.query, "results": results, "total": len(results)}
    return reply({**shape, "search_time_ms": spent})


@router.post("/ask", response_model=AnswerShape)
async def ask(caller: Caller, body: AskBody) -> Reply:
    """Answer a question in the evidence's own words, and say how sure that is."""
    k = body.top_k
    found = await caller.query(body.question, k=k, depth=max(100, k), answer=True)
    titles = {quote.document_id: quote.title for quote in found.quotes}
    scores = chunk_confidences(found)
    sources = [
        {
            "id": str(source.chunk_id),
            "title": titles.get(source.document_id) or source.uri,
            "dataset_id": str(source.document_id),
            "score": scores.get(source.chunk_id, 0.0),
        }
        for source in found.sources
    ]
    return reply(
        {
            "question": body.question,
            "answer": found.answer or _instead(found.abstained, sources),
            "sources": sources,
            "context_used": len(sources),
            "confidence": found.confidence,
        }
    )


def _instead(abstained: bool, sources: Sequence[Json]) -> str:
    """Say what there is where no sentence can stand as an answer."""
    if abstained or not sources:
        return NOTHING
    titles = list(dict.fromkeys(source["title"] for source in sources))[:3]
    return f"Found {len(sources)} relevant passages: {', '.join(titles)}."
