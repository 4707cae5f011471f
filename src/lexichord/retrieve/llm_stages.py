"""The stages that a language model does in place of their twins, and the grades it gives."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from lexichord.errors import ProviderError
from lexichord.providers.base import Generator
from lexichord.providers.registry import find_generator
from lexichord.retrieve.evidence import llm_answer
from lexichord.retrieve.evidence.llm_answer import NumberedQuote, mark, number_sources
from lexichord.retrieve.llm import LlmCaller, shorten_line
from lexichord.retrieve.search import llm_keywords
from lexichord.retrieve.stages import Stages
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.understand import llm_question
from lexichord.settings import Settings
from lexichord.types import LlmStage, QueryOptions, Response
from lexichord.types.response import Grade, Grading

GRADED_RESPECTS = ("grounding", "completeness", "consistency", "specificity")


async def grade(ask: LlmCaller, *, response: Response) -> Grading:
    """Grade a response's answer. Raises ProviderError: what was not graded has no grade."""
    sources = mark(_sources(response))
    inputs = {"question": response.query, "answer": response.answer, "sources": sources}
    try:
        outputs = await ask("grade", inputs)
    except ProviderError as error:
        ask.degrade("reflection", error)
        raise
    grades = (
        Grade(name, outputs[name]["score"], shorten_line(outputs[name]["reason"]))
        for name in GRADED_RESPECTS
    )
    return Grading(tuple(grades), shorten_line(outputs["missing"]))


def _sources(response: Response) -> list[NumberedQuote]:
    """Return what the context shows, and after it the quotes of a table that are not in there."""
    shown = number_sources(response.quotes, response.sources)
    cells = () if response.comparison is None else response.comparison.cells
    known = {source.quote for source in shown}
    more = dict.fromkeys(quote for cell in cells for quote in cell.quotes if quote not in known)
    return [
        *shown,
        *(NumberedQuote(n, quote) for n, quote in enumerate(more, len(response.sources) + 1)),
    ]


async def find_query_model(settings: Settings, name: str | None = None) -> Generator | None:
    """Return the model that a query names, or else the settings; None where neither names one.

    Raises ConfigError.
    """
    if name:
        settings = settings.model_copy(update={"llm": name})
    return await asyncio.to_thread(find_generator, settings)  # the first loads for a second


def with_llm_twins(
    stages: Stages, generator: Generator | None, trace: Trace, options: QueryOptions
) -> Stages:
    """Return the stages with a model's twins in place of those that it does.

    The twins belong to one query: they write into its trace, and take from its time.
    """
    if generator is None:
        return stages
    ask, guidance = LlmCaller(generator, trace), options.instructions or ""
    twins: dict[LlmStage, dict[str, Callable[..., Any]]] = {
        "intent": {"find_intent": partial(llm_question.find_intent, ask, stages.find_intent)},
        "boost": {
            "make_variants": partial(
                llm_keywords.make_variants, ask, stages.make_variants, guidance
            )
        },
        "rewrite": {"rewrite": partial(llm_question.rewrite, ask, stages.rewrite)},
        "answer": {"write_answer": partial(llm_answer.write_answer, ask, stages.write_answer)},
        "reflect": {"grade": partial(grade, ask)},
    }
    for name in options.llm_stages:
        stages = replace(stages, **twins[name])
    return stages
