"""Questions asked by a strategy, one after another or by several clients at once."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from time import perf_counter

from lexichord.db.evidence import chunk_places
from lexichord.db.search import dense_recall
from lexichord.errors import LexichordError
from lexichord.evaluate.application import Application
from lexichord.evaluate.strategies import Strategy, StrategyAnswer, embed_question
from lexichord.evaluate.vectors import CachedEmbedder
from lexichord.types.evaluation import EvalQuery, Outcome, RankedPassage


async def measure_index(
    app: Application, queries: Sequence[EvalQuery], outcomes: Sequence[Outcome], ks: Sequence[int]
) -> dict[str, list[float | None]]:
    """Return `ann_recall@k`: of the k chunks nearest to each question, the share that is found.

    Approximate against exact nearest neighbours, 0 to 1; None where nothing has a vector, or where
    the question failed. A search takes 100 candidates at least, and is measured with as many.
    """
    rows = [
        [None] * len(ks) if outcome.error else await _recalls(app, query, ks)
        for query, outcome in zip(queries, outcomes, strict=True)
    ]
    return {f"ann_recall@{k}": [row[place] for row in rows] for place, k in enumerate(ks)}


async def _recalls(app: Application, query: EvalQuery, ks: Sequence[int]) -> list[float | None]:
    question = await embed_question(app, query, max(ks))
    return [await dense_recall(app.database, question, k) for k in ks]


THROUGHPUT_SECONDS = 3.0  # measured for each number of clients


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """A question's answer by a strategy, and how long it took; `answer` is None if it failed."""

    query: EvalQuery
    answer: StrategyAnswer | None
    milliseconds: float
    error: str | None = None


async def ask_all(
    app: Application,
    strategy: Strategy,
    queries: Sequence[EvalQuery],
    k: int,
    on_done: Callable[[int], None],
) -> tuple[Outcome, ...]:
    """Ask questions one after another, for k passages each; `on_done` is called with how many."""
    await _ask(app, strategy, queries[0], k)  # warms up: no answer pays for what is opened once
    answers = []
    for number, query in enumerate(queries, 1):
        answers.append(await _ask(app, strategy, query, k))
        on_done(number)
    return await _outcomes(app, answers)


async def measure_rate(
    app: Application, strategy: Strategy, queries: Sequence[EvalQuery], k: int, clients: int
) -> float:
    """Return the answers per second of clients that ask without a pause, failures left out."""
    started = perf_counter()
    rotation = cycle(queries)

    async def client() -> int:
        answered = 0
        while perf_counter() - started < THROUGHPUT_SECONDS:
            answer = await _ask(app, strategy, next(rotation), k)
            answered += answer.error is None
        return answered

    answered = sum(await asyncio.gather(*(client() for _ in range(clients))))
    return answered / (perf_counter() - started)


async def _ask(app: Application, strategy: Strategy, query: EvalQuery, k: int) -> TimedAnswer:
    """Ask one question; whatever goes wrong with it is its own failure, not the run's.

    Where vectors are cached, the milliseconds are without embedding: else they would depend on
    whether a text is new, not on the strategy.
    """
    answer, failure = None, None
    before, started = _embedding_seconds(app), perf_counter()
    try:
        answer = await strategy.ask(app, query, k)
    except LexichordError as error:
        failure = str(error)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    seconds = perf_counter() - started - (_embedding_seconds(app) - before)
    return TimedAnswer(query, answer, 1000 * seconds, failure)


def _embedding_seconds(app: Application) -> float:
    return app.embedder.seconds if isinstance(app.embedder, CachedEmbedder) else 0.0


async def _outcomes(app: Application, answers: Sequence[TimedAnswer]) -> tuple[Outcome, ...]:
    """Return outcomes, with the ordinals of the passages' chunks, which hits lack."""
    chunks = {hit.chunk_id for timed in answers if timed.answer for hit in timed.answer.hits}
    rows = await chunk_places(app.database, sorted(chunks))
    ordinals = {row["chunk_id"]: row["ordinal"] for row in rows}
    return tuple(_outcome(timed, ordinals) for timed in answers)


def _outcome(timed: TimedAnswer, ordinals: Mapping[int, int]) -> Outcome:
    answer = timed.answer or StrategyAnswer()
    passages = tuple(
        RankedPassage(hit.uri, hit.start, hit.end, ordinals[hit.chunk_id], hit.score)
        for hit in answer.hits
    )
    return Outcome(
        query_id=timed.query.id,
        passages=passages,
        files=tuple(answer.files),
        answer=answer.answer,
        confidence=answer.confidence,
        abstained=answer.abstained,
        milliseconds=timed.milliseconds,
        error=timed.error,
        written=answer.written,
        rows=answer.rows,
    )
