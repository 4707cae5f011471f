"""Numbers of list items as letters and roman numerals, written and read."""

import re

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
