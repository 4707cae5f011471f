"""Variants in Python: the same as in SQL, and what they bring in."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import psycopg
import pytest

from lexichord.db import search as db
from lexichord.db.pool import Database, Row
from lexichord.retrieve.search import MIN_COHERENCE, make_variants, search_variants
from lexichord.types import ChunkHit, FileHit, Question, Scope
from lexichord.types.questions import Variant
from tests.conftest import new_database
from tests.sql import corpus

SPACE = "test/tiny/4"
VECTOR = (1.0, 0.0, 0.0, 0.0)
ASKED = Question("w0 w3", VECTOR, space=SPACE)
ORIGINAL = Variant("original", "w0 w3", VECTOR, 1.0)


def documents(database: Database, *numbers: int) -> tuple[str, ...]:
    return tuple(database.ids.write("doc", number) for number in numbers)


def variants(database: Database) -> list[Variant]:
    return [
        ORIGINAL,
        Variant("feedback", "w0 w3", (0.5, 0.5, 0.0, 0.1), 2.0, terms={"w0": 3, "w7": 1}),
        Variant("file 1", "w5", None, 0.7, documents=documents(database, 2, 5)),
        Variant("file 2", "w5 w6", VECTOR, 0.3, documents=documents(database, 6)),
    ]


def scopes(database: Database) -> list[Scope]:
    return [
        Scope(),
        Scope(datasets=("odd",)),
        Scope(documents=documents(database, 2, 4, 6)),
        Scope(filter={"part": 3}),
        Scope(uri_prefix="wide/far"),
    ]


@pytest.fixture
async def wide(template: str) -> AsyncIterator[Database]:
    with new_database(template, copy_of=template) as dsn:
        with psycopg.connect(dsn, autocommit=True) as connection:
            corpus.wide(connection)
        async with Database(dsn, size=4) as database:
            yield database


def shown(hits: Sequence[ChunkHit]) -> list[dict[str, object]]:
    return [hit.to_dict() for hit in hits]


async def test_python_and_sql_give_the_same(wide: Database) -> None:
    far = [row["document_id"] for row in await wide.call("list_documents")][-1]
    one, two = documents(wide, 1, 2)
    asked_by = variants(wide)
    for scope in scopes(wide):
        for mode in ("hybrid", "keyword"):
            for boost in (None, {one: 1.5, two: 0.5, far: 3}):
                asked = replace(ASKED, scope=scope, k=60, mode=mode)
                parallel = await search_variants(wide, asked, asked_by, boost)
                in_sql = await db.search_variants(wide, asked, asked_by, boost)
                assert shown(parallel) == shown(in_sql)
                assert parallel


async def test_a_chunk_that_is_replaced_meanwhile_is_found_anew(
    wide: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await search_variants(wide, ASKED, [ORIGINAL])
    read, best, anew = db.read_hits, before[0].uri, " ".join(["w0 w3"] * 9)

    async def replacing(database: Database, chunk_ids: Sequence[str]) -> list[Row]:
        """Store another version of the best hit's document first, as an ingest does."""
        with psycopg.connect(wide.dsn, autocommit=True) as connection:
            corpus.put(connection, best, [anew], [[*VECTOR]], dataset=before[0].dataset)
        return await read(database, chunk_ids)

    monkeypatch.setattr(db, "read_hits", replacing)
    after = await search_variants(wide, ASKED, [ORIGINAL])
    assert len(after) == len(before)
    assert [hit.content for hit in after if hit.uri == best] == [anew]


def file(database: Database, number: int) -> FileHit:
    return FileHit(database.ids.write("doc", number), "a", "a", "a", 1.0, {}, 1)


async def alike(database: Database, vectors: Sequence[Sequence[float]]) -> Database:
    """Documents that say the same, and one thing more each."""
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        for number, vector in enumerate(vectors):
            lines = [f"w1 shared x{number}", f"other y{number}"]
            corpus.put(connection, f"d{number}", lines, [vector, [0, 0, 0, 1]])
    return database


async def test_alike_documents_make_variants(database: Database) -> None:
    await alike(database, [[1, 0.1 * n, 0, 0] for n in range(5)])
    asked = replace(ASKED, query="w1")
    made = await make_variants(database, asked, [file(database, number) for number in (2, 3, 4)])
    assert [each.name for each in made.variants] == ["original", "file 1", "file 2", "file 3"]
    original, first, second, third = made.variants
    assert (original.text, original.terms, original.vector) == ("w1", None, VECTOR)
    assert first.terms is not None
    assert {"w1", "share"} <= first.terms.keys()
    assert (first.documents, second.documents, third.documents) == tuple(
        documents(database, number) for number in (2, 3, 4)
    )
    assert first.terms == second.terms == third.terms
    assert not made.is_scattered
    assert made.coherence is not None
    assert made.coherence >= MIN_COHERENCE
    assert "5 documents are alike" in made.reason
    fewer = await make_variants(database, asked, [file(database, 2), file(database, 3)], limit=2)
    assert [each.name for each in fewer.variants] == ["original", "file 1"]


async def test_documents_that_are_not_alike_make_none(database: Database) -> None:
    await alike(database, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [-1, 0, 0, 0]])
    asked = replace(ASKED, query="w1")
    made = await make_variants(database, asked, [file(database, 2)])
    assert [each.name for each in made.variants] == ["original"]
    assert "not alike" in made.reason
    assert made.is_scattered
    forced = await make_variants(database, asked, [file(database, 2)], always=True)
    assert [each.name for each in forced.variants] == ["original", "file 1"]
    never = await make_variants(database, asked, [file(database, 2)], limit=1, always=True)
    assert [each.name for each in never.variants] == ["original"]


async def test_without_vectors_nothing_is_learned_unless_asked_for(database: Database) -> None:
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        for number in range(3):
            corpus.put(connection, f"d{number}", [f"w1 shared x{number}"])
    asked = Question("w1")
    assert "fewer than two documents" in (await make_variants(database, asked)).reason
    forced = await make_variants(database, asked, [file(database, 1)], always=True)
    hits = await search_variants(database, asked, forced.variants)
    assert [hit.ranks["original"] for hit in hits] == [1, 2, 3]
