"""The strategies: named ways of answering that are measured against each other.

Questions are asked by one of them, one after another or by several clients at once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle
from time import perf_counter
from typing import Literal

from lexichord.db.pool import Database
from lexichord.db.search import chunk_places, dense_recall, hybrid_search
from lexichord.errors import ConfigError, LexichordError, ProviderError
from lexichord.evaluate import Application, CachedEmbedder
from lexichord.evaluate.metrics import first_source
from lexichord.retrieve.evidence.answer import format_context
from lexichord.retrieve.search import VariantSet, count_candidates, make_variants, rerank
from lexichord.retrieve.stages import STAGES, Stages
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.understand.intent import read_intent
from lexichord.types import (
    ChunkHit,
    ContextKind,
    FileHit,
    Json,
    LlmStage,
    Mode,
    Question,
    Response,
    Scope,
    SearchOptions,
)
from lexichord.types.evaluation import EvalQuery, Outcome, RankedPassage
from lexichord.types.evidence import Comparison, Quote
from lexichord.types.questions import Intent
from lexichord.work import in_thread

RRF_DENSE_SHARE = 0.5  # both channels alike, as its authors have it
PIPELINE_LLM_STAGES: tuple[LlmStage, ...] = ("intent", "boost", "answer")

type Requirement = Literal["embedder", "reranker", "llm"]


@dataclass(frozen=True, slots=True)
class StrategyAnswer:
    """What a strategy answers to a question, see `Outcome`; `files` are uris, best first."""

    hits: Sequence[ChunkHit] = ()
    files: Sequence[str] = ()
    answer: str = ""
    confidence: float | None = None
    abstained: bool = False
    written: str = ""
    source: str | None = None
    rows: Mapping[str, str] = field(default_factory=dict)


# The number is of passages.
type AskStrategy = Callable[[Application, EvalQuery, int], Awaitable[StrategyAnswer]]


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way of answering: how it asks, with which ingested context, and what it requires.

    `by_words`: it uses no vectors. `passages`: it returns passages, not only files. `stages` are
    those of its pipeline. `is_dense`: only the vector index finds its passages.
    """

    name: str
    ask: AskStrategy
    context: ContextKind = "structural"
    needs: tuple[Requirement, ...] = ()
    by_words: bool = False
    passages: bool = True
    stages: Stages = STAGES
    is_dense: bool = False


def find_strategies(names: Sequence[str], stages: Stages = STAGES) -> list[Strategy]:
    """Return strategies by name, each once, with the caller's own stages in their pipelines.

    For each of these there is a strategy without it: `pipeline-without-`, and its function's name.
    Raises ConfigError.
    """
    strategies = {
        **_without_own_stages(stages),
        **{
            name: replace(strategy, stages=strategy.stages.over(stages))
            for name, strategy in STRATEGIES.items()
        },
    }
    for name in names:
        if name not in strategies:
            raise ConfigError(f"there is no strategy '{name}': {', '.join(strategies)}")
    return [strategies[name] for name in dict.fromkeys(names)]


def find_missing_requirement(strategy: Strategy, app: Application) -> str | None:
    """Return a line on what a strategy requires and the application lacks, None if nothing."""
    if "reranker" in strategy.needs and app.reranker is None:
        return f"{strategy.name} is not run: no reranker is configured"
    if "llm" in strategy.needs and not app.settings.llm:
        return f"{strategy.name} is not run: no language model is configured"
    if "embedder" in strategy.needs and app.embedder is None:
        return f"{strategy.name} is not run: {app.degraded[0]}"
    return None


async def _channel(mode: Mode, app: Application, query: EvalQuery, k: int) -> StrategyAnswer:
    """Search by one channel; a hint is words like all others."""
    result = await app.search(_join_hint(query), **_search_options(query, k, mode))
    return _passages(result.hits)


async def _fuse(app: Application, query: EvalQuery, k: int) -> StrategyAnswer:
    return _passages(await _by_ranks(app, query, k))


async def _by_ranks(app: Application, query: EvalQuery, k: int) -> list[ChunkHit]:
    """Search by both channels, fused by Reciprocal Rank Fusion (Cormack et al., 2009)."""
    question = replace(await embed_question(app, query, k), dense_share=RRF_DENSE_SHARE)
    return await hybrid_search(app.database, question, fusion="rrf")


async def embed_question(app: Application, query: EvalQuery, k: int) -> Question:
    """Return a question with its vector, its hint as words like all others."""
    text = _join_hint(query)
    assert app.embedder is not None
    vectors = await in_thread(app.embedder.embed, [text], "query")
    documents = tuple([await app.resolve(uri) for uri in query.within])
    scope = Scope(documents=documents)
    return Question(text, vectors[0].tolist(), space=app.space, scope=scope, k=k, depth=_depth(k))


async def _rerank(app: Application, query: EvalQuery, k: int) -> StrategyAnswer:
    assert app.reranker is not None
    candidates = await _by_ranks(app, query, count_candidates(app.reranker, k))
    trace = Trace()
    hits = await rerank(_join_hint(query), candidates, k, app.reranker, trace)
    if trace.degraded:
        raise ProviderError(trace.degraded[0])
    return _passages(hits)


async def _hybrid(app: Application, query: EvalQuery, k: int) -> StrategyAnswer:
    result = await app.search(query.text, hint=query.hint, **_search_options(query, k))
    return _passages(result.hits)


async def _files(app: Application, query: EvalQuery, k: int) -> StrategyAnswer:
    result = await app.files(query.text, hint=query.hint, **_search_options(query, k))
    return StrategyAnswer(files=[file.uri for file in result.files])


async def _pipeline(app: Application, query: EvalQuery, k: int) -> StrategyAnswer:
    """Ask `query`; for an answer in sentences only where the set says what a right one holds."""
    options: Json = {"k": k, "documents": query.within or None, "hint": query.hint}
    response = await app.query(query.text, answer=query.expected is not None, **options)
    return _response(response, response.context)


async def _pipeline_llm(app: Application, query: EvalQuery, k: int) -> StrategyAnswer:
    """Have the model do every stage it can; a failed call fails the question.

    Rules step in for a failed call, but their work is not the model's. The answer is the model's,
    or the evidence where none is written.
    """
    response = await app.query(
        query.text,
        hint=query.hint,
        k=k,
        documents=query.within or None,
        llm_stages=PIPELINE_LLM_STAGES,
        answer=True,
    )
    outputs = (step.made for step in response.trace if step.stage.startswith("llm "))
    if failure := next((output["error"] for output in outputs if "error" in output), None):
        raise ProviderError(failure)
    return _response(response, response.answer or response.context)


def _response(response: Response, answer: str) -> StrategyAnswer:
    files = dict.fromkeys(
        [*(file.uri for file in response.files), *(hit.uri for hit in response.hits)]
    )
    return StrategyAnswer(
        response.hits,
        list(files),
        answer,
        response.confidence if response.answer_confidence is None else response.answer_confidence,
        response.abstained,
        response.answer,
        first_source(response.answer, response.sources, response.quotes),
        _rows(response.comparison),
    )


def _rows(table: Comparison | None) -> dict[str, str]:
    """Return what a table quotes, by the uris of its files."""
    if table is None:
        return {}
    return {
        file.uri: " ".join(
            quote.text
            for cell in table.cells
            if cell.document_id == file.document_id
            for quote in cell.quotes
        )
        for file in table.documents
    }


def _join_hint(query: EvalQuery) -> str:
    return query.text if query.hint is None else f"{query.hint}; {query.text}"


def _search_options(query: EvalQuery, k: int, mode: Mode = "hybrid") -> Json:
    return {"k": k, "depth": _depth(k), "mode": mode, "documents": query.within or None}


def _depth(k: int) -> int:
    return max(SearchOptions.depth, k)


def _passages(hits: Sequence[ChunkHit]) -> StrategyAnswer:
    """Return hits, their files, and as answer the context that they make for a reader."""
    files = list(dict.fromkeys(hit.uri for hit in hits))
    return StrategyAnswer(hits, files, format_context(hits)[0])


async def _unlinked(*, query: str, hint: str | None, **_: object) -> Intent:
    """Read the intent from a query's words; no document is linked, the query stays whole."""
    return replace(read_intent(query), hint=hint)


async def _no_files(**_: object) -> list[FileHit]:
    return []


async def _no_boost(**_: object) -> dict[str, float]:
    return {}


async def _no_variants(
    *, database: Database, question: Question, files: Sequence[FileHit], **_: object
) -> VariantSet:
    return await make_variants(database, question, files, 1)


async def _unjoined(*, quotes: Sequence[Quote], **_: object) -> tuple[Quote, ...]:
    return tuple(quotes)


# The pipeline with a stage switched off: a function that does nothing in its place.
WITHOUT_LINKING = Stages(find_intent=_unlinked)
WITHOUT_DISCOVERY = Stages(discover=_no_files)
WITHOUT_BOOST = Stages(boost_files=_no_boost)
WITHOUT_VARIANTS = Stages(make_variants=_no_variants)
WITHOUT_JOINING = Stages(join_neighbours=_unjoined)

BASELINE_STRATEGIES = (
    Strategy("vector", partial(_channel, "dense"), needs=("embedder",), is_dense=True),
    Strategy("keyword", partial(_channel, "keyword"), by_words=True),
    Strategy("hybrid-fuse", _fuse, needs=("embedder",)),
    Strategy("hybrid-rerank", _rerank, needs=("embedder", "reranker")),
)


def _without_context(strategy: Strategy) -> Strategy:
    return replace(strategy, name=f"{strategy.name}-plain", context="none")


def _with_llm_context(strategy: Strategy) -> Strategy:
    needs: tuple[Requirement, ...] = (*strategy.needs, "llm")
    return replace(strategy, name=f"{strategy.name}-llm", context="llm", needs=needs)


ABLATION_PREFIX = "pipeline-without-"
STRATEGIES = {
    strategy.name: strategy
    for strategy in (
        *BASELINE_STRATEGIES,
        *(_without_context(baseline) for baseline in BASELINE_STRATEGIES),
        *(_with_llm_context(baseline) for baseline in BASELINE_STRATEGIES),
        Strategy("hybrid", _hybrid),
        Strategy("files", _files, passages=False),
        Strategy("pipeline", _pipeline),
        Strategy("pipeline-llm", _pipeline_llm, needs=("llm",)),
        Strategy(f"{ABLATION_PREFIX}linking", _pipeline, stages=WITHOUT_LINKING),
        Strategy(f"{ABLATION_PREFIX}discovery", _pipeline, stages=WITHOUT_DISCOVERY),
        Strategy(f"{ABLATION_PREFIX}variants", _pipeline, stages=WITHOUT_VARIANTS),
        Strategy(f"{ABLATION_PREFIX}boost", _pipeline, stages=WITHOUT_BOOST),
        Strategy(f"{ABLATION_PREFIX}joining", _pipeline, stages=WITHOUT_JOINING),
    )
}


def _without_own_stages(stages: Stages) -> dict[str, Strategy]:
    names = {f"{ABLATION_PREFIX}{name}": stage for stage, name in stages.own().items()}
    return {
        name: Strategy(name, _pipeline, stages=stages.without(stage))
        for name, stage in names.items()
    }


async def measure_index(
    app: Application, queries: Sequence[EvalQuery], outcomes: Sequence[Outcome], ks: Sequence[int]
) -> dict[str, list[float | None]]:
    """Return `ann_recall@k`: of the k chunks nearest to each question, the share that is found.

    Approximate against exact nearest neighbours, 0 to 1; None where nothing has a vector, or where
    the question failed. A search takes 100 candidates at least, and is measured with as many.
    """
    rows = [
        [None] * len(ks) if outcome.error else await _recalls(app, query, ks)
        for query, outcome in zip(queries, outcomes, strict=True)
    ]
    return {f"ann_recall@{k}": [row[place] for row in rows] for place, k in enumerate(ks)}


async def _recalls(app: Application, query: EvalQuery, ks: Sequence[int]) -> list[float | None]:
    question = await embed_question(app, query, max(ks))
    return [await dense_recall(app.database, question, k) for k in ks]


THROUGHPUT_SECONDS = 3.0  # measured for each number of clients


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """A question's answer by a strategy, and how long it took; `answer` is None if it failed."""

    query: EvalQuery
    answer: StrategyAnswer | None
    milliseconds: float
    error: str | None = None


async def ask_all(
    app: Application,
    strategy: Strategy,
    queries: Sequence[EvalQuery],
    k: int,
    on_done: Callable[[int], None],
) -> tuple[Outcome, ...]:
    """Ask questions one after another, for k passages each; `on_done` is called with how many."""
    await _ask(app, strategy, queries[0], k)  # warms up: no answer pays for what is opened once
    answers = []
    for number, query in enumerate(queries, 1):
        answers.append(await _ask(app, strategy, query, k))
        on_done(number)
    return await _outcomes(app, answers)


async def measure_rate(
    app: Application, strategy: Strategy, queries: Sequence[EvalQuery], k: int, clients: int
) -> float:
    """Return the answers per second of clients that ask without a pause, failures left out."""
    started = perf_counter()
    rotation = cycle(queries)

    async def client() -> int:
        answered = 0
        while perf_counter() - started < THROUGHPUT_SECONDS:
            answer = await _ask(app, strategy, next(rotation), k)
            answered += answer.error is None
        return answered

    answered = sum(await asyncio.gather(*(client() for _ in range(clients))))
    return answered / (perf_counter() - started)


async def _ask(app: Application, strategy: Strategy, query: EvalQuery, k: int) -> TimedAnswer:
    """Ask one question; whatever goes wrong with it is its own failure, not the run's.

    Where vectors are cached, the milliseconds are without embedding: else they would depend on
    whether a text is new, not on the strategy.
    """
    answer, failure = None, None
    before, started = _embedding_seconds(app), perf_counter()
    try:
        answer = await strategy.ask(app, query, k)
    except LexichordError as error:
        failure = str(error)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    seconds = perf_counter() - started - (_embedding_seconds(app) - before)
    return TimedAnswer(query, answer, 1000 * seconds, failure)


def _embedding_seconds(app: Application) -> float:
    return app.embedder.seconds if isinstance(app.embedder, CachedEmbedder) else 0.0


async def _outcomes(app: Application, answers: Sequence[TimedAnswer]) -> tuple[Outcome, ...]:
    """Return outcomes, with the ordinals of the passages' chunks, which hits lack."""
    chunks = {hit.chunk_id for timed in answers if timed.answer for hit in timed.answer.hits}
    rows = await chunk_places(app.database, sorted(chunks))
    ordinals = {row["chunk_id"]: row["ordinal"] for row in rows}
    return tuple(_outcome(timed, ordinals) for timed in answers)


def _outcome(timed: TimedAnswer, ordinals: Mapping[str, int]) -> Outcome:
    answer = timed.answer or StrategyAnswer()
    passages = tuple(
        RankedPassage(hit.uri, hit.start, hit.end, ordinals[hit.chunk_id], hit.score)
        for hit in answer.hits
    )
    return Outcome(
        query_id=timed.query.id,
        passages=passages,
        files=tuple(answer.files),
        answer=answer.answer,
        confidence=answer.confidence,
        abstained=answer.abstained,
        milliseconds=timed.milliseconds,
        error=timed.error,
        written=answer.written,
        source=answer.source,
        rows=answer.rows,
    )
