"""The numbers of a Word file's list items, which Word keeps outside the text."""

from dataclasses import replace

from docx.oxml.ns import qn
from lxml.etree import _Element

from lexichord.ingest.load.docx.content import ParagraphStyles, property_value
from lexichord.ingest.load.list_numbers import LIST_LEVELS, ListCounter, ListLevel


class ListNumbering:
    """Counts the list items of a document, which must be asked for in order."""

    def __init__(self, root: _Element | None, styles: ParagraphStyles) -> None:
        self._styles = styles
        self._lists = dict[str, ListCounter]()
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
            self._lists[name] = ListCounter(_levels(element))
            for link in ("w:styleLink", "w:numStyleLink"):
                if style := property_value(element, link):
                    self._linked[f"{link} {style}"] = name

    def label(self, paragraph: _Element) -> str:
        """Count a paragraph and return its number; "" for one that has none."""
        numbering = self._styles.number(paragraph)
        if numbering is None or numbering[0] not in self._nums:
            return ""
        number, written, style = numbering
        counting = self._counting(number)
        level = _level(counting, written, style)
        if level not in counting.levels:
            return ""
        self._begin(number, counting)
        counting.count(level)
        return counting.label(level)

    def _counting(self, number: str) -> ListCounter:
        """Find the list that a number's id means; a list may point at another by its style."""
        name = property_value(self._nums[number], "w:abstractNumId") or ""
        for link, style_name in (key.split(" ", 1) for key in self._linked):
            if link == "w:numStyleLink" and self._linked[f"{link} {style_name}"] == name:
                name = self._linked.get(f"w:styleLink {style_name}", name)
                break
        return self._lists.setdefault(name, ListCounter({}))

    def _begin(self, number: str, counting: ListCounter) -> None:
        """Where an id is met first, take in what it changes in its list."""
        if number in self._begun:
            return
        self._begun.add(number)
        for override in self._nums[number].findall(qn("w:lvlOverride")):
            index = _whole(override.get(qn("w:ilvl")), 0)
            if (level := override.find(qn("w:lvl"))) is not None and 0 <= index < LIST_LEVELS:
                counting.levels[index] = _read_level(level)
            start = property_value(override, "w:startOverride")
            if start is not None and index in counting.levels:
                counting.levels[index] = replace(counting.levels[index], start=_whole(start, 1))
                counting.reached[index:] = [None] * (LIST_LEVELS - index)


def _levels(abstract: _Element) -> dict[int, ListLevel]:
    levels = {_whole(level.get(qn("w:ilvl")), 0): level for level in abstract.findall(qn("w:lvl"))}
    return {
        index: _read_level(level) for index, level in levels.items() if 0 <= index < LIST_LEVELS
    }


def _read_level(level: _Element) -> ListLevel:
    return ListLevel(
        form=property_value(level, "w:numFmt") or "decimal",
        pattern=property_value(level, "w:lvlText") or "",
        start=_whole(property_value(level, "w:start"), 0),
        restarts=property_value(level, "w:lvlRestart") != "0",
        all_decimal=level.find(qn("w:isLgl")) is not None,
        style=property_value(level, "w:pStyle"),
    )


def _level(counting: ListCounter, written: str | None, style: str) -> int:
    """Return a paragraph's level, which its style may choose."""
    if written is None:
        for index, level in counting.levels.items():
            if level.style == style:
                return index
    return _whole(written, 0)


def _whole(written: str | None, default: int) -> int:
    return int(written) if written is not None and written.lstrip("-").isdecimal() else default
