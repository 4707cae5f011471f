"""Numbers and texts that Python's reader of JSON takes, and nobody else can read again.

That is NaN, infinite numbers, and halves of a sign that UTF-8 cannot hold.
"""

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any

from fastapi import Request
from starlette.exceptions import HTTPException

from lexichord.errors import LONE_SURROGATE

# What such values are written with, and what other encodings than UTF-8 have.
SUSPECT = re.compile(
    rb"NaN|Infinity|[eE]\+?0*[1-9]\d\d|\d{300}|\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]|\0"
)
SURROGATE = re.compile("[\ud800-\udfff]")

type Place = tuple[str, ...]


class UnfitError(HTTPException):
    """A value that no field takes; `param` is where it stands, "" for the body itself."""

    def __init__(self, place: Place, reason: str) -> None:
        self.param = ".".join(place)
        super().__init__(422, f"{self.param}: {reason}" if place else reason)


class JsonRequest(Request):
    """A request whose JSON holds what can be read again."""

    async def json(self) -> Any:  # noqa: ANN401
        """Read the body. Raises UnfitError, which names the first value that cannot be."""
        value = await super().json()
        if SUSPECT.search(await self.body()):
            for place, reason in _unfit(value, ()):
                raise UnfitError(place, reason)
        return value


def _unfit(value: object, place: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(value, float) and not isfinite(value):
        yield place, "NaN and infinite numbers are no JSON: give a finite one, or null"
    elif isinstance(value, str) and SURROGATE.search(value):
        yield place, LONE_SURROGATE
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from _unfit(member, (*place, str(number)))
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _unfit(name, place)
            yield from _unfit(member, (*place, name))
