"""Which stages a model does."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, get_args

from lexichord.errors import ConfigError
from lexichord.llm import answer, boost, grade, intent, rewrite
from lexichord.llm.ask import Ask
from lexichord.providers.base import Generator
from lexichord.providers.registry import find_generator
from lexichord.retrieve.stages import Stages
from lexichord.retrieve.trace import Trace
from lexichord.settings import Settings
from lexichord.types import LlmStage, QueryOptions

# These run only where their own option asks for them. Whether a model reads queries or knows
# keywords better than the words themselves do was measured with none yet: so they must be named.
ASKED: tuple[LlmStage, ...] = ("rewrite", "answer", "reflect")


async def find_model(settings: Settings, options: QueryOptions) -> Generator | None:
    """Give the model that a query names, or else the settings; None where neither names one.

    Raises ConfigError.
    """
    if name := options.get("llm"):
        settings = settings.model_copy(update={"llm": name})
    return await asyncio.to_thread(find_generator, settings)  # the first loads for a second


def with_model(
    stages: Stages, generator: Generator | None, trace: Trace, options: QueryOptions
) -> Stages:
    """Give the stages with a model's twins in place of those that it is to do.

    The twins belong to one query: they write into its trace, and take from its time.
    Raises ConfigError for a stage that no model does.
    """
    uses = options.get("llm_stages", ASKED)
    if unknown := set(uses).difference(get_args(LlmStage)):
        there = ", ".join(get_args(LlmStage))
        raise ConfigError(f"a model does not do {', '.join(sorted(unknown))}, but {there}")
    if generator is None:
        return stages
    ask, guidance = Ask(generator, trace), options.get("instructions") or ""
    made: dict[LlmStage, dict[str, Callable[..., Any]]] = {
        "intent": {"find_intent": partial(intent.find_intent, ask, stages.find_intent)},
        "boost": {
            "make_variants": partial(boost.make_variants, ask, stages.make_variants, guidance)
        },
        "rewrite": {"rewrite": partial(rewrite.rewrite, ask, stages.rewrite)},
        "answer": {"write_answer": partial(answer.write_answer, ask, stages.write_answer)},
        "reflect": {"grade": partial(grade.grade, ask)},
    }
    for name in uses:
        stages = replace(stages, **made[name])
    return stages
