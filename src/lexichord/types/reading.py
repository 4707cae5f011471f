"""What a reader is given and what it makes of it. Offsets are in characters of the passage."""

from dataclasses import dataclass, field

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

    here: float = 1.0
    share: float = 1.0
    coverage: float = 0.0
    rank: float = 0.0


@dataclass(frozen=True, slots=True)
class ConfidenceWeights:
    """What makes it likelier that passages hold an answer, in logarithms of odds.

    `here` counts those of the likeliest passage, `vectors` those that words and vectors give.
    """

    constant: float = 0.0
    here: float = 1.0
    vectors: float = 0.0


@dataclass(frozen=True, slots=True)
class RightWeights:
    """What makes it likelier that the first sentence is right, in logarithms of odds.

    `evidence` counts those of the confidence that the passages hold an answer, `share` the
    logarithm of the first sentence's likelihood as a share of all sentences'.
    """

    constant: float = 0.0
    evidence: float = 1.0
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class ReaderFit:
    """The languages that a reader knows, as ISO 639 has them, and what was fitted with it.

    `holds` are confidences of questions whose passages held an answer, `lacks` of others, of kinds
    of documents that nothing was fitted on. The defaults are for a reader that nothing was fitted
    with: its own judgement as it is.
    """

    languages: tuple[str, ...] = ("en",)
    sentence: SentenceWeights = field(default_factory=SentenceWeights)
    confidence: ConfidenceWeights = field(default_factory=ConfidenceWeights)
    right: RightWeights = field(default_factory=RightWeights)
    holds: tuple[float, ...] = ()
    lacks: tuple[float, ...] = ()
