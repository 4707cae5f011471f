"""Recorded evaluations: one Python function per SQL function, of the same name."""

from dataclasses import asdict
from datetime import timedelta
from importlib.metadata import version
from typing import Any

from psycopg.types.json import Jsonb

from lexichord.db.pool import Database, Row
from lexichord.db.search import vector_text
from lexichord.types import Question
from lexichord.types.evaluation import Run


async def record_evaluation(database: Database, run: Run) -> int:
    """See sql/record_evaluation.sql. Gives the evaluation's id."""
    rows = await database.call(
        "record_evaluation",
        set_name=run.set_name,
        strategy=run.strategy,
        queries=Jsonb([asdict(query) for query in run.queries]),
        results=Jsonb([_result(run, place) for place in range(len(run.queries))]),
        ks=list(run.ks),
        version=version("lexichord"),
        settings=Jsonb(dict(run.settings)),
        qps=Jsonb({str(clients): rate for clients, rate in run.qps.items()}),
        started_at=run.started_at,
    )
    return int(rows[0]["record_evaluation"])


def _result(run: Run, place: int) -> dict[str, Any]:
    outcome = run.outcomes[place]
    metrics = {name: values[place] for name, values in run.metrics.items()}
    return {**asdict(outcome), "ms": outcome.milliseconds, "metrics": metrics}


async def list_evaluations(database: Database, latest: int) -> list[Row]:
    """See sql/list_evaluations.sql."""
    return await database.call("list_evaluations", latest=latest)


async def evaluation_results(database: Database, evaluation: int) -> list[Row]:
    """See sql/evaluation_results.sql."""
    return await database.call("evaluation_results", evaluation=evaluation)


async def compare_evaluations(database: Database, a: int, b: int) -> list[Row]:
    """See sql/compare_evaluations.sql."""
    return await database.call("compare_evaluations", a=a, b=b)


async def forget_evaluations(database: Database, older_than: timedelta) -> int:
    """See sql/forget_evaluations.sql."""
    rows = await database.call("forget_evaluations", older_than=older_than)
    return int(rows[0]["forget_evaluations"])


async def dense_recall(database: Database, question: Question, k: int) -> float | None:
    """See sql/dense_recall.sql."""
    rows = await database.call(
        "dense_recall",
        query_vector=vector_text(question.vector),
        k=k,
        documents=list(question.scope.documents) or None,
    )
    return rows[0]["dense_recall"] if rows else None
