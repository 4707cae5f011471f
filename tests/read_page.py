"""What people read or hear of a page."""

import re
from collections.abc import Iterable
from html.parser import HTMLParser

READ_ATTRIBUTES = {"aria-label", "title", "placeholder", "alt", "data-pending", "label"}
SAME_EVERYWHERE = {"lexichord", "lx_", "CSV", "Markdown"}  # in all languages
NOT_READ = {"kbd", "code", "script", "style", "textarea"}  # keys, commands, what is stored
WORD = re.compile(r"[^\W\d_]\w*")


class Reader(HTMLParser):
    """Collects the texts of a page, and those attributes that are read out or shown."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open.append(tag)
        is_button = tag == "input" and dict(attrs).get("type") in ("submit", "button", "reset")
        read = READ_ATTRIBUTES | ({"value"} if is_button else set())
        self.texts += [value or "" for name, value in attrs if name in read]

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not NOT_READ & set(self._open[-1:]):
            self.texts.append(data)


def read_texts(html: str) -> list[str]:
    """Return the texts of a page, or of a part of one."""
    reader = Reader()
    reader.feed(html)
    return reader.texts


def words(texts: Iterable[str]) -> list[str]:
    """Return the words of texts, but those that are the same in all languages."""
    return [word for text in texts for word in WORD.findall(text) if word not in SAME_EVERYWHERE]
