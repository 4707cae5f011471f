"""The stages in whose place another function of the same signature can do the work."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from lexichord.db.pool import Database
from lexichord.providers.base import Reranker
from lexichord.retrieve.evidence import Join, join_neighbours, write_answer
from lexichord.retrieve.evidence.relevance import Embed
from lexichord.retrieve.search.discover import boost_files, discover
from lexichord.retrieve.search.variants import Variants, make_variants
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.understand.intent import find_intent
from lexichord.retrieve.understand.rewrite import rewrite
from lexichord.types import ChunkHit, ContextSource, FileHit, Question, Response, Scope
from lexichord.types.evidence import Answer, Brief, Evidence
from lexichord.types.questions import Intent
from lexichord.types.reflection import Grading, Rewrite, Wording

type FindIntent = Callable[[Database, str, str | None, Scope | None], Awaitable[Intent]]
type Discover = Callable[
    [Database, Question, Trace, int, Reranker | None], Awaitable[list[FileHit]]
]
type Boost = Callable[[Sequence[FileHit], str | None], dict[str, float]]
type MakeVariants = Callable[[Database, Question, Sequence[FileHit], int], Awaitable[Variants]]
type Reword = Callable[
    [Database, str, Sequence[ChunkHit], Scope, Wording | None], Awaitable[Rewrite]
]
type Write = Callable[
    [Database, Brief, Evidence, Sequence[ContextSource], Embed | None], Awaitable[Answer]
]
type GradeAnswer = Callable[[Response], Awaitable[Grading]]


@dataclass(frozen=True, slots=True)
class Stages:
    """What does each stage; by default what needs no model. Only a model can grade an answer."""

    find_intent: FindIntent = find_intent
    discover: Discover = discover
    boost_files: Boost = boost_files
    make_variants: MakeVariants = make_variants
    rewrite: Reword = rewrite
    join_neighbours: Join = join_neighbours
    write_answer: Write = write_answer
    grade: GradeAnswer | None = None


STAGES = Stages()
