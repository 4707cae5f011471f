"""What a language model is asked, and what it returns."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lexichord.types.json import Shaped

Task = Literal[
    "intent",
    "rewrite",
    "boost",
    "clauses",
    "summary",
    "comparison",
    "grade",
    "entities",
    "contexts",
]


@dataclass(frozen=True, slots=True)
class Usage(Shaped):
    """What one call took: requests made, tokens in and out, 0 where the service reports none.

    `dollars` is an estimate from the list price, None where that is not known.
    """

    requests: int
    input_tokens: int
    output_tokens: int
    dollars: float | None


@dataclass(frozen=True, slots=True)
class Price(Shaped):
    """What a million tokens cost, in and out, in dollars."""

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """Return the dollars for so many tokens."""
        return (self.input * input_tokens + self.output * output_tokens) / 1_000_000


@dataclass(frozen=True, slots=True)
class Generated:
    """What a model made of a task: `outputs` by field, plain JSON values of the declared types."""

    outputs: Mapping[str, Any]
    usage: Usage


def mark_word(texts: Iterable[str]) -> str:
    """Return the marks' word: 16 digits of a digest of all that stands between such marks.

    So none of these texts can hold it, and pretend to end there.
    """
    whole = "\0".join(texts).encode(errors="replace")
    return hashlib.sha256(whole).hexdigest()[:16]


def enclose(text: str, word: str, attributes: str = "") -> str:
    """Put a text between marks, the first of which says what it is by its attributes."""
    return f"<source-{word}{attributes}>\n{text}\n</source-{word}>"
