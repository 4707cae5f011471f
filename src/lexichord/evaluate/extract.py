"""Entities of a text by rules: times, amounts, percentages, organisations and places.

What a rule cannot tell, conditions and actions, is not looked for. Only the text is seen, never
what is expected of it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from lexichord.evaluate.normalise import WORDS
from lexichord.evaluate.places import PLACES
from lexichord.retrieve.aggregate.values import ValueKind, find_values
from lexichord.retrieve.words import NAME, OPENING

EntityType = Literal[
    "TIME", "MONEY", "LOCATION", "ORGANIZATION", "CONDITION", "ACTION", "PERCENTAGE"
]
FINDABLE: tuple[EntityType, ...] = ("TIME", "MONEY", "PERCENTAGE", "ORGANIZATION", "LOCATION")
TYPES: tuple[EntityType, ...] = (*FINDABLE, "CONDITION", "ACTION")
KINDS: Mapping[ValueKind, EntityType] = {
    "date": "TIME",
    "duration": "TIME",
    "amount": "MONEY",
    "percentage": "PERCENTAGE",
    "party": "ORGANIZATION",
}

_COUNT = rf"(?:\d+(?:[.,]\d+)*|(?:{WORDS})(?:[ -](?:{WORDS}))*(?: \(\d+\))?)"
DISTANCE = re.compile(rf"\b{_COUNT}[\s-](?:miles?|kilomet(?:er|re)s?|km)(?:[\s-]radius)?\b", re.I)
ABBREVIATED = re.compile(r"\bU\.[SK]\.(?:A\.)?")
_HEAD = (
    r"(?:University|College|Institute|Bank|Ministry|Department|Commission|Commissioner|Authority"
    r"|Agency|Council|Court|Chamber|Foundation|Association|Society|Hospital|Bureau|Committee"
    r"|Federation|Corps|Holdings|Partners|Group|Fund|Union|Church|Museum|Observatory|Exchange)"
)
INSTITUTION = re.compile(rf".+ {_HEAD}|(?:.+ )?{_HEAD} of .+")
AREA = re.compile(
    r"(?:State|Commonwealth|Province|Republic|Kingdom|City|Town|County|District|Canton|Territory"
    r"|Island) of .+|.+ (?:County|City|Islands?|Street|Road|Avenue|Lane|Square)"
)
# What comes before the name of a place, and of little else.
SITED = re.compile(
    r"\b(?:located|situated|based|resid(?:ent|ing|es)|domiciled|headquartered|incorporated"
    r"|registered|organi[sz]ed|offices?|premises|arbitration|seat(?:ed)?|venue|courts|laws)"
    r" (?:at|in|of|within) $"
)
TERM = re.compile(  # defined in contracts: roles and parts of the text, no names
    r"\b(?:Part(?:y|ies)|Agreement|Contract|Section|Clause|Article|Schedule|Annex|Exhibit|Appendix"
    r"|Recipient|Discloser|Company|Employee|Employer|Customer|Supplier|Purpose)\b"
)


def extract_entities(text: str) -> dict[EntityType, list[str]]:
    """Give the entities of a text as written, by type, in its order, each once."""
    found = sorted((start, kind, text[start:end]) for start, end, kind in _find(text))
    return {
        kind: list(dict.fromkeys(entity for _, other, entity in found if other == kind))
        for kind in FINDABLE
    }


def _find(text: str) -> list[tuple[int, int, EntityType]]:
    """Give spans that do not overlap; what comes first here is believed."""
    taken: list[tuple[int, int, EntityType]] = []
    for start, end, kind in _candidates(text):
        if all(end <= first or last <= start for first, last, _ in taken):
            taken.append((start, end, kind))
    return taken


def _candidates(text: str) -> Iterator[tuple[int, int, EntityType]]:
    for value in find_values(text):
        yield value.start + _opening(value.text), value.end, KINDS[value.kind]
    for pattern in (DISTANCE, ABBREVIATED):
        for match in pattern.finditer(text):
            yield *match.span(), "LOCATION"
    for match in NAME.finditer(text):
        start = match.start() + _opening(match[0])
        if kind := _type_of(text[start : match.end()], text[:start]):
            yield start, match.end(), kind


def _opening(name: str) -> int:
    """Count the characters of words that a sentence opens with: "The Bank" is the bank."""
    first, _, rest = name.partition(" ")
    return len(name) - len(rest) if rest and OPENING.fullmatch(first) else 0


def _type_of(name: str, before: str) -> EntityType | None:
    if name.casefold() in PLACES:
        return "LOCATION"
    if TERM.search(name):
        return None
    if INSTITUTION.fullmatch(name):
        return "ORGANIZATION"
    return "LOCATION" if AREA.fullmatch(name) or SITED.search(before[-60:]) else None
