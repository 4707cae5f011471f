"""move_documents: with all that hangs on them, and every count as a recount has it."""

from collections.abc import Sequence

import pytest
from psycopg import errors

from tests.sql.corpus import Connection, call, put, value
from tests.sql.oracle import check_statistics
from tests.sql.test_contexts import keep as keep_contexts
from tests.sql.test_files import A, attach, keep, states
from tests.sql.test_originals import CONTENT, KEEP, KEPT
from tests.sql.test_queries import current, hit, record
from tests.sql.test_rename_dataset import uris

VECTOR = [1, 0, 0, 0]


def move(connection: Connection, documents: Sequence[int], dataset: str = "park") -> int:
    (row,) = call(connection, "move_documents", documents=list(documents), dataset=dataset)
    return int(row["move_documents"])


def refuse(connection: Connection, why: str, documents: Sequence[int], dataset: str) -> None:
    before = call(connection, "list_documents"), call(connection, "list_datasets")
    refused = pytest.raises(errors.InvalidParameterValue, match=why)
    with refused, connection.transaction():
        move(connection, documents, dataset)
    assert (call(connection, "list_documents"), call(connection, "list_datasets")) == before


def chunks(connection: Connection, document: int) -> list[tuple[object, ...]]:
    cursor = connection.execute(
        "select id, ordinal, content, embedding::text, lexemes::text from lexichord_data.chunk "
        "where document_id = %s order by id",
        [document],
    )
    return cursor.fetchall()


def test_documents_move_with_all_that_they_have(connection: Connection) -> None:
    put(connection, "a", ["w1 w2", "w3"], [VECTOR, [0, 1, 0, 0]], dataset="zoo", metadata={"y": 1})
    put(connection, "b", ["w1"], [VECTOR], dataset="zoo")
    put(connection, "c", ["w1"], [VECTOR], dataset="park")
    before = chunks(connection, 1)
    assert move(connection, [1, 3, 99]) == 1  # one is there, one is nowhere
    assert chunks(connection, 1) == before
    (row, _) = call(connection, "list_documents", datasets=["park"])
    assert (row["document_id"], row["uri"], row["metadata"]) == (1, "a", {"y": 1})
    found = call(connection, "hybrid_search", query="w2", datasets=["park"])
    assert (found[0]["uri"], found[0]["dataset"]) == ("a", "park")
    nearest = call(
        connection,
        "hybrid_search",
        query="none",
        query_vector=str(VECTOR),
        query_space="test/tiny/4",
        datasets=["zoo"],
    )
    assert [each["uri"] for each in nearest] == ["b"]
    check_statistics(connection)


def test_counts_are_those_of_a_recount_whatever_moves(connection: Connection) -> None:
    for number in range(30):
        lines = [f"w{number % 7} w{number % 3} w99" for _ in range(number % 4)]
        put(connection, f"d{number}", lines, dataset=("zoo", "park", "farm")[number % 3])
    for documents, dataset in (
        (range(1, 20), "park"),
        (range(5, 25), "zoo"),
        (range(1, 31), "new"),
        (range(1, 4), "zoo"),
    ):
        move(connection, documents, dataset)
        check_statistics(connection)
    call(connection, "fold_statistics")
    check_statistics(connection)
    call(connection, "delete_documents", documents=list(range(1, 31)))
    check_statistics(connection)


def test_bytes_contexts_and_recorded_hits_go_along(connection: Connection) -> None:
    put(connection, "upload://zoo/a", ["w1"], dataset="zoo")
    assert value(connection, KEEP, 1, CONTENT)
    keep_contexts(connection, "upload://zoo/a", dataset="zoo", k1="one")
    keep_contexts(connection, "upload://park/a", dataset="park", k1="two")  # as of one that was
    found = hit(end=2, dataset="zoo", uri="upload://zoo/a")
    query = record(connection, [found], datasets=["zoo"])
    before = current(connection, query)
    assert move(connection, [1]) == 1
    assert uris(connection, "park") == ["upload://park/a"]
    assert value(connection, KEPT, 1) == CONTENT
    assert current(connection, query) == before != [None]
    (known,) = call(connection, "known_contexts", keys=["k1"])
    assert known["context"] == "two"
    call(connection, "delete_documents", documents=[1])
    assert call(connection, "known_contexts", keys=["k1"]) == []


def test_files_that_were_sent_go_where_their_documents_are(connection: Connection) -> None:
    keep(connection, A)
    run = attach(connection, A, kind="lease")
    for part in ("a.md", "b.md"):
        put(connection, f"upload://zoo/{A}/{part}", ["w1"], dataset="zoo")
    call(connection, "finish_run", run_id=run)
    call(connection, "define_dataset", dataset="park")
    assert move(connection, [1]) == 1
    assert states(connection) == states(connection, "park") == [(A, "completed")]
    assert value(connection, KEPT, 1) == CONTENT
    assert move(connection, [2]) == 1
    assert (states(connection), states(connection, "park")) == ([], [(A, "completed")])
    assert value(connection, "select lexichord.delete_file(%s, 'park')", A)
    assert uris(connection, "park") == []


def test_what_cannot_be_there_is_refused_by_name(connection: Connection) -> None:
    put(connection, "a", ["w1"], dataset="zoo")
    put(connection, "a", ["w1"], dataset="park")
    put(connection, "a", ["w1"], dataset="farm")
    put(connection, "upload://zoo/b", ["w1"], dataset="zoo")
    put(connection, "upload://park/b", ["w1"], dataset="park")
    refuse(connection, "a is in park already", [1], "park")
    refuse(connection, "upload://park/b is in park already", [4], "park")
    refuse(connection, "a is in new already", [1, 3], "new")  # both of them
    for blank in ("", " \u3000"):
        refuse(connection, "the dataset needs a name", [1], blank)
    assert move(connection, [99], "new") == 0
    assert [row["dataset"] for row in call(connection, "list_datasets")] == ["farm", "park", "zoo"]


def test_rows_of_an_indexed_table_stay_and_nothing_joins_them(connection: Connection) -> None:
    connection.execute("create table article (id int primary key, body text)")
    call(connection, "index_table", source="article", text=["body"], dataset="rows")
    put(connection, "1", ["w1"], dataset="rows")
    connection.execute(
        "insert into lexichord_data.table_row select 1, id, '1' from lexichord_data.indexed_table"
    )
    put(connection, "a", ["w1"], dataset="zoo")
    refuse(connection, "1 is a row of the indexed table public.article", [1], "zoo")
    refuse(connection, "the dataset rows is an indexed table's", [2], "rows")


def test_no_document_reaches_another_tenant(connection: Connection) -> None:
    put(connection, "a", ["w1"], dataset="zoo")
    put(connection, "b", ["w1"], dataset="park")
    put(connection, "c", ["w1"], dataset="nobody's")
    connection.execute("insert into lexichord_data.tenant (name) values ('one'), ('two')")
    for dataset, tenant in (("zoo", "one"), ("park", "two")):
        connection.execute(
            "update lexichord_data.dataset set tenant_id = "
            "(select id from lexichord_data.tenant where name = %s) where name = %s",
            [tenant, dataset],
        )
    refuse(connection, "a in zoo is of another tenant than the dataset park", [1], "park")
    refuse(connection, "is of another tenant than the dataset new", [1, 2], "new")
    assert move(connection, [1, 3], "new") == 2
    owners = "select tenant_id from lexichord_data.dataset where name = %s"
    assert value(connection, owners, "new") == value(connection, owners, "zoo") is not None
    refuse(connection, "a in new is of another tenant", [1], "park")


def test_who_has_read_it_before_stores_nothing(connection: Connection) -> None:
    put(connection, "a", ["w1"], dataset="zoo")
    (row,) = call(connection, "document_recipes")
    connection.execute(
        "update lexichord_data.document set updated_at = updated_at - interval '1 s'"
    )
    asks = {"document": 1, "updated_at": row["updated_at"], "dataset": "zoo"}
    move(connection, [1])
    assert call(connection, "is_unchanged", **asks) == [{"is_unchanged": False}]
