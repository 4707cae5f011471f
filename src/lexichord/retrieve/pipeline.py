"""The order of the stages: discover, search, aggregate."""

from dataclasses import replace
from time import perf_counter

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.retrieve.aggregate import format_context
from lexichord.types import FileHit, Question, Response

FILES = 3  # whose own chunks become candidates
BOOST = 1.0


async def query(database: Database, question: Question, degraded: list[str]) -> Response:
    """Find the files, then chunks in the whole scope and inside them, then format the evidence."""
    started = perf_counter()
    files = await search.discover_files(database, replace(question, k=max(FILES, 5)))
    discovered = perf_counter()
    hits = await search.hybrid_search(database, question, _boost(files))
    searched = perf_counter()
    context, sources = format_context(hits)
    timings = {"discover": discovered - started, "search": searched - discovered}
    return Response(
        query=question.text,
        hint=question.hint,
        files=files,
        hits=hits,
        context=context,
        sources=sources,
        degraded=degraded,
        timings_ms={stage: round(seconds * 1000, 1) for stage, seconds in timings.items()},
    )


def _boost(files: list[FileHit]) -> dict[str, float]:
    return {str(file.document_id): BOOST * max(file.score, 0) for file in files[:FILES]}
