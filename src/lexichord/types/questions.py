"""What is asked, where to look, and how."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from lexichord.types.intent import IntentKind
from lexichord.types.json import Json

Mode = Literal["hybrid", "dense", "keyword"]
ContextFormat = Literal["simple", "structured", "qa"]
Unit = Literal["characters", "tokens"]


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
    is no embedder. `k` results, from `depth` candidates per channel.
    """

    text: str
    vector: Sequence[float] | None = None
    hint: str | None = None
    hint_vector: Sequence[float] | None = None
    space: str | None = None
    scope: Scope = field(default_factory=Scope)
    mode: Mode = "hybrid"
    k: int = 10
    depth: int = 100


class SearchOptions(TypedDict, total=False):
    """How and where to search: what `search`, `files` and `query` share.

    `documents` takes ids, uris or the ends of uris; `filter` is described in sql/README.md.
    """

    k: int
    depth: int
    mode: Mode
    datasets: Sequence[str]
    documents: Sequence[int | str]
    uri_prefix: str | None
    filter: Json | None


class QueryOptions(SearchOptions, total=False):
    """What `query` takes beyond that.

    `hint` says in words which documents are meant, `intent` what kind of question it is; without
    them the query tells. `rewrite` searches the question in other words, too, `reflect` searches
    again for what the evidence does not cover. `variants` is how many ways of asking are searched
    at most, `files` how many files are shown. `max_length` of the context is in `unit`s.
    `answer` asks for one, in the evidence's own words. `min_score` names scores and the least of
    each that a hit needs.
    """

    hint: str | None
    intent: IntentKind | None
    rewrite: bool
    reflect: bool
    variants: int
    files: int
    format: ContextFormat
    max_length: int
    unit: Unit
    answer: bool
    min_score: Json
