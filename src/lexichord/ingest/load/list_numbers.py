"""The numbers of lists: letters and roman numerals, written and read; counted level by level."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

ROMAN_NUMERALS = {
    **{1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc"},
    **{50: "l", 40: "xl", 10: "x", 9: "ix", 5: "v", 4: "iv", 1: "i"},
}
ROMAN_END = 4000  # the first number that has none
# Up to 99: what stands before a clause is seldom higher, and other letters are words or lists.
SMALL_ROMAN = re.compile(r"(?=.)(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})\Z")
ROMAN_DIGITS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def letters(number: int) -> str:
    """Return a to z, then aa, bb, as word processors count."""
    if number < 1:
        return str(number)
    return chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 9)


def letters_value(text: str) -> int | None:
    """Read what `letters` writes, small letters; None for anything else."""
    if len(set(text)) != 1:
        return None
    return 26 * (len(text) - 1) + ord(text[0]) - ord("a") + 1


def roman(number: int) -> str:
    """Return i, ii, iii, iv; digits where there is no numeral."""
    if not 0 < number < ROMAN_END:
        return str(number)
    written = ""
    for value, numeral in ROMAN_NUMERALS.items():
        written += numeral * (number // value)
        number %= value
    return written


def roman_value(text: str) -> int | None:
    """Read a roman numeral up to 99 in small letters; None for anything else."""
    if not SMALL_ROMAN.match(text):
        return None
    values = [ROMAN_DIGITS[letter] for letter in text]
    following = [*values[1:], 0]
    return sum(-v if v < after else v for v, after in zip(values, following, strict=True))


LIST_LEVELS = 9
BULLET = "•"
NUMBER_FORMS: dict[str, Callable[[int], str]] = {
    "decimalZero": lambda number: f"{number:02}",
    "lowerLetter": letters,
    "upperLetter": lambda number: letters(number).upper(),
    "lowerRoman": roman,
    "upperRoman": lambda number: roman(number).upper(),
    "none": lambda number: "",
}
LEVEL_PLACEHOLDER = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class ListLevel:
    """How a level of a list is numbered; forms have the names that Word gives them."""

    form: str
    pattern: str
    start: int
    restarts: bool = True
    all_decimal: bool = False
    style: str | None = None


@dataclass(slots=True)
class ListCounter:
    """A list: its levels, and how far each was counted."""

    levels: dict[int, ListLevel]
    reached: list[int | None] = field(default_factory=lambda: [None] * LIST_LEVELS)

    def count(self, level: int) -> None:
        """Count an item of a level; those above that have none yet begin, those below restart."""
        reached = self.reached
        for above in range(level):
            if reached[above] is None and above in self.levels:
                reached[above] = self.levels[above].start
        before = reached[level]
        reached[level] = self.levels[level].start if before is None else before + 1
        for below in range(level + 1, LIST_LEVELS):
            if below not in self.levels or self.levels[below].restarts:
                reached[below] = None

    def label(self, level: int) -> str:
        """Return what stands before the item that was counted last."""
        here = self.levels[level]
        if here.form == "bullet":
            return BULLET

        def number(place: re.Match[str]) -> str:
            index = int(place[1]) - 1
            if index not in self.levels:
                return ""
            form = "decimal" if here.all_decimal else self.levels[index].form
            return NUMBER_FORMS.get(form, str)(self.reached[index] or 0)

        return LEVEL_PLACEHOLDER.sub(number, here.pattern).strip()
