"""Which documents: by chunk hits and cards, and perhaps a reranker's second look."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.errors import ProviderError
from lexichord.providers.base import Reranker
from lexichord.types import FileHit, Question

SHOWN = 5  # files of a response

# Evidence recall within 4,000 characters on half of the NDA questions, raw / by hint:
# no boost 72.0; the top 1, 3, 5 files 81.7 / 85.6, 82.7 / 85.6, 82.9 / 84.7;
# boost .5, 1, 2, 4: 81.3 / 54.5, 82.6 / 84.4, 82.7 / 85.6, 82.8 / 85.6.
# A hint names files, a question only suggests them: there the smallest boost that does most of
# the good still lets another file's better chunk come first. Where the best chunks of several files
# differ, a question does not even suggest files: there the boost cost code 1.2 points Pass@10.
FILES = 3  # whose own chunks become candidates
BOOST = 0.5  # points of fused score for a point of file score
HINT_BOOST = 2.0


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


def boost_files(files: Sequence[FileHit], hint: str | None) -> dict[str, float]:
    """Give the first files' boost in points by document id, as hybrid_search takes it.

    A reranker chooses files, but its scores have another scale.
    """
    points = BOOST if hint is None else HINT_BOOST
    scores = {file.document_id: file.scores.get("fused", file.score) for file in files[:FILES]}
    return {str(document): points * max(score, 0) for document, score in scores.items()}
