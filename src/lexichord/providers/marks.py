"""How untrusted text stands in a prompt: between marks that it cannot imitate."""

import hashlib
from collections.abc import Iterable


def mark_word(texts: Iterable[str]) -> str:
    """Give the marks' word: 16 digits of a digest of all that stands between such marks.

    So none of these texts can hold it, and pretend to end there.
    """
    whole = "\0".join(texts).encode(errors="replace")
    return hashlib.sha256(whole).hexdigest()[:16]


def enclose(text: str, word: str, attributes: str = "") -> str:
    """Put a text between marks, the first of which says what it is by its attributes."""
    return f"<source-{word}{attributes}>\n{text}\n</source-{word}>"
