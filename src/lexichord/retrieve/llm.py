"""One call to a model on behalf of a stage: timed, counted, within what time the query has."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lexichord.errors import ProviderError, ProviderTimeoutError
from lexichord.providers.base import Generator
from lexichord.retrieve.events import emit_draft, is_heard
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.understand.rewrite import cut_at_word
from lexichord.types.questions import Task

# Seconds of an allowance that are kept for the query's own work after the last call: search,
# confidence and the twin's answer took 0.15 s on the sample set.
RESERVED_SECONDS = 0.15
MAX_LIST_ENTRIES = (
    100  # entries of a list that are read: a reply has room for thousands, each takes time
)
MAX_LINE_CHARS = 200  # characters of what is to be short: hints, reasons, keywords


@dataclass(frozen=True, slots=True)
class LlmCaller:
    """Asks one model for one query."""

    generator: Generator
    trace: Trace

    async def __call__(self, task: Task, inputs: Mapping[str, object]) -> Mapping[str, Any]:
        """Return a task's outputs by field; tokens, dollars and time go into the trace.

        Raises ProviderError.
        """
        model, seconds = self.generator.name, max(0.0, self.trace.allowance - RESERVED_SECONDS)
        with self.trace.stage(f"llm {task}", model=model) as step:
            try:
                if not seconds:
                    raise ProviderTimeoutError("no time is left for it: raise budget_ms")
                on_draft = emit_draft if is_heard() else None
                generated = await self.generator.generate(task, inputs, seconds, on_draft)
            except ProviderError as error:
                late = isinstance(error, ProviderTimeoutError)
                step["made"] = {"error": str(error), "late": late}
                raise
            step["made"] = generated.usage.to_dict()
        return generated.outputs

    def degrade(self, stage: str, error: object) -> None:
        """Note that a stage was done without the model, and why it was the first time."""
        line = f"{stage} without the model: "
        if not any(reason.startswith(line) for reason in self.trace.degraded):
            self.trace.degrade(f"{line}{error}")


def shorten_line(text: str, most: int = MAX_LINE_CHARS) -> str:
    """Return a text on one line, of `most` characters, cut between words if it has any."""
    line = " ".join(text.split())
    return cut_at_word(line, most) or line[:most]
