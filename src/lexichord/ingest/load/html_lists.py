"""Numbers of list items, which a browser writes and a page does not hold."""

import re
from collections.abc import Callable

from lxml.etree import _Element

from lexichord.ingest.load.numerals import letters, roman

MARKER = "marker"  # the attribute of li that holds what stands before it
FORMS: dict[str, Callable[[int], str]] = {
    "a": letters,
    "A": lambda number: letters(number).upper(),
    "i": roman,
    "I": lambda number: roman(number).upper(),
    "lower-alpha": letters,
    "lower-latin": letters,
    "upper-alpha": lambda number: letters(number).upper(),
    "upper-latin": lambda number: letters(number).upper(),
    "lower-roman": roman,
    "upper-roman": lambda number: roman(number).upper(),
    "none": lambda number: "",
}
STYLE = re.compile(r"list-style(?:-type)?\s*:\s*([a-z-]+)")


def mark_items(root: _Element) -> None:
    """Give each list item the marker that a browser shows."""
    for item in root.iter("li"):
        item.set(MARKER, "• ")
    for ordered in root.iter("ol"):
        _number(ordered)


def _number(ordered: _Element) -> None:
    style = STYLE.search(ordered.get("style", ""))
    form = FORMS.get(style[1] if style else ordered.get("type", ""), str)
    number = _whole(ordered.get("start"), 1)
    for item in ordered.iterchildren("li"):
        number = _whole(item.get("value"), number)
        written = form(number)
        item.set(MARKER, f"{written}. " if written else "")
        number += 1


def _whole(written: str | None, default: int) -> int:
    try:
        return int(written or default)
    except ValueError:
        return default
