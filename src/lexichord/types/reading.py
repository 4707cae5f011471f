"""What a reader is given and what it makes of it. Offsets are in characters of the passage."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import ConfigDict, Field

# A file that says what was fitted may hold nothing else, for a misspelt name would go unheeded.
FITTED = ConfigDict(extra="forbid", allow_inf_nan=False)

type Language = Annotated[str, Field(pattern="^[a-z]{2,3}$")]
# Weighs logarithms of odds, 9.2 at most: the sum of three must not be too large for a power of e.
type Weight = Annotated[float, Field(ge=-25, le=25)]
type Probability = Annotated[float, Field(ge=0, le=1)]

MANY_LANGUAGES = "mul"  # ISO 639-2's code


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


@dataclass(frozen=True, slots=True)
class SentenceWeights:
    """What makes a sentence likelier to answer, in logarithms of odds.

    `here` counts those of its passage, `share` the logarithm of its share there, `coverage` the
    idf-weighted share of the question's words that it holds, `rank` 1 / (1 + its passage's number).
    """

    __pydantic_config__ = FITTED

    here: Weight = 1.0
    share: Weight = 1.0
    coverage: Weight = 0.0
    rank: Weight = 0.0


@dataclass(frozen=True, slots=True)
class ConfidenceWeights:
    """What makes it likelier that passages hold an answer, in logarithms of odds.

    `here` counts those of the likeliest passage, `vectors` those that words and vectors give.
    """

    __pydantic_config__ = FITTED

    constant: Weight = 0.0
    here: Weight = 1.0
    vectors: Weight = 0.0


@dataclass(frozen=True, slots=True)
class RightWeights:
    """What makes it likelier that the first sentence is right, in logarithms of odds.

    `evidence` counts those of the confidence that the passages hold an answer, `share` the
    logarithm of the first sentence's likelihood as a share of all sentences'.
    """

    __pydantic_config__ = FITTED

    constant: Weight = 0.0
    evidence: Weight = 1.0
    share: Weight = 1.0


@dataclass(frozen=True, slots=True)
class ReaderFit:
    """The languages that a reader knows, as ISO 639 has them, and what was fitted with it.

    `holds` are confidences of questions whose passages held an answer, `lacks` of others, of kinds
    of documents that nothing was fitted on. The defaults are for a reader that nothing was fitted
    with: its own judgement as it is.
    """

    __pydantic_config__ = FITTED

    languages: Annotated[tuple[Language, ...], Field(min_length=1)] = ("en",)
    sentence: SentenceWeights = field(default_factory=SentenceWeights)
    confidence: ConfidenceWeights = field(default_factory=ConfidenceWeights)
    right: RightWeights = field(default_factory=RightWeights)
    holds: tuple[Probability, ...] = ()
    lacks: tuple[Probability, ...] = ()
