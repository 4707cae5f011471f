"""The named ways of answering that are measured against each other."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from lexichord.db import search
from lexichord.errors import ConfigError, ProviderError
from lexichord.evaluate.application import Application
from lexichord.retrieve.evidence import format_context
from lexichord.retrieve.search.rerank import CANDIDATES, rerank
from lexichord.retrieve.stages import STAGES, Stages
from lexichord.retrieve.trace import Trace
from lexichord.retrieve.understand.intent import read_intent
from lexichord.types import (
    ChunkHit,
    ContextKind,
    FileHit,
    LlmStage,
    Mode,
    Question,
    Response,
    Scope,
)
from lexichord.types.evaluation import EvalQuery
from lexichord.types.evidence import Quote
from lexichord.types.questions import Intent

LEAST_DEPTH = 100  # candidates of a channel
EVEN = [0.5, 0.5]  # as they wrote it; ours are weighed
LLM_STAGES: tuple[LlmStage, ...] = ("intent", "boost", "answer")

type Need = Literal["embedder", "reranker", "llm"]


@dataclass(frozen=True, slots=True)
class Found:
    """What a strategy gives for a question; `files` are uris, best first."""

    hits: Sequence[ChunkHit] = ()
    files: Sequence[str] = ()
    answer: str = ""
    confidence: float | None = None
    abstained: bool = False


type Ask = Callable[[Application, EvalQuery, int], Awaitable[Found]]  # for how many passages, too


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way of answering: whom it asks, of which ingest, and what has to be there for it.

    `by_words` says that it does without vectors, `passages` that it finds any, `stages` how the
    pipeline does what it asks, `is_dense` that nothing but the vector index finds its passages.
    """

    name: str
    ask: Ask
    context: ContextKind = "structural"
    needs: tuple[Need, ...] = ()
    by_words: bool = False
    passages: bool = True
    stages: Stages = STAGES
    is_dense: bool = False


def find_strategies(names: Sequence[str]) -> list[Strategy]:
    """Give strategies by name, each once. Raises ConfigError."""
    for name in names:
        if name not in STRATEGIES:
            raise ConfigError(f"there is no strategy '{name}': {', '.join(STRATEGIES)}")
    return [STRATEGIES[name] for name in dict.fromkeys(names)]


def what_lacks(strategy: Strategy, app: Application) -> str | None:
    """Say in one line what a strategy needs and the application has not; None if it has all."""
    if "reranker" in strategy.needs and app.reranker is None:
        return f"{strategy.name} is not run: no reranker is configured"
    if "llm" in strategy.needs and not app.settings.llm:
        return f"{strategy.name} is not run: no language model is configured"
    if "embedder" in strategy.needs and app.embedder is None:
        return f"{strategy.name} is not run: {app.degraded[0]}"
    return None


async def _channel(mode: Mode, app: Application, query: EvalQuery, k: int) -> Found:
    """Search by one channel, as the seed's baselines do: a hint is words like all others."""
    found = await app.search(_whole(query), **_where(query, k, mode))
    return _passages(found.hits)


async def _fuse(app: Application, query: EvalQuery, k: int) -> Found:
    return _passages(await _by_ranks(app, query, k))


async def _by_ranks(app: Application, query: EvalQuery, k: int) -> list[ChunkHit]:
    """Search by both channels, fused by Reciprocal Rank Fusion (Cormack et al., 2009)."""
    question = await embed_question(app, query, k)
    rows = await app.database.call(
        "hybrid_search",
        query=question.text,
        query_vector=search.vector_text(question.vector),
        fusion="rrf",
        weights=EVEN,
        **search.question_arguments(question),
    )
    return [search.chunk_hit(row) for row in rows]


async def embed_question(app: Application, query: EvalQuery, k: int) -> Question:
    """Give a question with its hint as words like all others, and its vector."""
    text = _whole(query)
    assert app.embedder is not None
    vectors = await asyncio.to_thread(app.embedder.embed, [text], "query")
    documents = tuple([await app.resolve(uri) for uri in query.within])
    scope = Scope(documents=documents)
    return Question(text, vectors[0].tolist(), space=app.space, scope=scope, k=k, depth=_depth(k))


async def _rerank(app: Application, query: EvalQuery, k: int) -> Found:
    assert app.reranker is not None
    candidates = await _by_ranks(app, query, CANDIDATES * k)
    trace = Trace()
    hits = await rerank(_whole(query), candidates, k, app.reranker, trace)
    if trace.degraded:
        raise ProviderError(trace.degraded[0])
    return _passages(hits)


async def _hybrid(app: Application, query: EvalQuery, k: int) -> Found:
    found = await app.search(query.text, hint=query.hint, **_where(query, k))
    return _passages(found.hits)


async def _files(app: Application, query: EvalQuery, k: int) -> Found:
    found = await app.files(query.text, hint=query.hint, **_where(query, k))
    return Found(files=[file.uri for file in found.files])


async def _pipeline(
    app: Application, query: EvalQuery, k: int, variants: int | None = None
) -> Found:
    fewer: Any = {} if variants is None else {"variants": variants}
    found = await app.query(query.text, hint=query.hint, **_where(query, k), **fewer)
    return _response(found, found.context)


async def _pipeline_llm(app: Application, query: EvalQuery, k: int) -> Found:
    """Let the model do all it can; where a call fails, what the rules did instead is not its work.

    The answer is the model's, or the evidence where none is written.
    """
    found = await app.query(
        query.text, hint=query.hint, **_where(query, k), llm_stages=LLM_STAGES, answer=True
    )
    calls = (step["made"] for step in found.trace if step["stage"].startswith("llm "))
    if failure := next((made["error"] for made in calls if "error" in made), None):
        raise ProviderError(failure)
    return _response(found, found.answer or found.context)


def _response(found: Response, answer: str) -> Found:
    files = dict.fromkeys([*(file.uri for file in found.files), *(hit.uri for hit in found.hits)])
    return Found(found.hits, list(files), answer, found.confidence, found.abstained)


def _whole(query: EvalQuery) -> str:
    return query.text if query.hint is None else f"{query.hint}; {query.text}"


def _where(query: EvalQuery, k: int, mode: Mode = "hybrid") -> dict[str, Any]:
    return {"k": k, "depth": _depth(k), "mode": mode, "documents": list(query.within)}


def _depth(k: int) -> int:
    return max(LEAST_DEPTH, k)


def _passages(hits: Sequence[ChunkHit]) -> Found:
    """Give hits, their files, and as answer the text that they make for a reader."""
    files = list(dict.fromkeys(hit.uri for hit in hits))
    return Found(hits, files, format_context(hits)[0])


async def _unlinked(database: object, query: str, hint: str | None, scope: object) -> Intent:
    """Read the words of a query; it names no document and stays whole."""
    return replace(read_intent(query), hint=hint)


async def _no_files(*_: object) -> list[FileHit]:
    return []


def _no_boost(*_: object) -> dict[str, float]:
    return {}


async def _apart(database: object, quotes: Sequence[Quote]) -> tuple[Quote, ...]:
    return tuple(quotes)


# The pipeline with a stage switched off: something that does nothing in its place.
LINKING = Stages(find_intent=_unlinked)
DISCOVERY = Stages(discover=_no_files)
BOOST = Stages(boost_files=_no_boost)
JOINING = Stages(join_neighbours=_apart)

BASELINES = (
    Strategy("vector", partial(_channel, "dense"), needs=("embedder",), is_dense=True),
    Strategy("keyword", partial(_channel, "keyword"), by_words=True),
    Strategy("hybrid-fuse", _fuse, needs=("embedder",)),
    Strategy("hybrid-rerank", _rerank, needs=("embedder", "reranker")),
)


def _by_model(strategy: Strategy) -> Strategy:
    needs: tuple[Need, ...] = (*strategy.needs, "llm")
    return replace(strategy, name=f"{strategy.name}-llm", context="llm", needs=needs)


WITHOUT = "pipeline-without-"
STRATEGIES = {
    strategy.name: strategy
    for strategy in (
        *BASELINES,
        *(replace(each, name=f"{each.name}-plain", context="none") for each in BASELINES),
        *(_by_model(each) for each in BASELINES),
        Strategy("hybrid", _hybrid),
        Strategy("files", _files, passages=False),
        Strategy("pipeline", _pipeline),
        Strategy("pipeline-llm", _pipeline_llm, needs=("llm",)),
        Strategy(f"{WITHOUT}linking", _pipeline, stages=LINKING),
        Strategy(f"{WITHOUT}discovery", _pipeline, stages=DISCOVERY),
        Strategy(f"{WITHOUT}variants", partial(_pipeline, variants=1)),
        Strategy(f"{WITHOUT}boost", _pipeline, stages=BOOST),
        Strategy(f"{WITHOUT}joining", _pipeline, stages=JOINING),
    )
}
DEFAULT = ("keyword", "vector", "hybrid", "pipeline")
