"""Recorded queries: what is kept of one, and the SQL function that keeps it."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from psycopg.types.json import Jsonb

from lexichord.db.pool import Database
from lexichord.types import ChunkHit, Json, Question, Response


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
