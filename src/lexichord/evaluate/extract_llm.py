"""Entities of answers as a language model marks them: of all types, conditions and actions too.

It sees what is read of an answer, between marks, and the names of all types; never what is
expected. What it marks counts only if it stands in the answer.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lexichord.errors import ProviderError
from lexichord.evaluate.entities import cut_answer, find_standing
from lexichord.evaluate.extract import ENTITY_TYPES
from lexichord.providers.base import Generator
from lexichord.types.evaluation import EvalQuery, Outcome
from lexichord.types.generation import enclose, mark_word

EXTRACTION_SECONDS = 60.0  # for one answer
MAX_CONCURRENT_EXTRACTIONS = 4  # answers


@dataclass(frozen=True, slots=True)
class Extraction:
    """Outcomes with a model's entities; `failures` say in one line why a question's are missing.

    `foreign` is how many spans were left out, being of no type asked for or not in the answer.
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
    tell: Callable[[int], None],
) -> Extraction:
    """Have the entities of outcomes marked, in the order of `queries`, where these are judged.

    An outcome whose extraction fails has none. `tell` hears how many are done.
    """
    turns, done = asyncio.Semaphore(MAX_CONCURRENT_EXTRACTIONS), iter(range(1, len(outcomes) + 1))

    async def extract(query: EvalQuery, outcome: Outcome) -> _ExtractedOutcome:
        async with turns:
            marked = await _extract(generator, query, outcome)
        tell(next(done))
        return marked

    each = await asyncio.gather(*map(extract, queries, outcomes))
    return Extraction(
        tuple(marked.outcome for marked in each),
        tuple(marked.failure for marked in each if marked.failure is not None),
        sum(marked.foreign for marked in each),
    )


async def _extract(generator: Generator, query: EvalQuery, outcome: Outcome) -> _ExtractedOutcome:
    text = cut_answer(outcome.answer)
    none = replace(outcome, entities={})
    if not query.entities or outcome.error is not None or not text.strip():
        return _ExtractedOutcome(none)
    shown = enclose(text, mark_word([text]))
    try:
        made = await generator.generate(
            "entities", {"text": shown, "types": ENTITY_TYPES}, EXTRACTION_SECONDS
        )
    except ProviderError as error:
        return _ExtractedOutcome(none, f"{query.id}: {error}")
    said: dict[str, list[str]] = made.outputs["entities"]
    own: dict[str, list[str]] = {
        kind: find_standing(text, said.get(kind, ())) for kind in ENTITY_TYPES
    }
    given = sum(len(dict.fromkeys(entities)) for entities in said.values())
    foreign = given - sum(map(len, own.values()))
    return _ExtractedOutcome(replace(outcome, entities=own), foreign=foreign)
