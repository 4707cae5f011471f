"""Numbers and dates as English texts write them, and their values.

One grammar for all who read them: values are found by it, answers are checked by it, and the
evaluation compares texts by it. Patterns are text, for use inside others; they bring no borders.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal

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
