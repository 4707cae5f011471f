"""The headline of a web page that stands in its header, outside its main text."""

from collections.abc import Iterator
from itertools import takewhile

from lxml.etree import _Element

HEADER_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BYLINE_TAGS = ("p", "address", "time")  # who wrote it, and when; menus are lists of links
MAX_BYLINE_CHARS = 300


def take_headline(root: _Element, main: _Element, title: str) -> None:
    """Put the headline before the main text, if that has none, with what its header says of it.

    Where a page's title ends with it, as in "Buffers | Node.js", it is the name of the whole site.
    """
    if next(main.iter("h1"), None) is not None:
        return
    above = takewhile(lambda item: item is not main, root.iter("h1", main.tag))
    headlines = [item for item in above if item.tag == "h1" and _is_of_page(item, title)]
    parts = [part for headline in headlines for part in _with_byline(headline)]
    for place, part in enumerate(parts):
        part.tail = None
        main.insert(place, part)
    if parts:
        parts[-1].tail, main.text = main.text, None


def _is_of_page(headline: _Element, title: str) -> bool:
    name, title = _text(headline).casefold(), title.casefold()
    return name != "" and (name == title or not title.endswith(name))


def _text(item: _Element) -> str:
    return " ".join("".join(map(str, item.itertext())).split())


def _with_byline(headline: _Element) -> Iterator[_Element]:
    """Yield a headline and the headings and short lines that follow it in its header."""
    yield headline
    header = next(headline.iterancestors("header"), None)
    if header is None:
        return
    parts = list(header.iter(*HEADER_HEADINGS, *BYLINE_TAGS))
    for part in parts[parts.index(headline) + 1 :]:
        is_within = next(part.iterancestors(*HEADER_HEADINGS, *BYLINE_TAGS, "li"), None) is not None
        if part.tag != "h1" and not is_within and 0 < len(_text(part)) <= MAX_BYLINE_CHARS:
            yield part
