"""How many of the entities that an answer should hold it holds, and how many others.

The measure of a post on context-aware retrieval over ContractNLI, there with an LLM as extractor.
Each string under a type is one entity; its variants, if it has several, stand between `|`. An
entity is found if one of its variants stands in the answer, by whole words, spelt as `normalise`
spells. An extracted entity is right if it stands in a variant of its type or holds one. All answers
are cut to one length first, since a longer one holds more of everything.

Precision, recall and F1 are over the types that were looked for, where a question has any of them:
what is extracted of a type that it does not have is wrong then. Rules look for those that they can
find (`extract.FINDABLE`), a model for all (`extract_llm`). Over all types there is always recall.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lexichord.evaluate.extract import (
    ENTITY_TYPES,
    FINDABLE,
    EntityType,
    extract_entities,
    normalise,
)
from lexichord.types.evaluation import EvalQuery, Outcome

LENGTH = 1000  # characters of an answer that are read

type EntitiesByType = Mapping[str, Sequence[str]]  # entities by type


@dataclass(frozen=True, slots=True)
class Tally:
    """How many entities are expected, of them found; how many extracted, of them right."""

    gold: int
    found: int
    extracted: int
    right: int


@dataclass(frozen=True, slots=True)
class EntityScores:
    """Precision, recall and F1, 0 to 1; None where nothing is judged."""

    precision: float | None
    recall: float | None
    f1: float | None


def score_entities(
    query: EvalQuery, answer: str, extracted: EntitiesByType | None = None
) -> dict[str, float | None]:
    """Score one answer; None where the question has no entities of that kind.

    `entity_precision`, `entity_recall` and `entity_f1` are over the types that rules find; with a
    model's entities, `extracted`, they are over all types, and called `entity_llm_precision` and
    so on. `entity_recall_all` is over all, `entity_critical` the recall of the question's critical
    types. Their means over questions are the macro averages.
    """
    tallies = count_entities(query, answer, extracted)
    scores = _score(tallies[kind] for kind in _judged_types(extracted))
    name = "entity" if extracted is None else "entity_llm"
    return {
        f"{name}_precision": scores.precision,
        f"{name}_recall": scores.recall,
        f"{name}_f1": scores.f1,
        "entity_recall_all": _recall(tallies.values()),
        "entity_critical": _recall(_critical(query, tallies)),
    }


def tabulate_entities(
    queries: Sequence[EvalQuery], outcomes: Sequence[Outcome]
) -> dict[str, EntityScores]:
    """Give the micro averages, in which every entity counts alike.

    A row for each type, `micro` over the types looked for, and by recall alone `micro_all` over all
    types and `micro_critical` over the critical ones. `outcomes` are in the order of `queries`, all
    extracted by one means; one that is an error has found nothing.
    """
    answers = ["" if out.error else out.answer for out in outcomes]
    found = [out.entities for out in outcomes]
    asked = list(zip(queries, map(count_entities, queries, answers, found), strict=True))
    kinds = _judged_types(found[0] if found else None)
    by_type = {kind: [tallies[kind] for _, tallies in asked] for kind in ENTITY_TYPES}
    looked_for = [tally for kind in kinds for tally in by_type[kind]]
    critical = [tally for query, tallies in asked for tally in _critical(query, tallies)]
    every = [tally for tallies in by_type.values() for tally in tallies]
    return {
        **{kind: _score(by_type[kind]) for kind in kinds},
        **{kind: _recall_only(by_type[kind]) for kind in ENTITY_TYPES if kind not in kinds},
        "micro": _score(looked_for),
        "micro_all": _recall_only(every),
        "micro_critical": _recall_only(critical),
    }


def count_entities(
    query: EvalQuery, answer: str, extracted: EntitiesByType | None = None
) -> dict[EntityType, Tally]:
    """Count one answer's entities by type; none is extracted if the question has none to find.

    `extracted` are a model's entities of it; by default rules find them.
    """
    answer = cut_answer(answer) if query.entities else ""  # reading it takes longest of all
    given: EntitiesByType | Mapping[EntityType, Sequence[str]] = {}
    if any(query.entities.get(kind) for kind in _judged_types(extracted)):
        given = extract_entities(answer) if extracted is None else extracted
    said = normalise(answer)
    return {
        kind: _count(query.entities.get(kind, ()), said, given.get(kind, ()))
        for kind in ENTITY_TYPES
    }


def cut_answer(answer: str) -> str:
    """Cut an answer to LENGTH, before the word that would not be whole."""
    inside = answer[:LENGTH]
    return inside if len(answer) <= LENGTH else inside.rpartition(" ")[0]


def find_standing(text: str, entities: Sequence[str]) -> list[str]:
    """Give those entities that stand in a text by whole words, spelt as `normalise` spells."""
    said = normalise(text)
    return [
        entity for entity in dict.fromkeys(entities) if _contains_words(said, normalise(entity))
    ]


def _judged_types(extracted: EntitiesByType | None) -> tuple[EntityType, ...]:
    return FINDABLE if extracted is None else ENTITY_TYPES


def _count(entities: Sequence[str], said: str, extracted: Sequence[str]) -> Tally:
    gold = [[normalise(variant) for variant in entity.split("|")] for entity in entities]
    found = sum(any(_contains_words(said, variant) for variant in variants) for variants in gold)
    accepted = [variant for variants in gold for variant in variants]
    spelt = {normalise(entity) for entity in extracted}
    right = sum(
        any(_contains_words(a, e) or _contains_words(e, a) for a in accepted) for e in spelt
    )
    return Tally(len(gold), found, len(spelt), right)


def _contains_words(text: str, words: str) -> bool:
    return bool(words) and f" {words} " in f" {text} "


def _critical(query: EvalQuery, tallies: dict[EntityType, Tally]) -> list[Tally]:
    return [tally for kind, tally in tallies.items() if kind in query.critical]


def _score(tallies: Iterable[Tally]) -> EntityScores:
    """Score counts together; where nothing was extracted that should have been, precision is 0."""
    tallies = list(tallies)
    recall = _recall(tallies)
    extracted, right = sum(each.extracted for each in tallies), sum(each.right for each in tallies)
    precision = right / extracted if extracted else (None if recall is None else 0.0)
    if precision is None or recall is None:
        return EntityScores(precision, recall, None)
    both = precision + recall
    return EntityScores(precision, recall, 2 * precision * recall / both if both else 0.0)


def _recall(tallies: Iterable[Tally]) -> float | None:
    tallies = list(tallies)
    gold, found = sum(each.gold for each in tallies), sum(each.found for each in tallies)
    return found / gold if gold else None


def _recall_only(tallies: Iterable[Tally]) -> EntityScores:
    return EntityScores(None, _recall(tallies), None)
