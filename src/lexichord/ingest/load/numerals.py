"""Write the numbers of list items as letters and Roman numerals."""

ROMAN = {
    **{1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc"},
    **{50: "l", 40: "xl", 10: "x", 9: "ix", 5: "v", 4: "iv", 1: "i"},
}
ROMAN_LIMIT = 4000


def letters(number: int) -> str:
    """Give a to z, then aa, bb, as word processors count."""
    if number < 1:
        return str(number)
    return chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 9)


def roman(number: int) -> str:
    """Give i, ii, iii, iv."""
    if not 0 < number < ROMAN_LIMIT:
        return str(number)
    written = ""
    for value, numeral in ROMAN.items():
        written += numeral * (number // value)
        number %= value
    return written
