"""The order of the stages: discover, search, aggregate."""

from dataclasses import replace
from time import perf_counter

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.retrieve.aggregate import format_context
from lexichord.types import ChunkHit, FileHit, Question, Response

# Evidence recall within 4,000 characters on half of the NDA questions, raw / by hint:
# no boost 72.0; the top 1, 3, 5 files 81.7 / 85.6, 82.7 / 85.6, 82.9 / 84.7;
# boost .5, 1, 2, 4: 81.3 / 54.5, 82.6 / 84.4, 82.7 / 85.6, 82.8 / 85.6.
# A hint names files, a question only suggests them: there the smallest boost that does most of
# the good still lets another file's better chunk come first.
FILES = 3  # whose own chunks become candidates
SHOWN_FILES = 5
BOOST = 0.5  # points of fused score for a point of file score
HINT_BOOST = 2.0


async def search_chunks(database: Database, question: Question) -> list[ChunkHit]:
    """Find chunks; a hint prefers the files that it names."""
    files = await _discover(database, question) if question.hint else []
    return await search.hybrid_search(database, question, _boost(files, question.hint))


async def query(database: Database, question: Question, degraded: list[str]) -> Response:
    """Find the files, then chunks in the whole scope and inside them, then format the evidence."""
    started = perf_counter()
    files = await _discover(database, question)
    discovered = perf_counter()
    hits = await search.hybrid_search(database, question, _boost(files, question.hint))
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


async def _discover(database: Database, question: Question) -> list[FileHit]:
    return await search.discover_files(database, replace(question, k=SHOWN_FILES))


def _boost(files: list[FileHit], hint: str | None) -> dict[str, float]:
    points = BOOST if hint is None else HINT_BOOST
    return {str(file.document_id): points * max(file.score, 0) for file in files[:FILES]}
