"""What a query is read as, and what a reader and a language model are asked of it and return."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from lexichord.errors import ConfigError
from lexichord.types.base import Json, Shaped
from lexichord.types.query_options import IntentKind, Mode, SearchOptions

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


# Of a filter. 100 conditions on 1,000 documents take 1.7 s, 10,000 values in a list 1.4 s.
MAX_NESTED_FILTERS, MAX_LISTED_VALUES = 32, 10_000
GROUPS, CONDITION_KEYS = {"and", "or"}, {"key", "op", "value"}


@dataclass(frozen=True, slots=True)
class Intent(Shaped):
    """What a query wants.

    `hint` says in words which documents are meant, `question` what in them; `documents` are the
    ids that the hint was linked to, best first. `sub_questions` is empty unless there are several.
    `aspects` are what a comparison compares in the documents, in the question's words.
    `domain` is what the linked documents agree on, "" if nothing. `reason` is for people.
    """

    kind: IntentKind
    question: str
    hint: str | None = None
    documents: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    sub_questions: tuple[str, ...] = ()
    domain: str = ""
    reason: str = ""
    aspects: tuple[str, ...] = ()

    @property
    def wants_one_thing(self) -> bool:
        """Whether it wants one thing, as readers answer it; not a list, a table or a summary."""
        return self.kind in ("clause_lookup", "general")


@dataclass(frozen=True, slots=True)
class Link:
    """A word of a query, counted from 0, that a document's title, file name or card holds.

    `initials`: it is made of the title's initials. `rare`: few cards hold it. `title_terms` and
    `file_terms` count the different terms of the title and of the file's name.
    """

    document_id: str
    title: str
    domain: str
    word: int
    in_title: bool
    in_file: bool
    initials: bool
    rare: bool
    title_terms: int
    file_terms: int

    @property
    def named(self) -> bool:
        """Whether the title or the file's name holds the word, not only the card."""
        return self.in_title or self.in_file or self.initials


@dataclass(frozen=True, slots=True)
class Variant:
    """A query in other words: `terms`, lexeme to times, or else `text`, and a vector.

    `weight` is its part in the fusion, `documents` where it searches; None is everywhere in scope.
    Names are unique among the variants of a search.
    """

    name: str
    text: str
    vector: Sequence[float] | None
    weight: float
    documents: tuple[str, ...] | None = None
    terms: Mapping[str, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape, which is also what the SQL function search_variants takes."""
        vector = None if self.vector is None else [float(x) for x in self.vector]
        documents = None if self.documents is None else list(self.documents)
        terms = None if self.terms is None else dict(self.terms)
        return {
            "name": self.name,
            "text": self.text,
            "terms": terms,
            "vector": vector,
            "weight": self.weight,
            "documents": documents,
        }


@dataclass(frozen=True, slots=True)
class Feedback:
    """What the best chunk of each of the first documents says of a query.

    `coherence` is the mean cosine of two of these chunks, None with fewer than two vectors.
    `terms` and `vector` are None where it is below the threshold.
    """

    chunk_ids: tuple[str, ...]
    coherence: float | None
    terms: Mapping[str, int] | None
    vector: Sequence[float] | None


@dataclass(frozen=True, slots=True)
class Scope:
    """Which documents a search may see; all conditions hold at once, none means everything."""

    datasets: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    uri_prefix: str | None = None
    filter: Json | None = None


def check_filter(filter: object, max_conditions: int) -> None:
    """Raise ConfigError for a filter that takes too long: each document is held against all of it.

    Each key that is compared counts, and each group of others.
    """
    conditions = groups = values = 0
    level = [filter]
    for _ in range(MAX_NESTED_FILTERS):
        objects = [one for one in level if isinstance(one, Mapping)]
        lists = [one for one in level if isinstance(one, list | tuple)]
        groups += sum(len(one.keys() & GROUPS) for one in objects)
        conditions += sum(map(_conditions, objects))
        values += sum(map(len, lists))
        level = [*chain.from_iterable(one.values() for one in objects), *chain(*lists)]
        if max(conditions, groups) > max_conditions or values > MAX_LISTED_VALUES:
            raise ConfigError(
                f"filter: at most {max_conditions:,} conditions (LEXICHORD_MAX_CONDITIONS) and "
                f"{MAX_LISTED_VALUES:,} values in lists"
            )
    if any(isinstance(one, Mapping | list | tuple) for one in level):
        raise ConfigError(
            f"filter: holds more than {MAX_NESTED_FILTERS} objects or lists inside each other"
        )


def _conditions(part: Mapping[object, object]) -> int:
    """Return how many conditions an object of a filter is; see sql/scope/filter_form.sql."""
    return 1 if "op" in part and part.keys() <= CONDITION_KEYS else len(part.keys() - GROUPS)


@dataclass(frozen=True, slots=True)
class Question:
    """A query, where to look, and how.

    `query` is what is asked, in words, `vector` its embedding and `hint_vector` the hint's, both of
    `space`; None where there is no embedder. `domain` is what the documents meant have in common,
    "" if nothing is known. `k` results, from `depth` candidates per channel; `dense_share` is the
    weight of meaning, 0 to 1, where both are searched, None the one that was measured.
    `candidates` are those of this very question, where they were made: `lexichord.db.search`.
    `unlike` is the cosine in that space of what is not alike at all.
    """

    query: str
    vector: Sequence[float] | None = None
    hint: str | None = None
    hint_vector: Sequence[float] | None = None
    domain: str = ""
    space: str | None = None
    scope: Scope = field(default_factory=Scope)
    mode: Mode = SearchOptions.mode
    k: int = SearchOptions.k
    depth: int = SearchOptions.depth
    dense_share: float | None = SearchOptions.dense_share
    candidates: "Candidates | None" = None
    unlike: float = 0.0

    def as_searched(self) -> tuple[object, ...]:
        """Return all that candidates go by."""
        return (
            self.query,
            self.vector,
            self.space,
            self.scope,
            self.mode,
            self.depth,
            self.dense_share,
        )


@dataclass(frozen=True, slots=True)
class Candidates:
    """What both channels propose, as Postgres writes it, and what was `searched` for it.

    `terms` is what the question's words are as lexemes, to the number of times that each counts.
    """

    rows: str
    searched: tuple[object, ...]
    terms: Json
