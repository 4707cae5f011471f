"""store_document, as Python calls it and as SQL does."""

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, DatabaseError, EmbeddingMismatchError
from lexichord.types import Chunk, Document
from tests.sql.corpus import Connection, call, put, value, vectors

TEXT = "# Lease\n\nThe tenant pays.\n\tÉcole \\N 'quoted' 🎉\n"
DOCUMENT = Document(
    "contracts", "a/doc1.md", "The Lease", "text/markdown", "a" * 64, "r1", TEXT, {"year": 2024}
)
CHUNKS = [
    Chunk(9, 25, TEXT[9:25], "Lease", "About rent.", "Monthly dues.", page=3, metadata={"n": 1}),
    Chunk(27, 47, TEXT[27:47], "Lease"),
]
VECTORS = [[1.0, 0.5, -0.25, 0.0], None]


@pytest.fixture
async def run(database: Database) -> int:
    return await store.start_run(database, "contracts", "test", 1)


async def test_what_is_stored_is_what_was_given(
    database: Database, fresh: Connection, run: int
) -> None:
    stored = await store.store_document(database, DOCUMENT, CHUNKS, VECTORS, run)

    assert (stored["status"], stored["chunks"]) == ("inserted", 2)
    record = "select (uri, status, chunks)::text from lexichord_data.run_file"
    assert value(fresh, record) == "(a/doc1.md,inserted,2)"
    listed = call(fresh, "list_documents")[0]
    assert (listed["dataset"], listed["uri"], listed["title"], listed["media_type"]) == (
        DOCUMENT.dataset,
        DOCUMENT.uri,
        DOCUMENT.title,
        DOCUMENT.media_type,
    )
    assert (listed["characters"], listed["chunks"], listed["metadata"]) == (47, 2, {"year": 2024})
    assert value(fresh, "select lexichord.document_text(1)") == TEXT
    first, second = call(
        fresh, "list_chunks", document=database.ids.read("doc", stored["document_id"])
    )
    for row, chunk in ((first, CHUNKS[0]), (second, CHUNKS[1])):
        assert (row["char_start"], row["char_end"]) == (chunk.start, chunk.end)
        assert row["content"] == chunk.content == TEXT[row["char_start"] : row["char_end"]]
        assert (row["heading"], row["context"]) == (chunk.heading, chunk.context)
        assert (row["page"], row["metadata"]) == (chunk.page, chunk.metadata)
        assert row["keyword_context"] == chunk.keyword_context
    assert [row["ordinal"] for row in (first, second)] == [0, 1]
    assert [row["has_vector"] for row in (first, second)] == [True, False]
    vector = "select embedding::text from lexichord_data.chunk where ordinal = 0"
    assert value(fresh, vector) == "[1,0.5,-0.25,0]"


async def test_both_contexts_are_searched_too(
    database: Database, fresh: Connection, run: int
) -> None:
    await store.store_document(database, DOCUMENT, CHUNKS, VECTORS, run)
    for query in ("rents", "due monthly"):
        hit = call(fresh, "hybrid_search", query=query)[0]
        found = hit["context"], hit["content"], hit["page"]
        assert found == ("About rent.", "The tenant pays.", 3)


async def test_replacing_keeps_the_id_and_nothing_else(
    database: Database, fresh: Connection, run: int
) -> None:
    old = await store.store_document(database, DOCUMENT, CHUNKS, VECTORS, run)
    fresh.execute("update lexichord_data.document set updated_at = '2001-01-01'")
    new = replace(
        DOCUMENT,
        title="Sale",
        media_type="text/plain",
        sha256="b" * 64,
        recipe="r2",
        text="It is sold.",
        metadata={"kind": "sale"},
    )

    stored = await store.store_document(database, new, [Chunk(0, 11, new.text)], [None], run)

    assert stored == {"document_id": old["document_id"], "status": "replaced", "chunks": 1}
    listed = call(fresh, "list_documents")
    assert len(listed) == 1
    assert (listed[0]["title"], listed[0]["media_type"]) == ("Sale", "text/plain")
    assert listed[0]["metadata"] == {"kind": "sale"}
    assert listed[0]["updated_at"].year > 2001
    assert value(fresh, "select lexichord.document_text(1)") == new.text
    digests = await store.document_digests(database, "contracts", [DOCUMENT.uri, "other"])
    assert list(digests) == [DOCUMENT.uri]
    assert (digests[DOCUMENT.uri]["sha256"], digests[DOCUMENT.uri]["recipe"]) == ("b" * 64, "r2")
    assert [row["content"] for row in call(fresh, "list_chunks", document=1)] == [new.text]
    for query, count in (("sale", 1), ("lease", 0), ("tenant", 0), ("sold", 1)):
        cards = call(fresh, "card_candidates", query=query)
        chunks = call(fresh, "keyword_candidates", query=query)
        assert len([*cards, *chunks]) == count + (query == "sold")


def kept(connection: Connection, document: int, recipe: str = "test") -> set[str]:
    statement = "select * from lexichord.reusable_chunks(%s, %s)"
    return {row[0] for row in connection.execute(statement, [[document], recipe]).fetchall()}


def test_a_chunk_that_stays_the_same_keeps_its_vector(connection: Connection) -> None:
    put(connection, "a", ["w1", "w2", "w3"], [[1, 0, 0, 0], [0, 1, 0, 0], None])
    put(connection, "a", ["w0", "w2", "w1", "w3"], [[0, 0, 1, 0], None, None, None])
    assert vectors(connection, 1) == ["[0,0,1,0]", "[0,1,0,0]", "[1,0,0,0]", None]
    put(connection, "a", ["w2"], [[0, 0, 0, 1]], headings=["One"])
    assert vectors(connection, 1) == ["[0,0,0,1]"]  # a new one wins
    put(connection, "a", ["w2"], headings=["Two"])
    assert vectors(connection, 1) == ["[0,0,0,1]"]


def test_made_by_another_recipe_it_is_embedded_again(connection: Connection) -> None:
    put(connection, "a", ["w1"], [[1, 0, 0, 0]])
    assert kept(connection, 1, "other") == set()
    put(connection, "a", ["w1"], recipe="other")
    assert vectors(connection, 1) == [None]


def test_another_name_for_the_same_bytes_keeps_the_vectors(connection: Connection) -> None:
    put(connection, "a", ["w1", "w2"], [[1, 0, 0, 0], [0, 1, 0, 0]])
    put(connection, "b", ["w1", "w2"], twin=1)
    put(connection, "c", ["w1", "w2"])
    assert vectors(connection, 2) == vectors(connection, 1)
    assert vectors(connection, 3) == [None, None]


def test_reusable_chunks_are_those_that_keep_a_vector(connection: Connection) -> None:
    put(connection, "a", ["w1", "w2", "É 🎉"], [[1, 0, 0, 0], None, [0, 1, 0, 0]])
    hashes = [store.vector_key(Chunk(0, 0, content)) for content in ("w1", "w2", "É 🎉")]
    assert kept(connection, 1) == {hashes[0], hashes[2]}
    assert kept(connection, 99) == set()


def test_the_same_uri_in_another_dataset_is_another_document(connection: Connection) -> None:
    one, two = (put(connection, "a", ["w1"], dataset=dataset) for dataset in ("zoo", "other"))
    assert (two["status"], two["document_id"] != one["document_id"]) == ("inserted", True)
    assert [row["documents"] for row in call(connection, "list_datasets")] == [1, 1]


async def test_what_cannot_be_stored_changes_nothing(
    database: Database, fresh: Connection, run: int
) -> None:
    await store.store_document(database, DOCUMENT, CHUNKS, VECTORS, run)
    before = call(fresh, "list_chunks", document=1), call(fresh, "list_documents")
    cases: list[tuple[dict[str, Any], dict[str, Any], list[float] | None, type[Exception]]] = [
        ({}, {}, [1.0, 2.0], EmbeddingMismatchError),
        ({}, {"content": "nul \0"}, None, ConfigError),
        ({"text": "nul \0"}, {}, None, ConfigError),
        ({"sha256": "short"}, {}, None, DatabaseError),
        ({"uri": ""}, {}, None, DatabaseError),
        ({"dataset": ""}, {}, None, DatabaseError),
        ({}, {"start": 5, "end": 4}, None, DatabaseError),
    ]
    for change, chunk, vector, error in cases:
        bad = replace(DOCUMENT, **{"title": "Bad", **change})
        with pytest.raises(error):
            await store.store_document(database, bad, [replace(CHUNKS[0], **chunk)], [vector], run)
        after = call(fresh, "list_chunks", document=1), call(fresh, "list_documents")
        assert after == before
        assert call(fresh, "list_runs")[0]["inserted"] == 1
    good = await store.store_document(database, DOCUMENT, CHUNKS[:1], VECTORS[:1], run)
    assert good["chunks"] == 1  # nothing is left staged


def test_several_documents_in_one_transaction_share_no_chunks(connection: Connection) -> None:
    with connection.transaction():
        put(connection, "a", ["one", "two"])
        assert put(connection, "b", ["three"])["chunks"] == 1
    assert [row["chunks"] for row in call(connection, "list_documents")] == [2, 1]


def test_a_document_may_have_no_chunks_and_ids_no_gaps(connection: Connection) -> None:
    for _ in range(3):
        assert put(connection, "a", [])["chunks"] == 0
    assert call(connection, "list_documents")[0]["characters"] == 0
    assert put(connection, "b", ["one"])["document_id"] == 2


def test_storing_needs_staged_chunks(connection: Connection) -> None:
    arguments = {"dataset": "d", "uri": "u", "title": "t", "media_type": "text/plain"}
    arguments |= {"sha256": "a" * 64, "recipe": "r", "content": "c"}
    with (
        pytest.raises(psycopg.errors.UndefinedTable, match="staged_chunk"),
        connection.transaction(),
    ):
        call(connection, "store_document", **arguments, metadata={})


LEXEMES = "select lexemes::text, token_count from lexichord_data.chunk order by id"


@pytest.mark.parametrize("own", [None, "german"])
def test_chunks_may_be_analyzed_before_they_are_stored(
    connection: Connection, own: str | None
) -> None:
    texts = ["plug-in Verträge", "the tenants pay 14.3"]
    put(connection, "late", texts, text_config=own)
    for analyzed in (own, "simple"):  # what was analyzed otherwise is analyzed again
        put(connection, f"early {analyzed}", texts, text_config=own, analyzed=(analyzed,))
    rows = connection.execute(LEXEMES).fetchall()
    assert rows[:2] == rows[2:4] == rows[4:]


def test_one_is_stored_by_what_was_analyzed(connection: Connection) -> None:
    """Else it would only take longer; and the next one of the transaction is not."""
    marked = "update staged_lexemes set lexemes = 'marked:1'"
    with connection.transaction():
        put(connection, "first", ["w1"], analyzed=(None,), then=marked)
        put(connection, "second", ["w2"])
    rows = connection.execute(LEXEMES).fetchall()
    assert [row[0] for row in rows] == ["'marked':1", "'w2':1"]


async def test_what_waits_long_for_its_turn_holds_no_connection_then(
    database: Database, fresh: Connection, run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its locks could stand in the way of the one that it waits for, which Postgres cannot see."""
    monkeypatch.setattr(store, "STAGED_SECONDS", 0.2)
    lent: list[int] = []

    async def turn() -> None:
        lent.append(database.connections()["lent"])
        await asyncio.sleep(60 if len(lent) == 1 else 0)

    with database.ingesting():
        await store.store_document(database, DOCUMENT, CHUNKS, VECTORS, run, turn=turn)
    assert lent == [1, 0]
    assert value(fresh, "select count(*) from lexichord_data.run_file") == 1
    assert value(fresh, "select count(*) from lexichord_data.chunk") == 2


async def test_who_is_not_alone_holds_no_connection_while_it_waits(
    database: Database, run: int
) -> None:
    """Else several ingests could hold all of them, and searches would wait."""
    lent: list[int] = []

    async def turn() -> None:
        lent.append(database.connections()["lent"])

    for others in (0, 1):
        with ExitStack() as stack:
            for _ in range(1 + others):
                stack.enter_context(database.ingesting())
            await store.store_document(database, DOCUMENT, CHUNKS, VECTORS, run, turn=turn)
    assert lent == [1, 0]
