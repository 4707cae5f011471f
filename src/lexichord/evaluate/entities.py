"""Entity metrics: which of the expected entities an answer holds, and how many others.

The measure of a post on context-aware retrieval over ContractNLI, there with an LLM as extractor.
Each string under a type is one entity; its variants, if it has several, are separated by `|`. An
entity is found if one of its variants stands in the answer, by whole words, after `normalise`. An
extracted entity is right if it stands in a variant of its type or holds one. All answers are cut to
one length first, since a longer one holds more of everything.

Precision, recall and F1 are over the types that were looked for, where a question has any of them:
what is extracted of a type that it does not have is wrong then. Rules look for those that they can
find (`FINDABLE`), a model for all (`extract_all`). Over all types there is always recall.

A model extracts entities of all types, conditions and actions too. It sees the part of an answer
that is judged, between marks, and the names of all types; never the expected entities. What it
extracts counts only if it stands in the answer.

The rules, and the normal form of texts that entities are compared in, are here too. Rules find
times, amounts, percentages, organisations and places; conditions and actions they do not look for.
Only the text is seen, never the expected entities.
"""

import asyncio
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lexichord.errors import ProviderError
from lexichord.providers import Generator
from lexichord.retrieve.understand import OPENING_WORD, PROPER_NAME
from lexichord.retrieve.values import (
    NUMBER_WORDS,
    SCALE_SIGNS,
    SPELLED_NUMBER,
    ValueKind,
    find_values,
    parse_number,
)
from lexichord.types.evaluation import EvalQuery, Outcome
from lexichord.types.questions import enclose, mark_word

# On the case-folded text, in this order.
SIGN_SPELLINGS = [
    (re.compile(pattern), written)
    for pattern, written in (
        (r"[\u2018\u2019`]", "'"),
        (r"(?<=\d)\.00?(?![\d.])", ""),
        (r"%|\bper\s+cent\b", " percent "),
        (r"\bu\.?s\.?\s*(?=\$|dollars?\b)", ""),
        (r"\$|\bdollars?\b", " usd "),
        (r"€|\beuros?\b", " eur "),
        (r"£|\bpounds\s+sterling\b|\bpounds?\b", " gbp "),
        *((rf"(?<=\d){sign}\b", f" {scale}") for sign, scale in SCALE_SIGNS.items()),
        (r"'s\b", ""),
    )
]
GROUPED_DIGITS = re.compile(r"(?<![\d.,])\d{1,3}(?:[,' ]\d{3})+(?!\d)")  # 10,000 10'000 10 000
NORMAL_WORD = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+")

# What a bracket says again, "5 (5)" and "10 percent (10%)", and amounts after their currency.
NUMBER_AGAIN = re.compile(r"\b(\d[\d.]*) \1\b")
VALUE_AGAIN = re.compile(r"\b(\d[\d.]* [^\W\d]+) \1\b")
CURRENCY_AGAIN = re.compile(r"\b(usd|eur|gbp) \1\b")
CURRENCY_PREFIXED = re.compile(r"(?<!\d )\b(?:(?:usd|eur|gbp) \d[\d.]*(?: |$))+")


def normalise(text: str) -> str:
    """Return a text's words, lower-case and in the singular, numbers as digits, spaces between.

    Signs are left out, amounts stand before their currency, and what contracts repeat in brackets,
    "five (5)", stands once.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    for pattern, written in SIGN_SPELLINGS:
        text = pattern.sub(written, text)
    text = GROUPED_DIGITS.sub(lambda match: re.sub(r"\D", "", match[0]), text)
    text = SPELLED_NUMBER.sub(_as_digits, " ".join(NORMAL_WORD.findall(text)))
    text = CURRENCY_PREFIXED.sub(_turned, NUMBER_AGAIN.sub(r"\1", text))
    text = " ".join(map(_singular, CURRENCY_AGAIN.sub(r"\1", text).split()))
    return VALUE_AGAIN.sub(r"\1", text)


def _as_digits(match: re.Match[str]) -> str:
    return f"{parse_number(match[0]).normalize():f}"


def _turned(match: re.Match[str]) -> str:
    words = match[0].split()
    pairs = zip(words[1::2], words[::2], strict=True)
    return " ".join(word for pair in pairs for word in pair) + " "


def _singular(word: str) -> str:
    if len(word) < 4 or word.endswith(("ss", "us", "is")) or not word.endswith("s"):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]


_COUNTRIES = """
Afghanistan, Albania, Algeria, Andorra, Angola, Argentina, Armenia, Australia, Austria, Azerbaijan,
Bahamas, Bahrain, Bangladesh, Barbados, Belarus, Belgium, Belize, Benin, Bermuda, Bhutan, Bolivia,
Bosnia, Botswana, Brazil, British Virgin Islands, Brunei, Bulgaria, Burundi, Cambodia, Cameroon,
Canada, Cayman Islands, Chad, Chile, China, Colombia, Congo, Costa Rica, Croatia, Cuba, Cyprus,
Czechia, Czech Republic, Denmark, Dominica, Dominican Republic, Ecuador, Egypt, El Salvador,
England, Eritrea, Estonia, Ethiopia, Fiji, Finland, France, Gabon, Gambia, Germany, Ghana,
Gibraltar, Great Britain, Greece, Greenland, Grenada, Guatemala, Guernsey, Guinea, Guyana, Haiti,
Honduras, Hong Kong, Hungary, Iceland, India, Indonesia, Iran, Iraq, Ireland, Isle of Man, Israel,
Italy, Ivory Coast, Jamaica, Japan, Jersey, Jordan, Kazakhstan, Kenya, Kosovo, Kuwait, Kyrgyzstan,
Laos, Latvia, Lebanon, Lesotho, Liberia, Libya, Liechtenstein, Lithuania, Luxembourg, Macau,
Madagascar, Malawi, Malaysia, Maldives, Mali, Malta, Mauritania, Mauritius, Mexico, Moldova, Monaco,
Mongolia, Montenegro, Morocco, Mozambique, Myanmar, Namibia, Nepal, Netherlands, New Zealand,
Nicaragua, Niger, Nigeria, North Macedonia, Northern Ireland, Norway, Oman, Pakistan, Palestine,
Panama, Papua New Guinea, Paraguay, Peru, Philippines, Poland, Portugal, Puerto Rico, Qatar,
Romania, Russia, Russian Federation, Rwanda, Samoa, San Marino, Saudi Arabia, Scotland, Senegal,
Serbia, Seychelles, Sierra Leone, Singapore, Slovakia, Slovenia, Somalia, South Africa, South Korea,
Spain, Sri Lanka, Sudan, Suriname, Sweden, Switzerland, Syria, Taiwan, Tajikistan, Tanzania,
Thailand, Togo, Tonga, Trinidad, Tunisia, Turkey, Uganda, Ukraine, United Arab Emirates,
United Kingdom, United States, United States of America, Uruguay, Uzbekistan, Vanuatu, Vatican,
Venezuela, Vietnam, Wales, Yemen, Zambia, Zimbabwe, EEA, EU, UAE, UK, US, USA, Europe,
European Economic Area, European Union
"""
_STATES = """
Alabama, Alaska, Arizona, Arkansas, California, Colorado, Connecticut, Delaware, Florida, Georgia,
Hawaii, Idaho, Illinois, Indiana, Iowa, Kansas, Kentucky, Louisiana, Maine, Maryland, Massachusetts,
Michigan, Minnesota, Mississippi, Missouri, Montana, Nebraska, Nevada, New Hampshire, New Jersey,
New Mexico, New York, North Carolina, North Dakota, Ohio, Oklahoma, Oregon, Pennsylvania,
Rhode Island, South Carolina, South Dakota, Tennessee, Texas, Utah, Vermont, Virginia, Washington,
West Virginia, Wisconsin, Wyoming, District of Columbia, Alberta, British Columbia, Manitoba,
New Brunswick, Newfoundland, Nova Scotia, Ontario, Quebec, Saskatchewan, New South Wales,
Queensland, South Australia, Tasmania, Victoria, Western Australia, Bavaria
"""
_CITIES = """
Amsterdam, Athens, Atlanta, Austin, Bangalore, Bangkok, Barcelona, Beijing, Berlin, Boston,
Brussels, Budapest, Cairo, Chicago, Copenhagen, Dallas, Delhi, Denver, Dubai, Dublin, Edinburgh,
Frankfurt, Geneva, Glasgow, Hamburg, Helsinki, Houston, Istanbul, Jakarta, Johannesburg, Lagos,
Lisbon, London, Los Angeles, Madrid, Manchester, Manila, Melbourne, Miami, Milan, Minneapolis,
Montreal, Moscow, Mumbai, Munich, Nairobi, New Delhi, New York City, Oslo, Ottawa, Paris,
Philadelphia, Prague, Rome, San Diego, San Francisco, San Jose, Seattle, Seoul, Shanghai, Shenzhen,
Stockholm, Sydney, Taipei, Tel Aviv, Tokyo, Toronto, Vancouver, Vienna, Vilnius, Warsaw,
Washington D.C., Wilmington, Zurich
"""

PLACE_NAMES = frozenset(
    place.strip().casefold()
    for places in (_COUNTRIES, _STATES, _CITIES)
    for place in places.replace("\n", " ").split(",")
)


EntityType = Literal[
    "TIME", "MONEY", "LOCATION", "ORGANIZATION", "CONDITION", "ACTION", "PERCENTAGE"
]
RULE_ENTITY_TYPES: tuple[EntityType, ...] = (
    "TIME",
    "MONEY",
    "PERCENTAGE",
    "ORGANIZATION",
    "LOCATION",
)
ENTITY_TYPES: tuple[EntityType, ...] = (*RULE_ENTITY_TYPES, "CONDITION", "ACTION")
VALUE_ENTITY_TYPES: Mapping[ValueKind, EntityType] = {
    "date": "TIME",
    "duration": "TIME",
    "amount": "MONEY",
    "percentage": "PERCENTAGE",
    "party": "ORGANIZATION",
}

_COUNT = rf"(?:\d+(?:[.,]\d+)*|{NUMBER_WORDS}(?: \(\d+\))?)"
DISTANCE_PHRASE = re.compile(
    rf"\b{_COUNT}[\s-](?:miles?|kilomet(?:er|re)s?|km)(?:[\s-]radius)?\b", re.I
)
ABBREVIATED_COUNTRY = re.compile(r"\bU\.[SK]\.(?:A\.)?")
_INSTITUTION_HEAD = (
    r"(?:University|College|Institute|Bank|Ministry|Department|Commission|Commissioner|Authority"
    r"|Agency|Council|Court|Chamber|Foundation|Association|Society|Hospital|Bureau|Committee"
    r"|Federation|Corps|Holdings|Partners|Group|Fund|Union|Church|Museum|Observatory|Exchange)"
)
INSTITUTION_NAME = re.compile(rf".+ {_INSTITUTION_HEAD}|(?:.+ )?{_INSTITUTION_HEAD} of .+")
AREA_NAME = re.compile(
    r"(?:State|Commonwealth|Province|Republic|Kingdom|City|Town|County|District|Canton|Territory"
    r"|Island) of .+|.+ (?:County|City|Islands?|Street|Road|Avenue|Lane|Square)"
)
# What stands before the names of places, and of little else.
PLACE_CUE = re.compile(
    r"\b(?:located|situated|based|resid(?:ent|ing|es)|domiciled|headquartered|incorporated"
    r"|registered|organi[sz]ed|offices?|premises|arbitration|seat(?:ed)?|venue|courts|laws)"
    r" (?:at|in|of|within) $"
)
CONTRACT_TERM = re.compile(  # defined in contracts: roles and parts of the text, no names
    r"\b(?:Part(?:y|ies)|Agreement|Contract|Section|Clause|Article|Schedule|Annex|Exhibit|Appendix"
    r"|Recipient|Discloser|Company|Employee|Employer|Customer|Supplier|Purpose)\b"
)


def extract_entities(text: str) -> dict[EntityType, list[str]]:
    """Return the entities of a text as written, by type, in its order, each once."""
    spans = sorted((start, kind, text[start:end]) for start, end, kind in _find(text))
    return {
        kind: list(dict.fromkeys(entity for _, other, entity in spans if other == kind))
        for kind in RULE_ENTITY_TYPES
    }


def _find(text: str) -> list[tuple[int, int, EntityType]]:
    """Return spans that do not overlap; earlier candidates win."""
    spans: list[tuple[int, int, EntityType]] = []
    for start, end, kind in _candidates(text):
        if all(end <= first or last <= start for first, last, _ in spans):
            spans.append((start, end, kind))
    return spans


def _candidates(text: str) -> Iterator[tuple[int, int, EntityType]]:
    for value in find_values(text):
        opening = _opening(value.text) if value.kind == "party" else 0  # May opens no date
        yield value.start + opening, value.end, VALUE_ENTITY_TYPES[value.kind]
    for pattern in (DISTANCE_PHRASE, ABBREVIATED_COUNTRY):
        for match in pattern.finditer(text):
            yield *match.span(), "LOCATION"
    for match in PROPER_NAME.finditer(text):
        start = match.start() + _opening(match[0])
        if kind := _type_of(text[start : match.end()], text[:start]):
            yield start, match.end(), kind


def _opening(name: str) -> int:
    """Count the characters of words that a sentence opens with: "The Bank" is the bank."""
    first, _, rest = name.partition(" ")
    return len(name) - len(rest) if rest and OPENING_WORD.fullmatch(first) else 0


def _type_of(name: str, before: str) -> EntityType | None:
    if name.casefold() in PLACE_NAMES:
        return "LOCATION"
    if CONTRACT_TERM.search(name):
        return None
    if INSTITUTION_NAME.fullmatch(name):
        return "ORGANIZATION"
    return "LOCATION" if AREA_NAME.fullmatch(name) or PLACE_CUE.search(before[-60:]) else None


MAX_ANSWER_CHARS = 1000  # of an answer that are judged

type EntitiesByType = Mapping[str, Sequence[str]]  # entities by type


@dataclass(frozen=True, slots=True)
class EntityCounts:
    """Entities: `gold` expected, of them `matched`; `extracted`, of them `right`."""

    gold: int
    matched: int
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
    """Return one answer's scores; None where the question has no entities of that kind.

    `entity_precision`, `entity_recall` and `entity_f1` are over the types that rules find; with a
    model's entities, `extracted`, they are over all types, and called `entity_llm_precision` and
    so on. `entity_recall_all` is over all, `entity_critical` the recall of the question's critical
    types. Their means over questions are the macro averages.
    """
    counts = count_entities(query, answer, extracted)
    scores = _score(counts[kind] for kind in _judged_types(extracted))
    name = "entity" if extracted is None else "entity_llm"
    return {
        f"{name}_precision": scores.precision,
        f"{name}_recall": scores.recall,
        f"{name}_f1": scores.f1,
        "entity_recall_all": _recall(counts.values()),
        "entity_critical": _recall(_critical(query, counts)),
    }


def tabulate_entities(
    queries: Sequence[EvalQuery], outcomes: Sequence[Outcome], max_chars: int = MAX_ANSWER_CHARS
) -> dict[str, EntityScores]:
    """Return the micro averages, in which every entity counts alike.

    A row for each type, `micro` over the types looked for, and by recall alone `micro_all` over all
    types and `micro_critical` over the critical ones. `outcomes` are in the order of `queries`, all
    with entities by the same extractor; an error has found nothing. `max_chars` of each answer are
    judged.
    """
    answers = ["" if out.error else out.answer for out in outcomes]
    extracted = [out.entities for out in outcomes]
    counts = [
        count_entities(query, answer, entities, max_chars)
        for query, answer, entities in zip(queries, answers, extracted, strict=True)
    ]
    kinds = _judged_types(extracted[0] if extracted else None)
    by_type = {kind: [row[kind] for row in counts] for kind in ENTITY_TYPES}
    judged = [count for kind in kinds for count in by_type[kind]]
    pairs = zip(queries, counts, strict=True)
    critical = [count for query, row in pairs for count in _critical(query, row)]
    every = [count for row in by_type.values() for count in row]
    return {
        **{kind: _score(by_type[kind]) for kind in kinds},
        **{kind: _recall_only(by_type[kind]) for kind in ENTITY_TYPES if kind not in kinds},
        "micro": _score(judged),
        "micro_all": _recall_only(every),
        "micro_critical": _recall_only(critical),
    }


def count_by_part(query: EvalQuery, outcome: Outcome) -> dict[str, EntityCounts]:
    """Return one answer's counts in the parts that have micro averages: see `tabulate_entities`."""
    counts = count_entities(query, "" if outcome.error else outcome.answer, outcome.entities)
    return {
        "micro": _sum(counts[kind] for kind in _judged_types(outcome.entities)),
        "micro_all": _sum(counts.values()),
        "micro_critical": _sum(_critical(query, counts)),
    }


def _sum(counts: Iterable[EntityCounts]) -> EntityCounts:
    counts = list(counts)
    return EntityCounts(
        gold=sum(c.gold for c in counts),
        matched=sum(c.matched for c in counts),
        extracted=sum(c.extracted for c in counts),
        right=sum(c.right for c in counts),
    )


def count_entities(
    query: EvalQuery,
    answer: str,
    extracted: EntitiesByType | None = None,
    max_chars: int = MAX_ANSWER_CHARS,
) -> dict[EntityType, EntityCounts]:
    """Count one answer's entities by type; none is extracted if the question expects none.

    `extracted` are a model's entities of it; by default rules find them.
    """
    answer = cut_answer(answer, max_chars) if query.entities else ""  # extraction is the slow part
    entities: EntitiesByType | Mapping[EntityType, Sequence[str]] = {}
    if any(query.entities.get(kind) for kind in _judged_types(extracted)):
        entities = extract_entities(answer) if extracted is None else extracted
    text = normalise(answer)
    return {
        kind: _count(query.entities.get(kind, ()), text, entities.get(kind, ()))
        for kind in ENTITY_TYPES
    }


def cut_answer(answer: str, max_chars: int = MAX_ANSWER_CHARS) -> str:
    """Cut an answer to `max_chars` characters, before the word that would not be whole."""
    head = answer[:max_chars]
    return head if len(answer) <= max_chars else head.rpartition(" ")[0]


def find_standing(text: str, entities: Sequence[str]) -> list[str]:
    """Return the entities that stand in a text by whole words, after `normalise`."""
    normal = normalise(text)
    return [
        entity for entity in dict.fromkeys(entities) if _contains_words(normal, normalise(entity))
    ]


def _judged_types(extracted: EntitiesByType | None) -> tuple[EntityType, ...]:
    return RULE_ENTITY_TYPES if extracted is None else ENTITY_TYPES


def _count(entities: Sequence[str], text: str, extracted: Sequence[str]) -> EntityCounts:
    gold = [[normalise(variant) for variant in entity.split("|")] for entity in entities]
    matched = sum(any(_contains_words(text, variant) for variant in variants) for variants in gold)
    accepted = [variant for variants in gold for variant in variants]
    candidates = {normalise(entity) for entity in extracted}
    right = sum(
        any(_contains_words(a, e) or _contains_words(e, a) for a in accepted) for e in candidates
    )
    return EntityCounts(len(gold), matched, len(candidates), right)


def _contains_words(text: str, words: str) -> bool:
    return bool(words) and f" {words} " in f" {text} "


def _critical(query: EvalQuery, counts: dict[EntityType, EntityCounts]) -> list[EntityCounts]:
    return [count for kind, count in counts.items() if kind in query.critical]


def _score(counts: Iterable[EntityCounts]) -> EntityScores:
    """Score counts together; where nothing was extracted that should have been, precision is 0."""
    counts = list(counts)
    recall = _recall(counts)
    extracted, right = sum(c.extracted for c in counts), sum(c.right for c in counts)
    precision = right / extracted if extracted else (None if recall is None else 0.0)
    if precision is None or recall is None:
        return EntityScores(precision, recall, None)
    total = precision + recall
    return EntityScores(precision, recall, 2 * precision * recall / total if total else 0.0)


def _recall(counts: Iterable[EntityCounts]) -> float | None:
    counts = list(counts)
    gold, matched = sum(c.gold for c in counts), sum(c.matched for c in counts)
    return matched / gold if gold else None


def _recall_only(counts: Iterable[EntityCounts]) -> EntityScores:
    return EntityScores(None, _recall(counts), None)


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
