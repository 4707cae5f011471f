"""The numbers of lists, which word processors keep outside the text: counted level by level."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from lexichord.ingest.numerals import letters, roman

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
