"""Stored text as it may be shown: nothing that a terminal or a browser would obey unseen."""

import re
import unicodedata
from pathlib import Path, PurePosixPath
from typing import Protocol

TITLE_CHARS = 60  # characters of a title or a question on one line
MISSING = "–"
OBEYED_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
SHORT_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def visible(text: str) -> str:
    """Return text with U+FFFD in place of what no one could see, but for spaces and line ends."""
    shown = text.replace("\ufeff", "").replace("\r\n", "\n")
    return "".join(c if _is_seen(c) else "\ufffd" for c in shown)


def escaped(text: str) -> str:
    """Return text on one line in which what no one could see, and would be obeyed, is written out.

    As JSON has it: \\u and four digits for controls, for signs that turn the direction of text
    and for halves of characters. Signs that join letters stay, for words and emoji need them.
    """
    return OBEYED_UNSEEN.sub(_written_out, text)


def counted(amount: int, name: str, digits: str = "") -> str:
    """Return how many there are of something, in words: "1 file", "2 files", "3 queries".

    `digits` is how the number is written, as format() takes it: "," for 1,000.
    """
    return f"{amount:{digits}} {_plural(name) if amount != 1 else name}"


def one_line(text: str, max_chars: int) -> str:
    """Return visible text on one line, cut where it is longer than `max_chars`."""
    line = " ".join(visible(text).split())
    return line if len(line) <= max_chars else f"{line[: max_chars - 1]}…"


def file_name(uri: str) -> str:
    """Return the last part of a uri; one without parts as it is."""
    return PurePosixPath(uri).name or uri


def short_uri(uri: str) -> str:
    """Return a path relative to the current folder, if it lies under it, escaped: on one line."""
    return escaped(uri.removeprefix(Path.cwd().as_posix() + "/"))


class Named(Protocol):
    """What knows the title, which may be empty, and the uri of a document."""

    @property
    def title(self) -> str: ...  # noqa: D102

    @property
    def uri(self) -> str: ...  # noqa: D102


def document_name(document: Named) -> str:
    """Return what a document is called: its title, or else the last part of its uri."""
    return document.title or file_name(document.uri)


def cite(title: str, heading: str) -> str:
    """Name a passage by its document's title and its heading."""
    return " › ".join(filter(None, (title, heading)))


def place(uri: str, start: int, end: int, page: int | None = None) -> str:
    """Write where a passage stands, in characters of the stored text, and on which page."""
    return f"{uri}:{start}-{end}" + (f" page {page}" if page else "")


def write_number(value: float | None, digits: int = 4) -> str:
    """Write a number, or that it is missing."""
    return MISSING if value is None else f"{value:.{digits}f}"


def _written_out(match: re.Match[str]) -> str:
    return SHORT_ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}"


def _is_seen(character: str) -> bool:
    if character.isprintable() or character in "\n\t":
        return True
    return unicodedata.category(character) == "Zs"


def _plural(noun: str) -> str:
    """Return files for file, queries for query, keys for key."""
    return re.sub(r"(?<=[^aeiou])y$", "ie", noun) + "s"
