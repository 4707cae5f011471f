"""Which documents: by chunk hits and cards, and perhaps a reranker's second look."""

from collections.abc import Sequence
from dataclasses import replace

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.errors import ProviderError
from lexichord.providers.base import Reranker
from lexichord.providers.rerank import rank
from lexichord.retrieve.trace import Trace
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
    trace: Trace,
    files: int = SHOWN,
    reranker: Reranker | None = None,
) -> list[FileHit]:
    """Find documents by the hint, or else by the question, best first.

    A reranker sees four times as many, each as its title and best chunks, and chooses among them.
    If it fails, or takes more than its share of the query's time, the order stays and `degraded`
    says why.
    """
    wanted = files if reranker is None else max(files, min(4 * files, question.depth))
    found = await search.discover_files(database, replace(question, k=wanted))
    if reranker is not None and found:
        try:
            found = await _rerank(database, question, found, files, reranker, trace.allowance)
        except ProviderError as error:
            trace.degrade(f"files are not reranked: {error}")
    return found[:files]


async def _rerank(
    database: Database,
    question: Question,
    found: Sequence[FileHit],
    files: int,
    reranker: Reranker,
    seconds: float,
) -> list[FileHit]:
    texts = await search.file_surrogates(database, question, [file.document_id for file in found])
    ranked = await rank(reranker, question.hint or question.text, texts, files, seconds)
    return [
        replace(
            file,
            score=each.score,
            scores={**file.scores, "fused": file.score, "rerank": each.score},
        )
        for each in ranked
        for file in [found[each.index]]
    ]


def boost_files(files: Sequence[FileHit], hint: str | None) -> dict[str, float]:
    """Give the first files' boost in points by document id, as hybrid_search takes it.

    A reranker chooses files, but its scores have another scale.
    """
    points = BOOST if hint is None else HINT_BOOST
    scores = {file.document_id: file.scores.get("fused", file.score) for file in files[:FILES]}
    return {str(document): points * max(score, 0) for document, score in scores.items()}
