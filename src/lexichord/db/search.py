"""Reads: one Python function per SQL function, of the same name."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from psycopg.types.json import Jsonb

from lexichord.db.pool import Database, Row
from lexichord.errors import ConfigError
from lexichord.types import (
    ChunkHit,
    Excerpt,
    FileHit,
    Json,
    Mode,
    Question,
    Scope,
    StoredChunk,
    StoredDocument,
)
from lexichord.types.questions import Feedback, Variant

type Vector = Sequence[float]

WEIGHTS: dict[Mode, dict[str, object]] = {
    "hybrid": {},  # the SQL functions' own default
    "dense": {"weights": [1.0, 0.0]},
    "keyword": {"weights": [0.0, 1.0]},
}

# The columns that a hit has under the same name.
SAME = [
    "chunk_id",
    "document_id",
    "dataset",
    "uri",
    "title",
    "heading",
    "page",
    "content",
    "context",
    "score",
]
FILE = ["document_id", "dataset", "uri", "title", "score", "hits"]


async def hybrid_search(
    database: Database, question: Question, boost: Json | None = None, fusion: str | None = None
) -> list[ChunkHit]:
    """See sql/hybrid_search.sql; without `fusion`, by the function's own default."""
    rows = await database.call(
        "hybrid_search",
        query=question.text,
        query_vector=vector_text(question.vector),
        boost=None if boost is None else Jsonb(boost),
        **({} if fusion is None else {"fusion": fusion}),
        **question_arguments(question),
    )
    return [chunk_hit(row) for row in rows]


async def discover_files(database: Database, question: Question) -> list[FileHit]:
    """See sql/discover_files.sql; the hint is what is searched for, where there is one."""
    by_hint = question.hint is not None
    rows = await database.call(
        "discover_files",
        query=question.hint if by_hint else question.text,
        query_vector=vector_text(question.hint_vector if by_hint else question.vector),
        **question_arguments(question),
    )
    return [_file_hit(row, chunks=row["chunk_score"], card=row["card_score"]) for row in rows]


async def file_surrogates(
    database: Database, question: Question, files: Sequence[int]
) -> list[str]:
    """See sql/file_surrogates.sql."""
    by_hint = question.hint is not None
    rows = await database.call(
        "file_surrogates",
        query=question.hint if by_hint else question.text,
        query_vector=vector_text(question.hint_vector if by_hint else question.vector),
        files=list(files),
        query_space=question.space,
    )
    return [row["surrogate"] for row in rows]


async def similar_documents(database: Database, source: int, scope: Scope, k: int) -> list[FileHit]:
    """See sql/similar_documents.sql."""
    rows = await database.call("similar_documents", source=source, k=k, **scope_arguments(scope))
    return [_file_hit(row, dense=row["score"]) for row in rows]


async def expand_context(
    database: Database, chunk_ids: Sequence[int], neighbours: int, whole_section: bool
) -> list[Excerpt]:
    """See sql/expand_context.sql."""
    rows = await database.call(
        "expand_context",
        chunk_ids=list(chunk_ids),
        neighbours=neighbours,
        whole_section=whole_section,
    )
    return [Excerpt(**_with_offsets(row)) for row in rows]


async def find_documents(database: Database, reference: str) -> list[Row]:
    """See sql/find_documents.sql."""
    return await database.call("find_documents", reference=reference)


async def list_documents(
    database: Database, scope: Scope, limit: int | None = None, offset: int = 0
) -> list[StoredDocument]:
    """See sql/list_documents.sql."""
    page = {"page_size": limit, "page_offset": offset}
    rows = await database.call("list_documents", **scope_arguments(scope), **page)
    return [StoredDocument(**row) for row in rows]


async def count_documents(database: Database, scope: Scope) -> int:
    """See sql/count_documents.sql."""
    rows = await database.call("count_documents", **scope_arguments(scope))
    return int(rows[0]["count_documents"])


async def list_chunks(database: Database, document: int) -> list[StoredChunk]:
    """See sql/list_chunks.sql."""
    rows = await database.call("list_chunks", document=document)
    return [StoredChunk(**_with_offsets(row)) for row in rows]


async def list_datasets(database: Database) -> list[Row]:
    """See sql/list_datasets.sql."""
    return await database.call("list_datasets")


async def document_hashes(database: Database, dataset: str) -> list[Row]:
    """See sql/document_hashes.sql."""
    return await database.call("document_hashes", dataset=dataset)


async def list_runs(
    database: Database,
    latest: int,
    datasets: Sequence[str] | None = None,
    runs: Sequence[int] | None = None,
) -> list[Row]:
    """See sql/list_runs.sql."""
    within = {"datasets": datasets and list(datasets), "runs": runs and list(runs)}
    return await database.call("list_runs", latest=latest, **within)


async def document_text(database: Database, document: int) -> str:
    """See sql/document_text.sql."""
    rows = await database.call("document_text", document=document)
    return str(rows[0]["document_text"])


async def configuration(database: Database) -> Row:
    """See sql/configuration.sql."""
    return (await database.call("configuration"))[0]


async def database_identity(database: Database) -> str:
    """See sql/database_identity.sql."""
    rows = await database.call("database_identity")
    return str(rows[0]["database_identity"])


async def database_status(database: Database) -> Row:
    """See sql/database_status.sql."""
    return (await database.call("database_status"))[0]


async def server_versions(database: Database) -> list[Row]:
    """See sql/server_versions.sql."""
    return await database.call("server_versions")


async def index_use(database: Database) -> list[Row]:
    """See sql/engine/*/index_use.sql."""
    return await database.call("index_use")


async def find_problems(database: Database) -> list[Row]:
    """See sql/find_problems.sql."""
    return await database.call("find_problems")


async def count_faults(database: Database) -> list[Row]:
    """See sql/count_faults.sql."""
    return await database.call("count_faults")


def question_arguments(question: Question) -> dict[str, object]:
    """Give the arguments that hybrid_search and discover_files share. Raises ConfigError."""
    if question.mode not in WEIGHTS:
        raise ConfigError(f"there is no mode '{question.mode}': {', '.join(WEIGHTS)}")
    return {
        "k": question.k,
        "depth": question.depth,
        "query_space": question.space,
        **scope_arguments(question.scope),
        **_weights(question),
    }


def _weights(question: Question) -> dict[str, object]:
    share = question.dense_share
    if share is None or question.mode != "hybrid":
        return WEIGHTS[question.mode]
    if not 0 <= share <= 1:
        raise ConfigError(f"dense_share must be from 0 to 1, not {share:g}")
    return {"weights": [share, 1 - share]}


def scope_arguments(scope: Scope) -> dict[str, object]:
    """Give the four arguments that carry a scope in every SQL function that has one."""
    return {
        "datasets": list(scope.datasets) or None,
        "documents": list(scope.documents) or None,
        "uri_prefix": scope.uri_prefix,
        "filter": None if scope.filter is None else Jsonb(scope.filter),
    }


def vector_text(vector: Vector | None) -> str | None:
    """Write a vector as pgvector reads it."""
    return None if vector is None else "[" + ",".join(map(repr, map(float, vector))) + "]"


def chunk_hit(row: Row) -> ChunkHit:
    """Make a hit of a row with the columns of hybrid_search."""
    return ChunkHit(
        **{name: row[name] for name in SAME},
        start=row["char_start"],
        end=row["char_end"],
        scores={channel: row[f"{channel}_score"] for channel in ("dense", "keyword", "fused")},
        ranks={channel: row[f"{channel}_rank"] for channel in ("dense", "keyword")},
    )


def _with_offsets(row: Row) -> Row:
    """Name a row's offsets as all records do."""
    return {name.removeprefix("char_"): value for name, value in row.items()}


def _file_hit(row: Row, **scores: float | None) -> FileHit:
    return FileHit(**{name: row[name] for name in FILE}, scores=scores)


# What the row of a chunk lacks that is not in the original's list.
UNLISTED = dict.fromkeys(
    ("dense_score", "dense_rank", "keyword_score", "keyword_rank", "fused_score")
)


async def relevance_feedback(
    database: Database, question: Question, least_coherence: float | None
) -> Feedback:
    """See sql/relevance_feedback.sql."""
    arguments = question_arguments(question)
    del arguments["k"]
    row = (
        await database.call(
            "relevance_feedback",
            query=question.text,
            query_vector=vector_text(question.vector),
            least_coherence=least_coherence,
            **arguments,
        )
    )[0]
    vector = None if row["vector"] is None else json.loads(row["vector"])
    return Feedback(tuple(row["chunk_ids"]), row["coherence"], row["terms"], vector)


async def variant_candidates(
    database: Database, question: Question, variant: Variant, boost: Json | None = None
) -> list[Row]:
    """See sql/variant_candidates.sql; none where the variant's documents are out of scope."""
    inside = _inside(question.scope.documents, variant.documents)
    if inside == ():
        return []
    scope = replace(question.scope, documents=inside or ())
    arguments = question_arguments(replace(question, scope=scope))
    del arguments["k"]
    return await database.call(
        "variant_candidates",
        query=variant.text,
        terms=None if variant.terms is None else Jsonb(dict(variant.terms)),
        query_vector=vector_text(variant.vector),
        boost=None if boost is None else Jsonb(boost),
        **arguments,
    )


async def read_hits(database: Database, chunk_ids: Sequence[int]) -> list[Row]:
    """See sql/read_hits.sql."""
    return await database.call("read_hits", chunk_ids=list(chunk_ids))


async def search_variants(
    database: Database, question: Question, variants: Sequence[Variant], boost: Json | None = None
) -> list[ChunkHit]:
    """See sql/search_variants.sql; `retrieve.search.search_variants` is the parallel twin."""
    rows = await database.call(
        "search_variants",
        variants=Jsonb([variant.to_dict() for variant in variants]),
        boost=None if boost is None else Jsonb(boost),
        **question_arguments(question),
    )
    return [
        variant_hit(row, row, row["score"], row["variant_ranks"], row["variant_scores"])
        for row in rows
    ]


def variant_hit(
    row: Row,
    original: Row,
    score: float,
    ranks: Mapping[str, int],
    contributions: Mapping[str, float],
) -> ChunkHit:
    """Make a hit of a chunk's texts, its row in the original's list ({} = not there), and parts."""
    hit = chunk_hit({**UNLISTED, **original, **row, "score": score})
    return replace(
        hit,
        scores={**hit.scores, "variants": score, "contributions": dict(contributions)},
        ranks={**hit.ranks, **ranks},
    )


def _inside(scope: tuple[int, ...], variant: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Give the documents that both allow; None is everywhere, () nowhere."""
    if variant is None:
        return scope or None
    return tuple(each for each in variant if not scope or each in scope)
