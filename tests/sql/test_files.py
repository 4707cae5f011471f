"""Files that are kept before they belong to a dataset, and datasets as stores of files."""

from typing import Any

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from lexichord.db.files import sent_file
from tests.sql.corpus import Connection, call, put, value

A, B = f"file-{'a' * 24}", f"file-{'b' * 24}"
KEEP = "select lexichord.keep_file(%s, 'a.md', 'text/markdown', 'assistants', %s, %s)"


def keep(connection: Connection, file_id: str, reach: list[str] | None = None) -> None:
    value(connection, KEEP, file_id, b"w1", reach)


def attach(connection: Connection, file_id: str, dataset: str = "zoo", **attributes: Any) -> int:
    run: int = value(connection, "select lexichord.start_run(%s, '', 1)", dataset)
    call(connection, "define_dataset", dataset=dataset)
    given = Jsonb({file_id: attributes})
    for of in (None, run):
        call(connection, "add_dataset_files", dataset=dataset, run_id=of, attributes=given)
    return run


def store(connection: Connection, run: int, file_id: str, dataset: str = "zoo") -> None:
    """Store a file as its run does."""
    uri = f"upload://{dataset}/{file_id}/a.md"
    put(connection, uri, ["w1"], dataset=dataset)
    call(connection, "record_files", run_id=run, uris=[uri], status="inserted")


def states(connection: Connection, dataset: str = "zoo", **arguments: Any) -> list[tuple[Any, str]]:
    rows = call(connection, "list_dataset_files", dataset=dataset, **arguments)
    return [(row["file_id"] or row["document_id"], row["state"]) for row in rows]


def names(connection: Connection, **arguments: Any) -> list[str]:
    return [row["file_id"] for row in call(connection, "list_files", **arguments)]


def test_a_file_is_in_reach_of_who_reaches_as_much_or_a_dataset_that_holds_it(
    connection: Connection,
) -> None:
    keep(connection, A)
    keep(connection, B, ["zoo"])
    assert names(connection) == [B, A]
    assert names(connection, descending=False) == [A, B]
    for first, second in ((B, A), (A, B)):
        (row,) = call(connection, "list_files", file_ids=[first])
        past = {"past_at": row["created_at"], "past_key": first, "descending": first == B}
        assert names(connection, **past) == [second]
    assert names(connection, reach=["zoo"]) == names(connection, reach=["zoo", "farm"]) == [B]
    assert names(connection, reach=["farm"]) == []
    attach(connection, A, "farm")
    assert names(connection, reach=["farm"]) == [A]
    assert names(connection, file_ids=[A], purpose="assistants") == [A]
    assert names(connection, purpose="batch") == []
    assert value(connection, "select lexichord.read_file(%s)", A) == b"w1"
    assert value(connection, "select lexichord.read_file('none')") is None


def test_what_became_of_a_file_is_told_by_its_run_and_documents(connection: Connection) -> None:
    keep(connection, A)
    run = attach(connection, A, kind="lease")
    assert states(connection) == [(A, "in_progress")]
    store(connection, run, A)
    assert states(connection) == [(A, "completed")]
    call(connection, "finish_run", run_id=run)
    assert states(connection, runs=[run]) == [(A, "completed")]
    call(connection, "delete_documents", documents=[1])
    (row,) = call(connection, "list_dataset_files", dataset="zoo")
    assert (row["state"], row["reason"]) == ("failed", "nothing in it can be read")
    assert row["attributes"] == {"kind": "lease"}


def test_a_file_that_is_stored_anew_is_in_progress_until_its_run_has_come_to_it(
    connection: Connection,
) -> None:
    keep(connection, A)
    uri = f"upload://zoo/{A}/a.md"
    store(connection, attach(connection, A, kind="lease"), A)
    run = attach(connection, A, kind="nda")
    (row,) = call(connection, "list_dataset_files", dataset="zoo")
    assert (row["state"], row["attributes"]) == ("in_progress", {"kind": "nda"})
    call(connection, "record_files", run_id=run, uris=[uri], status="skipped")
    (row,) = call(connection, "list_dataset_files", dataset="zoo")
    assert (row["state"], row["attributes"]) == ("completed", {})


@pytest.mark.parametrize(
    ("name", "media_type"), [("a.md/1.txt", "text/plain"), ("a.md", "message/rfc822")]
)
def test_a_file_that_contains_others_is_in_progress_until_its_run_has_ended(
    connection: Connection, name: str, media_type: str
) -> None:
    keep(connection, A)
    run = attach(connection, A)
    uri = f"upload://zoo/{A}/{name}"
    put(connection, uri, ["w1"], dataset="zoo", media_type=media_type)
    call(connection, "record_files", run_id=run, uris=[uri], status="inserted")
    assert states(connection) == [(A, "in_progress")]
    call(connection, "finish_run", run_id=run)
    assert states(connection) == [(A, "completed")]


def test_what_was_stored_before_an_interruption_stays_completed(connection: Connection) -> None:
    keep(connection, A)
    put(connection, f"upload://zoo/{A}/a.md", ["w1"], dataset="zoo")
    run = attach(connection, A)
    connection.execute(
        "update lexichord_data.run set seen_at = now() - interval '2 min' where id = %s", [run]
    )
    assert states(connection) == [(A, "completed")]


def test_a_failure_and_an_interruption_are_told(connection: Connection) -> None:
    keep(connection, A)
    run = attach(connection, A)
    uris = [f"upload://zoo/{A}/a.md"]
    call(connection, "record_files", run_id=run, uris=uris, status="failed", reason="is empty")
    (row,) = call(connection, "list_dataset_files", dataset="zoo")
    assert (row["state"], row["reason"]) == ("failed", "is empty")
    run = attach(connection, A)
    connection.execute(
        "update lexichord_data.run set seen_at = now() - interval '2 min' where id = %s", [run]
    )
    (row,) = call(connection, "list_dataset_files", dataset="zoo")
    assert (row["state"], row["reason"]) == ("failed", "it was interrupted")


def test_other_documents_are_files_too_and_pages_go_past_any(connection: Connection) -> None:
    for name in ("a", "b", "c"):
        put(connection, name, [f"w {name}"], dataset="zoo")
    keep(connection, A)
    store(connection, attach(connection, A), A)
    put(connection, f"upload://zoo/{B}/a.md", ["w1"], dataset="zoo")  # of no file that is kept
    rows = call(connection, "list_dataset_files", dataset="zoo", descending=False)
    assert [row["file_id"] or row["uri"] for row in rows] == [
        *("a", "b", "c", f"upload://zoo/{B}/a.md", A)
    ]
    past = {"past_at": rows[1]["created_at"], "past_key": rows[1]["sort_key"]}
    after = call(
        connection, "list_dataset_files", dataset="zoo", descending=False, page_size=2, **past
    )
    assert after == rows[2:4]
    before = call(connection, "list_dataset_files", dataset="zoo", page_size=5, **past)
    assert before == rows[:1]
    (row,) = call(connection, "describe_datasets", datasets=["zoo"])
    assert (row["completed"], row["failed"], row["in_progress"]) == (5, 0, 0)


def test_a_file_goes_with_its_documents_out_of_one_dataset_or_all(connection: Connection) -> None:
    keep(connection, A)
    for dataset in ("zoo", "farm"):
        store(connection, attach(connection, A, dataset), A, dataset)
    put(connection, f"upload://zoo/{A}0/a.md", ["w1"], dataset="zoo")
    assert value(connection, "select lexichord.delete_file(%s, 'zoo')", A)
    assert [state for _, state in states(connection)] == ["completed"]  # the other of like name
    assert states(connection, "farm") == [(A, "completed")]
    assert value(connection, "select lexichord.delete_file(%s)", A)
    assert states(connection, "farm") == []
    assert not value(connection, "select lexichord.delete_file(%s)", A)


@pytest.mark.parametrize(
    ("sent_by", "held_by", "reach", "deleted"),
    [
        (None, ["zoo"], ["zoo"], None),  # whoever sent it reaches more
        (None, ["zoo"], None, True),
        (["zoo"], ["zoo"], ["zoo"], True),
        (["zoo"], ["zoo", "farm"], ["zoo"], None),
        (["zoo"], ["zoo", "farm"], ["zoo", "farm"], True),
        (["zoo", "farm"], ["zoo"], ["zoo"], None),
        (["zoo"], ["zoo", "farm"], ["zoo", None], None),
    ],
)
def test_a_file_is_deleted_by_who_reaches_all_that_it_is_of(
    connection: Connection,
    sent_by: list[str] | None,
    held_by: list[str],
    reach: list[str | None] | None,
    deleted: bool | None,
) -> None:
    keep(connection, A, sent_by)
    for dataset in held_by:
        store(connection, attach(connection, A, dataset), A, dataset)
    statement = "select lexichord.delete_file(%s, reach => %s)"
    assert value(connection, statement, A, reach) is deleted
    assert [states(connection, dataset) for dataset in held_by] == [
        [] if deleted else [(A, "completed")] for _ in held_by
    ]


def test_nothing_is_deleted_that_is_being_stored(connection: Connection) -> None:
    keep(connection, A)
    attach(connection, A)
    for statement in ("select lexichord.delete_file(%s)", "select lexichord.delete_dataset('zoo')"):
        refused = pytest.raises(errors.InvalidParameterValue, match="wait for its end")
        with refused, connection.transaction():
            value(connection, statement, *([A] if "%s" in statement else []))
    assert states(connection) == [(A, "in_progress")]


def test_a_dataset_is_made_described_and_deleted(connection: Connection) -> None:
    details = Jsonb({"name": "Zoo"})
    assert value(connection, "select lexichord.define_dataset('zoo', %s)", details)
    assert not value(connection, "select lexichord.define_dataset('zoo', '{}', anew => true)")
    (row,) = call(connection, "describe_datasets")
    assert (row["dataset"], row["details"]) == ("zoo", {"name": "Zoo"})
    assert not value(connection, "select lexichord.define_dataset('zoo', '{}')")
    put(connection, "a", ["w1"], dataset="zoo")
    put(connection, "b", ["w1"], dataset="farm")
    assert value(connection, "select lexichord.delete_dataset('zoo')") == 1
    assert value(connection, "select lexichord.delete_dataset('zoo')") is None
    assert [row["dataset"] for row in call(connection, "describe_datasets")] == ["farm"]
    counted = call(connection, "database_status")[0]
    assert (counted["documents"], counted["datasets"]) == (1, 1)


def test_bytes_that_were_sent_are_those_of_the_document(connection: Connection) -> None:
    keep(connection, A)
    attach(connection, A)
    put(connection, f"upload://zoo/{A}/a.md", ["w1"], dataset="zoo")
    assert value(connection, "select lexichord.read_original(1)") == b"w1"
    assert [row["uri"] for row in call(connection, "list_originals", dataset="zoo")] == [
        f"upload://zoo/{A}/a.md"
    ]


def test_a_file_that_was_sent_is_told_by_the_dataset_and_the_whole_of_its_id() -> None:
    uris = [f"upload://zoo/{A}/a.md", f"upload://farm/{A}/a.md", f"x/{A}/a.md", "upload://zoo/a.md"]
    assert [sent_file("zoo", uri) for uri in uris] == [A, "", "", ""]
