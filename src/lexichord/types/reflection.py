"""What the evidence covers of a question, and what was done about the rest."""

from dataclasses import dataclass
from typing import Literal

from lexichord.types.json import Shaped

Wording = Literal["expansion", "relaxation"]  # more words, or fewer
RewriteKind = Literal[Wording, "none"]


@dataclass(frozen=True, slots=True)
class Term:
    """A lexeme of a question, and where it occurs.

    `words` are the question's words that it comes from, `times` how often they occur there. `df`
    counts chunks of the whole database, `idf` is BM25's. `chunks` are the ids of those passages of
    the evidence whose content holds it.
    """

    lexeme: str
    words: tuple[str, ...]
    times: int
    df: int
    idf: float
    chunks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """A place where the documents write a term between quotes or brackets.

    `before` and `after` are up to 120 and 200 characters beside it.
    """

    term: str
    chunk_id: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A question in other words, and why; of kind "none" `text` is the question as it was."""

    kind: RewriteKind
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage(Shaped):
    """How much of a question the evidence speaks of, 0 to 1, and what it does not.

    Where a reader reads, `score` is the share of the questions that it finds an answer to.
    """

    score: float
    missing_terms: tuple[str, ...] = ()
    missing_entities: tuple[str, ...] = ()
    uncovered_sub_questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Budget:
    """What reflection may still spend."""

    rounds: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Grade:
    """How good an answer is in one respect, 0 to 1, and why."""

    name: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Grading:
    """A reader's grades of an answer, and what to search for next, "" if nothing is missing."""

    grades: tuple[Grade, ...]
    missing: str = ""

    @property
    def score(self) -> float:
        """The lowest grade: an answer that is ungrounded is not good for being complete."""
        return min((grade.score for grade in self.grades), default=0.0)


@dataclass(frozen=True, slots=True)
class Decision:
    """What to search next, or why to stop: then `query` is None."""

    query: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Round(Shaped):
    """One more search: `coverage` or the answer's `grade` after it, 0 to 1, or its `error`."""

    query: str
    reason: str
    milliseconds: float
    coverage: float | None = None
    error: str | None = None
    grade: float | None = None


@dataclass(frozen=True, slots=True)
class Reflection(Shaped):
    """What reflection did: its rounds, what is covered in the end, and why it stopped.

    `coverage` is None where it could not be measured; `errors` says why. `unsupported` are the
    numbers and dates of an answer that no source holds. `grades` are a model's, of the answer
    given. `passed`: there is evidence and, where one was asked for, an answer is claimed; coverage
    and grades are enough, nothing is unsupported, nothing failed.
    """

    coverage: Coverage | None
    stopped: str
    rounds: tuple[Round, ...] = ()
    unsupported: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    grades: tuple[Grade, ...] = ()
    passed: bool = False
