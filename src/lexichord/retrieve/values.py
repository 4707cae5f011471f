"""Numbers, dates and other values as texts write them.

One grammar for all who read them: values are found by it, answers are checked by it, and the
evaluation compares texts by it. Patterns are text, for use inside others; they have no boundaries.

Regular expressions: price-parser finds one price a text, text2num numbers without their units,
quantulum3 needs a classifier's libraries. Digits, signs and ISO codes are read in any language,
number words, months and units in English. Nothing is taken out of words or section numbers.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Literal, NamedTuple

from lexichord.retrieve.cache import cached_by_tenant
from lexichord.types.evidence import Quote

UNIT_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TEEN_WORDS = (
    *("ten", "eleven", "twelve", "thirteen", "fourteen"),
    *("fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TEN_WORDS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
WORD_VALUES = {
    **{word: value for value, word in enumerate(("zero", *UNIT_WORDS, *TEEN_WORDS))},
    **{word: 10 * value for value, word in enumerate(TEN_WORDS, 2)},
}
SCALE_VALUES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
SCALE_SIGNS = {"bn": "billion", "mn": "million", "m": "million", "k": "thousand"}  # after digits

_UNIT, _TEEN, _TEN = map("|".join, (UNIT_WORDS, TEEN_WORDS, TEN_WORDS))
SCALE_WORD = "|".join(SCALE_VALUES)
_THEN = r"[\s-]"
_AND = rf"(?:{_THEN}and)?{_THEN}"
_TO_99 = rf"(?:(?:{_TEN})(?:{_THEN}(?:{_UNIT}))?|{_TEEN}|{_UNIT})"
_TO_999 = rf"(?:(?:{_TO_99}{_THEN})?hundred(?:{_AND}{_TO_99})?|{_TO_99})"
_REST = rf"(?:{_AND}{_TO_999}{_THEN}(?:{SCALE_WORD}))*(?:{_AND}{_TO_999})?"
NUMBER_WORDS = rf"(?i:(?:{_TO_999}{_THEN})?(?:{SCALE_WORD}){_REST}|{_TO_999}|zero)"

DIGITS = r"\d+(?:,\d{3})*(?:\.\d+)?"
# Words, or digits before words: "twenty-one", "2.5 million", "5 million two hundred thousand".
SPELLED_NUMBER = re.compile(
    rf"(?<![\w-]){NUMBER_WORDS}(?!\w)"
    rf"|(?<![\w.,]){DIGITS}{_THEN}?(?i:{SCALE_WORD})(?i:{_REST})(?!\w)"
)
SIGNED_NUMBER = re.compile(rf"(?<![\w.,])({DIGITS})({'|'.join(SCALE_SIGNS)})\b", re.I)
NUMBER_PART = re.compile(r"[a-z]+|\d[\d,.]*")


def parse_number(text: str) -> Decimal:
    """Return the value of a match of SPELLED_NUMBER."""
    total, part = Decimal(0), Decimal(0)
    for word in NUMBER_PART.findall(text.lower()):
        if word in SCALE_VALUES:
            total, part = total + (part or Decimal(1)) * SCALE_VALUES[word], Decimal(0)
        elif word == "hundred":
            part = (part or Decimal(1)) * 100
        elif word in WORD_VALUES:
            part += WORD_VALUES[word]
        elif word != "and":
            part += Decimal(word.replace(",", ""))
    return total + part


def signed_values(text: str) -> Iterator[Decimal]:
    """Yield the values of numbers with a sign for their scale: "$5m", "10k"."""
    for match in SIGNED_NUMBER.finditer(text):
        yield parse_number(f"{match[1]} {SCALE_SIGNS[match[2].lower()]}")


MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_SHORT = "|".join(name[:3] for name in MONTH_NAMES if name != "May")
MONTH = rf"(?:{'|'.join(MONTH_NAMES)}|(?:{_SHORT}|Sept)\b\.?)"
DAY = r"(?:0?[1-9]|[12]\d|3[01])"
YEAR = r"\d{4}"  # leases run into the next century
RECENT_YEAR = r"(?:1[89]|20)\d\d"  # beside a month alone, where any number may stand


def _date_patterns(part: Callable[[str, str], str]) -> tuple[str, str, str]:
    """Return "1 July", "July 1" and "2024-07-01", each named part as `part` writes its pattern."""
    day, month, ordinal = part("day", DAY), part("month", MONTH), r"(?:st|nd|rd|th)?"
    iso = (part("year", YEAR), part("month", "0[1-9]|1[0-2]"), part("day", r"0[1-9]|[12]\d|3[01]"))
    return (
        rf"{day}{ordinal}(?:\s+day)?(?:\s+of)?\s+{month}",
        rf"{month}\s+{day}{ordinal}",
        "-".join(iso),
    )


DAY_OF_MONTH, MONTH_AND_DAY, ISO_DATE = _date_patterns(lambda _, pattern: f"(?:{pattern})")
_DAY_OF_MONTH, _MONTH_AND_DAY, _ISO_DATE = _date_patterns(
    lambda name, pattern: f"(?P<{name}>{pattern})"
)
_WHOLE_DATES = tuple(
    re.compile(rf"(?<![\w-]){pattern}(?![\w-])", re.I)
    for pattern in (
        _ISO_DATE,
        rf"{_DAY_OF_MONTH},?\s+(?P<year>{YEAR})",
        rf"{_MONTH_AND_DAY},?\s+(?P<year>{YEAR})",
    )
)


def find_dates(text: str) -> Iterator[tuple[date, re.Match[str]]]:
    """Yield the whole dates of a text, each with its place."""
    for pattern in _WHOLE_DATES:
        for match in pattern.finditer(text):
            if value := _date(match):
                yield value, match


def _date(match: re.Match[str]) -> date | None:
    month = match["month"].capitalize()
    names = [number for number, name in enumerate(MONTH_NAMES, 1) if name[:3] == month[:3]]
    try:
        return date(int(match["year"]), names[0] if names else int(month), int(match["day"]))
    except ValueError:
        return None


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
_TIME_UNIT = r"(?:second|minute|hour|day|night|week|fortnight|month|quarter|year)s?"
_SECTION = r"(?!\d+(?:\.\d+)+\s+[A-Z])"  # "1.2 Business Days" opens a clause
_DURATIONS = rf"{_SECTION}{_FROM}{_AMOUNT}[\s-]*(?:{_KIND}(?i:{_TIME_UNIT})|{_TIME_UNIT})\b"

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
    "duration": re.compile(rf"(?i:{_TIME_UNIT})"),
}


@cached_by_tenant(4_000)  # sentences
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


CITATION_MARK = re.compile(r"\[\d{1,3}(?:, ?\d{1,3})*\]")
DIGIT_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)*(?![\d_])(?!,\d{3})")


def find_unsupported(answer: str, sources: Sequence[str]) -> tuple[str, ...]:
    """Return the numbers and dates of an answer, as written there, that no source holds.

    Numbers may be spelled out, dates be written in another order. Citation marks such as [1] are no
    numbers, and an answer's "one" need not be. A date counts as a whole: its year alone does not
    support it.
    """
    facts = [fact for fact in _facts(CITATION_MARK.sub(" ", answer)) if fact[1].lower() != "one"]
    stated = {value for source in sources for value in _stated_values(source)}
    return tuple(dict.fromkeys(text for value, text in facts if value not in stated))


def _facts(text: str) -> list[tuple[object, str]]:
    """Return the values of a text with the way they are written, each part of it once."""
    facts: list[tuple[object, str]] = []
    text = _without_dates(text, facts)
    spelled = [match[0] for match in SPELLED_NUMBER.finditer(text)]
    text = SPELLED_NUMBER.sub(_blank, text)
    facts += [(_number(match[0]), match[0]) for match in DIGIT_NUMBER.finditer(text)]
    return facts + [(parse_number(words).normalize(), words) for words in spelled]


def _stated_values(source: str) -> Iterator[object]:
    """Yield the values that a source states; of "5 million" and "$5m" also the digits alone."""
    facts: list[tuple[object, str]] = []
    text = _without_dates(source, facts)
    yield from (value for value, _ in facts)
    yield from (_number(match[0]) for match in DIGIT_NUMBER.finditer(text))
    yield from (parse_number(match[0]).normalize() for match in SPELLED_NUMBER.finditer(text))
    yield from (value.normalize() for value in signed_values(text))


def _without_dates(text: str, facts: list[tuple[object, str]]) -> str:
    """Move the dates of a text to the facts: what is part of a date is no number."""
    rest = text
    for value, match in find_dates(text):
        facts.append((value, match[0]))
        rest = rest[: match.start()] + _blank(match) + rest[match.end() :]
    return rest


def _blank(match: re.Match[str]) -> str:
    return "_" * len(match[0])


def _number(written: str) -> object:
    """Return a value: 3.50 is 3.5, 1,000 is 1000; section numbers such as 5.2.1 stay as text."""
    plain = written.replace(",", "")
    return plain if plain.count(".") > 1 else Decimal(plain).normalize()
