"""The main text of a web page: without menus, scripts and what is hidden."""

import re

from lxml.etree import _Element, strip_elements

NEVER_SHOWN = ("script", "style", "template", "noscript", "svg", "iframe", "object", "head")
ASIDE = ("nav", "footer", "aside", "form", "button", "select", "textarea", "dialog")
HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
SHARE = 0.3  # of the text: where less would be left, all of it is main text


def main_text(root: _Element) -> _Element:
    """Find the element that holds the page's own text; leave out what surrounds it."""
    strip_elements(root, *NEVER_SHOWN, with_tail=False)
    _drop([item for item in root.iter() if _is_hidden(item)])
    least = SHARE * _length(root)
    around = [item for item in root.iter(*ASIDE) if item is not root]
    if _length(root) - sum(map(_length, around)) >= least:
        _drop(around)
    for path in (".//main", ".//*[@role='main']", ".//article"):
        found = root.findall(path)
        if len(found) == 1 and _length(found[0]) >= least:
            return found[0]
    return root


def _is_hidden(item: _Element) -> bool:
    return item.get("hidden") is not None or HIDDEN.search(item.get("style", "")) is not None


def _length(item: _Element) -> int:
    return sum(len(str(piece).strip()) for piece in item.itertext())


def _drop(items: list[_Element]) -> None:
    """Take elements out, and leave the text that follows them."""
    for item in items:
        parent, before = item.getparent(), item.getprevious()
        if parent is None:
            continue
        if before is not None:
            before.tail = f"{before.tail or ''} {item.tail or ''}"
        else:
            parent.text = f"{parent.text or ''} {item.tail or ''}"
        parent.remove(item)
