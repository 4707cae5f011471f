"""What each stage was given, what it made of it, how long it took, and what time is left."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, TypedDict

from lexichord.db.catalogue import record_query
from lexichord.db.pool import Database
from lexichord.errors import LexichordError
from lexichord.types import QueryOptions, Question, Response
from lexichord.types.options import Recording
from lexichord.types.response import Step

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
