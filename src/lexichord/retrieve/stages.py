"""The stages in whose place another function of the same signature can do the work."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from lexichord.db.pool import Database
from lexichord.providers.base import Reranker
from lexichord.retrieve.aggregate import Join, join_neighbours
from lexichord.retrieve.discover import boost_files, discover
from lexichord.retrieve.intent import find_intent
from lexichord.retrieve.variants import Variants, make_variants
from lexichord.types import FileHit, Question, Scope
from lexichord.types.intent import Intent

type FindIntent = Callable[[Database, str, str | None, Scope | None], Awaitable[Intent]]
type Discover = Callable[
    [Database, Question, list[str], int, Reranker | None], Awaitable[list[FileHit]]
]
type Boost = Callable[[Sequence[FileHit], str | None], dict[str, float]]
type MakeVariants = Callable[[Database, Question, Sequence[FileHit], int], Awaitable[Variants]]


@dataclass(frozen=True, slots=True)
class Stages:
    """What does each stage; by default what needs no model."""

    find_intent: FindIntent = find_intent
    discover: Discover = discover
    boost_files: Boost = boost_files
    make_variants: MakeVariants = make_variants
    join_neighbours: Join = join_neighbours


STAGES = Stages()
