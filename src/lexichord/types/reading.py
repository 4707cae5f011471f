"""What a reader is given and what it makes of it. Offsets are in characters of the passage."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to read for an answer: where each of its `sentences` begins and ends.

    `title` names the document and the heading that it stands under; "" where nothing does.
    """

    title: str
    text: str
    sentences: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """How likely a sentence answers, were an answer here, 0 to 1, and its phrase that would."""

    share: float
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """How likely a passage holds an answer, 0 to 1, and what each of its sentences has of that."""

    here: float
    sentences: tuple[SentenceReading, ...]
