"""A set ingested into a database of its own, asked by strategies, and judged."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial

from lexichord.db import search
from lexichord.db.catalogue import record_evaluation
from lexichord.db.scratch import scratch_database
from lexichord.errors import ConfigError, DatabaseError
from lexichord.evaluate.application import Application
from lexichord.evaluate.ask import ask_all, measure_index, measure_rate
from lexichord.evaluate.extract_llm import extract_all
from lexichord.evaluate.metrics import evaluate
from lexichord.evaluate.strategies import LLM_STAGES, Strategy, what_lacks
from lexichord.evaluate.vectors import KeptVectors
from lexichord.ingest.chunk import split
from lexichord.ingest.load import title
from lexichord.ingest.report import Report
from lexichord.providers.base import Embedder, Generator
from lexichord.retrieve.llm_stages import find_model
from lexichord.types import ContextKind, Json, LoadedText
from lexichord.types.evaluation import EvalQuery, EvalSet, Extractor, Outcome, Run

# Passages that are asked for at least, so that evidence within 4,000 characters is full: contracts'
# chunks have 260 on average.
LEAST = 30
DOCUMENT_METRICS = ("document@", "recall@", "precision@", "ndcg@", "mrr", "map")

type Told = Callable[[str, int, int], None]  # what is done, how many of how many


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of a set: by which strategies, with which metrics' ks.

    `clients` are numbers of clients to measure queries/s with. If there are any, the milliseconds
    hold those of embedding; else vectors are kept from one evaluation to the next, and milliseconds
    are without them. `extract` says what finds the entities of answers. `tell` hears what goes on,
    `warn` in one line what could not be done.
    """

    strategies: Sequence[Strategy]
    ks: tuple[int, ...] = (5, 10, 20)
    clients: tuple[int, ...] = ()
    extract: Extractor = "rules"
    tell: Told = lambda what, done, total: None
    warn: Callable[[str], None] = lambda line: None

    @property
    def k(self) -> int:
        """Passages that are asked for."""
        return max(LEAST, *self.ks)


async def run_evaluation(app: Application, given: EvalSet, plan: Plan) -> list[Run]:
    """Evaluate strategies on a set, and record each run in the application's database.

    The documents go into a scratch database on the same server, one for each way of ingesting, that
    is dropped at the end. Strategies that lack something are told, not run. Raises ConfigError,
    DatabaseError.
    """
    if not given.queries:
        raise ConfigError(f"the set {given.name} has no questions")
    extractor = await _extractor(app, plan)
    todo = [strategy for strategy in plan.strategies if not _is_told(strategy, app, plan)]
    runs: list[Run] = []
    for context in dict.fromkeys(strategy.context for strategy in todo):
        some = [strategy for strategy in todo if strategy.context == context]
        embedder = None if all(strategy.by_words for strategy in some) else app.embedder
        async with _ingested(app, embedder, given, context, plan) as (own, settings):
            for strategy in some:
                run = await _run(own, given, strategy, plan, settings, extractor)
                runs.append(await _recorded(app, run, plan))
    names = [strategy.name for strategy in todo]
    return sorted(runs, key=lambda run: names.index(run.strategy))


async def _extractor(app: Application, plan: Plan) -> Generator | None:
    """Give the model that extracts; None where rules do.

    Raises ConfigError if there is none, or if it cannot be asked, by a strategy either.
    """
    is_asked = plan.extract == "llm"
    if not is_asked and not any("llm" in strategy.needs for strategy in plan.strategies):
        return None
    model = await find_model(app.settings)
    if is_asked and model is None:
        raise ConfigError(
            "a model is to extract entities, and none is configured: set LEXICHORD_LLM"
        )
    return model if is_asked else None


def _is_told(strategy: Strategy, app: Application, plan: Plan) -> bool:
    if reason := what_lacks(strategy, app):
        plan.warn(reason)
    return reason is not None


@asynccontextmanager
async def _ingested(
    app: Application, embedder: Embedder | None, given: EvalSet, context: ContextKind, plan: Plan
) -> AsyncIterator[tuple[Application, Json]]:
    """Give an application on a scratch database that holds the set, and what is in it."""
    size = max(app.settings.pool_size, *plan.clients, 1)
    home = app.settings.home
    with scratch_database(app.database.dsn) as dsn:
        changed = {"dsn": dsn, "pool_size": size, "record": "off"}
        async with type(app)(app.settings.model_copy(update=changed)) as own:
            with KeptVectors(embedder, home) if embedder else nullcontext() as kept:
                own.embedder, own.reranker = kept, app.reranker
                ingested = await _ingest(own, given, context, plan)
                if plan.clients:
                    own.embedder = embedder
                yield own, await _settings(own, ingested, plan)


async def _ingest(own: Application, given: EvalSet, context: ContextKind, plan: Plan) -> Json:
    """Store the set's documents; give what came of it. What is not stored is told, or an error."""
    what = f"{given.name}: ingest with context {context}"
    whole = list(given.documents)
    documents = [_cut(document) for document in whole if not _is_empty(document)]
    done = iter(range(1, len(documents) + 1))
    plan.tell(what, 0, len(documents))
    report = await own.ingest(
        documents=documents,
        context=context,
        listener=lambda *_: plan.tell(what, next(done), len(documents)),
    )
    _check_stored(report, len(documents), plan)
    return {
        "failed_documents": len(report.failed),
        "empty_documents": len(whole) - len(documents),
        "context": context,
        "contexts": None if report.llm is None else asdict(report.llm),
    }


def _check_stored(report: Report, documents: int, plan: Plan) -> None:
    if len(report.failed) == documents == 0:
        raise ConfigError("the set has no document with a text")
    if report.failed:
        uri, reason = next(iter(report.failed.items()))
        counts = f"{len(report.failed)} of {documents} documents are not stored"
        if len(report.failed) == documents:
            raise ConfigError(f"{counts}, {uri}: {reason}")
        plan.warn(f"{counts}, {uri}: {reason}")
    if report.llm and report.llm.chunks < report.chunks:
        counts = f"{report.llm.chunks} of {report.chunks} chunks have a context by the model"
        reasons = [*report.llm.failed.values(), report.llm.stopped]
        plan.warn(f"only {counts}: {reasons[0]}")


async def _settings(own: Application, ingested: Json, plan: Plan) -> Json:
    """Give what a run is recorded with."""
    held = await search.database_status(own.database)
    return {
        **{name: held[name] for name in ("engine", "text_config", "documents", "chunks")},
        **ingested,
        "space": own.space if own.embedder else None,
        "k": plan.k,
        "milliseconds": "with embedding" if plan.clients else "without embedding",
    }


def _is_empty(document: Json) -> bool:
    """Tell whether nothing could find a document; public sets have some."""
    return not document.get("chunks") and not (document.get("text") or "").strip()


def _cut(document: Json) -> Json:
    """Give a document's chunks, as the ingest of a file would cut it, unless it brings its own."""
    if document.get("chunks"):
        return document
    uri, text = document["uri"], document["text"]
    kind = document.get("media_type", "text/plain")
    loaded = LoadedText(text, kind, document.get("title") or title(uri, text, kind))
    chunks = [
        {"content": piece.content, "start": piece.start, "heading": piece.heading}
        for piece in split(loaded)
    ]
    return {**document, "chunks": chunks}


async def _run(
    own: Application,
    given: EvalSet,
    strategy: Strategy,
    plan: Plan,
    settings: Json,
    extractor: Generator | None,
) -> Run:
    started, total = datetime.now(UTC), len(given.queries)
    degraded = [] if strategy.by_words else own.degraded
    for reason in degraded:
        plan.warn(f"{strategy.name}: {reason}")
    tell = partial(plan.tell, strategy.name)
    qps = {}
    own.stages = strategy.stages
    outcomes = await ask_all(own, strategy, given.queries, plan.k, lambda done: tell(done, total))
    for clients in plan.clients:
        plan.tell(f"{strategy.name}, {clients} clients", 0, 1)
        qps[clients] = await measure_rate(own, strategy, given.queries, plan.k, clients)
    by_model = _by_model(own, strategy)
    if extractor is not None:
        outcomes, how = await _extracted(extractor, given, strategy, outcomes, plan)
        by_model = {**by_model, "entities": how}
    metrics = _judged(strategy, given.queries, outcomes, plan.ks)
    if strategy.is_dense:
        metrics = {**metrics, **await measure_index(own, given.queries, outcomes, plan.ks)}
    place = (given.name, strategy.name, {**settings, "degraded": degraded, **by_model}, plan.ks)
    return Run(None, *place, given.queries, outcomes, metrics, qps, started)


def _by_model(own: Application, strategy: Strategy) -> Json:
    """Say which model did which stages, if any did."""
    if "llm" not in strategy.needs:
        return {}
    return {"llm": own.settings.llm, "llm_stages": list(LLM_STAGES)}


async def _extracted(
    extractor: Generator,
    given: EvalSet,
    strategy: Strategy,
    outcomes: tuple[Outcome, ...],
    plan: Plan,
) -> tuple[tuple[Outcome, ...], Json]:
    """Give the outcomes with a model's entities, and how that went; what failed is told."""
    what, total = f"{strategy.name}: entities", len(outcomes)
    done = await extract_all(
        extractor, given.queries, outcomes, lambda number: plan.tell(what, number, total)
    )
    if failed := len(done.failures):
        plan.warn(f"{what} of {failed} of {total} answers are not extracted, {done.failures[0]}")
    return done.outcomes, {"by": extractor.name, "failed": failed, "not_in_answer": done.foreign}


def _judged(
    strategy: Strategy, queries: Sequence[EvalQuery], outcomes: Sequence[Outcome], ks: Sequence[int]
) -> Mapping[str, Sequence[float | None]]:
    """Give the metrics; who finds documents only is judged by these only."""
    metrics = evaluate(queries, outcomes, ks)
    if strategy.passages:
        return metrics
    is_finer = any(query.chunks or query.spans for query in queries)
    kept = DOCUMENT_METRICS[:1] if is_finer else DOCUMENT_METRICS
    return {name: values for name, values in metrics.items() if name.startswith(kept)}


async def _recorded(app: Application, run: Run, plan: Plan) -> Run:
    """Keep a run; who may not write still gets it."""
    try:
        return replace(run, id=await record_evaluation(app.database, run))
    except DatabaseError as error:
        plan.warn(f"{run.strategy} is not recorded: {error}")
        return run
