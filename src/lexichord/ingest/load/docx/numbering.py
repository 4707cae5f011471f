"""The numbers of a Word file's list items, which Word keeps outside the text."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from docx.oxml.ns import qn
from lxml.etree import _Element

from lexichord.ingest.load.docx.styles import Styles, value
from lexichord.ingest.numerals import letters, roman

LEVELS = 9
FORMS: dict[str, Callable[[int], str]] = {
    "decimalZero": lambda number: f"{number:02}",
    "lowerLetter": letters,
    "upperLetter": lambda number: letters(number).upper(),
    "lowerRoman": roman,
    "upperRoman": lambda number: roman(number).upper(),
    "none": lambda number: "",
}
PLACE = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class Level:
    """How a level of a list is numbered."""

    form: str
    pattern: str
    start: int
    restarts: bool
    all_decimal: bool
    style: str | None


@dataclass(slots=True)
class Counting:
    """A list: its levels, and how far each was counted."""

    levels: dict[int, Level]
    reached: list[int | None] = field(default_factory=lambda: [None] * LEVELS)


class Numbers:
    """Counts the list items of a document, which must be asked for in order."""

    def __init__(self, root: _Element | None, styles: Styles) -> None:
        self._styles = styles
        self._lists = dict[str, Counting]()
        self._nums = dict[str, _Element]()
        self._begun = set[str]()
        self._linked = dict[str, str]()
        for element in [] if root is None else root:
            self._take(element)

    def _take(self, element: _Element) -> None:
        if element.tag == qn("w:num"):
            self._nums[element.get(qn("w:numId"), "")] = element
        elif element.tag == qn("w:abstractNum"):
            name = element.get(qn("w:abstractNumId"), "")
            self._lists[name] = Counting(_levels(element))
            for link in ("w:styleLink", "w:numStyleLink"):
                if style := value(element, link):
                    self._linked[f"{link} {style}"] = name

    def label(self, paragraph: _Element) -> str:
        """Count a paragraph and give its number; "" for one that has none."""
        found = self._styles.number(paragraph)
        if found is None or found[0] not in self._nums:
            return ""
        number, written, style = found
        counting = self._counting(number)
        level = _level(counting, written, style)
        if level not in counting.levels:
            return ""
        self._begin(number, counting)
        self._count(counting, level)
        return _label(counting, level)

    def _counting(self, number: str) -> Counting:
        """Find the list that a number's id means; a list may point at another by its style."""
        name = value(self._nums[number], "w:abstractNumId") or ""
        for link, style_name in (key.split(" ", 1) for key in self._linked):
            if link == "w:numStyleLink" and self._linked[f"{link} {style_name}"] == name:
                name = self._linked.get(f"w:styleLink {style_name}", name)
                break
        return self._lists.setdefault(name, Counting({}))

    def _begin(self, number: str, counting: Counting) -> None:
        """Where an id is met first, take in what it changes in its list."""
        if number in self._begun:
            return
        self._begun.add(number)
        for override in self._nums[number].findall(qn("w:lvlOverride")):
            index = _whole(override.get(qn("w:ilvl")), 0)
            if (level := override.find(qn("w:lvl"))) is not None and 0 <= index < LEVELS:
                counting.levels[index] = _read_level(level)
            start = value(override, "w:startOverride")
            if start is not None and index in counting.levels:
                counting.levels[index] = replace(counting.levels[index], start=_whole(start, 1))
                counting.reached[index:] = [None] * (LEVELS - index)

    def _count(self, counting: Counting, level: int) -> None:
        reached = counting.reached
        for above in range(level):
            if reached[above] is None and above in counting.levels:
                reached[above] = counting.levels[above].start
        before = reached[level]
        reached[level] = counting.levels[level].start if before is None else before + 1
        for below in range(level + 1, LEVELS):
            if below not in counting.levels or counting.levels[below].restarts:
                reached[below] = None


def _levels(abstract: _Element) -> dict[int, Level]:
    levels = {_whole(level.get(qn("w:ilvl")), 0): level for level in abstract.findall(qn("w:lvl"))}
    return {index: _read_level(level) for index, level in levels.items() if 0 <= index < LEVELS}


def _read_level(level: _Element) -> Level:
    return Level(
        form=value(level, "w:numFmt") or "decimal",
        pattern=value(level, "w:lvlText") or "",
        start=_whole(value(level, "w:start"), 0),
        restarts=value(level, "w:lvlRestart") != "0",
        all_decimal=level.find(qn("w:isLgl")) is not None,
        style=value(level, "w:pStyle"),
    )


def _level(counting: Counting, written: str | None, style: str) -> int:
    """Give a paragraph's level, which its style may choose."""
    if written is None:
        for index, level in counting.levels.items():
            if level.style == style:
                return index
    return _whole(written, 0)


def _label(counting: Counting, level: int) -> str:
    here = counting.levels[level]
    if here.form == "bullet":
        return "•"

    def number(place: re.Match[str]) -> str:
        index = int(place[1]) - 1
        if index not in counting.levels:
            return ""
        form = "decimal" if here.all_decimal else counting.levels[index].form
        return FORMS.get(form, str)(counting.reached[index] or 0)

    return PLACE.sub(number, here.pattern).strip()


def _whole(written: str | None, default: int) -> int:
    return int(written) if written is not None and written.lstrip("-").isdecimal() else default
