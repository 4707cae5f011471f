"""Recording a query, if that was asked for."""

from dataclasses import replace
from time import perf_counter

from lexichord.db.pool import Database
from lexichord.db.queries import record_query
from lexichord.errors import LexichordError
from lexichord.types import Question, Response
from lexichord.types.response import Recording


async def recorded(
    database: Database, response: Response, question: Question, started: float, how: Recording
) -> Response:
    """Give the response with the id of its record; if recording failed, it says so instead.

    `question` is what was asked for, with its scope; `started` when, by `perf_counter`.
    """
    if how == "off":
        return response
    ms = (perf_counter() - started) * 1000
    try:
        made = await record_query(database, response, question, ms, keep_text=how == "text")
    except LexichordError as error:
        reason = f"the query was not recorded: {error}"
        return replace(response, degraded=[*response.degraded, reason])
    return replace(response, query_id=made)
