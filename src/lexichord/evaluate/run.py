"""A set ingested into a scratch database, asked by strategies, judged, recorded and compared."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial

from lexichord.db.catalogue import compare_evaluations, record_evaluation
from lexichord.db.server import scratch_database
from lexichord.errors import ConfigError, DatabaseError
from lexichord.evaluate import Application, CachedEmbedder
from lexichord.evaluate.entities import extract_all
from lexichord.evaluate.metrics import compute_metrics, find_group
from lexichord.evaluate.statistics import bootstrap_difference
from lexichord.evaluate.strategies import (
    PIPELINE_LLM_STAGES,
    Strategy,
    ask_all,
    find_missing_requirement,
    measure_index,
    measure_rate,
)
from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.load import title
from lexichord.ingest.report import Report
from lexichord.providers import Embedder, Generator
from lexichord.providers.registry import opened_generator
from lexichord.types import ContextKind, Json, LoadedText
from lexichord.types.base import counted
from lexichord.types.evaluation import (
    Change,
    EvalQuery,
    EvalSet,
    EvaluationRun,
    Outcome,
)
from lexichord.types.query_options import DEFAULT_KS, Extractor

# Passages asked for at least, so that evidence within 4,000 characters is full: contracts' chunks
# have 260 on average.
MIN_PASSAGES = 30
DOCUMENT_METRIC_PREFIXES = ("document@", "recall@", "precision@", "ndcg@", "mrr", "map")

type EvalProgressCallback = Callable[[str, int, int], None]  # the task, how many of how many


@dataclass(frozen=True, slots=True)
class Plan:
    """How a set is evaluated: by which strategies, with which metrics' ks.

    `clients` are numbers of clients to measure queries/s with. If there are any, the milliseconds
    include embedding; else vectors are cached from one evaluation to the next, and milliseconds are
    without it. `extract` says what finds the entities of answers. `on_progress` is called as each
    task proceeds, `on_warning` with one line on what could not be done.
    """

    strategies: Sequence[Strategy]
    ks: tuple[int, ...] = DEFAULT_KS
    clients: tuple[int, ...] = ()
    extract: Extractor = "rules"
    on_progress: EvalProgressCallback = lambda task, done, total: None
    on_warning: Callable[[str], None] = lambda line: None

    @property
    def k(self) -> int:
        """How many passages are asked for."""
        return max(MIN_PASSAGES, *self.ks)


async def run_evaluation(app: Application, eval_set: EvalSet, plan: Plan) -> list[EvaluationRun]:
    """Evaluate strategies on a set, and record each run in the application's database.

    The documents go into a scratch database on the same server, one for each kind of context, that
    is dropped at the end. Strategies that lack a requirement are skipped with a warning. Raises
    ConfigError, DatabaseError.
    """
    if not eval_set.queries:
        raise ConfigError(f"the set {eval_set.name} has no questions")
    async with _opened_extractor(app, plan) as extractor:
        return await _run_strategies(app, eval_set, plan, extractor)


async def _run_strategies(
    app: Application, eval_set: EvalSet, plan: Plan, extractor: Generator | None
) -> list[EvaluationRun]:
    runnable = [strategy for strategy in plan.strategies if _is_runnable(strategy, app, plan)]
    runs: list[EvaluationRun] = []
    for context in dict.fromkeys(strategy.context for strategy in runnable):
        group = [strategy for strategy in runnable if strategy.context == context]
        embedder = None if all(strategy.by_words for strategy in group) else app.embedder
        async with _scratch_application(app, embedder, eval_set, context, plan) as (
            scratch,
            settings,
        ):
            for strategy in group:
                run = await _run(scratch, eval_set, strategy, plan, settings, extractor)
                runs.append(await _record(app, run, plan))
    names = [strategy.name for strategy in runnable]
    return sorted(runs, key=lambda run: names.index(run.strategy))


@asynccontextmanager
async def _opened_extractor(app: Application, plan: Plan) -> AsyncIterator[Generator | None]:
    """Yield the model that extracts entities; None where rules do.

    Raises ConfigError if extraction needs one and none is configured, and for a model that cannot
    be loaded if extraction or a strategy needs it.
    """
    is_asked = plan.extract == "llm"
    if not is_asked and not any("llm" in strategy.needs for strategy in plan.strategies):
        yield None
        return
    async with opened_generator(app.settings) as model:
        if is_asked and model is None:
            raise ConfigError(
                "a model is to extract entities, and none is configured: set LEXICHORD_LLM"
            )
        yield model if is_asked else None


def _is_runnable(strategy: Strategy, app: Application, plan: Plan) -> bool:
    if reason := find_missing_requirement(strategy, app):
        plan.on_warning(reason)
    return reason is None


@asynccontextmanager
async def _scratch_application(
    app: Application, embedder: Embedder | None, eval_set: EvalSet, context: ContextKind, plan: Plan
) -> AsyncIterator[tuple[Application, Json]]:
    """Yield an application on a scratch database that holds the set, and its runs' settings."""
    pool_size = max(app.settings.pool_size, *plan.clients, 1)
    home = app.settings.home
    with scratch_database(app.database.dsn) as dsn:
        changed = {"dsn": dsn, "pool_size": pool_size, "record": "off"}
        async with type(app)(app.settings.model_copy(update=changed)) as scratch:
            with CachedEmbedder(embedder, home) if embedder else nullcontext() as cached:
                scratch.embedder, scratch.reranker = cached, app.reranker
                scratch.reader, scratch.stages = app.reader, app.stages
                ingested = await _ingest(scratch, eval_set, context, plan)
                if plan.clients:
                    scratch.embedder = embedder
                yield scratch, await _settings(scratch, ingested, plan)


async def _ingest(
    scratch: Application, eval_set: EvalSet, context: ContextKind, plan: Plan
) -> Json:
    """Store the set's documents and return how that went; what is not stored is a warning."""
    task = f"{eval_set.name}: ingest with context {context}"
    originals = list(eval_set.documents)
    documents = [_chunk(document) for document in originals if not _is_empty(document)]
    done = iter(range(1, len(documents) + 1))
    plan.on_progress(task, 0, len(documents))
    report = await scratch.ingest(
        documents=documents,
        context=context,
        listener=lambda *_: plan.on_progress(task, next(done), len(documents)),
    )
    _check_stored(report, len(documents), plan)
    return {
        "failed_documents": len(report.failed),
        "empty_documents": len(originals) - len(documents),
        "context": context,
        "contexts": None if report.llm is None else asdict(report.llm),
    }


def _check_stored(report: Report, documents: int, plan: Plan) -> None:
    if len(report.failed) == documents == 0:
        raise ConfigError("the set has no document with a text")
    if report.failed:
        uri, reason = next(iter(report.failed.items()))
        counts = f"{len(report.failed)} of {counted(documents, 'document')} not stored"
        if len(report.failed) == documents:
            raise ConfigError(f"{counts}, {uri}: {reason}")
        plan.on_warning(f"{counts}, {uri}: {reason}")
    if report.llm and report.llm.chunks < report.chunks:
        counts = (
            f"{report.llm.chunks} of {counted(report.chunks, 'chunk')} with a context by the model"
        )
        reasons = [*report.llm.failed.values(), report.llm.stopped]
        plan.on_warning(f"only {counts}: {reasons[0]}")


async def _settings(scratch: Application, ingested: Json, plan: Plan) -> Json:
    """Return the settings that a run is recorded with."""
    status = await scratch.status()
    recorded = ("engine", "text_config", "documents", "chunks")
    return {
        **{name: getattr(status, name) for name in recorded},
        **ingested,
        "space": scratch.space if scratch.embedder else None,
        "k": plan.k,
        "milliseconds": "with embedding" if plan.clients else "without embedding",
        **({"reranker": named} if (named := scratch.settings.reranker) else {}),
        **({"stages": scratch.stages.own()} if scratch.stages.own() else {}),
    }


def _is_empty(document: Json) -> bool:
    """Return whether a document has no text to find it by; public sets have some."""
    return not document.get("chunks") and not (document.get("text") or "").strip()


def _chunk(document: Json) -> Json:
    """Return a document with its chunks, as the ingest of a file makes them, or its own."""
    if document.get("chunks"):
        return document
    uri, text = document["uri"], document["text"]
    media_type = document.get("media_type", "text/plain")
    heading = document.get("title") or title(uri, text, media_type)
    loaded = LoadedText(text, media_type, heading)
    chunks = [
        {"content": chunk.content, "start": chunk.start, "heading": chunk.heading}
        for chunk in split(loaded)
    ]
    return {**document, "chunks": chunks}


async def _run(
    scratch: Application,
    eval_set: EvalSet,
    strategy: Strategy,
    plan: Plan,
    settings: Json,
    extractor: Generator | None,
) -> EvaluationRun:
    started, total = datetime.now(UTC), len(eval_set.queries)
    degraded = [] if strategy.by_words else scratch.degraded
    for reason in degraded:
        plan.on_warning(f"{strategy.name}: {reason}")
    on_progress = partial(plan.on_progress, strategy.name)
    qps = {}
    scratch.stages = strategy.stages
    outcomes = await ask_all(
        scratch, strategy, eval_set.queries, plan.k, lambda done: on_progress(done, total)
    )
    for clients in plan.clients:
        plan.on_progress(f"{strategy.name}, {clients} clients", 0, 1)
        qps[clients] = await measure_rate(scratch, strategy, eval_set.queries, plan.k, clients)
    model_settings = _describe_model(scratch, strategy)
    if extractor is not None:
        outcomes, extraction = await _extract_entities(
            extractor, eval_set, strategy, outcomes, plan
        )
        model_settings = {**model_settings, "entities": extraction}
    metrics = _compute_metrics(strategy, eval_set.queries, outcomes, plan.ks)
    if strategy.is_dense:
        metrics = {**metrics, **await measure_index(scratch, eval_set.queries, outcomes, plan.ks)}
    return EvaluationRun(
        None,
        eval_set.name,
        strategy.name,
        {**settings, "degraded": degraded, **model_settings},
        plan.ks,
        eval_set.queries,
        outcomes,
        metrics,
        qps,
        started,
    )


def _describe_model(scratch: Application, strategy: Strategy) -> Json:
    """Return which model did which stages, if any did."""
    if "llm" not in strategy.needs:
        return {}
    return {"llm": scratch.settings.llm, "llm_stages": list(PIPELINE_LLM_STAGES)}


async def _extract_entities(
    extractor: Generator,
    eval_set: EvalSet,
    strategy: Strategy,
    outcomes: tuple[Outcome, ...],
    plan: Plan,
) -> tuple[tuple[Outcome, ...], Json]:
    """Return the outcomes with a model's entities, and how that went; failures are a warning."""
    task, total = f"{strategy.name}: entities", len(outcomes)
    extraction = await extract_all(
        extractor, eval_set.queries, outcomes, lambda number: plan.on_progress(task, number, total)
    )
    if failed := len(extraction.failures):
        plan.on_warning(
            f"{task} of {failed} of {total} answers are not extracted, {extraction.failures[0]}"
        )
    settings = {"by": extractor.name, "failed": failed, "not_in_answer": extraction.foreign}
    return extraction.outcomes, settings


def _compute_metrics(
    strategy: Strategy, queries: Sequence[EvalQuery], outcomes: Sequence[Outcome], ks: Sequence[int]
) -> Mapping[str, Sequence[float | None]]:
    """Return the metrics; a strategy that finds documents only is judged by these only."""
    metrics = compute_metrics(queries, outcomes, ks)
    if strategy.passages:
        return metrics
    is_finer = any(query.chunks or query.spans for query in queries)
    prefixes = DOCUMENT_METRIC_PREFIXES[:1] if is_finer else DOCUMENT_METRIC_PREFIXES
    return {name: values for name, values in metrics.items() if name.startswith(prefixes)}


async def _record(app: Application, run: EvaluationRun, plan: Plan) -> EvaluationRun:
    """Record a run; a role that may not write still gets it, with a warning."""
    try:
        return replace(run, id=await record_evaluation(app.database, run))
    except DatabaseError as error:
        plan.on_warning(f"{run.strategy} is not recorded: {error}")
        return run


async def compare_run(app: Application, before: int, run: EvaluationRun) -> list[Change]:
    """Compare a run to an earlier one on the questions judged in both, metric by metric.

    Questions about the same document count as one group. Raises ConfigError if the earlier one is
    of other questions.
    """
    if run.id is None:
        raise ConfigError(f"{run.strategy} is not recorded, so there is nothing to compare")
    rows = await compare_evaluations(app.database, before, run.id)
    groups = {query.id: find_group(query) for query in run.queries}
    return [
        Change(
            *(before, run.id, run.strategy, metric),
            bootstrap_difference(
                [row["b_value"] for row in judged],
                [row["a_value"] for row in judged],
                [groups[row["query_id"]] for row in judged],
            ),
        )
        for metric in run.metrics
        if (judged := [row for row in rows if row["metric"] == metric])
    ]


async def compare_runs(
    app: Application,
    before: int | None,
    runs: Sequence[EvaluationRun],
    on_warning: Callable[[str], None],
) -> list[Change]:
    """Compare each run to an earlier one, if any; where that is of other questions, warn."""
    changes: list[Change] = []
    if before is None:
        return changes
    for run in runs:
        try:
            changes += await compare_run(app, before, run)
        except ConfigError as error:
            on_warning(str(error))
    return changes


async def check_evaluation(app: Application, evaluation: int) -> None:
    """Raise ConfigError if there is no such evaluation: better before a long run than after."""
    await compare_evaluations(app.database, evaluation, evaluation)


def describe_failures(runs: Sequence[EvaluationRun]) -> list[str]:
    """Return a line for each run with failed questions: how many, and why the first did."""
    lines = []
    for run in runs:
        if failed := run.failed:
            first = f"{failed[0].query_id}: {failed[0].error}"
            counts = f"{len(failed)} of {counted(len(run.queries), 'question')} failed"
            lines.append(f"{run.strategy}: {counts}, {first}")
    return lines
