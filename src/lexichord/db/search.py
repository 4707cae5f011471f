"""Searches and reads for evidence: one Python function per SQL function, of the same name.

A hit's row is read here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from math import log
from typing import NamedTuple

from pgvector import HalfVector
from psycopg.types.json import Jsonb

from lexichord.db.pool import Database, Row
from lexichord.errors import ConfigError
from lexichord.types import (
    ChunkHit,
    Excerpt,
    FileHit,
    HitScores,
    Json,
    Mode,
    Question,
    Scope,
)
from lexichord.types.questions import Candidates, Feedback, Link, Variant
from lexichord.types.response import Definition, Term

type Vector = Sequence[float]

MODE_WEIGHTS: dict[Mode, dict[str, object]] = {
    "hybrid": {},  # the SQL functions' own default
    "dense": {"weights": [1.0, 0.0]},
    "keyword": {"weights": [0.0, 1.0]},
}

# Of a hint, which is made of names: a document's card counts, hardly its chunks. A question speaks
# of what chunks hold: sql/search/discover_files.sql.
HINT_FILE_WEIGHTS = (0.9, 0.1)

# The row of a hit, which the functions that search chunks share: a record's fields, then what each
# channel gave. Offsets have a prefix: `end` is a word of SQL.
OFFSET_COLUMNS = {"start": "char_start", "end": "char_end"}
HIT_COLUMNS = {
    field.name: OFFSET_COLUMNS.get(field.name, field.name)
    for field in fields(ChunkHit)
    if field.name not in ("scores", "ranks")
}
SCORE_COLUMNS = {channel: f"{channel}_score" for channel in ("dense", "keyword", "fused")}
RANK_COLUMNS = {channel: f"{channel}_rank" for channel in ("dense", "keyword")}
# Of a chunk that is not in the original question's list.
NO_CHANNELS = dict.fromkeys([*SCORE_COLUMNS.values(), *RANK_COLUMNS.values()])
FILE_COLUMNS = [field.name for field in fields(FileHit) if field.name not in ("scores", "metadata")]


async def hybrid_search(
    database: Database, question: Question, boost: Json | None = None, fusion: str | None = None
) -> list[ChunkHit]:
    """See sql/search/hybrid_search.sql; without `fusion`, by the function's own default."""
    rows = await database.read(
        "hybrid_search",
        query=question.query,
        query_vector=half_vector(question.vector),
        boost=boost,
        **({} if fusion is None else {"fusion": fusion}),
        **question_arguments(question),
    )
    return [chunk_hit(row) for row in rows]


async def has_words(database: Database, query: str) -> bool:
    """Return whether a query has a word to search by; see sql/search/query_lexemes.sql."""
    rows = await database.read("query_lexemes", query=query)
    return bool(rows[0]["query_lexemes"])


async def absent_identifiers(database: Database, question: Question) -> list[str]:
    """See sql/search/absent_identifiers.sql."""
    arguments = {"query": question.query, **scope_arguments(question.scope)}
    rows = await database.read("absent_identifiers", **arguments)
    return sorted(row["identifier"] for row in rows)


async def mistyped_conditions(database: Database, scope: Scope) -> list[Row]:
    """See sql/scope/mistyped_conditions.sql."""
    return await database.read("mistyped_conditions", **scope_arguments(scope))


async def propose_candidates(database: Database, question: Question) -> Question:
    """Return a question with its candidates, which its later searches then take.

    See sql/search/propose_candidates.sql. For a tenant there are none.
    """
    scope = scope_arguments(question.scope)
    known = await database.read("question_terms", query=question.query, **scope)
    if not known or (terms := known[0]["question_terms"]) is None:
        return question
    arguments = question_arguments(question)
    del arguments["k"]
    (row,) = await database.read(
        "propose_candidates",
        query=question.query,
        query_vector=half_vector(question.vector),
        question_terms=Jsonb(terms),
        **arguments,
    )
    if (proposed := row["propose_candidates"]) is None:
        return question
    return replace(question, candidates=Candidates(proposed, question.as_searched(), terms))


def _known(question: Question, terms: str = "question_terms") -> dict[str, object]:
    """Return the arguments that hand a question's candidates on, if they are this question's."""
    known = question.candidates
    if known is None or known.searched != question.as_searched():
        return {}
    return {"candidates": known.rows, terms: Jsonb(known.terms)}


async def discover_files(database: Database, question: Question) -> list[FileHit]:
    """See sql/search/discover_files.sql; the hint, where there is one, is searched for."""
    if question.hint is None:
        others = _known(question)
    else:
        others = {"file_weights": list(HINT_FILE_WEIGHTS)}
    rows = await database.read(
        "discover_files", **_file_query(question), **others, **question_arguments(question)
    )
    return [_file_hit(row, chunks=row["chunk_score"], card=row["card_score"]) for row in rows]


async def file_surrogates(
    database: Database, question: Question, files: Sequence[str]
) -> list[str]:
    """See sql/search/file_surrogates.sql."""
    rows = await database.read(
        "file_surrogates",
        files=list(files),
        query_space=question.space,
        **_file_query(question),
    )
    return [row["surrogate"] for row in rows]


def _file_query(question: Question) -> dict[str, object]:
    if question.hint is None:
        return {"query": question.query, "query_vector": half_vector(question.vector)}
    return {"query": question.hint, "query_vector": half_vector(question.hint_vector)}


async def similar_documents(database: Database, source: str, scope: Scope, k: int) -> list[FileHit]:
    """See sql/search/similar_documents.sql."""
    rows = await database.read("similar_documents", source=source, k=k, **scope_arguments(scope))
    return [replace(_file_hit(row, dense=row["score"]), metadata=row["metadata"]) for row in rows]


async def expand_context(
    database: Database, chunk_ids: Sequence[str], neighbours: int, whole_section: bool
) -> list[Excerpt]:
    """See sql/evidence/expand_context.sql."""
    rows = await database.read(
        "expand_context",
        chunk_ids=list(chunk_ids),
        neighbours=neighbours,
        whole_section=whole_section,
    )
    return [Excerpt(**with_offsets(row)) for row in rows]


async def dense_recall(database: Database, question: Question, k: int) -> float | None:
    """See sql/statistics/dense_recall.sql."""
    rows = await database.read(
        "dense_recall",
        query_vector=half_vector(question.vector),
        k=k,
        documents=list(question.scope.documents) or None,
    )
    return rows[0]["dense_recall"] if rows else None


async def relevance_feedback(
    database: Database, question: Question, least_coherence: float | None
) -> Feedback:
    """See sql/feedback/relevance_feedback.sql."""
    arguments = question_arguments(question)
    del arguments["k"]
    row = (
        await database.read(
            "relevance_feedback",
            query=question.query,
            query_vector=half_vector(question.vector),
            least_coherence=least_coherence,
            **_known(question),
            **arguments,
        )
    )[0]
    vector = None if row["vector"] is None else row["vector"].to_list()
    return Feedback(tuple(row["chunk_ids"]), row["coherence"], row["terms"], vector)


async def variant_candidates(
    database: Database, question: Question, variant: Variant, boost: Json | None = None
) -> list[Row]:
    """See sql/search/variant_candidates.sql; none where its documents are out of scope."""
    documents = _allowed_documents(question.scope.documents, variant.documents)
    if documents == ():
        return []
    scope = replace(question.scope, documents=documents or ())
    searched = replace(question, query=variant.text, vector=variant.vector, scope=scope)
    arguments = question_arguments(searched)
    del arguments["k"]
    own = (
        _known(searched, "terms")
        if variant.terms is None
        else {"terms": Jsonb(dict(variant.terms))}
    )
    return await database.read(
        "variant_candidates",
        query=variant.text,
        query_vector=half_vector(variant.vector),
        boost=boost,
        **own,
        **arguments,
    )


async def read_hits(database: Database, chunk_ids: Sequence[str]) -> list[Row]:
    """See sql/search/read_hits.sql."""
    return await database.read("read_hits", chunk_ids=list(chunk_ids))


async def search_variants(
    database: Database, question: Question, variants: Sequence[Variant], boost: Json | None = None
) -> list[ChunkHit]:
    """See sql/search/search_variants.sql; `retrieve.search.search_variants` does it in Python."""
    rows = await database.read(
        "search_variants",
        variants=[variant.to_dict() for variant in variants],
        boost=boost,
        **question_arguments(question),
    )
    return [
        variant_hit(row, row, row["score"], row["variant_ranks"], row["variant_scores"])
        for row in rows
    ]


def question_arguments(question: Question) -> dict[str, object]:
    """Return the arguments that hybrid_search and discover_files share. Raises ConfigError."""
    if question.mode not in MODE_WEIGHTS:
        raise ConfigError(f"there is no mode '{question.mode}': {', '.join(MODE_WEIGHTS)}")
    return {
        "k": question.k,
        "depth": question.depth,
        "query_space": question.space,
        **scope_arguments(question.scope),
        **_weights(question),
    }


def _weights(question: Question) -> dict[str, object]:
    if question.dense_share is None or question.mode != "hybrid":
        return MODE_WEIGHTS[question.mode]
    if not 0 <= question.dense_share <= 1:
        raise ConfigError(f"dense_share must be from 0 to 1, not {question.dense_share:g}")
    return {"weights": [question.dense_share, 1 - question.dense_share]}


async def find_dense_share(database: Database, question: Question) -> tuple[float, str]:
    """Return the share of meaning in a question's search, 0 to 1, and where it comes from."""
    if question.mode != "hybrid":
        return float(question.mode == "dense"), f"mode {question.mode}"
    if question.dense_share is not None:
        return question.dense_share, "given"
    (row,) = await database.read("default_weights")
    return row["default_weights"][0], "by the model of the vectors"


def scope_arguments(scope: Scope) -> dict[str, object]:
    """Return the four arguments that carry a scope in every SQL function that has one."""
    return {
        "datasets": list(scope.datasets) or None,
        "documents": list(scope.documents) or None,
        "uri_prefix": scope.uri_prefix,
        "filter": None if scope.filter is None else Jsonb(scope.filter),
    }


def half_vector(vector: Vector | None) -> HalfVector | None:
    """Return a vector in the form in which the database keeps it."""
    return None if vector is None else HalfVector(list(vector))


def vector_text(vector: Vector | None) -> str | None:
    """Format a vector as pgvector reads it, for arrays and COPY."""
    return None if vector is None else "[" + ",".join(map(repr, map(float, vector))) + "]"


def chunk_hit(row: Row) -> ChunkHit:
    """Build a hit from a row with the columns of hybrid_search."""
    return ChunkHit(
        **{name: row[column] for name, column in HIT_COLUMNS.items()},
        scores=HitScores(**{name: row[column] for name, column in SCORE_COLUMNS.items()}),
        ranks={channel: row[column] for channel, column in RANK_COLUMNS.items()},
    )


def variant_hit(
    row: Row,
    original: Row,
    score: float,
    ranks: Mapping[str, int],
    contributions: Mapping[str, float],
) -> ChunkHit:
    """Build a hit from a chunk's texts and its row in the original question's list, {} if none.

    `ranks` and `contributions` are by variant.
    """
    hit = chunk_hit({**NO_CHANNELS, **original, **row, "score": score})
    return replace(
        hit,
        scores=replace(hit.scores, variants=score, contributions=dict(contributions)),
        ranks={**hit.ranks, **ranks},
    )


def with_offsets(row: Row) -> Row:
    """Return a row with its offsets named as in all records."""
    return {name.removeprefix("char_"): value for name, value in row.items()}


def _file_hit(row: Row, **scores: float | None) -> FileHit:
    return FileHit(**{name: row[name] for name in FILE_COLUMNS}, scores=scores)


def _allowed_documents(
    scope: tuple[str, ...], variant: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    """Return the documents that both allow; None is everywhere, () nowhere."""
    if variant is None:
        return scope or None
    return tuple(document for document in variant if not scope or document in scope)


LINK_COLUMNS = [field.name for field in fields(Link) if field.name != "word"]


async def link_documents(database: Database, words: Sequence[str], scope: Scope) -> list[Link]:
    """See sql/evidence/link_documents.sql; the best document by its card comes first."""
    rows = await database.read("link_documents", words=list(words), **scope_arguments(scope))
    return [
        Link(word=row["word"] - 1, **{name: row[name] for name in LINK_COLUMNS}) for row in rows
    ]


async def question_coverage(
    database: Database, question: str, chunk_ids: Sequence[str]
) -> list[Term]:
    """See sql/evidence/question_coverage.sql."""
    rows = await database.read("question_coverage", question=question, chunk_ids=list(chunk_ids))
    return [Term(**row | {name: tuple(row[name]) for name in ("words", "chunks")}) for row in rows]


async def related_words(database: Database, question: str, chunk_ids: Sequence[str]) -> list[str]:
    """See sql/feedback/related_words.sql; the words alone."""
    rows = await database.read("related_words", question=question, chunk_ids=list(chunk_ids))
    return [row["word"] for row in rows]


async def find_definitions(
    database: Database, terms: Sequence[str], scope: Scope
) -> list[Definition]:
    """See sql/evidence/find_definitions.sql."""
    rows = await database.read("find_definitions", terms=list(terms), **scope_arguments(scope))
    return [Definition(**row) for row in rows]


LEAST_CHUNKS = 1000  # of a collection whose frequencies tell which words are common


type DocumentSpan = tuple[str, int, int]  # id, start, end


class Postings(NamedTuple):
    """A lexeme, its idf, the numbers of the texts that hold it, from 0, and how often each does."""

    lexeme: str
    idf: float
    texts: list[int]
    frequencies: list[int]


async def search_each(
    database: Database,
    queries: Sequence[str],
    documents: Sequence[str],
    vectors: Sequence[Vector] | None,
    k: int,
    space: str | None,
) -> list[tuple[int, ChunkHit]]:
    """See sql/search/search_each.sql; returns each hit with its query's index, from 0."""
    rows = await database.read(
        "search_each",
        queries=list(queries),
        documents=list(documents),
        query_vectors=None if vectors is None else [vector_text(vector) for vector in vectors],
        k=k,
        query_space=space,
    )
    return [(row["query_number"] - 1, chunk_hit(row)) for row in rows]


async def weigh_terms(
    database: Database, texts: Sequence[str], sought: int | None = None
) -> list[Postings]:
    """See sql/search/weigh_terms.sql; returns lexemes in the order of their bytes.

    What is stored is taken for a part of LEAST_CHUNKS at least: among two chunks a word that
    neither holds would outweigh all others, however common it is.
    """
    rows = await database.read("weigh_terms", texts=list(texts), sought=sought)
    # idf is log((chunks + 1) / (df + .5)).
    stored = rows[0]["idf"] + log(rows[0]["df"] + 0.5) if rows else 0.0
    lift = max(0.0, log(LEAST_CHUNKS + 1) - stored)
    return [
        Postings(
            row["lexeme"],
            row["idf"] + lift,
            [number - 1 for number in row["text_numbers"]],
            row["frequencies"],
        )
        for row in rows
    ]


async def read_spans(database: Database, spans: Sequence[DocumentSpan]) -> list[str | None]:
    """See sql/evidence/read_spans.sql."""
    documents, starts, ends = zip(*spans, strict=True) if spans else ((), (), ())
    rows = await database.read(
        "read_spans", documents=list(documents), starts=list(starts), ends=list(ends)
    )
    return [row["content"] for row in rows]


async def chunk_places(database: Database, chunk_ids: Sequence[str]) -> list[Row]:
    """See sql/evidence/chunk_places.sql."""
    return await database.read("chunk_places", chunk_ids=list(chunk_ids))


async def shared_headings(database: Database, documents: Sequence[str], most: int) -> list[str]:
    """See sql/evidence/shared_headings.sql."""
    rows = await database.read("shared_headings", documents=list(documents), most=most)
    return [row["heading"] for row in rows]
