"""The statistics of BM25 stay true, whoever writes, whatever fails, however many write at once."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Barrier

import psycopg
import pytest

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.types import Chunk, Document
from tests.sql.corpus import Connection, call, put, random_lines, small_segments, value
from tests.sql.oracle import check_statistics


def test_insert_replace_delete(connection: Connection) -> None:
    check_statistics(connection)
    put(connection, "a", ["w1 w2", "w2 w2 w3"], title="w9")
    check_statistics(connection)
    put(connection, "b", ["w1", "", "w4"], title="w9 w8")
    check_statistics(connection)
    put(connection, "a", ["w2", "w5 w5"], title="w7")
    put(connection, "a", ["w2", "w5 w5"], title="w7")
    check_statistics(connection)
    put(connection, "a", [], title="w7")
    check_statistics(connection)
    assert value(connection, "select lexichord.delete_documents(array[1, 2, 99])") == 2
    check_statistics(connection)
    assert value(connection, "select count(*) from lexichord_data.card_term") == 0


@pytest.mark.parametrize(
    "statement",
    [
        "delete from lexichord_data.chunk where ordinal = 1",
        "delete from lexichord_data.chunk",
        "delete from lexichord_data.document where uri = 'a'",
        "delete from lexichord_data.document",
        "delete from lexichord_data.dataset",
        "update lexichord_data.document set title = title",
        "update lexichord_data.chunk set heading = 'other'",
    ],
)
def test_direct_sql(connection: Connection, statement: str) -> None:
    put(connection, "a", ["w1 w2", "w2 w2 w3"])
    put(connection, "b", ["w1", "w4"], dataset="other")
    connection.execute(statement.encode())
    faults = {row["kind"]: row["amount"] for row in call(connection, "count_faults")}
    without = "chunk" in statement and "delete" in statement
    assert faults.pop("documents without chunks") == (
        value(connection, "select count(*) from lexichord_data.document")
        if without and "ordinal" not in statement
        else 0
    )
    assert set(faults.values()) == {0}
    if not without:
        check_statistics(connection)


def test_rollback(connection: Connection) -> None:
    put(connection, "a", ["w1 w2"])
    with connection.transaction(force_rollback=True):
        put(connection, "a", ["w3"])
        put(connection, "b", ["w1"])
        call(connection, "delete_documents", documents=[1])
        check_statistics(connection)
    check_statistics(connection)
    with pytest.raises(psycopg.errors.CheckViolation):
        store_and_spoil(connection)
    check_statistics(connection)


def store_and_spoil(connection: Connection) -> None:
    with connection.transaction():
        put(connection, "c", ["w1"])
        connection.execute("update lexichord_data.document set uri = ''")


@pytest.mark.parametrize(
    "statement",
    [
        "update lexichord_data.term set df = df + 1 where lexeme = 'w1'",
        "update lexichord_data.corpus set chunk_count = 7",
        "update lexichord_data.corpus set token_count = 7",
        "update lexichord_data.corpus set document_count = 7",
        "update lexichord_data.corpus set card_token_count = 7",
        "delete from lexichord_data.chunk",
        "update lexichord_data.card_term set card_length = 9 where lexeme = 'w1'",
    ],
)
def test_count_faults_sees_what_is_wrong(connection: Connection, statement: str) -> None:
    put(connection, "a", ["w1 w2"], [[1, 0, 0, 0]])
    call(connection, "build_indexes")
    assert call(connection, "find_problems") == []
    connection.execute(statement.encode())
    assert sum(row["amount"] for row in call(connection, "count_faults")) == 1
    assert len(call(connection, "find_problems")) == 1


async def test_many_writers_at_once(dsn: str, fresh: Connection) -> None:
    """All of them use the same few words, and the same few uris."""
    async with Database(dsn, 6) as database:
        run = await store.start_run(database, "many", "test", 1)
        writers = (write(database, run, Random(seed)) for seed in range(6))
        await asyncio.wait_for(asyncio.gather(*writers), 60)
    check_statistics(fresh)
    assert value(fresh, "select count(*) from lexichord_data.document") > 3


async def write(database: Database, run: int, random: Random) -> None:
    for _ in range(20):
        uri = f"uri{random.randrange(8)}"
        if random.random() < 0.25:
            rows = await database.call("find_documents", reference=uri)
            await store.delete_documents(database, [row["document_id"] for row in rows])
            continue
        lines = list(random_lines(random, random.randint(1, 4), words=60, longest=20))
        document = Document(
            f"set{random.randrange(2)}", uri, uri, "text/plain", "a" * 64, "r", "\n".join(lines)
        )
        chunks = [Chunk(0, len(line), line) for line in lines]
        await store.store_document(database, document, chunks, [None] * len(lines), run)


def test_a_known_lexeme_takes_no_other_id(fresh: Connection) -> None:
    for number in range(5):
        put(fresh, f"a{number}", ["w1 w2", "w2 w3"])
    assert value(fresh, "select max(id) from lexichord_data.term") == 3


def test_a_writer_waits_for_no_other(dsn: str, fresh: Connection) -> None:
    """Not in one dataset either, nor for the same words; for the same document it does."""
    put(fresh, "a", ["w1 w2 w3"])
    with psycopg.connect(dsn, autocommit=True) as other, other.transaction():
        put(other, "b", ["w1 w2"])
        fresh.execute("set lock_timeout = '2s'")
        put(fresh, "c", ["w2 w3"])
        call(fresh, "delete_documents", documents=[1])
        with pytest.raises(psycopg.errors.LockNotAvailable):
            put(fresh, "b", ["w1"])
    put(fresh, "b", ["w1"])
    check_statistics(fresh)


def test_whoever_holds_writers_waits_for_all_and_has_them_wait(dsn: str, fresh: Connection) -> None:
    fresh.execute("set lock_timeout = '1s'")
    # Its own is 30 s.
    fresh.execute("alter function lexichord.delete_documents set lock_timeout = '1s'")
    with psycopg.connect(dsn, autocommit=True) as other:
        with other.transaction():
            put(other, "a", ["w1"])
            with pytest.raises(psycopg.errors.LockNotAvailable):
                call(fresh, "hold_writers")
        with other.transaction():
            call(other, "hold_writers")
            for write in (
                "select lexichord.delete_documents('{1}')",
                "delete from lexichord_data.document",
            ):
                with pytest.raises(psycopg.errors.LockNotAvailable):
                    fresh.execute(write)
            assert len(call(fresh, "keyword_candidates", query="w1")) == 1


def test_folded_statistics_are_the_same(dsn: str, connection: Connection) -> None:
    for number in range(70):  # some are folded by the way
        put(connection, f"a{number % 9}", [f"w{number} w1"], dataset=f"set{number % 3}")
    assert value(connection, "select count(*) from lexichord_data.dataset_change") < 70
    put(connection, "b", ["w1 w70"])
    check_statistics(connection)
    assert value(connection, "select lexichord.fold_statistics()") is True
    check_statistics(connection)
    assert value(connection, "select count(*) from lexichord_data.term_change") == 0


def test_one_process_folds(dsn: str, fresh: Connection) -> None:
    put(fresh, "a", ["w1"])
    fold = "select lexichord.fold_statistics()"
    with psycopg.connect(dsn, autocommit=True) as other:
        with other.transaction():
            other.execute("set transaction isolation level repeatable read")
            assert value(other, fold) is False
        with other.transaction():
            assert value(other, fold) is True
            assert value(fresh, fold) is False
            check_statistics(fresh)
    check_statistics(fresh)


def test_who_folds_waits_for_nobody_that_changes_the_mean_length(
    dsn: str, fresh: Connection
) -> None:
    """Impacts are made anew under it, and then what another may just have sealed is waited for."""
    small_segments(fresh)
    for number in range(30):
        put(fresh, f"a{number}", ["w1 w2"])
    with (
        psycopg.connect(dsn, autocommit=True) as other,
        ThreadPoolExecutor(1) as pool,
        other.transaction(),
    ):
        with fresh.transaction():
            call(fresh, "seal_keywords")
            call(other, "refresh_impacts", anyway=True)
            unsealed = pool.submit(call, other, "unseal_keywords")
            assert value(fresh, "select lexichord.fold_statistics()") is False
        unsealed.result(10)
    check_statistics(fresh)


def test_who_folds_waits_for_nobody_that_counts_anew(dsn: str, fresh: Connection) -> None:
    """Both delete the changes and write the corpus' row: in another order that is a deadlock."""
    put(fresh, "a", ["w1"])
    call(fresh, "fold_statistics")
    put(fresh, "b", ["w2"])
    waiting = "select count(*) from pg_stat_activity where pid = %s and wait_event_type = 'Lock'"
    with ThreadPoolExecutor(1) as pool, psycopg.connect(dsn) as other:
        other.execute("select from lexichord_data.term for update")
        recounted = pool.submit(call, fresh, "recount")
        with psycopg.connect(dsn, autocommit=True) as third:
            while not value(third, waiting, fresh.info.backend_pid):
                assert not recounted.done()
            third.execute("set statement_timeout = '5s'")
            assert value(third, "select lexichord.fold_statistics()") is False
        other.commit()
        recounted.result(10)
    check_statistics(fresh)


def test_transactions_that_store_several_documents_in_one_order(
    dsn: str, fresh: Connection
) -> None:
    """Two datasets, both new, with the same words."""
    barrier = Barrier(2)

    def store_both(names: list[str]) -> None:
        with psycopg.connect(dsn, autocommit=True) as own, own.transaction():
            barrier.wait(10)
            for name in names:
                put(own, "a", ["w1 w2"], dataset=name)

    with ThreadPoolExecutor(2) as pool:
        for number in range(5):
            list(pool.map(store_both, [[f"x{number}", f"y{number}"]] * 2))
    check_statistics(fresh)
    assert value(fresh, "select count(*) from lexichord_data.document") == 10
