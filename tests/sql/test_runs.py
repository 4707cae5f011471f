from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.sql.corpus import Connection, call, put, value


def start(
    connection: Connection, dataset: str = "contracts", source: str = "a b", total: int = 8
) -> int:
    statement = "select lexichord.start_run(dataset => %s, source => %s, total => %s)"
    return int(value(connection, statement, dataset, source, total))


def finish(connection: Connection, run: int) -> None:
    call(connection, "finish_run", run_id=run)


def failed(connection: Connection, dataset: str = "contracts") -> dict[str, str]:
    rows = call(connection, "failed_files", dataset=dataset)
    return {row["uri"]: row["reason"] for row in rows}


def record(connection: Connection, run: int, uris: list[str], status: str, **more: Any) -> None:
    call(connection, "record_files", run_id=run, uris=uris, status=status, **more)


def test_a_run_counts_its_files(connection: Connection) -> None:
    run = start(connection)
    record(connection, run, ["a", "b"], "inserted", chunks=3)
    record(connection, run, ["c"], "replaced")
    record(connection, run, ["d", "e", "f"], "skipped")
    record(connection, run, ["g"], "failed", reason="holds no text")
    record(connection, run, ["h"], "deleted", reason="gone")
    record(connection, run, ["i", "j"], "unread", reason=".png")
    record(connection, run, ["k"], "unread", reason=".gz")
    listed = call(connection, "list_runs")[0]
    assert listed.pop("started_at") <= listed.pop("seen_at")
    assert listed == {
        "run_id": run,
        "dataset": "contracts",
        "source": "a b",
        "state": "running",
        "finished_at": None,
        "total": 8,
        "done": 8,
        "inserted": 2,
        "replaced": 1,
        "skipped": 3,
        "failed": 1,
        "deleted": 1,
        "failures": {"g": "holds no text"},
        "unread": {".png": 2, ".gz": 1},
        "in_progress": {},
    }


def test_a_run_says_how_far_its_files_are_until_it_has_finished(connection: Connection) -> None:
    def told() -> dict[str, Any]:
        return dict(call(connection, "list_runs")[0]["in_progress"])

    run = start(connection)
    states = {uri: {"chunks": 5400, "embedded": done} for uri, done in (("a", 9), ("b", 0))}
    call(connection, "touch_run", run_id=run, in_progress=Jsonb(states))
    assert told() == states
    record(connection, run, ["a"], "inserted", chunks=5400)
    assert told() == {"b": states["b"]}
    call(connection, "interrupt_run", run_id=run)
    assert told() == {"b": states["b"]}  # where it was cut off
    finish(connection, run)
    assert told() == {}


def test_the_files_of_a_run_are_listed_with_what_went_wrong_first(connection: Connection) -> None:
    run, other = start(connection), start(connection)
    record(connection, run, ["a", "b"], "inserted", chunks=3)
    record(connection, run, ["z"], "failed", reason="holds no text")
    record(connection, run, ["i"], "unread", reason=".png")
    record(connection, other, ["other"], "inserted")
    rows = call(connection, "list_run_files", run_id=run)
    assert [(row["uri"], row["status"], row["reason"], row["chunks"]) for row in rows] == [
        ("i", "unread", ".png", 0),
        ("z", "failed", "holds no text", 0),
        ("a", "inserted", "", 3),
        ("b", "inserted", "", 3),
    ]
    assert len(call(connection, "list_run_files", run_id=run, page_size=1)) == 1
    assert call(connection, "list_run_files", run_id=10**12) == []


def test_a_run_without_files_is_listed_too(connection: Connection) -> None:
    run = start(connection)
    listed = call(connection, "list_runs")[0]
    assert (listed["run_id"], listed["inserted"], listed["failures"]) == (run, 0, {})


def test_what_became_of_a_file_at_last_counts(connection: Connection) -> None:
    run = start(connection)
    record(connection, run, ["a"], "failed", reason="gone")
    record(connection, run, ["a"], "inserted", chunks=2)
    listed = call(connection, "list_runs")[0]
    assert (listed["inserted"], listed["failed"], listed["failures"]) == (1, 0, {})
    stored = "select (status, reason, chunks)::text from lexichord_data.run_file"
    assert value(connection, stored) == '(inserted,"",2)'


def test_a_file_named_twice_counts_once(connection: Connection) -> None:
    run = start(connection)
    record(connection, run, ["a", "b", "a"], "deleted")
    assert call(connection, "list_runs")[0]["deleted"] == 2


def test_finishing_closes_one_run(connection: Connection) -> None:
    first, second = start(connection), start(connection)
    call(connection, "finish_run", run_id=first)
    finished = {row["run_id"]: row["finished_at"] for row in call(connection, "list_runs")}
    assert finished[first] is not None
    assert finished[second] is None


def test_the_latest_come_first(connection: Connection) -> None:
    runs = [start(connection) for _ in range(7)]
    listed = [row["run_id"] for row in call(connection, "list_runs")]
    assert listed == runs[:1:-1]
    assert [row["run_id"] for row in call(connection, "list_runs", latest=2)] == runs[:4:-1]


@pytest.mark.parametrize(("run", "status"), [(1, "lost"), (99, "inserted")])
def test_an_unknown_status_or_run_is_an_error(
    connection: Connection, run: int, status: str
) -> None:
    start(connection)
    with pytest.raises(psycopg.IntegrityError), connection.transaction():
        record(connection, run, ["a"], status)


def test_a_run_without_a_sign_of_life_is_stalled(connection: Connection) -> None:
    def state() -> str:
        return str(call(connection, "list_runs")[0]["state"])

    run = start(connection)
    assert state() == "running"
    late = "update lexichord_data.run set seen_at = clock_timestamp() - interval '61 s'"
    connection.execute(late.encode())
    assert state() == "stalled"
    call(connection, "touch_run", run_id=run)
    assert state() == "running"
    connection.execute(late.encode())
    record(connection, run, ["a"], "inserted")
    assert state() == "running"
    connection.execute(late.encode())
    finish(connection, run)
    assert state() == "finished"


def test_an_interrupted_run_is_told_from_a_finished_one(connection: Connection) -> None:
    first, second = start(connection), start(connection)
    record(connection, first, ["/a"], "failed", reason="bad")
    finish(connection, first)
    for run in (first, second):  # what is finished stays so
        call(connection, "interrupt_run", run_id=run)
    listed = {row["run_id"]: row for row in call(connection, "list_runs")}
    assert [listed[run]["state"] for run in (first, second)] == ["finished", "interrupted"]
    assert listed[second]["finished_at"] is None
    assert failed(connection) == {"/a": "bad"}


def test_an_ingest_learns_that_it_was_cancelled(connection: Connection) -> None:
    run = start(connection)
    assert call(connection, "touch_run", run_id=run) == [{"touch_run": True}]
    call(connection, "cancel_run", run_id=run)
    assert call(connection, "touch_run", run_id=run) == [{"touch_run": False}]
    assert call(connection, "list_runs")[0]["state"] == "running"
    with pytest.raises(psycopg.DataError, match="is storing into"), connection.transaction():
        call(connection, "check_at_rest", dataset="contracts")  # for it may store something yet
    call(connection, "interrupt_run", run_id=run)
    assert call(connection, "list_runs")[0]["state"] == "interrupted"


@pytest.mark.parametrize("order", ["cancelled first", "cut off first"])
def test_a_cancelled_run_whose_process_is_gone_has_ended(
    connection: Connection, order: str
) -> None:
    run = start(connection)
    late = b"update lexichord_data.run set seen_at = clock_timestamp() - interval '61 s'"
    if order == "cut off first":
        connection.execute(late)
    call(connection, "cancel_run", run_id=run)
    connection.execute(late)
    assert call(connection, "list_runs")[0]["state"] == "interrupted"


def test_failed_are_those_whose_latest_record_says_so(connection: Connection) -> None:
    first = start(connection)
    record(connection, first, ["/a", "/b", "/c"], "failed", reason="bad")
    record(connection, first, ["/d"], "inserted")
    second = start(connection, source="/b")
    record(connection, second, ["/b"], "skipped")
    third = start(connection, source="/d")
    record(connection, third, ["/d"], "failed", reason="worse")
    other = start(connection, dataset="other")
    record(connection, other, ["/a"], "inserted")
    record(connection, other, ["/e"], "failed", reason="odd")
    assert failed(connection) == {"/a": "bad", "/c": "bad", "/d": "worse"}
    assert failed(connection, "other") == {"/e": "odd"}
    assert failed(connection, "none") == {}


def test_what_is_ingested_again_to_its_end_without_them_has_mended_them(
    connection: Connection,
) -> None:
    first = start(connection, source="x.jsonl")
    record(connection, first, ["x.jsonl:3"], "failed", reason="bad")
    finish(connection, first)
    finish(connection, start(connection, source="y.jsonl"))
    again = start(connection, source="x.jsonl")
    assert failed(connection) == {"x.jsonl:3": "bad"}
    finish(connection, again)
    assert failed(connection) == {}


def test_a_run_that_left_a_file_out_has_not_mended_it(connection: Connection) -> None:
    files = ["/rt/a.txt", "/rt/b.zip/c.txt", "C:\\rt\\d.txt"]
    first = start(connection, source="/rt")
    others = ["https://x.example/a", "x.jsonl:3", "document 3"]
    record(connection, first, [*files, *others], "failed", reason="bad")
    finish(connection, first)
    finish(connection, start(connection, source="/rt"))  # as by --include '*.pfd'
    assert set(failed(connection)) == set(files)
    for place, status in zip(files, ("inserted", "skipped", "deleted"), strict=True):
        assert place in failed(connection)
        record(connection, start(connection, source="/rt"), [place], status)
        assert place not in failed(connection)


def test_pruning_deletes_and_records_it(connection: Connection) -> None:
    run = start(connection, dataset="library", total=2)
    put(connection, "a", ["w1"])
    put(connection, "b", ["w1"])
    put(connection, "a", ["w1"], dataset="other")
    pruned = "select lexichord.prune_documents(%s, array['a', 'none'])"
    assert value(connection, pruned, run) == 1
    listed = call(connection, "list_documents")
    assert [(row["dataset"], row["uri"]) for row in listed] == [("library", "b"), ("other", "a")]
    latest = call(connection, "list_runs")[0]
    assert (latest["deleted"], latest["total"], latest["done"]) == (2, 4, 2)
    assert {row["amount"] for row in call(connection, "count_faults")} == {0}


def test_runs_are_listed_by_dataset_and_by_id_before_the_latest_are_taken(
    connection: Connection,
) -> None:
    runs = [start(connection, dataset) for dataset in ("a", "b", "a", "b", "c")]

    def listed(**arguments: Any) -> list[int]:
        return [row["run_id"] for row in call(connection, "list_runs", **arguments)]

    assert listed(datasets=["a"]) == [runs[2], runs[0]]
    assert listed(datasets=["a", "c"], latest=2) == [runs[4], runs[2]]
    assert listed(runs=[runs[1]]) == [runs[1]]
    assert listed(runs=[runs[1]], datasets=["a"]) == []
    assert listed(datasets=[]) == []
