"""Questions put to a strategy, one after another or by several clients at once."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from time import perf_counter

from lexichord.db.evidence import chunk_places
from lexichord.db.search import dense_recall
from lexichord.errors import LexichordError
from lexichord.evaluate.application import Application
from lexichord.evaluate.strategies import Found, Strategy, embed_question
from lexichord.evaluate.vectors import KeptVectors
from lexichord.types.evaluation import EvalQuery, Outcome, Passage


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


SECONDS = 3.0  # for which queries/s are measured, with each number of clients


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was put to a strategy; `found` is None if it failed."""

    query: EvalQuery
    found: Found | None
    milliseconds: float
    error: str | None = None


async def ask_all(
    app: Application,
    strategy: Strategy,
    queries: Sequence[EvalQuery],
    k: int,
    tell: Callable[[int], None],
) -> tuple[Outcome, ...]:
    """Put questions one after another, for k passages each; `tell` hears how many are done."""
    await _ask(app, strategy, queries[0], k)  # so that no answer pays for what is opened once
    asked = []
    for number, query in enumerate(queries, 1):
        asked.append(await _ask(app, strategy, query, k))
        tell(number)
    return await _outcomes(app, asked)


async def measure_rate(
    app: Application, strategy: Strategy, queries: Sequence[EvalQuery], k: int, clients: int
) -> float:
    """Give the answers per second that clients get who ask without a pause, failures left out."""
    started = perf_counter()
    turns = cycle(queries)

    async def client() -> int:
        answered = 0
        while perf_counter() - started < SECONDS:
            asked = await _ask(app, strategy, next(turns), k)
            answered += asked.error is None
        return answered

    answered = sum(await asyncio.gather(*(client() for _ in range(clients))))
    return answered / (perf_counter() - started)


async def _ask(app: Application, strategy: Strategy, query: EvalQuery, k: int) -> Asked:
    """Put one question; whatever goes wrong with it is its own failure, not the run's.

    Where vectors are kept, the milliseconds are without those of embedding: else they would tell
    whether a text is new, not how fast a strategy is.
    """
    found, failure = None, None
    before, started = _embedding(app), perf_counter()
    try:
        found = await strategy.ask(app, query, k)
    except LexichordError as error:
        failure = str(error)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    seconds = perf_counter() - started - (_embedding(app) - before)
    return Asked(query, found, 1000 * seconds, failure)


def _embedding(app: Application) -> float:
    return app.embedder.seconds if isinstance(app.embedder, KeptVectors) else 0.0


async def _outcomes(app: Application, asked: Sequence[Asked]) -> tuple[Outcome, ...]:
    """Give outcomes, the passages with their chunks' numbers, which hits have not."""
    chunks = {hit.chunk_id for each in asked if each.found for hit in each.found.hits}
    rows = await chunk_places(app.database, sorted(chunks))
    numbers = {row["chunk_id"]: row["ordinal"] for row in rows}
    return tuple(_outcome(each, numbers) for each in asked)


def _outcome(asked: Asked, numbers: Mapping[int, int]) -> Outcome:
    found = asked.found or Found()
    passages = tuple(
        Passage(hit.uri, hit.start, hit.end, numbers[hit.chunk_id], hit.score) for hit in found.hits
    )
    return Outcome(
        query_id=asked.query.id,
        passages=passages,
        files=tuple(found.files),
        answer=found.answer,
        confidence=found.confidence,
        abstained=found.abstained,
        milliseconds=asked.milliseconds,
        error=asked.error,
    )
