"""document_hashes: the same in two databases if and only if the documents are."""

import pytest

from tests.sql.corpus import Connection, Row, call, put, value

VECTORS = [[1.0, 0.5, -0.25, 0.0], [0.0, 1.0, 0.0, 0.0]]


def hashes(connection: Connection, dataset: str = "library") -> list[Row]:
    return call(connection, "document_hashes", dataset=dataset)


@pytest.fixture
def stored(connection: Connection) -> Connection:
    put(connection, "b", ["w1", "w2"], VECTORS, metadata={"n": 1})
    put(connection, "a", ["w3"])
    put(connection, "a", ["w3"], dataset="other")
    return connection


def test_a_row_a_document_of_the_dataset_by_uri(stored: Connection) -> None:
    rows = hashes(stored)
    assert [(row["document_id"], row["uri"], row["chunks"], row["vectors"]) for row in rows] == [
        (2, "a", 1, 0),
        (1, "b", 2, 2),
    ]
    assert all(len(row["hash"]) == 64 for row in rows)
    assert hashes(stored, "none") == []


def test_a_document_without_chunks_has_a_hash(connection: Connection) -> None:
    put(connection, "empty", [])
    assert [(row["chunks"], len(row["hash"])) for row in hashes(connection)] == [(0, 64)]


def test_ids_do_not_count(stored: Connection) -> None:
    before = hashes(stored)[1]
    call(stored, "delete_documents", documents=[1])
    put(stored, "b", ["w1", "w2"], VECTORS, metadata={"n": 1})
    after = hashes(stored)[1]
    assert after["document_id"] != before["document_id"]
    assert after["hash"] == before["hash"]


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("dataset", "name = 'library' || id"),
        ("document", "uri = 'c'"),
        ("document", "title = 'x2'"),
        ("document", "media_type = 'text/html'"),
        ("document", "sha256 = repeat('0', 64)"),
        ("document", "recipe = 'other'"),
        ("document", "text = text || ' '"),
        ("document", """metadata = '{"n": 1.0}'"""),
        ("chunk", "ordinal = ordinal + 10"),
        ("chunk", "ordinal = -ordinal"),
        ("chunk", "heading = 'h'"),
        ("chunk", "char_start = 0, char_end = 1"),
        ("chunk", "page = 1"),
        ("chunk", "content = content || ' '"),
        ("chunk", "context = 'c'"),
        ("chunk", "keyword_context = 'c'"),
        ("chunk", """metadata = '{"n": 1}'"""),
        ("chunk", "embedding = '[1,0.5,-0.25,0.0001]'"),
        ("chunk", "embedding = null"),
    ],
)
def test_all_that_is_copied_counts(stored: Connection, table: str, change: str) -> None:
    before = next(row for row in hashes(stored) if row["document_id"] == 1)
    where = {"dataset": "id = (select dataset_id from lexichord_data.document where id = 1)"}
    one = where.get(table, "id = 1" if table == "document" else "document_id = 1")
    stored.execute(f"update lexichord_data.{table} set {change} where {one}".encode())
    name = value(stored, "select d.dataset from lexichord.read_document(1) as d")
    after = next(row for row in hashes(stored, name) if row["document_id"] == 1)
    assert after["hash"] != before["hash"]


def test_neighbouring_texts_are_told_apart(connection: Connection) -> None:
    put(connection, "a", ["w1"])
    for heading, context in (("ab", "c"), ("a", "bc")):
        change = "update lexichord_data.chunk set heading = %s, context = %s"
        connection.execute(change, [heading, context])
        connection.execute("create temporary table if not exists seen (hash text primary key)")
        connection.execute("insert into seen values (%s)", [hashes(connection)[0]["hash"]])
