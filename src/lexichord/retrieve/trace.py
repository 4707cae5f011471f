"""What a query tells of itself: events while it runs, what each stage made and took, remarks."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import signature
from time import perf_counter
from typing import Any, TypedDict

from lexichord.db.catalogue import record_query
from lexichord.db.pool import Database
from lexichord.db.search import absent_identifiers, has_words, mistyped_conditions
from lexichord.errors import LexichordError
from lexichord.types import Json, QueryOptions, Question, Response, Scope
from lexichord.types.base import one_line
from lexichord.types.query_options import Recording
from lexichord.types.response import DraftEvent, QueryEvent, Step

type Hear = Callable[[QueryEvent], None]

_hear = ContextVar[Hear | None]("hear", default=None)


def emit(event: QueryEvent) -> None:
    """Emit an event of the running query, if anybody listens."""
    if (hear := _hear.get()) is not None:
        hear(event)


def emit_draft(start: int, text: str) -> None:
    """Emit what a model has written."""
    emit(DraftEvent(start, text))


def is_heard() -> bool:
    """Return whether anybody hears the query that runs."""
    return _hear.get() is not None


def streamed[**P](
    query: Callable[P, Coroutine[Any, Any, Response]],
) -> Callable[P, AsyncGenerator[QueryEvent]]:
    """Return the method `stream` to a method `query`, with the same parameters."""

    @wraps(query, assigned=("__module__", "__annotations__"))
    def stream(*args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[QueryEvent]:
        """Ask as `query` does, and yield what it comes to on its way; the response is the last.

        `lexichord.types.response` describes the events. A model's words come as a draft before they
        are checked: what counts is the response, which is what `query` returns.
        """
        return _events(lambda: query(*args, **kwargs))

    returned = AsyncGenerator[QueryEvent]
    stream.__annotations__ = {**query.__annotations__, "return": returned}
    stream.__signature__ = signature(query).replace(return_annotation=returned)  # type: ignore[attr-defined]
    return stream


async def _events(
    query: Callable[[], Coroutine[Any, Any, Response]],
) -> AsyncGenerator[QueryEvent]:
    """Yield a query's events; it is cancelled where nobody waits for the next one any more."""
    events, context = asyncio.Queue[QueryEvent | None](), copy_context()
    context.run(_hear.set, events.put_nowait)
    asking = asyncio.create_task(query(), context=context)

    def end(ended: asyncio.Task[Response]) -> None:
        if not ended.cancelled():
            ended.exception()  # looked at, or asyncio reports it where nobody waits any more
        events.put_nowait(None)

    asking.add_done_callback(end)
    try:
        while (event := await events.get()) is not None:
            yield event
        yield asking.result()
    finally:
        asking.cancel()
        await asyncio.wait([asking])  # not gather, which would cancel it again in the midst of that


# Of the time that is left, what one call may take: one that hangs leaves time for the next.
CALL_SHARE = 0.5


class StepOutcome(TypedDict, total=False):
    """What a stage writes of its run: the last two parts of a `Step`."""

    made: Any
    dropped: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Trace:
    """The stages of one query, in the order in which they ended, and what it had to do without.

    `seconds` is what models, rerankers and further rounds may take, all together.
    """

    seconds: float = QueryOptions.budget_ms / 1000
    degraded: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    started: float = field(default_factory=perf_counter)

    @contextmanager
    def stage(self, name: str, **inputs: object) -> Iterator[StepOutcome]:
        """Time a stage; what it made is written into its step, also where it fails."""
        outcome: StepOutcome = {}
        started = perf_counter()
        try:
            yield outcome
        finally:
            ms = round((perf_counter() - started) * 1000, 1)
            self.steps.append(Step(name, inputs, **outcome, ms=ms))

    def degrade(self, reason: str) -> None:
        """Note, once, what the query had to do without."""
        if reason not in self.degraded:
            self.degraded.append(reason)

    @property
    def left(self) -> float:
        """Seconds that are left, 0 if none."""
        return max(0.0, self.started + self.seconds - perf_counter())

    @property
    def allowance(self) -> float:
        """Seconds that the next call to a model or a vendor may take."""
        return CALL_SHARE * self.left

    @property
    def timings_ms(self) -> dict[str, float]:
        """Milliseconds by stage; of a stage that ran again, the sum."""
        spent: dict[str, float] = {}
        for step in self.steps:
            spent[step.stage] = round(spent.get(step.stage, 0.0) + step.ms, 1)
        return spent

    def latest_ms(self, name: str) -> float:
        """Milliseconds of the stage's latest run, 0 if it never ran."""
        spent = (step.ms for step in reversed(self.steps) if step.stage == name)
        return next(spent, 0.0)


async def record_response(
    database: Database, response: Response, question: Question, started: float, recording: Recording
) -> Response:
    """Return the response with the id of its record; if recording failed, it says so instead.

    `question` is what was asked for, with its scope; `started` when, by `perf_counter`.
    """
    if recording == "off":
        return response
    ms = (perf_counter() - started) * 1000
    try:
        query_id = await record_query(
            database, response, question, ms, keep_text=recording == "text"
        )
    except LexichordError as error:
        reason = f"the query was not recorded: {error}"
        return replace(response, degraded=[*response.degraded, reason])
    return replace(response, query_id=query_id)


NO_WORDS = (
    "nothing was searched for: the query is made of signs, or of words that say nothing alone"
)
NOT_HERE = "no text in scope holds {}: what was found is about something else"
VALUE_CHARS = 60  # of a stored value that is shown
TYPE_NAMES = {
    "string": "a string",
    "number": "a number",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


async def remarks(database: Database, question: Question, found: Sequence[object]) -> list[str]:
    """Say what of a query could not be searched for."""
    if not found:
        told = await _mistyped(database, question.scope)
        return told if told or await has_words(database, question.query) else [NO_WORDS]
    if not any(map(str.isdigit, question.query)):
        return []
    absent = await absent_identifiers(database, question)
    return [NOT_HERE.format(", ".join(absent))] if absent else []


async def _mistyped(database: Database, scope: Scope) -> list[str]:
    """Say where a filter wants another type of value than documents have."""
    if scope.filter is None:
        return []
    rows = await mistyped_conditions(database, scope)
    return [_mistyped_line(**row) for row in rows if row["stored"] is not None]


def _mistyped_line(key: str, wanted: Sequence[str], stored: Json) -> str:
    """Say that no document has a value of a wanted type under a key, and what one has there."""
    types = " or ".join(TYPE_NAMES[each] for each in wanted)
    value = one_line(json.dumps(stored, ensure_ascii=False), VALUE_CHARS)
    there = f"there it is {TYPE_NAMES[_type(stored)]}, such as {value}"
    return f'no document in scope has {types} as "{one_line(key, VALUE_CHARS)}": {there}'


def _type(value: Json) -> str:
    if isinstance(value, bool):  # which is a number, too, in Python
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return {str: "string", list: "array", dict: "object"}.get(type(value), "null")
