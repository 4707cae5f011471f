"""Stretches of files, where no character counts twice.

A stretch is (file, start, end) in characters; the end is not part of it. `merge` makes of any
stretches, overlapping or not, per file those that are apart, in order: what all else works on.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

type Stretch = tuple[str, int, int]
type Covered = Mapping[str, Sequence[tuple[int, int]]]


def merge(stretches: Iterable[Stretch]) -> Covered:
    """Give the characters of all stretches, each once."""
    by_file: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for file, start, end in sorted(stretches):
        apart = by_file[file]
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        elif start < end:
            apart.append((start, end))
    return by_file


def length(covered: Covered) -> int:
    """Count the characters."""
    return sum(end - start for stretches in covered.values() for start, end in stretches)


def shared(one: Covered, other: Covered) -> int:
    """Count the characters that both hold."""
    return sum(
        max(0, min(end, other_end) - max(start, other_start))
        for file in one.keys() & other.keys()
        for start, end in one[file]
        for other_start, other_end in other[file]
    )


def cut(stretches: Iterable[Stretch], budget: int) -> Iterator[Stretch]:
    """Give the first `budget` characters of stretches as they come; those shown again cost again.

    The last one is cut where the budget ends.
    """
    for file, start, end in stretches:
        if budget <= 0:
            return
        yield file, start, min(end, start + budget)
        budget -= max(0, end - start)
