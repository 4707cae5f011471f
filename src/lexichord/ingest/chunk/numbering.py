"""Read the marks of numbered lists: which list one belongs to, and which place it has there."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

ROMAN = re.compile(r"(?=.)(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})\Z")
VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class Number:
    """One way to read a mark: the kind of list, and the place, as in (5, 2) of 5.2."""

    kind: str
    place: tuple[int, ...]
    runs_on: bool = False  # in a list within a paragraph

    @property
    def is_first(self) -> bool:
        """Whether it begins a list."""
        return not self.place or self.place[-1] == 1

    def follows(self, earlier: "Number", gap: int = 1) -> bool:
        """Whether it is the next of the same list, or one of the next few."""
        if self.kind != earlier.kind or self.place[:-1] != earlier.place[:-1]:
            return False
        return not self.place or 0 < self.place[-1] - earlier.place[-1] <= gap

    def is_like(self, other: "Number") -> bool:
        """Whether both could stand in lists at the same depth."""
        return self.kind == other.kind and len(self.place) == len(other.place)


def parse(style: str, mark: str) -> Iterator[Number]:
    """Give the ways to read a mark, of a style such as "bracketed"; i may be a letter or one."""
    if mark[0].isdigit():
        yield Number(style, tuple(map(int, mark.split("."))))
        return
    small = mark.lower()
    script = style + ("a" if mark == small else "A")
    if len(set(small)) == 1:  # aa comes after z
        yield Number(f"{script} letter", (26 * (len(small) - 1) + ord(small[0]) - 96,))
    if ROMAN.match(small):
        yield Number(f"{script} roman", (_roman(small),))


def _roman(text: str) -> int:
    values = [VALUES[letter] for letter in text]
    following = [*values[1:], 0]
    return sum(-v if v < after else v for v, after in zip(values, following, strict=True))
