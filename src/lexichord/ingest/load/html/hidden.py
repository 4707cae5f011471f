"""What a browser does not show of a web page."""

import re

from lxml.etree import _Element

HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")


def is_hidden(item: _Element) -> bool:
    """Return whether an element says by itself that it is not shown."""
    return item.get("hidden") is not None or HIDDEN_STYLE.search(item.get("style", "")) is not None
