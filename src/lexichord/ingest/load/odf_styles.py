"""What the styles of an OpenDocument file say: what is hidden, and what stands on which pages."""

from collections.abc import Callable, Iterable, Iterator

from lxml.etree import QName, _Element

from lexichord.ingest.load.marks import Marks

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


class OdfStyles:
    """The styles of a document, by name, and its pages' headers and footers."""

    def __init__(
        self, roots: Iterable[_Element], marks: Marks, read: Callable[[_Element], str]
    ) -> None:
        self._marks, self._read = marks, read
        self._styles = dict[str, _Element]()
        self._pages = dict[str, _Element]()
        self._seen = set[str]()
        for root in roots:
            self._styles |= {attribute(s, "style", "name"): s for s in root.iter("{*}style")}
            pages = root.iter("{*}master-page")
            self._pages |= {attribute(page, "style", "name"): page for page in pages}

    def hides(self, element: _Element) -> bool:
        """Return whether an element's style hides its text."""
        return any(
            attribute(properties, "text", "display") == "none"
            for style in self._based(attribute(element, "text", "style-name"))
            for properties in style.iterfind("{*}text-properties")
        )

    def list_style(self, paragraph: _Element) -> str | None:
        """Return the list style that a paragraph's style names; None where it says nothing."""
        for style in self._based(attribute(paragraph, "text", "style-name")):
            if (named := style.get(LIST_STYLE)) is not None:
                return named
        return None

    def hides_slide(self, name: str) -> bool:
        """Return whether slides of a style are not shown."""
        return any(
            attribute(properties, "presentation", "visibility") == "hidden"
            for style in self._based(name)
            for properties in style.iterfind("{*}drawing-page-properties")
        )

    def page(self, element: _Element) -> str:
        """Return the name of the pages that begin with an element; "" where none do."""
        name = attribute(element, "text", "style-name") or attribute(element, "table", "style-name")
        pages = (attribute(style, "style", "master-page-name") for style in self._based(name))
        return next(filter(None, pages), "")

    def margins(self, page: str) -> tuple[list[str], list[str]]:
        """Return the headers and footers of pages, and of those that follow them, once each."""
        found: dict[str, list[str]] = {"Header": [], "Footer": []}
        visited = set[str]()
        while page in self._pages and page not in visited:
            visited.add(page)
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

    def _based(self, name: str) -> Iterator[_Element]:
        """Yield a style and those that it is based on."""
        seen = set[str]()
        while name in self._styles and name not in seen:
            seen.add(name)
            yield self._styles[name]
            name = attribute(self._styles[name], "style", "parent-style-name")
