"""Entities of a text by rules, and the normal form of texts that they are compared in.

Rules find times, amounts, percentages, organisations and places; conditions and actions they do
not look for. Only the text is seen, never the expected entities.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Literal

from lexichord.retrieve.understand.cues import OPENING_WORD, PROPER_NAME
from lexichord.retrieve.values import (
    NUMBER_WORDS,
    SCALE_SIGNS,
    SPELLED_NUMBER,
    ValueKind,
    find_values,
    parse_number,
)

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
