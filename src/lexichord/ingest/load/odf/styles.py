"""What the styles of an OpenDocument file say: what is hidden, pages, numbers of lists."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from lxml.etree import QName, _Element

from lexichord.ingest.load.archive import BasedStyles
from lexichord.ingest.load.marks import Marks
from lexichord.ingest.load.parts import BULLET, LIST_LEVELS, ListCounter, ListLevel

OPEN_DOCUMENT = "urn:oasis:names:tc:opendocument:xmlns:"
LIST_STYLE = f"{{{OPEN_DOCUMENT}style:1.0}}list-style-name"
USUAL_PAGE = "Standard"  # what pages look like where no style says otherwise
MARGINS = {
    **dict.fromkeys(("header-first", "header", "header-left"), "Header"),
    **dict.fromkeys(("footer-first", "footer", "footer-left"), "Footer"),
}


def attribute(element: _Element, namespace: str, name: str) -> str:
    """Return what an attribute says; "" where it is absent."""
    return element.get(f"{{{OPEN_DOCUMENT}{namespace}:1.0}}{name}", "")


@dataclass(frozen=True, slots=True)
class ResolvedStyle:
    """What a style says or, where it says nothing, those that it is based on."""

    hides_text: bool
    hides_slide: bool
    list_style: str | None
    page: str


class OdfStyles:
    """The styles of a document, by name, and its pages' headers and footers."""

    def __init__(
        self, roots: Iterable[_Element], marks: Marks, read: Callable[[_Element], str]
    ) -> None:
        self._marks, self._read = marks, read
        styles = dict[str, _Element]()
        self._pages = dict[str, _Element]()
        self._visited, self._seen = set[str](), set[str]()
        for root in roots:
            styles |= {attribute(s, "style", "name"): s for s in root.iter("{*}style")}
            pages = root.iter("{*}master-page")
            self._pages |= {attribute(page, "style", "name"): page for page in pages}
        self._styles = BasedStyles(styles, _parent, _resolved)

    def hides(self, element: _Element) -> bool:
        """Return whether an element's style hides its text."""
        return self._styles.of(attribute(element, "text", "style-name")).hides_text

    def list_style(self, paragraph: _Element) -> str | None:
        """Return the list style that a paragraph's style names; None where it says nothing."""
        return self._styles.of(attribute(paragraph, "text", "style-name")).list_style

    def hides_slide(self, name: str) -> bool:
        """Return whether slides of a style are not shown."""
        return self._styles.of(name).hides_slide

    def page(self, element: _Element) -> str:
        """Return the name of the pages that begin with an element; "" where none do."""
        name = attribute(element, "text", "style-name") or attribute(element, "table", "style-name")
        return self._styles.of(name).page

    def margins(self, page: str) -> tuple[list[str], list[str]]:
        """Return the headers and footers of pages, and of those that follow them, once each."""
        found: dict[str, list[str]] = {"Header": [], "Footer": []}
        while page in self._pages and page not in self._visited:
            self._visited.add(page)
            for kind, text in self._marked(self._pages[page]):
                found[kind].append(f"{kind}: {text}")
            page = attribute(self._pages[page], "style", "next-style-name")
        return found["Header"], found["Footer"]

    def _marked(self, page: _Element) -> Iterator[tuple[str, str]]:
        for margin in page:
            kind = MARGINS.get(QName(margin).localname, "")
            text = self._read(margin) if kind else ""
            if any(map(str.isalpha, text)) and f"{kind} {text}" not in self._seen:
                self._seen.add(f"{kind} {text}")
                if attribute(margin, "style", "display") == "false":
                    text = self._marks.hidden(text, kind.lower())
                if text:
                    yield kind, text


def _parent(style: _Element) -> str:
    return attribute(style, "style", "parent-style-name")


def _resolved(chain: Sequence[_Element]) -> ResolvedStyle:
    """Return what a style says together with those that it is based on, itself first."""
    lists = (style.get(LIST_STYLE) for style in chain)
    pages = (attribute(style, "style", "master-page-name") for style in chain)
    return ResolvedStyle(
        hides_text=_is_set(chain, "text-properties", ("text", "display", "none")),
        hides_slide=_is_set(
            chain, "drawing-page-properties", ("presentation", "visibility", "hidden")
        ),
        list_style=next((named for named in lists if named is not None), None),
        page=next(filter(None, pages), ""),
    )


def _is_set(chain: Iterable[_Element], properties: str, setting: tuple[str, str, str]) -> bool:
    """Return whether properties of a style or one below it have a namespace's name at a value."""
    namespace, name, value = setting
    found = (each for style in chain for each in style.iterfind(f"{{*}}{properties}"))
    return any(attribute(each, namespace, name) == value for each in found)


FORMS = MappingProxyType(
    {
        "1": "decimal",
        "01": "decimalZero",
        "a": "lowerLetter",
        "A": "upperLetter",
        "i": "lowerRoman",
        "I": "upperRoman",
        "": "none",
    }
)
UNNUMBERED = ("bullet", "none")
# How LibreOffice writes a level whose numbers have other signs than points between them.
WHOLE_PATTERN = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}"
WHOLE_PATTERN += "num-list-format"
WRITTEN_PLACE = re.compile(r"%(\d+)%")
XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
OUTLINE = "\x00outline"  # the style of headings, under a name that no list has
BULLETS = {level: ListLevel("bullet", "", 1) for level in range(LIST_LEVELS)}

type Levels = Mapping[int, ListLevel]


def list_labels(
    content: _Element, roots: Iterable[_Element], style_of: Callable[[_Element], str | None]
) -> dict[_Element, str]:
    """Return what stands before paragraphs and headings, of items the first one's.

    `style_of` tells which list style a paragraph's own style names; None where it says nothing.
    """
    numbering = _Numbering(roots, style_of)
    deleted = set(content.iterfind(".//{*}tracked-changes//{*}*"))
    for element in content.iter("{*}list", "{*}h"):
        if element not in deleted and not _is_in_list(element):
            numbering.take(element)
    return numbering.labels


def _goes_on(element: _Element) -> bool:
    return attribute(element, "text", "continue-numbering") == "true"


def _is_in_list(element: _Element) -> bool:
    parent = element.getparent()
    return parent is not None and QName(parent).localname in ("list-item", "list-header")


class _Numbering:
    """Counts the lists and headings of a document in their order."""

    def __init__(
        self, roots: Iterable[_Element], style_of: Callable[[_Element], str | None]
    ) -> None:
        self.labels = dict[_Element, str]()
        self._style_of = style_of
        self._styles = dict[str, dict[int, ListLevel]]()
        self._named, self._last = dict[str, ListCounter](), dict[str, ListCounter]()
        for style in (s for root in roots for s in root.iter("{*}list-style", "{*}outline-style")):
            is_outline = QName(style).localname == "outline-style"
            name = OUTLINE if is_outline else attribute(style, "style", "name")
            self._styles[name] = _read_levels(style)
        self._outline = ListCounter(self._styles.get(OUTLINE, {}))

    def take(self, element: _Element) -> None:
        """Count a list that stands in no other, or a heading that stands in none."""
        if QName(element).localname == "list":
            self._add_list(element, self._counter(element), 0)
        elif self._style_of(element) != "":
            self._label(element, self._outline, _whole(element, "outline-level", 1) - 1)

    def _counter(self, element: _Element) -> ListCounter:
        """Return the counter of a list, which may go on with an earlier one."""
        style = self._style(element)
        counter = self._named.get(attribute(element, "text", "continue-list"))
        if counter is None and _goes_on(element):
            counter = self._last.get(style)
        reached = ListCounter({}).reached if counter is None else counter.reached
        counter = ListCounter(self._styles.get(style, BULLETS), reached)
        self._last[style] = counter
        if name := element.get(XML_ID):
            self._named[name] = counter
        return counter

    def _style(self, element: _Element) -> str:
        """Return the name of a list's style, which its first paragraph's may say instead."""
        first = next(element.iter("{*}p", "{*}h"), None)
        own = attribute(element, "text", "style-name")
        return own or (None if first is None else self._style_of(first)) or ""

    def _add_list(self, element: _Element, counter: ListCounter, level: int) -> None:
        for item in element.iterchildren("{*}list-header", "{*}list-item"):
            if QName(item).localname == "list-item":
                self._add_item(item, counter, level)
            for at, inner in enumerate(item.iterchildren("{*}list")):
                if at and not _goes_on(inner):
                    counter.reached[level + 1 :] = [None] * (LIST_LEVELS - level - 1)
                own = self._styles.get(attribute(inner, "text", "style-name"), counter.levels)
                self._add_list(inner, ListCounter(own, counter.reached), level + 1)

    def _add_item(self, item: _Element, counter: ListCounter, level: int) -> None:
        """Label an item's first paragraph; one that only holds a list is not counted."""
        if (first := next(item.iterchildren("{*}p", "{*}h"), None)) is not None:
            own = self._styles.get(attribute(item, "text", "style-override"), counter.levels)
            self._label(first, ListCounter(own, counter.reached), level, item)

    def _label(
        self, first: _Element, counter: ListCounter, level: int, counted: _Element | None = None
    ) -> None:
        """Count an item or heading; an item of a level that no style tells has a bullet."""
        if level not in counter.levels:
            self.labels[first] = "" if counted is None else BULLET
            return
        if counted is None and attribute(first, "text", "is-list-header") == "true":
            return
        counter.count(level)
        counted = first if counted is None else counted
        counter.reached[level] = _whole(counted, "start-value", counter.reached[level] or 0)
        is_numbered = counter.levels[level].form != "none"
        self.labels[first] = counter.label(level) if is_numbered else ""


def _read_levels(style: _Element) -> dict[int, ListLevel]:
    forms = {level: _form(said) for said in style if 0 <= (level := _level(said)) < LIST_LEVELS}
    return {
        level: ListLevel(forms[level], _pattern(said, level, forms), _whole(said, "start-value", 1))
        for said in style
        if (level := _level(said)) in forms
    }


def _level(said: _Element) -> int:
    return _whole(said, "level", 0) - 1


def _form(said: _Element) -> str:
    if QName(said).localname.endswith(("-bullet", "-image")):
        return "bullet"
    return FORMS.get(attribute(said, "style", "num-format"), "decimal")


def _pattern(said: _Element, level: int, forms: Mapping[int, str]) -> str:
    """Return a level's pattern as Word writes one: %1.%2 with what stands around it."""
    if written := said.get(WHOLE_PATTERN):
        return WRITTEN_PLACE.sub(r"%\1", written)
    first = max(level + 1 - _whole(said, "display-levels", 1), 0)
    shown = (at for at in range(first, level + 1) if forms.get(at, "none") not in UNNUMBERED)
    numbers = ".".join(f"%{at + 1}" for at in shown)
    prefix, suffix = (attribute(said, "style", f"num-{part}") for part in ("prefix", "suffix"))
    return f"{prefix}{numbers}{suffix}"


def _whole(element: _Element, name: str, otherwise: int) -> int:
    written = attribute(element, "text", name)
    return int(written) if written.isdecimal() and len(written) < 10 else otherwise
