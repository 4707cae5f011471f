"""Entities that a language model extracts from answers: of all types, conditions and actions too.

It sees the part of an answer that is judged, between marks, and the names of all types; never the
expected entities. What it extracts counts only if it stands in the answer.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lexichord.errors import ProviderError
from lexichord.evaluate.entities import cut_answer, find_standing
from lexichord.evaluate.extract import ENTITY_TYPES
from lexichord.providers.base import Generator
from lexichord.types.evaluation import EvalQuery, Outcome
from lexichord.types.questions import enclose, mark_word

EXTRACTION_SECONDS = 60.0  # timeout for one answer
MAX_CONCURRENT_EXTRACTIONS = 4


@dataclass(frozen=True, slots=True)
class Extraction:
    """Outcomes with a model's entities; `failures` say in one line why a question's are missing.

    `foreign` counts the spans left out: of a type not asked for, or not in the answer.
    """

    outcomes: tuple[Outcome, ...]
    failures: tuple[str, ...]
    foreign: int


@dataclass(frozen=True, slots=True)
class _ExtractedOutcome:
    """One outcome with its entities."""

    outcome: Outcome
    failure: str | None = None
    foreign: int = 0


async def extract_all(
    generator: Generator,
    queries: Sequence[EvalQuery],
    outcomes: Sequence[Outcome],
    on_done: Callable[[int], None],
) -> Extraction:
    """Extract the entities of outcomes, in the order of `queries`, where entities are judged.

    An outcome whose extraction fails has none. `on_done` is called with how many are done.
    """
    semaphore = asyncio.Semaphore(MAX_CONCURRENT_EXTRACTIONS)
    done = iter(range(1, len(outcomes) + 1))

    async def extract(query: EvalQuery, outcome: Outcome) -> _ExtractedOutcome:
        async with semaphore:
            extracted = await _extract(generator, query, outcome)
        on_done(next(done))
        return extracted

    extracted = await asyncio.gather(*map(extract, queries, outcomes))
    return Extraction(
        tuple(one.outcome for one in extracted),
        tuple(one.failure for one in extracted if one.failure is not None),
        sum(one.foreign for one in extracted),
    )


async def _extract(generator: Generator, query: EvalQuery, outcome: Outcome) -> _ExtractedOutcome:
    text = cut_answer(outcome.answer)
    without = replace(outcome, entities={})
    if not query.entities or outcome.error is not None or not text.strip():
        return _ExtractedOutcome(without)
    marked_text = enclose(text, mark_word([text]))
    try:
        generation = await generator.generate(
            "entities", {"text": marked_text, "types": ENTITY_TYPES}, EXTRACTION_SECONDS
        )
    except ProviderError as error:
        return _ExtractedOutcome(without, f"{query.id}: {error}")
    entities: dict[str, list[str]] = generation.outputs["entities"]
    standing: dict[str, list[str]] = {
        kind: find_standing(text, entities.get(kind, ())) for kind in ENTITY_TYPES
    }
    count = sum(len(dict.fromkeys(spans)) for spans in entities.values())
    foreign = count - sum(map(len, standing.values()))
    return _ExtractedOutcome(replace(outcome, entities=standing), foreign=foreign)
