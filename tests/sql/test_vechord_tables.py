"""What the catalog says of tables that others define."""

from typing import Any
from uuid import UUID

import pytest

from tests.sql.corpus import Connection, value

DIGESTS = "select key, chunks, sha256 from lexichord.vechord_digests('n', 'public.n_chunk', %s, %s)"
KEYS = {
    "bigint": ["2", "10"],
    "uuid": [str(UUID(int=1)), str(UUID(int=2))],
    "varchar(20)": ["it's", "zoë"],
    "date": ["2024-02-10", "2024-11-02"],
    "timestamptz": ["2024-02-10 00:00:00+00", "2024-11-02 01:02:03.000004+00"],
}


def make(connection: Connection, key: str = "bigint", more: str = "") -> None:
    connection.execute(f"create table n_document (key {key} primary key, title text, text text)")
    connection.execute(
        f"create table n_chunk (doc {key} references n_document, seq integer, content text, "
        f"context text, page integer, vec vector(4){more})"
    )


def fill(connection: Connection, *keys: str) -> None:
    for key in keys:
        connection.execute("insert into n_document values (%s, 'T', 'b a')", [key])
        connection.execute(
            "insert into n_chunk values (%s, 2, 'a', '', 1, '[1,0,0,0]'), "
            "(%s, 1, 'b', 'c', null, '[0,1,0,0]')",
            [key, key],
        )


def tables_by_class(connection: Connection, namespace: str = "n") -> dict[str, Any]:
    rows = connection.execute(
        "select class, to_jsonb(t) from lexichord.vechord_tables(%s) as t", [namespace]
    )
    return dict(rows.fetchall())


def test_columns_are_told_by_name_and_type(connection: Connection) -> None:
    make(connection, more=', tags text[], "Mixed Case" text, raw bytea')
    assert tables_by_class(connection)["document"]["document_table"] is None
    chunk = tables_by_class(connection)["chunk"]
    assert set(chunk.pop("metadata_columns")) == {"seq", "page", "Mixed Case"}
    assert chunk == {
        "table_name": "public.n_chunk",
        "class": "chunk",
        "dimension": 4,
        "vector_column": "vec",
        "text_column": "content",
        "context_column": "context",
        "order_columns": ["seq"],
        "reference_column": "doc",
        "document_table": "public.n_document",
        "document_has_vector": False,
        "key_column": "key",
        "key_type": "bigint",
        "document_title": "title",
        "document_text": "text",
        "document_metadata": [],
    }


@pytest.mark.parametrize(
    "columns",
    [
        "doc bigint references n_document, text text, vec vector(4), other vector(4)",
        "doc bigint references n_document, text text, vec vector",
        "doc bigint references n_document, text text, vec vector(4)[]",
        "doc bigint references n_document, body text, vec vector(4)",
        "doc bigint, text text, vec vector(4)",
        "doc bigint references n_document, text text, vec halfvec(4)",
    ],
)
def test_what_lacks_something_holds_no_chunks(connection: Connection, columns: str) -> None:
    make(connection)
    connection.execute(f"create table n_other ({columns})")
    other = tables_by_class(connection)["other"]
    assert other["document_table"] is None or other["dimension"] is None


def test_any_schema_but_ours(connection: Connection) -> None:
    connection.execute('create schema "Else Where"')
    connection.execute('create table "Else Where".document_x (key integer)')
    tables = [row["table_name"] for row in tables_by_class(connection, "document").values()]
    assert tables == ['"Else Where".document_x']
    assert tables_by_class(connection, "embedding") == {}
    assert tables_by_class(connection, "pg") == {}


@pytest.mark.parametrize("key", KEYS)
def test_pages_go_on_after_a_key_of_any_type(connection: Connection, key: str) -> None:
    make(connection, key)
    fill(connection, *KEYS[key])
    rows, after = [], None
    while page := connection.execute(DIGESTS, [after, 1]).fetchall():
        rows += page
        after = page[-1][0]
    assert [(row[0], row[1]) for row in rows] == [(each, 2) for each in KEYS[key]]
    chunks = connection.execute(
        "select key, content, context, metadata, embedding from "
        "lexichord.vechord_chunks('n', 'public.n_chunk', %s)",
        [KEYS[key][1:]],
    ).fetchall()
    assert chunks == [
        (KEYS[key][1], "b", "c", {"seq": 1, "page": None}, [0, 1, 0, 0]),
        (KEYS[key][1], "a", "", {"seq": 2, "page": 1}, [1, 0, 0, 0]),
    ]


@pytest.mark.parametrize(
    "change",
    [
        "update n_document set title = 'U'",
        "update n_document set text = 'b  a'",
        "update n_chunk set content = 'd' where seq = 1",
        "update n_chunk set context = 'd' where seq = 1",
        "update n_chunk set page = 7 where seq = 1",
        "update n_chunk set vec = '[0,1,0,0.0001]' where seq = 1",
        "update n_chunk set vec = null where seq = 1",
        "update n_chunk set seq = 3 - seq",
        "delete from n_chunk where seq = 1",
    ],
)
def test_the_digest_is_of_all_that_is_taken_over(connection: Connection, change: str) -> None:
    make(connection)
    fill(connection, "1")
    before = connection.execute(DIGESTS, [None, 9]).fetchall()
    assert connection.execute(DIGESTS, [None, 9]).fetchall() == before
    connection.execute(change.encode())
    assert connection.execute(DIGESTS, [None, 9]).fetchall() != before


def test_a_table_may_have_many_columns(connection: Connection) -> None:
    make(connection, more="".join(f", c{number} integer default {number}" for number in range(200)))
    fill(connection, "1")
    query = "select metadata from lexichord.vechord_chunks('n', 'public.n_chunk', '{1}') limit 1"
    assert value(connection, query)["c199"] == 199


def test_an_ordered_uuid_sorts_by_time_then_number(connection: Connection) -> None:
    rows = connection.execute(
        "select lexichord.ordered_uuid(m, n) from unnest(array[now(), now() + '1 second']) as m, "
        "unnest(array[0, 9, 10, 2^59]::bigint[]) as n order by m, n"
    ).fetchall()
    uuids = [row[0] for row in rows]
    assert uuids == sorted(uuids)
    assert {(each.version, each.variant) for each in uuids} == {(7, "specified in RFC 4122")}
