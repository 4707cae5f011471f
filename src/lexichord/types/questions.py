"""What is asked, where to look, and how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from lexichord.errors import ConfigError
from lexichord.types.json import Json, Shaped


def no_other_options(options: Mapping[str, object], known: type) -> None:
    """Raise ConfigError for an option that nobody reads."""
    if unknown := set(options).difference(known.__annotations__):
        raise ConfigError(f"there is no option {', '.join(sorted(unknown))}")


def no_single_text(**given: object) -> None:
    """Raise ConfigError for one text where several are taken, not to read it letter by letter."""
    for name, value in given.items():
        if isinstance(value, str | bytes):
            raise ConfigError(f"{name} takes a list: write {name}=[{value!r}]")


IntentKind = Literal["clause_lookup", "comparison", "list_all", "summary", "general"]


@dataclass(frozen=True, slots=True)
class Intent(Shaped):
    """What a query wants.

    `hint` says in words which documents are meant, `question` what in them; `documents` are the
    ids that the hint was linked to, best first. `sub_questions` is empty unless there are several.
    `domain` is what the linked documents agree on, "" if nothing. `reason` is for people.
    """

    kind: IntentKind
    question: str
    hint: str | None = None
    documents: tuple[int, ...] = ()
    entities: tuple[str, ...] = ()
    sub_questions: tuple[str, ...] = ()
    domain: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A word of a query, counted from 0, that a document's title, file name or card holds.

    `initials`: it is made of the title's initials. `rare`: few cards hold it. `title_terms` and
    `file_terms` count the different terms of the title and of the file's name.
    """

    document_id: int
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
        """Tell whether the title or the file's name holds the word, not only the card."""
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
    documents: tuple[int, ...] | None = None
    terms: Mapping[str, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape, which is also what the SQL function search_variants takes."""
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

    chunk_ids: tuple[int, ...]
    coherence: float | None
    terms: Mapping[str, int] | None
    vector: Sequence[float] | None


Mode = Literal["hybrid", "dense", "keyword"]
ContextFormat = Literal["simple", "structured", "qa"]
Unit = Literal["characters", "tokens"]
LlmStage = Literal["intent", "boost", "rewrite", "answer", "reflect"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Which documents a search may see; all conditions hold at once, none means everything."""

    datasets: tuple[str, ...] = ()
    documents: tuple[int, ...] = ()
    uri_prefix: str | None = None
    filter: Json | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, where to look, and how.

    `vector` is the query's embedding, `hint_vector` the hint's, both of `space`; None where there
    is no embedder. `domain` is what the documents meant have in common, "" if nothing is known.
    `k` results, from `depth` candidates per channel; `dense_share` is the weight of meaning, 0 to
    1, where both are searched, None the one that was measured.
    """

    text: str
    vector: Sequence[float] | None = None
    hint: str | None = None
    hint_vector: Sequence[float] | None = None
    domain: str = ""
    space: str | None = None
    scope: Scope = field(default_factory=Scope)
    mode: Mode = "hybrid"
    k: int = 10
    depth: int = 100
    dense_share: float | None = None


class SearchOptions(TypedDict, total=False):
    """How and where to search: what `search`, `files` and `query` share.

    `documents` takes ids, uris or the ends of uris; `filter` is described in sql/README.md.
    `dense_share` is the weight of meaning, 0 to 1, in mode hybrid; by default 0.35, as measured.
    """

    k: int
    depth: int
    mode: Mode
    datasets: Sequence[str]
    documents: Sequence[int | str]
    uri_prefix: str | None
    filter: Json | None
    dense_share: float | None


class QueryOptions(SearchOptions, total=False):
    """What `query` takes beyond that.

    `hint` says in words which documents are meant, `intent` what kind of question it is; without
    them the query tells. The words of `instructions` are searched as well, with less weight.
    `variants` is how many ways of asking are made at most, `files` how many files are shown.

    `rewrite` searches the question in other words, too. `fallbacks` are queries of the caller's,
    tried in turn while the evidence is too little to answer by. `reflect` searches again for what
    the evidence does not cover, at most `rounds` times, until it covers `min_coverage` of the
    question, 0 to 1; where a model grades answers, until its lowest grade is at least `min_grade`,
    0 to 1. `budget_ms` is what all rounds, models and rerankers may take together.

    `llm` names a language model as DSPy does, in place of the setting, and `llm_stages` what it
    does: by default rewrites, answers and grades, where `rewrite`, `answer` and `reflect` ask.

    `max_length` of the context is in `unit`s. `answer` asks for one, in the evidence's own words.
    `min_score` names scores and the least of each that a hit needs. A reranker does not see the
    words `neutral`.
    """

    hint: str | None
    intent: IntentKind | None
    instructions: str | None
    variants: int
    files: int
    rewrite: bool
    fallbacks: Sequence[str]
    reflect: bool
    rounds: int
    budget_ms: float
    min_coverage: float
    min_grade: float
    llm: str | None
    llm_stages: Sequence[LlmStage]
    format: ContextFormat
    max_length: int
    unit: Unit
    answer: bool
    min_score: Json
    neutral: Sequence[str]
