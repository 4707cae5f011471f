"""rename_dataset: whatever names a dataset follows it, and no other name is taken."""

import hashlib
from typing import Any

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from tests.sql.corpus import Connection, call, put, value
from tests.sql.oracle import check_statistics
from tests.sql.test_files import A, attach, keep, states
from tests.sql.test_queries import current, hit, record

SENT = f"upload://zoo/{A}/a.md"


def rename(connection: Connection, dataset: str = "zoo", new_name: str = "park") -> None:
    call(connection, "rename_dataset", dataset=dataset, new_name=new_name)


def refuse(connection: Connection, why: str, *names: str) -> None:
    refused = pytest.raises(errors.InvalidParameterValue, match=why)
    with refused, connection.transaction():
        rename(connection, *names)


def uris(connection: Connection, dataset: str) -> list[str]:
    rows = call(connection, "list_documents", datasets=[dataset])
    return [row["uri"] for row in rows]


def key(connection: Connection, name: str, datasets: list[str] | None) -> None:
    digest = hashlib.sha256(name.encode()).digest()
    call(connection, "create_api_key", name=name, digest=digest, datasets=datasets)


def test_documents_answer_under_the_new_name_with_all_that_they_had(
    connection: Connection,
) -> None:
    put(connection, "a", ["w1 w2"], [[1, 0, 0, 0]], dataset="zoo", metadata={"year": 1})
    put(connection, "b", ["w1"], dataset="farm")
    rename(connection)
    (found,) = call(connection, "hybrid_search", query="w2", datasets=["park"])
    assert (found["uri"], found["dataset"]) == ("a", "park")
    names = [row["dataset"] for row in call(connection, "list_datasets")]
    assert names == ["farm", "park"]
    with pytest.raises(errors.NoDataFound), connection.transaction():
        call(connection, "hybrid_search", query="w2", datasets=["zoo"])
    check_statistics(connection)


def test_files_that_were_sent_stay_those_of_their_documents(connection: Connection) -> None:
    keep(connection, A, ["zoo"])
    run = attach(connection, A)
    for uri in (SENT, "upload://zoo/a/b.md", "upload://zoo2/b.md", "z/upload://zoo/b.md"):
        put(connection, uri, ["w1"], dataset="zoo")
    call(connection, "record_files", run_id=run, uris=[SENT], status="inserted")
    rename(connection)
    moved = f"upload://park/{A}/a.md"
    others = ["upload://park/a/b.md", "upload://zoo2/b.md", "z/upload://zoo/b.md"]
    assert uris(connection, "park") == [others[0], moved, *others[1:]]
    assert (A, "completed") in states(connection, "park")
    assert [row["file_id"] for row in call(connection, "list_files", reach=["park"])] == [A]
    (listed,) = call(connection, "list_runs", datasets=["park"])
    assert listed["run_id"] == run
    (stored,) = call(connection, "list_run_files", run_id=run, page_size=5)
    assert stored["uri"] == moved
    assert value(connection, "select lexichord.delete_file(%s)", A)
    assert uris(connection, "park") == others


def test_keys_follow_and_the_log_of_calls_stays(connection: Connection) -> None:
    reaches: list[list[str] | None] = [["zoo", "farm"], ["park", "zoo"], ["farm"], None]
    for number, reach in enumerate(reaches):
        key(connection, f"k{number}", reach)
    keys = {row["name"]: row for row in call(connection, "list_api_keys")}
    entry = {"key_id": keys["k0"]["key_id"], "called_at": "2026-01-31", "kind": "search"}
    calls = Jsonb([{**entry, "status": 200, "datasets": ["zoo"]}])
    call(connection, "record_api_calls", calls=calls, keep=True)
    call(connection, "define_dataset", dataset="zoo")
    rename(connection)
    reached = {row["name"]: row["datasets"] for row in call(connection, "list_api_keys")}
    assert reached == {"k0": ["park", "farm"], "k1": ["park"], "k2": ["farm"], "k3": None}
    (logged,) = call(connection, "list_api_calls", latest=5)
    assert logged["datasets"] == ["zoo"]


def test_recorded_queries_still_find_their_passages(connection: Connection) -> None:
    put(connection, "upload://zoo/a", ["w1 w2"], dataset="zoo")
    found = hit(end=5, dataset="zoo", uri="upload://zoo/a")
    query = record(connection, [found], datasets=["zoo"])
    before = current(connection, query)
    rename(connection)
    assert current(connection, query) == before != [None]
    (listed,) = call(connection, "list_queries")
    assert listed["datasets"] == ["park"]


def test_kept_contexts_follow_their_documents(connection: Connection) -> None:
    put(connection, "upload://zoo/a", ["w1"], dataset="zoo")
    kept: dict[str, Any] = {"dataset": "zoo", "uri": "upload://zoo/a"}
    call(connection, "keep_contexts", **kept, keys=["k1"], contexts=["one"])
    rename(connection)
    call(connection, "delete_documents", documents=[1])
    assert call(connection, "known_contexts", keys=["k1"]) == []


def test_an_indexed_table_goes_on_in_its_dataset(connection: Connection) -> None:
    connection.execute("create table article (id int primary key, body text)")
    call(connection, "index_table", source="article", text=["body"], dataset="zoo")
    rename(connection)
    (table,) = call(connection, "list_indexed_tables")
    assert table["dataset"] == "park"
    refused = pytest.raises(errors.InvalidParameterValue, match="an indexed table's")
    with refused, connection.transaction():
        call(connection, "delete_dataset", dataset="park")
    call(connection, "drop_index_table", source="article")
    assert call(connection, "list_datasets") == []


def test_what_cannot_be_is_refused_in_words(connection: Connection) -> None:
    put(connection, "upload://zoo/a", ["w1"], dataset="zoo")
    put(connection, "b", ["w1"], dataset="farm")
    refuse(connection, "there is a dataset farm already", "zoo", "farm")
    refuse(connection, "there is a dataset zoo already", "zoo", "zoo")
    for blank in ("", " \u3000"):
        refuse(connection, "the dataset needs a name", "zoo", blank)
    with pytest.raises(errors.NoDataFound, match="no dataset 'none'"), connection.transaction():
        rename(connection, "none")
    put(connection, "upload://park/a", ["w1"], dataset="zoo")
    refuse(connection, "zoo holds upload://park/a already")
    call(connection, "start_run", dataset="farm", source="", total=1)
    refuse(connection, "an ingest is storing into farm", "farm")
    assert [row["dataset"] for row in call(connection, "list_datasets")] == ["farm", "zoo"]


def test_who_has_read_it_under_the_old_name_stores_nothing(connection: Connection) -> None:
    put(connection, "a", ["w1"], dataset="zoo")
    (row,) = call(connection, "document_recipes")
    asks = {"document": 1, "updated_at": row["updated_at"], "dataset": "zoo"}
    assert call(connection, "is_unchanged", **asks) == [{"is_unchanged": True}]
    rename(connection)
    assert call(connection, "is_unchanged", **asks) == [{"is_unchanged": False}]
