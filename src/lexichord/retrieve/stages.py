"""The stages of a query that another function can do, each with its Protocol; and who does them.

A stage is an async function that takes what its Protocol names, by name. One of your own goes in by
`Lexichord(stages=Stages(...))`; it runs in `query` and `explain`, its name is in the trace, and
`evaluate` compares with `pipeline-without-<name>`. `Stages` refuses what cannot be called so.

    from lexichord import Stages, SyncLexichord

    async def keep_insurance(*, question, intent, hits):
        return [hit for hit in hits if "insur" in hit.content.casefold()]

    with SyncLexichord(stages=Stages(select_hits=keep_insurance)) as lexichord:
        lexichord.ingest(["contracts"])
        print(lexichord.explain(lexichord.query("Who insures the building?")))
"""

from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, fields, replace
from inspect import iscoroutinefunction, signature, unwrap
from typing import Any, Protocol, get_args

from lexichord.db.pool import Database
from lexichord.errors import ConfigError
from lexichord.providers.base import Reranker
from lexichord.retrieve.evidence.answer import write_answer
from lexichord.retrieve.evidence.passages import JoinNeighbours, join_neighbours
from lexichord.retrieve.evidence.relevance import EmbedSentences
from lexichord.retrieve.search import VariantSet, boost_files, discover, make_variants
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.understand.intent import find_intent, rewrite
from lexichord.types import ChunkHit, ContextSource, FileHit, Question, Response, Scope
from lexichord.types.evidence import Answer, AnswerRequest, Evidence
from lexichord.types.questions import Intent
from lexichord.types.response import Grading, Rewrite, Wording


class FindIntent(Protocol):
    """The stage `find_intent`."""

    async def __call__(
        self, *, database: Database, query: str, hint: str | None, scope: Scope
    ) -> Intent:
        """Read what a query wants, and which documents it or the caller's hint names."""
        ...


class Discover(Protocol):
    """The stage `discover`."""

    async def __call__(
        self,
        *,
        database: Database,
        question: Question,
        trace: Trace,
        limit: int,
        reranker: Reranker | None,
    ) -> list[FileHit]:
        """Find up to `limit` documents, best first."""
        ...


class BoostFiles(Protocol):
    """The stage `boost_files`."""

    async def __call__(self, *, files: Sequence[FileHit], hint: str | None) -> Mapping[str, float]:
        """Return the points by which chunks of a document are preferred, by its id."""
        ...


class MakeVariants(Protocol):
    """The stage `make_variants`."""

    async def __call__(
        self, *, database: Database, question: Question, files: Sequence[FileHit], limit: int
    ) -> VariantSet:
        """Return up to `limit` ways of asking, the original first."""
        ...


class RewriteQuestion(Protocol):
    """The stage `rewrite`."""

    async def __call__(
        self,
        *,
        database: Database,
        question: str,
        hits: Sequence[ChunkHit],
        scope: Scope,
        kind: Wording | None,
    ) -> Rewrite:
        """Return a question in other words after a look at what it found; None: of either kind."""
        ...


class SelectHits(Protocol):
    """The stage `select_hits`."""

    async def __call__(
        self, *, question: Question, intent: Intent, hits: Sequence[ChunkHit]
    ) -> Sequence[ChunkHit]:
        """Return the hits of a search that go on to be judged and quoted, in their order.

        It runs after each search, and the reranker; hits are best first.
        """
        ...


class SelectEvidence(Protocol):
    """The stage `select_evidence`."""

    async def __call__(self, *, question: Question, intent: Intent, evidence: Evidence) -> Evidence:
        """Return the evidence that the context shows and an answer is written from.

        The table of a comparison is `evidence.comparison`; its quotes are in `quotes` as well.
        """
        ...


class WriteAnswer(Protocol):
    """The stage `write_answer`."""

    async def __call__(
        self,
        *,
        database: Database,
        brief: AnswerRequest,
        evidence: Evidence,
        sources: Sequence[ContextSource],
        embed: EmbedSentences | None,
    ) -> Answer:
        """Write an answer to the brief out of the evidence; `sources` are those of the context.

        `embed` returns unit vectors of sentences; None where there are none.
        """
        ...


class GradeAnswer(Protocol):
    """The stage `grade`."""

    async def __call__(self, *, response: Response) -> Grading:
        """Grade a response's answer. Raises ProviderError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """What does each stage, in their order; the defaults need no language model.

    None leaves a stage out: nothing selects, nothing grades. Raises ConfigError for what is no
    async function that takes the stage's parameters by name.
    """

    find_intent: FindIntent = find_intent
    discover: Discover = discover
    boost_files: BoostFiles = boost_files
    make_variants: MakeVariants = make_variants
    select_hits: SelectHits | None = None
    rewrite: RewriteQuestion = rewrite
    join_neighbours: JoinNeighbours = join_neighbours
    select_evidence: SelectEvidence | None = None
    write_answer: WriteAnswer = write_answer
    grade: GradeAnswer | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            stage = getattr(self, field.name)
            if stage is not field.default:
                _check_stage(field, stage)

    def own(self) -> dict[str, str]:
        """Return the names of the functions that are not the default ones, by their stage."""
        stages = ((field, getattr(self, field.name)) for field in fields(self))
        return {field.name: name_of(stage) for field, stage in stages if stage is not field.default}

    def over(self, other: "Stages") -> "Stages":
        """Return the other stages with these in place of theirs, where these are not default."""
        return replace(other, **{stage: getattr(self, stage) for stage in self.own()})

    def without(self, stage: str) -> "Stages":
        """Return the stages with the default one in a stage's place."""
        return replace(self, **{stage: getattr(STAGES, stage)})


def check_stages(stages: object) -> Stages:
    """Return stages as they are. Raises ConfigError for anything else."""
    if not isinstance(stages, Stages):
        kind = type(stages).__name__
        raise ConfigError(f"stages takes Stages(...), not a {kind}: write Stages(NAME=FUNCTION)")
    return stages


def _check_stage(field: Field[Any], stage: object) -> None:
    """Raise ConfigError unless a query can call and await it."""
    if not callable(stage):
        raise ConfigError(f"stage {field.name} takes an async function, not {stage!r}")
    kind: Any = type(stage)
    protocol: Any = next(iter(get_args(field.type)), field.type)
    named = f"stage {field.name}: {name_of(stage)}"
    if isinstance(stage, type):
        raise ConfigError(f"{named} is a class: write {name_of(stage)}() for an object of it")
    if not any(map(iscoroutinefunction, (stage, unwrap(stage), kind.__call__))):
        raise ConfigError(f"{named} is not async: write async def")
    _, *names = signature(protocol.__call__).parameters
    try:
        signature(stage).bind(**dict.fromkeys(names))
    except TypeError as error:
        taken = ", ".join(names)
        raise ConfigError(
            f"{named} does not fit: it is called with {taken} by name ({error})"
        ) from None


def name_of(stage: object) -> str:
    """Return the name of a stage's function, or of its class where it is an object of one."""
    return str(getattr(stage, "__name__", type(stage).__name__))


STAGES = Stages()
