"""What each stage was given, what it made of it, and how long it took."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any


@dataclass(frozen=True, slots=True)
class Trace:
    """The stages of one query, in the order in which they ended."""

    steps: list[dict[str, Any]] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str, **given: object) -> Iterator[dict[str, Any]]:
        """Time a stage; what it made is written into the step, also where it fails."""
        step: dict[str, Any] = {"stage": name, "given": given}
        started = perf_counter()
        try:
            yield step
        finally:
            step["ms"] = round((perf_counter() - started) * 1000, 1)
            self.steps.append(step)

    @property
    def timings_ms(self) -> dict[str, float]:
        """Milliseconds by stage; of a stage that ran again, the sum."""
        spent: dict[str, float] = {}
        for step in self.steps:
            spent[step["stage"]] = round(spent.get(step["stage"], 0.0) + step["ms"], 1)
        return spent

    def latest_ms(self, name: str) -> float:
        """Milliseconds of the stage's latest run, 0 if it never ran."""
        spent = (step["ms"] for step in reversed(self.steps) if step["stage"] == name)
        return next(spent, 0.0)
