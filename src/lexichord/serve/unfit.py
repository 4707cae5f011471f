"""Numbers and texts that Python's reader of JSON takes, and nobody else can read again.

That is NaN, infinite numbers, and halves of a sign that UTF-8 cannot hold.
"""

import re
from collections.abc import Iterator
from math import isfinite
from typing import NamedTuple

from lexichord.errors import LONE_SURROGATE

# What such values are written with, and what other encodings than UTF-8 have: each by itself, for
# as one expression they take seven times as long.
SUSPECT_SIGNS = (b"NaN", b"Infinity", b"\0")
SUSPECT_FORMS = tuple(
    map(
        re.compile,
        (rb"e\+?0*[1-9]\d\d", rb"E\+?0*[1-9]\d\d", rb"\\u[dD][89a-fA-F]", rb"\xed[\xa0-\xbf]"),
    )
)
AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
LONG_NUMBER = b"0" * 300
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
    return next(_unfit(value, ()), None) if _is_suspect(body) else None


def _is_suspect(body: bytes) -> bool:
    return (
        any(sign in body for sign in SUSPECT_SIGNS)
        or any(form.search(body) for form in SUSPECT_FORMS)
        or LONG_NUMBER in body.translate(AS_ZEROS)
    )


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
