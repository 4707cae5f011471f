"""Attributes of AsciiDoc: words that a document names once and says by their name, {product}."""

import re
from collections.abc import Sequence
from itertools import takewhile

ATTRIBUTE = re.compile(r":(?P<gone>!?)(?P<name>[\w-]+)(?P<off>!?):(?: +(?P<value>.*))?$")
REFERENCE = re.compile(r"(?P<escaped>\\?)\{(?P<name>[\w-]{1,100})\}")
MAX_VALUE_CHARS = 5000  # more is no word; values that hold values would double without end
MAX_FILLED_CHARS = 1_000_000  # that values come to in a document; further names stay


class Attributes:
    """The attributes that are set, as far as a document is read."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Take those of the document's header, which its title may use as well."""
        self._values, self._chars = dict[str, str](), 0
        header = list(takewhile(str.strip, lines))
        at = 0
        while at < len(header):
            at = self.read(header, at) or at + 1

    def read(self, lines: Sequence[str], at: int) -> int:
        """Set or unset the attribute that a line begins; return where it ends, 0 if none does."""
        match = ATTRIBUTE.match(lines[at].rstrip())
        if match is None:
            return 0
        value, end = (match["value"] or "").strip(), at + 1
        while value.endswith(" \\") and end < len(lines) and len(value) <= MAX_VALUE_CHARS:
            begun = value.removesuffix(" \\").removesuffix(" +")
            value, end = f"{begun} {lines[end].strip()}", end + 1
        name, value = match["name"].lower(), self.filled(value)
        self._values.pop(name, None)
        if not (match["gone"] or match["off"]) and len(value) <= MAX_VALUE_CHARS:
            self._values[name] = value
        return end

    def value(self, name: str) -> str:
        """Return what an attribute says; "" of one that is not set."""
        return self._values.get(name, "")

    def filled(self, text: str) -> str:
        """Return a text with what its attributes say; unknown ones stay."""
        return REFERENCE.sub(self._said, text)

    def _said(self, match: re.Match[str]) -> str:
        value = self._values.get(match["name"].lower())
        if value is None:
            return match[0]
        if match["escaped"]:
            return match[0].removeprefix("\\")
        self._chars += len(value)
        return value if self._chars <= MAX_FILLED_CHARS else match[0]
