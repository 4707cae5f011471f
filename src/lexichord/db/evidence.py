"""Reads for evidence: one Python function per SQL function, of the same name."""

from collections.abc import Sequence
from dataclasses import fields
from math import log
from typing import NamedTuple

from lexichord.db.pool import Database, Row
from lexichord.db.search import (
    Vector,
    chunk_hit,
    scope_arguments,
    vector_text,
)
from lexichord.types import ChunkHit, Scope
from lexichord.types.questions import Link
from lexichord.types.response import Definition, Term

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


async def weigh_terms(database: Database, texts: Sequence[str]) -> list[Postings]:
    """See sql/search/weigh_terms.sql; returns lexemes in the order of their bytes.

    What is stored is taken for a part of LEAST_CHUNKS at least: among two chunks a word that
    neither holds would outweigh all others, however common it is.
    """
    rows = await database.read("weigh_terms", texts=list(texts))
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
