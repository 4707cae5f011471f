"""The catalogue: documents, datasets, runs and state; API keys, recorded queries, evaluations.

One Python function per SQL function, of the same name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from importlib.metadata import version
from itertools import zip_longest
from typing import Any

from psycopg.types.json import Jsonb

from lexichord.db.pool import Database, Row
from lexichord.db.search import scope_arguments, with_offsets
from lexichord.errors import MOST_NAMES
from lexichord.types import (
    ApiCall,
    ApiKey,
    ChunkHit,
    Facet,
    Json,
    Question,
    Response,
    Scope,
    StoredChunk,
    StoredDocument,
    Tenant,
)
from lexichord.types.evaluation import EvalQuery, EvaluationRun
from lexichord.types.evidence import Quote
from lexichord.types.response import Step
from lexichord.types.state import Calibration, CosineScale, FileProgress
from lexichord.work import of_many

RECORD_JSON_COLUMNS = ("stages", "counts", "phrase")


async def list_documents(
    database: Database, scope: Scope, limit: int | None = None, offset: int = 0
) -> list[StoredDocument]:
    """See sql/documents/list_documents.sql."""
    page = {"page_size": limit, "page_offset": offset}
    rows = await database.read("list_documents", **scope_arguments(scope), **page)
    return [StoredDocument(**row) for row in rows]


async def count_documents(database: Database, scope: Scope) -> int:
    """See sql/documents/count_documents.sql."""
    rows = await database.read("count_documents", **scope_arguments(scope))
    return int(rows[0]["count_documents"])


async def check_datasets(database: Database, names: Sequence[str]) -> None:
    """Raise UnknownDatasetError, which names some that are there, unless all of these are."""
    if names:
        await count_documents(database, Scope(tuple(names)))


async def count_by(database: Database, key: str, scope: Scope) -> list[Facet]:
    """See sql/documents/count_by.sql."""
    rows = await database.read("count_by", key=key, **scope_arguments(scope))
    return [Facet(row["value"], row["documents_with"]) for row in rows]


async def complete_word(database: Database, beginning: str, scope: Scope) -> list[str]:
    """See sql/search/complete_word.sql; each kind in turn, its best first."""
    rows = await database.read("complete_word", beginning=beginning, **scope_arguments(scope))
    kinds = ("phrase", "word", "heading")
    each = [[row["completion"] for row in rows if row["kind"] == kind] for kind in kinds]
    return [one for turn in zip_longest(*each) for one in turn if one is not None]


async def find_calibration(database: Database) -> Calibration | None:
    """See sql/calibration/find_calibration.sql."""
    rows = await database.read("find_calibration")
    return Calibration(**rows[0]) if rows else None


async def set_calibration(database: Database, calibration: Calibration) -> None:
    """See sql/calibration/set_calibration.sql."""
    columns = {name: getattr(calibration, name) for name in ("constant", "cosine", "passage")}
    scores = {"holds": list(calibration.holds), "lacks": list(calibration.lacks)}
    await database.write("set_calibration", space=calibration.space, **columns, **scores)


async def find_cosine_scale(database: Database) -> CosineScale | None:
    """See sql/calibration/find_cosine_scale.sql."""
    rows = await database.read("find_cosine_scale")
    return CosineScale(**rows[0]) if rows else None


async def set_cosine_scale(database: Database, scale: CosineScale) -> None:
    """See sql/calibration/set_cosine_scale.sql."""
    names = ("space", "unlike", "alike", "sentences")
    await database.write("set_cosine_scale", **{name: getattr(scale, name) for name in names})


async def sample_sentences(database: Database, amount: int) -> list[str]:
    """See sql/calibration/sample_sentences.sql."""
    rows = await database.read("sample_sentences", amount=amount)
    return [str(row["sentence"]) for row in rows]


async def list_chunks(database: Database, document: str) -> list[StoredChunk]:
    """See sql/documents/list_chunks.sql."""
    rows = await database.read("list_chunks", document=document)
    return await of_many(_stored_chunks, rows)


def _stored_chunks(rows: Sequence[Row]) -> list[StoredChunk]:
    return [StoredChunk(**with_offsets(row)) for row in rows]


async def document_text(database: Database, document: str) -> str:
    """See sql/documents/document_text.sql."""
    rows = await database.read("document_text", document=document)
    return str(rows[0]["document_text"])


async def find_documents(database: Database, reference: str) -> list[Row]:
    """See sql/documents/find_documents.sql; what is an id here is taken for one."""
    is_id = database.ids.find("doc", reference) is not None
    named = {"reference": reference, "document": reference if is_id else None}
    rows = await database.read("find_documents", **named)
    if rows or database.replica is None:
        return rows
    return await database.call("find_documents", **named)  # the replica may not have it yet


async def similar_uris(
    database: Database, reference: str, datasets: Sequence[str]
) -> list[tuple[str, str]]:
    """See sql/documents/similar_uris.sql; the id and the uri of each."""
    scope = {"datasets": list(datasets) or None, "most": MOST_NAMES}
    rows = await database.read("similar_uris", reference=reference, **scope)
    return [(row["document_id"], row["uri"]) for row in rows]


async def document_hashes(database: Database, dataset: str) -> list[Row]:
    """See sql/documents/document_hashes.sql."""
    return await database.call("document_hashes", dataset=dataset)


async def list_datasets(database: Database) -> list[Row]:
    """See sql/documents/list_datasets.sql."""
    return await database.call("list_datasets")


async def list_runs(
    database: Database,
    latest: int,
    datasets: Sequence[str] | None = None,
    runs: Sequence[int] | None = None,
) -> list[Row]:
    """See sql/runs/list_runs.sql."""
    scope = {"datasets": datasets and list(datasets), "runs": runs and list(runs)}
    rows = await database.call("list_runs", latest=latest, **scope)
    for row in rows:
        files = row["in_progress"].items()
        row["in_progress"] = {uri: FileProgress(**progress) for uri, progress in files}
    return rows


async def list_run_files(database: Database, run: int, limit: int) -> list[Row]:
    """See sql/runs/list_run_files.sql."""
    return await database.call("list_run_files", run_id=run, page_size=limit)


async def configuration(database: Database) -> Row:
    """See sql/operation/configuration.sql."""
    return (await database.call("configuration"))[0]


async def database_identity(database: Database) -> str:
    """See sql/operation/database_identity.sql."""
    rows = await database.call("database_identity")
    return str(rows[0]["database_identity"])


async def database_status(database: Database) -> Row:
    """See sql/operation/database_status.sql."""
    return (await database.call("database_status"))[0]


async def server_versions(database: Database) -> list[Row]:
    """See sql/operation/server_versions.sql."""
    return await database.call("server_versions")


async def server_facts(database: Database) -> Row:
    """See sql/operation/server_facts.sql."""
    return (await database.call("server_facts"))[0]


async def extension_faults(database: Database, engine: str) -> list[Row]:
    """See sql/operation/extension_faults.sql."""
    return await database.call("extension_faults", engine=engine)


async def index_use(database: Database) -> list[Row]:
    """See sql/engine/*/index_use.sql."""
    return await database.call("index_use")


async def find_problems(database: Database) -> list[Row]:
    """See sql/operation/find_problems.sql."""
    return await database.call("find_problems")


async def count_faults(database: Database) -> list[Row]:
    """See sql/statistics/count_faults.sql."""
    return await database.call("count_faults")


async def create_api_key(database: Database, **columns: object) -> ApiKey | None:
    """See sql/keys/create_api_key.sql."""
    rows = await database.call("create_api_key", **columns)
    return _key(rows[0]) if rows else None


async def rotate_api_key(
    database: Database, key: int, digest: bytes, overlap: timedelta
) -> ApiKey | None:
    """See sql/keys/rotate_api_key.sql."""
    rows = await database.call("rotate_api_key", key=key, digest=digest, overlap=overlap)
    return _key(rows[0]) if rows else None


async def list_api_keys(database: Database) -> list[ApiKey]:
    """See sql/keys/list_api_keys.sql."""
    return [_key(row) for row in await database.call("list_api_keys")]


async def revoke_api_key(database: Database, key: int) -> bool:
    """See sql/keys/revoke_api_key.sql."""
    (row,) = await database.call("revoke_api_key", key=key)
    return bool(row["revoke_api_key"])


async def tenancy(database: Database) -> Row:
    """See sql/tenants/tenancy.sql."""
    (row,) = await database.call("tenancy")
    return row


async def turn_tenants_on(database: Database) -> None:
    """See sql/tenants/turn_tenants_on.sql."""
    await database.call("turn_tenants_on")


async def add_tenant(database: Database, **columns: object) -> bool:
    """See sql/tenants/add_tenant.sql; return whether it is a new one."""
    (row,) = await database.call("add_tenant", **columns)
    return bool(row["created"])


async def drop_tenant(database: Database, name: str) -> bool:
    """See sql/tenants/drop_tenant.sql."""
    (row,) = await database.call("drop_tenant", name=name)
    return bool(row["drop_tenant"])


async def list_tenants(database: Database) -> list[Tenant]:
    """See sql/tenants/list_tenants.sql."""
    rows = await database.call("list_tenants")
    return [
        Tenant(**{**row, "datasets": tuple(row["datasets"]), "roles": tuple(row["roles"])})
        for row in rows
    ]


async def find_api_key(database: Database, digest: bytes) -> Row | None:
    """See sql/keys/find_api_key.sql."""
    rows = await database.call("find_api_key", digest=digest)
    return rows[0] if rows else None


async def record_api_calls(
    database: Database, calls: Sequence[Mapping[str, object]], *, keep: bool
) -> None:
    """See sql/keys/record_api_calls.sql."""
    await database.call("record_api_calls", calls=Jsonb(list(calls)), keep=keep)


async def list_api_calls(database: Database, latest: int, key: int | None) -> list[ApiCall]:
    """See sql/keys/list_api_calls.sql."""
    rows = await database.call("list_api_calls", latest=latest, key=key)
    return [ApiCall(**_with_tuple(row)) for row in rows]


def _key(row: Row) -> ApiKey:
    return ApiKey(**{**_with_tuple(row), "principals": tuple(row["principals"])})


def _with_tuple(row: Row) -> Row:
    datasets = row["datasets"]
    return {**row, "datasets": None if datasets is None else tuple(datasets)}


async def record_query(
    database: Database, response: Response, question: Question, ms: float, *, keep_text: bool
) -> int:
    """See sql/records/record_query.sql; `ms` is from question to response. Returns its id."""
    record = query_record(response, question, keep_text=keep_text)
    columns = {
        name: Jsonb(value) if name in RECORD_JSON_COLUMNS and value is not None else value
        for name, value in record.items()
    }
    rows = await database.call("record_query", version=version("lexichord"), ms=ms, **columns)
    return int(rows[0]["record_query"])


async def judge_query(database: Database, query_id: int, is_right: bool) -> None:
    """See sql/records/judge_query.sql. Raises NotFoundError."""
    await database.call("judge_query", query_id=query_id, is_right=is_right)


async def judged_questions(database: Database, latest: int) -> list[Row]:
    """See sql/records/judged_questions.sql."""
    return await database.call("judged_questions", latest=latest)


async def recorded_passages(database: Database, latest: int) -> list[Row]:
    """See sql/records/recorded_passages.sql."""
    return await database.call("recorded_passages", latest=latest)


def query_record(response: Response, question: Question, *, keep_text: bool) -> dict[str, Any]:
    """Return what is recorded: numbers, the program's own names, and the hits' offsets.

    Anything else of a response may repeat the question's words. They are in `query` and `hint`
    only, and only if the text is to be kept.
    """
    intent, reflection, scope = response.intent, response.reflection, question.scope
    coverage = reflection.coverage if reflection else None
    return {
        "intent": intent.kind,
        "confidence": response.confidence,
        "abstained": response.abstained,
        "coverage": coverage.score if coverage else None,
        "space": None if question.mode == "keyword" else question.space,
        "datasets": list(scope.datasets),
        "narrowed": bool(scope.documents or scope.uri_prefix or scope.filter),
        "hinted": intent.hint is not None,
        "query": response.query if keep_text else None,
        "hint": intent.hint if keep_text else None,
        "counts": {
            "files": len(response.files),
            "quotes": len(response.quotes),
            "degraded": len(response.degraded),
            "rounds": len(reflection.rounds) if reflection else 0,
        },
        "stages": [_stage(step) for step in response.trace],
        "hits": [_hit(hit) for hit in response.hits],
        "phrase": response.phrase and _place(response.phrase),
    }


def _place(quote: Quote) -> Json:
    return {"uri": quote.uri, "char_start": quote.start, "char_end": quote.end}


def _stage(step: Step) -> Json:
    parts = {"made": step.made, "dropped": step.dropped}
    counts = {name: len(part) for name, part in parts.items() if isinstance(part, list)}
    return {"stage": step.stage, "ms": step.ms, **counts}


def _hit(hit: ChunkHit) -> Json:
    return {
        "chunk_id": hit.chunk_id,
        "dataset": hit.dataset,
        "uri": hit.uri,
        "char_start": hit.start,
        "char_end": hit.end,
        "score": hit.score,
        "scores": _numbers(hit.scores.to_dict()),
        "ranks": _numbers(hit.ranks),
    }


def _numbers(values: Json) -> Json:
    """Keep what is a number or None, also a level below."""
    return {
        name: _numbers(value) if isinstance(value, Mapping) else value
        for name, value in values.items()
        if value is None or isinstance(value, int | float | Mapping)
    }


async def record_evaluation(database: Database, run: EvaluationRun) -> int:
    """See sql/records/record_evaluation.sql. Returns the evaluation's id."""
    rows = await database.call(
        "record_evaluation",
        set_name=run.set_name,
        strategy=run.strategy,
        queries=Jsonb([_query(query) for query in run.queries]),
        results=Jsonb([_result(run, index) for index in range(len(run.queries))]),
        ks=list(run.ks),
        version=version("lexichord"),
        settings=Jsonb(dict(run.settings)),
        qps=Jsonb({str(clients): rate for clients, rate in run.qps.items()}),
        started_at=run.started_at,
    )
    return int(rows[0]["record_evaluation"])


def _query(query: EvalQuery) -> dict[str, Any]:
    """Return a question's shape; what sets did not have before is left out where it is not given.

    A set is known by the digest of its questions, so earlier runs of it stay comparable.
    """
    shape = asdict(query)
    if query.expected is None:
        del shape["expected"]
    return shape


def _result(run: EvaluationRun, index: int) -> dict[str, Any]:
    outcome = run.outcomes[index]
    metrics = {name: values[index] for name, values in run.metrics.items()}
    return {**asdict(outcome), "ms": outcome.milliseconds, "metrics": metrics}


async def list_evaluations(database: Database, latest: int) -> list[Row]:
    """See sql/records/list_evaluations.sql."""
    return await database.call("list_evaluations", latest=latest)


async def evaluation_results(database: Database, evaluation: int) -> list[Row]:
    """See sql/records/evaluation_results.sql."""
    return await database.call("evaluation_results", evaluation=evaluation)


async def compare_evaluations(database: Database, a: int, b: int) -> list[Row]:
    """See sql/records/compare_evaluations.sql."""
    return await database.call("compare_evaluations", a=a, b=b)


async def forget_evaluations(database: Database, older_than: timedelta) -> int:
    """See sql/records/forget_evaluations.sql."""
    rows = await database.call("forget_evaluations", older_than=older_than)
    return int(rows[0]["forget_evaluations"])
