"""Documents by the hint or the question, and the boost that they give their chunks."""

from collections.abc import Sequence
from dataclasses import replace

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.errors import ProviderError
from lexichord.providers.base import Reranker
from lexichord.providers.rerank import rank
from lexichord.retrieve.trace import Trace
from lexichord.types import FileHit, Question
from lexichord.types.options import DEFAULT_FILES

# Evidence recall within 4,000 characters on half of the NDA questions, raw / by hint:
# no boost 72.0; the top 1, 3, 5 files 81.7 / 85.6, 82.7 / 85.6, 82.9 / 84.7;
# boost .5, 1, 2, 4: 81.3 / 54.5, 82.6 / 84.4, 82.7 / 85.6, 82.8 / 85.6.
# A hint names files, a question only suggests them: there the smallest boost that does most of
# the good still lets another file's better chunk come first. Where the best chunks of several files
# differ, a question does not even suggest files: there the boost cost code 1.2 points Pass@10.
BOOSTED_FILES = 3  # whose own chunks become candidates
FILE_BOOST = 0.5  # points of fused score for a point of file score
HINT_FILE_BOOST = 2.0


async def discover(
    database: Database,
    question: Question,
    trace: Trace,
    limit: int = DEFAULT_FILES,
    reranker: Reranker | None = None,
) -> list[FileHit]:
    """Find up to `limit` documents by the hint, or else by the question, best first.

    A reranker sees four times as many, each as its title and best chunks, and chooses among them.
    If it fails, or takes more than its share of the query's time, the order stays and `degraded`
    says why.
    """
    wanted = limit if reranker is None else max(limit, min(4 * limit, question.depth))
    files = await search.discover_files(database, replace(question, k=wanted))
    if reranker is not None and files:
        try:
            files = await _rerank(database, question, files, limit, reranker, trace.allowance)
        except ProviderError as error:
            trace.degrade(f"files are not reranked: {error}")
    return files[:limit]


async def _rerank(
    database: Database,
    question: Question,
    files: Sequence[FileHit],
    limit: int,
    reranker: Reranker,
    seconds: float,
) -> list[FileHit]:
    texts = await search.file_surrogates(database, question, [file.document_id for file in files])
    ranked = await rank(reranker, question.hint or question.query, texts, limit, seconds)
    return [
        replace(
            file,
            score=reranked.score,
            scores={**file.scores, "fused": file.score, "rerank": reranked.score},
        )
        for reranked in ranked
        for file in [files[reranked.index]]
    ]


async def name_first(
    database: Database,
    question: Question,
    files: list[FileHit],
    documents: Sequence[str],
    limit: int,
) -> list[FileHit]:
    """Put documents that a question names before what a search for their names found.

    "The Atlantic" is theatlantic.com, and is in the first lines of what tells of the sea.
    """
    first = {file.document_id for file in files[:BOOSTED_FILES]}
    missing = tuple(document for document in documents if document not in first)
    if not files or not missing or len(documents) > BOOSTED_FILES:
        return files
    inside = replace(question.scope, documents=missing)
    asked = replace(question, scope=inside, k=len(missing))
    found = await search.discover_files(database, asked)
    others = [file for file in files if file.document_id not in missing]
    others.sort(key=lambda file: file.document_id not in documents)
    return [*(_preferred(file, files) for file in found), *others][:limit]


def _preferred(file: FileHit, files: Sequence[FileHit]) -> FileHit:
    """Return a file as good as the best: in a scope of its own its score says nothing."""
    best = max(files, key=lambda each: each.scores.get("fused") or each.score)
    fused = {"fused": best.scores["fused"]} if "fused" in best.scores else {}
    return replace(file, score=max(each.score for each in files), scores={**file.scores, **fused})


async def boost_files(files: Sequence[FileHit], hint: str | None) -> dict[str, float]:
    """Return the first files' boost in points by document id, as hybrid_search takes it.

    A reranker chooses files, but its scores have another scale.
    """
    points = FILE_BOOST if hint is None else HINT_FILE_BOOST
    scores = {
        file.document_id: file.scores.get("fused", file.score) for file in files[:BOOSTED_FILES]
    }
    return {document: points * max(score or 0, 0) for document, score in scores.items()}
