"""Recorded queries: what is kept of one, and the SQL function that keeps it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from importlib.metadata import version
from typing import Any

from psycopg.types.json import Jsonb

from lexichord.db.pool import Database, Row
from lexichord.db.search import vector_text
from lexichord.types import ApiKey, ChunkHit, Json, Question, Response
from lexichord.types.evaluation import Run


async def create_api_key(
    database: Database, name: str, digest: bytes, datasets: Sequence[str] | None, writes: bool
) -> ApiKey:
    """See sql/create_api_key.sql."""
    listed = None if datasets is None else list(datasets)
    (row,) = await database.call(
        "create_api_key", name=name, digest=digest, datasets=listed, writes=writes
    )
    return _key(row)


async def list_api_keys(database: Database) -> list[ApiKey]:
    """See sql/list_api_keys.sql."""
    return [_key(row) for row in await database.call("list_api_keys")]


async def revoke_api_key(database: Database, key: int) -> bool:
    """See sql/revoke_api_key.sql."""
    (row,) = await database.call("revoke_api_key", key=key)
    return bool(row["revoke_api_key"])


async def find_api_key(database: Database, digest: bytes) -> Row | None:
    """See sql/find_api_key.sql."""
    rows = await database.call("find_api_key", digest=digest)
    return rows[0] if rows else None


def _key(row: Row) -> ApiKey:
    datasets = row["datasets"]
    return ApiKey(**{**row, "datasets": None if datasets is None else tuple(datasets)})


async def record_query(
    database: Database, response: Response, question: Question, ms: float, *, keep_text: bool
) -> int:
    """See sql/record_query.sql; `ms` is from question to response. Gives the record's id."""
    record = query_record(response, question, keep_text=keep_text)
    given = {name: Jsonb(each) if name in JSON else each for name, each in record.items()}
    rows = await database.call("record_query", version=version("lexichord"), ms=ms, **given)
    return int(rows[0]["record_query"])


JSON = ("hits", "stages", "counts")


def query_record(response: Response, question: Question, *, keep_text: bool) -> dict[str, Any]:
    """Give what is recorded: numbers, names that the program gives, and the places of the hits.

    Anything else of a response may repeat the question's words. They are in `query` and `hint`
    only, and only if the text is to be kept.
    """
    intent, reflection, scope = response.intent, response.reflection, question.scope
    covered = reflection.coverage if reflection else None
    return {
        "intent": intent.kind,
        "confidence": response.confidence,
        "abstained": response.abstained,
        "coverage": covered.score if covered else None,
        "space": None if question.mode == "keyword" else question.space,
        "datasets": list(scope.datasets),
        "narrowed": bool(scope.documents or scope.uri_prefix or scope.filter),
        "hinted": intent.hint is not None,
        "query": response.query if keep_text else None,
        "hint": intent.hint if keep_text else None,
        "counts": {
            "files": len(response.files),
            "quotes": len(response.quotes),
            "degraded": len(response.degraded),
            "rounds": len(reflection.rounds) if reflection else 0,
        },
        "stages": [_stage(step) for step in response.trace],
        "hits": [_hit(hit) for hit in response.hits],
    }


def _stage(step: Json) -> Json:
    lists = [name for name in ("made", "dropped") if isinstance(step.get(name), list)]
    counts = {name: len(step[name]) for name in lists}
    return {"stage": step["stage"], "ms": step["ms"], **counts}


def _hit(hit: ChunkHit) -> Json:
    return {
        "chunk_id": hit.chunk_id,
        "dataset": hit.dataset,
        "uri": hit.uri,
        "char_start": hit.start,
        "char_end": hit.end,
        "score": hit.score,
        "scores": _numbers(hit.scores),
        "ranks": _numbers(hit.ranks),
    }


def _numbers(values: Json) -> Json:
    """Keep what is a number or lacks one, also a level below."""
    return {
        name: _numbers(value) if isinstance(value, Mapping) else value
        for name, value in values.items()
        if value is None or isinstance(value, int | float | Mapping)
    }


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
