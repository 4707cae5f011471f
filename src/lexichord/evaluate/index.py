"""How much of what is nearest the vector index finds."""

from collections.abc import Sequence

from lexichord.db.evaluation import dense_recall
from lexichord.evaluate.application import Application
from lexichord.evaluate.strategies import embed_question
from lexichord.types.evaluation import EvalQuery, Outcome


async def measure_index(
    app: Application, queries: Sequence[EvalQuery], outcomes: Sequence[Outcome], ks: Sequence[int]
) -> dict[str, list[float | None]]:
    """Give `ann_recall@k`: of the k chunks nearest to each question, the share that is found.

    Approximate against exact nearest neighbours, 0 to 1; None where nothing has a vector, or where
    the question failed. A search looks at 100 candidates at least, and is measured with as many.
    """
    rows = [
        [None] * len(ks) if outcome.error else await _recalls(app, query, ks)
        for query, outcome in zip(queries, outcomes, strict=True)
    ]
    return {f"ann_recall@{k}": [row[place] for row in rows] for place, k in enumerate(ks)}


async def _recalls(app: Application, query: EvalQuery, ks: Sequence[int]) -> list[float | None]:
    question = await embed_question(app, query, max(ks))
    return [await dense_recall(app.database, question, k) for k in ks]
