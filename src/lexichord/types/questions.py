"""What is asked, where to look, and how."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from lexichord.types.intent import IntentKind
from lexichord.types.json import Json

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
