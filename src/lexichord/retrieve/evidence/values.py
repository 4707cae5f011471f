"""Values in a text: dates, amounts, durations, percentages and names of companies, as written.

Regular expressions: price-parser finds one price a text, text2num numbers without their units,
quantulum3 needs a classifier's libraries. Digits, signs and ISO codes are read in any language,
number words, months and units in English. Nothing is taken out of words or section numbers.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from lexichord.retrieve.kept import kept
from lexichord.retrieve.numbers import (
    DAY,
    DAY_OF_MONTH,
    ISO_DATE,
    MONTH,
    MONTH_AND_DAY,
    NUMBER_WORDS,
    RECENT_YEAR,
    SCALE_WORD,
    YEAR,
)
from lexichord.types.evidence import Quote

ValueKind = Literal["amount", "percentage", "date", "duration", "party"]


class TextValue(NamedTuple):
    """A value with its span in the text: `text[start:end] == value.text`."""

    kind: ValueKind
    text: str
    start: int
    end: int


_GAP = r"[ \t\xa0\u202f]"
_GROUPED_DIGITS = (
    rf"(?:\d{{1,3}}(?:(?:[,.’']|{_GAP})\d{{3}})+(?:[.,]\d{{1,2}})?|\d+(?:[.,]\d+)?)(?!\d)"
)
_SCALED_DIGITS = rf"{_GROUPED_DIGITS}(?:{_GAP}?(?i:{SCALE_WORD})\b)?"
_AMOUNT = rf"(?:{NUMBER_WORDS}\s*\(\s*{_GROUPED_DIGITS}\s*\)|{_SCALED_DIGITS}|{NUMBER_WORDS})"
_START = r"(?<![\w.,/§-])(?<!§ )"
_FROM = rf"{_START}(?:\d{{1,3}}\s?[-–—]\s?)?"  # 15-20 minutes

_CODES = (
    "AED|ARS|AUD|BGN|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KES"
    "|KRW|MAD|MXN|MYR|NGN|NOK|NZD|PEN|PHP|PKR|PLN|QAR|RMB|RON|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|USD"
    "|VND|ZAR"
)
_BEFORE = rf"(?:\b(?:{_CODES})|(?:\b(?:US|CA|A|C|NZ|HK|S))?[$€£¥₹]|\b(?:kr\.?|Rs\.?))"
_NAMES = (
    r"(?:US\s)?dollars?|euros?|pounds(?:\ssterling)?|kron(?:or|er|a|e)|francs?|yen|yuan|rupees?"
)
_AFTER = rf"(?:(?:{_CODES})\b|[€£¥₹$]|kr\b|(?i:{_NAMES})\b)(?!\s*\d)"
_SCALE = rf"(?:{_GAP}?(?:(?i:{SCALE_WORD}|mn|bn)|[mk])\b)?"
_AMOUNTS = rf"{_BEFORE}{_GAP}?{_GROUPED_DIGITS}{_SCALE}|{_FROM}{_AMOUNT}{_SCALE}\s?{_AFTER}"

_PERCENT = (
    rf"{_FROM}{_AMOUNT}\s?(?:%(?!\w)|(?i:per\s?cent(?:age\spoints?)?)\b)"
    rf"(?:\s?\({_GROUPED_DIGITS}\s?%\))?"
)

_DATE = "|".join(
    [
        rf"{_START}{DAY_OF_MONTH}(?:,?\s+{YEAR})?",
        rf"\b{MONTH_AND_DAY}(?:,?\s+{YEAR})?",
        rf"\b{MONTH}\s+{RECENT_YEAR}",
        rf"{_START}{ISO_DATE}",
        rf"{_START}{DAY}([./])(?:0?[1-9]|1[0-2])\1{YEAR}",
        rf"{_START}(?:0?[1-9]|1[0-2])/{DAY}/{YEAR}",
    ]
)
_DATES = rf"(?:{_DATE})(?![\w%]|[.,/-]\d)"

_KIND = r"(?i:(?:business|working|calendar|consecutive|full|clear)\s+)"
_UNIT = r"(?:second|minute|hour|day|night|week|fortnight|month|quarter|year)s?"
_SECTION = r"(?!\d+(?:\.\d+)+\s+[A-Z])"  # "1.2 Business Days" opens a clause
_DURATIONS = rf"{_SECTION}{_FROM}{_AMOUNT}[\s-]*(?:{_KIND}(?i:{_UNIT})|{_UNIT})\b"

_FORM = (
    r"(?:Limited|Ltd|plc|PLC|LLC|LLP|L\.L\.C\.|Inc|Incorporated|Corp|Corporation|GmbH|AG|KG|SE|AB|AS"
    r"|ASA|A/S|ApS|Oy|Oyj|S\.?A\.?S?|SARL|S\.r\.l|S\.p\.A|B\.?V|N\.?V|DAC|Pty\sLtd|Pte\sLtd|e\.V)"
)
_NAME = r"(?:[A-Z0-9][\w&’'-]*|&|of|and|de|du|la)"
_PARTIES = rf"(?<![\w])[A-Z][\w&’'-]*(?:[ \t]{_NAME}){{0,6}},?[ \t]{_FORM}(?![\w])\.?"

# In this order a stretch is taken by the first that matches.
VALUE_PATTERNS: dict[ValueKind, re.Pattern[str]] = {
    "amount": re.compile(_AMOUNTS),
    "percentage": re.compile(_PERCENT),
    "date": re.compile(_DATES),
    "duration": re.compile(_DURATIONS),
    "party": re.compile(_PARTIES),
}

# What a value of a kind cannot be without: most sentences have none of it, and are spared the
# pattern itself, which tries number words at each place (.15 ms a sentence, with these .04).
VALUE_SIGNS: dict[ValueKind, re.Pattern[str]] = {
    "amount": re.compile(rf"[$€£¥₹]|{_CODES}|kr|Rs|(?i:{_NAMES})"),
    "percentage": re.compile(r"%|(?i:per\s?cent)"),
    "duration": re.compile(rf"(?i:{_UNIT})"),
}


@kept(4_000)  # sentences
def find_values(text: str) -> tuple[TextValue, ...]:
    """Return the values in a text, in its order; no two overlap."""
    taken: list[TextValue] = []
    for kind, pattern in VALUE_PATTERNS.items():
        if kind in VALUE_SIGNS and not VALUE_SIGNS[kind].search(text):
            continue
        taken += [value for value in _matches(kind, pattern, text) if not _overlaps(value, taken)]
    return tuple(sorted(taken, key=lambda value: value.start))


def values_of(quotes: Iterable[Quote]) -> tuple[str, ...]:
    """Return the values in quotes as they are written there, each once."""
    return tuple(dict.fromkeys(value.text for q in quotes for value in find_values(q.text)))


def _matches(kind: ValueKind, pattern: re.Pattern[str], text: str) -> Iterator[TextValue]:
    for match in pattern.finditer(text):
        yield TextValue(kind, match.group(), match.start(), match.end())


def _overlaps(value: TextValue, taken: list[TextValue]) -> bool:
    return any(value.start < other.end and other.start < value.end for other in taken)
