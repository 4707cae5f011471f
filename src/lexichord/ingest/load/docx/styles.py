"""What a Word file's styles say about paragraphs: headings, and which list they belong to."""

import re
from collections.abc import Iterator
from functools import cache

from docx.oxml.ns import qn
from lxml.etree import _Element

from lexichord.ingest.load.docx.content import is_on

HEADING_STYLE = re.compile(r"heading ([1-9])", re.IGNORECASE)
VALUE_ATTRIBUTE = qn("w:val")
PARAGRAPH_PROPERTIES = qn("w:pPr")
RUN_PROPERTIES, RUN_STYLE, VANISH = qn("w:rPr"), qn("w:rStyle"), qn("w:vanish")


tag_of = cache(qn)  # asked for often


class ParagraphStyles:
    """The paragraph styles of a document, by id; each may be based on another."""

    def __init__(self, root: _Element | None) -> None:
        styles = [] if root is None else root.findall(qn("w:style"))
        self._styles = {style.get(qn("w:styleId"), ""): style for style in styles}
        self._chains = dict[str, list[_Element]]()
        self._hiding = dict[str, bool]()
        self._default = next(
            (
                style.get(qn("w:styleId"), "")
                for style in styles
                if style.get(qn("w:type")) == "paragraph" and style.get(qn("w:default")) == "1"
            ),
            "",
        )

    def level(self, paragraph: _Element) -> int | None:
        """Return a heading's level, 1 the outermost; None for other paragraphs."""
        for properties in self._properties(paragraph):
            outline = property_value(properties, "w:outlineLvl")
            if outline is not None and outline.isdecimal():
                return int(outline) + 1 if int(outline) < 9 else None
        for style in self._chain(paragraph):
            name = property_value(style, "w:name") or ""
            if match := HEADING_STYLE.fullmatch(name):
                return int(match[1])
            if name.lower() == "title":
                return 1
        return None

    def is_title(self, paragraph: _Element) -> bool:
        """Return whether a paragraph is the document's title."""
        names = (
            (property_value(style, "w:name") or "").lower() for style in self._chain(paragraph)
        )
        return "title" in names

    def number(self, paragraph: _Element) -> tuple[str, str | None, str] | None:
        """Return the id of a paragraph's list, its level there, and its style's id."""
        level: str | None = None
        style = self._style_id(paragraph)
        for properties in self._properties(paragraph):
            numbering = properties.find(qn("w:numPr"))
            if numbering is None:
                continue
            level = level or property_value(numbering, "w:ilvl")
            if (number := property_value(numbering, "w:numId")) is not None:
                return number, level, style
        return None

    def hides_paragraph(self, paragraph: _Element) -> bool:
        """Return whether a paragraph's style hides its text."""
        return self._hides(self._style_id(paragraph))

    def hides_run(self, run: _Element, otherwise: bool) -> bool:
        """Return whether a run is hidden, by itself, its style or, `otherwise`, what holds it."""
        properties = run.find(RUN_PROPERTIES)
        if properties is None:
            return otherwise
        said = properties.find(VANISH)
        if said is not None:
            return is_on(said)
        named = properties.find(RUN_STYLE)
        return otherwise or (named is not None and self._hides(named.get(VALUE_ATTRIBUTE, "")))

    def _hides(self, named: str) -> bool:
        """Return whether a style, or one that it is based on, hides text."""
        if named not in self._hiding:
            marks = (style.find(f"{RUN_PROPERTIES}/{VANISH}") for style in self._based(named))
            self._hiding[named] = any(map(is_on, marks))
        return self._hiding[named]

    def _style_id(self, paragraph: _Element) -> str:
        properties = paragraph.find(PARAGRAPH_PROPERTIES)
        named = None if properties is None else property_value(properties, "w:pStyle")
        return named or self._default

    def _chain(self, paragraph: _Element) -> list[_Element]:
        """Return a paragraph's style and those it is based on."""
        named = self._style_id(paragraph)
        if named not in self._chains:
            self._chains[named] = list(self._based(named))
        return self._chains[named]

    def _based(self, named: str | None) -> Iterator[_Element]:
        seen = set[str]()
        while named and named not in seen and named in self._styles:
            seen.add(named)
            yield self._styles[named]
            named = property_value(self._styles[named], "w:basedOn")

    def _properties(self, paragraph: _Element) -> Iterator[_Element]:
        for element in (paragraph, *self._chain(paragraph)):
            properties = element.find(PARAGRAPH_PROPERTIES)
            if properties is not None:
                yield properties


def property_value(parent: _Element, name: str) -> str | None:
    """Return what a property is set to; None where it is absent."""
    child = parent.find(tag_of(name))
    return None if child is None else child.get(VALUE_ATTRIBUTE)
