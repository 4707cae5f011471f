"""Numbers and texts that Python's reader of JSON takes, and nobody else can read again.

That is NaN, infinite numbers, and halves of a sign that UTF-8 cannot hold.
"""

import re
from collections.abc import Iterator
from math import isfinite
from typing import NamedTuple

from lexichord.errors import LONE_SURROGATE

# What such values are written with, and what other encodings than UTF-8 have.
SUSPECT = re.compile(
    rb"NaN|Infinity|[eE]\+?0*[1-9]\d\d|\d{300}|\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]|\0"
)
SURROGATE = re.compile("[\ud800-\udfff]")

type Place = tuple[str, ...]


class Unfit(NamedTuple):
    """A value that no field takes: where it stands, () for the body itself, and why."""

    place: Place
    reason: str

    @property
    def param(self) -> str:
        """The field's name, "" for the body itself."""
        return ".".join(self.place)

    @property
    def message(self) -> str:
        """Both in one line."""
        return f"{self.param}: {self.reason}" if self.place else self.reason


def find_unfit(body: bytes, value: object) -> Unfit | None:
    """Return the first value in a body that no field takes; `value` is what was read of it."""
    return next(_unfit(value, ()), None) if SUSPECT.search(body) else None


def _unfit(value: object, place: Place) -> Iterator[Unfit]:
    if isinstance(value, float) and not isfinite(value):
        yield Unfit(place, "NaN and infinite numbers are no JSON: give a finite one, or null")
    elif isinstance(value, str) and SURROGATE.search(value):
        yield Unfit(place, LONE_SURROGATE)
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from _unfit(member, (*place, str(number)))
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _unfit(name, place)
            yield from _unfit(member, (*place, name))
