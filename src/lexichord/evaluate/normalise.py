"""One way to write words and values, so that "five (5) years" and "5 years" are the same words.

English number words, the signs and names of three currencies, per cent, plurals.
"""

import re
import unicodedata
from decimal import Decimal

_UNITS = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_SCALES = "thousand|million|billion"
WORDS = f"{_UNITS}|{_TEENS}|{_TENS}|hundred|{_SCALES}"
_VALUES = {word: value for value, word in enumerate(f"{_UNITS}|{_TEENS}".split("|"), 1)}
_VALUES |= {word: 10 * value for value, word in enumerate(_TENS.split("|"), 2)}
_POWERS = {word: 1000**power for power, word in enumerate(_SCALES.split("|"), 1)}

_SMALL = rf"(?:(?:{_TENS})(?: (?:{_UNITS})\b)?|{_UNITS}|{_TEENS})\b"
_PART = rf"(?:(?:{_SMALL} )?hundred\b(?:(?: and)? {_SMALL})?|{_SMALL})"
_SCALED = rf"(?:(?:{_PART}|\d+(?:\.\d+)?\b) )?(?:{_SCALES})\b"
_MORE = rf"(?:(?: and)? {_PART} (?:{_SCALES})\b)*(?:(?: and)? {_PART})?"
NUMBER = re.compile(rf"\b(?:{_SCALED}{_MORE}|{_PART})")

# On the case-folded text, in this order.
SIGNS = [
    (re.compile(pattern), written)
    for pattern, written in (
        (r"[\u2018\u2019`]", "'"),
        (r"(?<=\d)\.00?(?![\d.])", ""),
        (r"%|\bper\s+cent\b", " percent "),
        (r"\bu\.?s\.?\s*(?=\$|dollars?\b)", ""),
        (r"\$|\bdollars?\b", " usd "),
        (r"€|\beuros?\b", " eur "),
        (r"£|\bpounds\s+sterling\b|\bpounds?\b", " gbp "),
        (r"(?<=\d)bn\b", " billion"),
        (r"(?<=\d)mn?\b", " million"),
        (r"(?<=\d)k\b", " thousand"),
        (r"'s\b", ""),
    )
]
GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[,' ]\d{3})+(?!\d)")  # 10,000 10'000 10 000
WORD = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+")

# What a bracket says again, "5 (5)" and "10 percent (10%)", and amounts after their currency.
NUMBER_AGAIN = re.compile(r"\b(\d[\d.]*) \1\b")
VALUE_AGAIN = re.compile(r"\b(\d[\d.]* [^\W\d]+) \1\b")
CURRENCY_AGAIN = re.compile(r"\b(usd|eur|gbp) \1\b")
PREFIXED = re.compile(r"(?<!\d )\b(?:(?:usd|eur|gbp) \d[\d.]*(?: |$))+")


def normalise(text: str) -> str:
    """Give the words of a text, lower-case and in the singular, numbers as digits, spaces between.

    Signs are left out, amounts stand before their currency, what is said twice in a row as
    contracts do ("five (5)") once.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    for pattern, written in SIGNS:
        text = pattern.sub(written, text)
    text = GROUPED.sub(lambda match: re.sub(r"\D", "", match[0]), text)
    text = NUMBER.sub(_as_digits, " ".join(WORD.findall(text)))
    text = PREFIXED.sub(_turned, NUMBER_AGAIN.sub(r"\1", text))
    text = " ".join(map(_singular, CURRENCY_AGAIN.sub(r"\1", text).split()))
    return VALUE_AGAIN.sub(r"\1", text)


def _as_digits(match: re.Match[str]) -> str:
    total, part = Decimal(0), Decimal(0)
    for word in match[0].split():
        if word in _POWERS:
            total, part = total + (part or Decimal(1)) * _POWERS[word], Decimal(0)
        elif word == "hundred":
            part = (part or Decimal(1)) * 100
        elif word != "and":
            part += Decimal(_VALUES.get(word) or word)
    return f"{(total + part).normalize():f}"


def _turned(match: re.Match[str]) -> str:
    words = match[0].split()
    pairs = zip(words[1::2], words[::2], strict=True)
    return " ".join(word for pair in pairs for word in pair) + " "


def _singular(word: str) -> str:
    if len(word) < 4 or word.endswith(("ss", "us", "is")) or not word.endswith("s"):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word[:-1]
