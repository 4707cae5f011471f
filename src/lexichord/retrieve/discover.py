"""Which documents: by chunk hits and cards, and perhaps a reranker's second look."""

import asyncio
from dataclasses import replace

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.errors import ProviderError
from lexichord.providers.base import Reranker
from lexichord.types import FileHit, Question

SHOWN = 5  # files of a response


async def discover(
    database: Database,
    question: Question,
    degraded: list[str],
    files: int = SHOWN,
    reranker: Reranker | None = None,
) -> list[FileHit]:
    """Find documents by the hint, or else by the question, best first.

    A reranker sees four times as many, each as its title and best chunks, and orders them by its
    score. If it fails, the order stays and `degraded` says why.
    """
    wanted = files if reranker is None else 4 * files
    found = await search.discover_files(database, replace(question, k=wanted))
    if reranker is not None and found:
        try:
            found = await _rerank(database, question, found, reranker)
        except ProviderError as error:
            degraded.append(f"files are not reranked: {error}")
    return found[:files]


async def _rerank(
    database: Database, question: Question, files: list[FileHit], reranker: Reranker
) -> list[FileHit]:
    texts = await search.file_surrogates(database, question, [file.document_id for file in files])
    query = question.hint or question.text
    scores = await asyncio.to_thread(reranker.rerank, query, texts)
    scored = [
        replace(file, score=score, scores={**file.scores, "fused": file.score, "rerank": score})
        for file, score in zip(files, scores, strict=True)
    ]
    return sorted(scored, key=lambda file: -file.score)
