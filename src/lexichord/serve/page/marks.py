"""Stretches of a text written as HTML, with marks and anchors where they lie in it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

type CharRange = tuple[int, int]
MARK = Markup("<mark>")
UNPLACED = -1  # of what cannot be found in the text: it is written without marks


@dataclass(frozen=True, slots=True)
class Mark:
    """What is marked, and the tags that open its first and its other stretches."""

    start: int
    end: int
    first: Markup
    again: Markup


def plain_marks(ranges: Iterable[CharRange]) -> list[Mark]:
    """Return marks that say nothing more than that something is marked."""
    return [Mark(start, end, MARK, MARK) for start, end in ranges]


class MarkWriter:
    """Writes the stretches of a text in their order, escaped.

    Marks stand apart and in order, as anchors do: elements without a text, each at a character.
    """

    def __init__(
        self, marks: Sequence[Mark] = (), anchors: Sequence[tuple[int, Markup]] = ()
    ) -> None:
        self._marks = marks
        self._starts = [mark.start for mark in marks]
        self._anchors = anchors
        self._places = sorted(
            {place for mark in marks for place in (mark.start, mark.end)}
            | {place for place, _ in anchors}
        )
        self._written = 0  # of the anchors
        self._opened: set[int] = set()

    def write(self, text: str, start: int) -> Markup:
        """Return a stretch of which the character `start` of the text is the first."""
        if start == UNPLACED:
            return Markup.escape(text)
        end = start + len(text)
        first, last = bisect_right(self._places, start), bisect_left(self._places, end)
        cuts = [start, *self._places[first:last], end]
        return Markup().join(
            self.write_as(text[one - start : other - start], one) for one, other in pairwise(cuts)
        )

    def write_as(self, shown: str, start: int) -> Markup:
        """Return what a stretch without a cut is shown as, in its mark, after its anchors."""
        before = Markup().join(self._anchors_until(start))
        number = bisect_right(self._starts, start) - 1
        if not shown or number < 0 or start >= self._marks[number].end:
            return before + shown
        mark = self._marks[number]
        tag = mark.again if number in self._opened else mark.first
        self._opened.add(number)
        return before + tag + shown + Markup("</mark>")

    def write_rest(self) -> Markup:
        """Return the anchors of what was not shown."""
        return Markup().join(anchor for _, anchor in self._anchors[self._written :])

    def _anchors_until(self, place: int) -> Iterator[Markup]:
        while self._written < len(self._anchors) and self._anchors[self._written][0] <= place:
            yield self._anchors[self._written][1]
            self._written += 1
