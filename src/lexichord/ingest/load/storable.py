"""What every text is checked for: that Postgres can store it, and what a reader cannot see."""

import re

INVISIBLE = {
    # zero-width joiners are part of emoji and of Indic and Persian words, so they are not flagged
    "zero-width characters": re.compile("[\u200b\u2060\u180e]|(?<!^)\ufeff"),
    "bidirectional characters": re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"),
}
PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
DROPPED = "characters that cannot be stored were dropped"


def flags(text: str) -> list[str]:
    """Name the kinds of invisible characters that a text holds."""
    return [name for name, pattern in INVISIBLE.items() if pattern.search(text)]


def storable(text: str) -> str:
    """Put halves of characters together, drop those that stay alone, and NUL."""
    return UNSTORABLE.sub("", PAIR.sub(_whole, text))


def _whole(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")
