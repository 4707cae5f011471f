from typing import Any

import psycopg
import pytest

from tests.sql.corpus import Connection, call, value


def start(connection: Connection, dataset: str = "contracts") -> int:
    return int(
        value(connection, "select lexichord.start_run(dataset => %s, source => 'a b')", dataset)
    )


def record(connection: Connection, run: int, uris: list[str], status: str, **more: Any) -> None:
    call(connection, "record_files", run_id=run, uris=uris, status=status, **more)


def test_a_run_counts_its_files(connection: Connection) -> None:
    run = start(connection)
    record(connection, run, ["a", "b"], "inserted", chunks=3)
    record(connection, run, ["c"], "replaced")
    record(connection, run, ["d", "e", "f"], "skipped")
    record(connection, run, ["g"], "failed", reason="holds no text")
    listed = call(connection, "list_runs")[0]
    assert listed.pop("started_at") is not None
    assert listed == {
        "run_id": run,
        "dataset": "contracts",
        "source": "a b",
        "finished_at": None,
        "inserted": 2,
        "replaced": 1,
        "skipped": 3,
        "failed": 1,
        "failures": {"g": "holds no text"},
    }


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
