"""Searches on a standby of the embedded server's programs, made by pg_basebackup."""

import asyncio
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from os import kill
from pathlib import Path

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import pool, replica
from lexichord.db.embedded import PROGRAMS, EmbeddedServer
from lexichord.db.pool import Database
from lexichord.db.postmaster import find_postmaster, postmaster_url
from lexichord.db.schema import Choice, prepare
from lexichord.db.search import hybrid_search
from lexichord.errors import ConfigError, DatabaseError, EmbeddingMismatchError
from lexichord.serve.http import POSITION_HEADER
from lexichord.types import EmbeddingSpace
from lexichord.types.base import ID_EXAMPLE
from lexichord.types.questions import Question
from tests.end_to_end.client import documents, word
from tests.end_to_end.conftest import new_home
from tests.http.server import Server, finished
from tests.postmasters import end_postmaster, give, running

SPACE = EmbeddingSpace("test", "tiny", 4)
ASKED = "select calls from pg_stat_user_functions where funcname = 'hybrid_search'"
IS_FRESH = "select true where pg_last_xact_replay_timestamp() > clock_timestamp() - interval '5 s'"
# Waits on a standby alone, amid a statement that has begun to read.
SLOW = """
create function lexichord.slow() returns boolean language plpgsql set search_path = pg_catalog as $$
begin
    perform pg_sleep(4) where pg_is_in_recovery();
    return pg_is_in_recovery();
end $$
"""
IS_THERE = "select to_regprocedure('lexichord.slow()') is not null"
IS_SLOW = "select true from pg_stat_activity where wait_event = 'PgSleep'"
MANY_DOCUMENTS = 20
SECONDS = 20.0  # for what comes by itself


@dataclass(frozen=True)
class Pair:
    """A primary and its standby, the folder of each and its address."""

    primary_data: Path
    standby_data: Path
    primary: str
    standby: str

    def lexichord(self) -> SyncLexichord:
        return SyncLexichord(dsn=self.primary, read_dsn=self.standby)

    def searches(self, dsn: str) -> int:
        """Count the searches that a server did itself; both count for themselves."""
        with psycopg.connect(dsn) as connection:
            row = connection.execute(ASKED).fetchone()
        return row[0] if row else 0


@pytest.fixture(scope="module")
def _pair() -> Iterator[Path]:
    """A primary with documents and its standby, both stopped."""
    with new_home() as home:
        data = home / "primary"
        data.mkdir()
        server = EmbeddedServer(data)
        server.ensure_pgdata_inited()
        user = server.system_user
        settings = {"track_functions": "all", "wal_level": "replica"}
        with running(data, user, **settings) as info:
            primary = postmaster_url(info, "postgres")
            prepare(primary, Choice(space=SPACE))
            with SyncLexichord(dsn=primary) as lexichord:
                lexichord.ingest(documents=documents(0, MANY_DOCUMENTS))
            base = [str(PROGRAMS / "pg_basebackup"), "-D", str(home / "standby"), "-R"]
            subprocess.run([*base, "-d", primary, "-c", "fast"], check=True, capture_output=True)
            for lock in (home / "standby").glob(".s.PGSQL.*"):
                lock.unlink()
            give(home / "standby", user)
        yield home


@pytest.fixture
def pair(_pair: Path) -> Iterator[Pair]:
    with new_home(_pair) as home, ExitStack() as stack:
        data, copy = home / "primary", home / "standby"
        leads = copy / "postgresql.auto.conf"
        leads.write_text(leads.read_text().replace(str(_pair), str(home)))
        user = EmbeddedServer(data).system_user
        urls = [
            postmaster_url(stack.enter_context(running(folder, user)), "postgres")
            for folder in (data, copy)
        ]
        yield Pair(data, copy, *urls)


def within(is_so: Callable[[], bool]) -> bool:
    end = time.monotonic() + SECONDS
    while not is_so() and time.monotonic() < end:
        time.sleep(0.1)
    return is_so()


def answers(dsn: str, statement: str) -> Callable[[], bool]:
    """Return what tells whether a statement gives true on a server."""

    def does() -> bool:
        with psycopg.connect(dsn) as connection:
            row = connection.execute(statement.encode()).fetchone()
        return row is not None and bool(row[0])

    return does


def first(lexichord: SyncLexichord, number: int) -> str:
    return lexichord.search(word(number), mode="keyword", k=1).hits[0].uri


def stop_now(data: Path) -> None:
    """Kill a server as a machine that fails would."""
    info = find_postmaster(data)
    assert info
    kill(info.pid, signal.SIGQUIT)
    assert within(lambda: find_postmaster(data) is None)


def test_searches_go_to_the_standby_and_see_what_was_just_stored(pair: Pair) -> None:
    before = pair.searches(pair.primary)
    with pair.lexichord() as lexichord:
        for number in range(MANY_DOCUMENTS):
            assert first(lexichord, number) == f"doc/{number:04d}"
        assert pair.searches(pair.primary) == before
        for number in range(MANY_DOCUMENTS, MANY_DOCUMENTS + 5):
            lexichord.ingest(documents=documents(number, number + 1))
            assert first(lexichord, number) == f"doc/{number:04d}"
            assert len(lexichord.list()) == number + 1
            lexichord.delete([f"doc/{number - MANY_DOCUMENTS:04d}"])
            assert not lexichord.search(word(number - MANY_DOCUMENTS), mode="keyword").hits
            lexichord.ingest(documents=documents(number - MANY_DOCUMENTS, number - 19))
        result = lexichord.query(word(3), mode="keyword")
        assert result.hits[0].uri == "doc/0003"
        assert not [line for line in result.degraded if "replica" in line]
    with SyncLexichord(dsn=pair.standby) as alone:
        assert first(alone, 3) == "doc/0003"
        assert not alone.doctor().problems


def replicas(database: Database) -> replica.Replicas:
    assert database.replica
    return database.replica


async def test_what_was_under_way_while_others_read_is_found_once_it_is_stored(pair: Pair) -> None:
    with psycopg.connect(pair.standby, autocommit=True) as standby:
        async with Database(pair.primary, 2, read_dsn=pair.standby) as database:
            async with database.transaction() as connection:
                await connection.execute(
                    "insert into lexichord_data.dataset (name) values ('late')"
                )
                end = time.monotonic() + SECONDS
                while not any(one.is_fit for one in replicas(database).known.values()):
                    assert time.monotonic() < end
                    await database.read("list_datasets")
                standby.execute("select pg_wal_replay_pause()")
            found = await database.read("list_datasets")
    assert "late" in {row["dataset"] for row in found}


def test_a_standby_that_is_behind_says_so(pair: Pair) -> None:
    with (
        psycopg.connect(pair.standby, autocommit=True) as standby,
        psycopg.connect(pair.primary, autocommit=True) as primary,
        pair.lexichord() as lexichord,
    ):
        assert first(lexichord, 1) == "doc/0001"
        standby.execute("select pg_wal_replay_pause()")
        primary.execute("create table other ()")
        time.sleep(replica.MIN_SHOWN_LAG_SECONDS + replica.LOOK_SECONDS + 0.5)
        result = lexichord.search(word(2), mode="keyword")
        assert result.hits[0].uri == "doc/0002"
        assert [line for line in result.degraded if line.startswith("the replica is up to ")]
        # What it did not get yet is found all the same by who stored it.
        lexichord.ingest(documents=documents(MANY_DOCUMENTS, MANY_DOCUMENTS + 1))
        assert first(lexichord, MANY_DOCUMENTS) == f"doc/{MANY_DOCUMENTS:04d}"
        standby.execute("select pg_wal_replay_resume()")
        assert within(lambda: not lexichord.search(word(2), mode="keyword").degraded)


@contextmanager
def paused(pair: Pair) -> Iterator[None]:
    """Hold a standby where it is: not far behind, so that it is asked all the same."""
    with (
        psycopg.connect(pair.primary, autocommit=True) as primary,
        psycopg.connect(pair.standby, autocommit=True) as standby,
    ):
        primary.execute("select pg_logical_emit_message(true, '', '')")
        assert within(lambda: bool(standby.execute(IS_FRESH).fetchone()))
        standby.execute("select pg_wal_replay_pause()")
        yield
        standby.execute("select pg_wal_replay_resume()")


def test_what_another_program_stored_is_waited_for_by_who_names_its_position(pair: Pair) -> None:
    new = f"doc/{MANY_DOCUMENTS:04d}"
    with SyncLexichord(dsn=pair.primary) as writer, pair.lexichord() as reader:
        assert first(reader, 1) == "doc/0001"
        with paused(pair):
            report = writer.ingest(documents=documents(MANY_DOCUMENTS, MANY_DOCUMENTS + 1))
            assert report.position
            assert not reader.search(word(MANY_DOCUMENTS), mode="keyword").hits
            with reader.reading_after(report.position):
                assert first(reader, MANY_DOCUMENTS) == new
        assert within(lambda: not reader.search(word(1), mode="keyword").degraded)
        before = pair.searches(pair.primary)
        with reader.reading_after(report.position):
            assert first(reader, MANY_DOCUMENTS) == new
        assert pair.searches(pair.primary) == before
        with paused(pair):
            writer.delete([new])
            position = writer.position()
            stop_now(pair.primary_data)
            with reader.reading_after(position):
                result = reader.query(word(MANY_DOCUMENTS), mode="keyword")
            assert (result.hits[0].uri, result.degraded.count(replica.MISSED)) == (new, 1)


async def test_of_several_standbys_each_is_looked_at_where_it_reads(pair: Pair) -> None:
    """One is behind and the other is not; what was stored is found whichever is asked."""
    with second_standby(pair) as second, paused(pair):
        folders = [dsn.partition("host=")[2] for dsn in (pair.standby, second)]
        several = f"{second.partition('?')[0]}?host={','.join(folders)}&load_balance_hosts=random"
        async with Database(pair.primary, 2 * MANY_DOCUMENTS, read_dsn=several) as database:
            end = time.monotonic() + SECONDS
            while len(replicas(database).known) < 2:
                assert time.monotonic() < end
                await read_at_once(database)
            position = await database.position()
            with database.reading_after(position):
                await read_at_once(database)
            for number in range(5):
                async with database.transaction() as connection:
                    statement = f"insert into lexichord_data.dataset (name) values ('n{number}')"
                    await connection.execute(statement.encode())
                for found in await read_at_once(database):
                    assert f"n{number}" in found
            assert sum(one.is_fit for one in replicas(database).known.values()) == 1


@contextmanager
def second_standby(pair: Pair) -> Iterator[str]:
    """Start a copy of the standby beside it, and yield its address."""
    user, copy = EmbeddedServer(pair.primary_data).system_user, pair.standby_data.parent / "second"
    end_postmaster(pair.standby_data, PROGRAMS, user)
    subprocess.run(["cp", "-a", pair.standby_data, copy], check=True)
    with running(pair.standby_data, user), running(copy, user) as info:
        yield postmaster_url(info, "postgres")


async def read_at_once(database: Database) -> list[set[str]]:
    """Ask for the datasets by many connections, whatever the standbys they lead to."""
    asked = [database.read("list_datasets") for _ in range(MANY_DOCUMENTS)]
    return [{row["dataset"] for row in found} for found in await asyncio.gather(*asked)]


def test_over_http_a_header_names_it(pair: Pair) -> None:
    with (
        new_home() as home,
        Server(pair.primary, home) as writing,
        Server(pair.primary, home, read_dsn=pair.standby) as reading,
        writing.client() as writer,
        reading.client() as reader,
    ):
        (document,) = reader.get("/v1/documents?limit=1").json()["documents"]
        place, asked = f"/v1/documents/{document['document_id']}", {"query": word(0), "k": 1}
        with paused(pair):
            changed = writer.patch(place, json={"metadata": {"year": 2026}})
            header = {POSITION_HEADER: changed.headers[POSITION_HEADER]}
            assert "year" not in reader.get(place).json()["metadata"]
            assert reader.get(place, headers=header).json()["metadata"]["year"] == 2026
            job = writer.post("/v1/documents", json={"documents": [{"uri": "new", "text": "gnu"}]})
            finished(writer, job.json())
            done = writer.get(job.headers["location"])
            header = {POSITION_HEADER: done.headers[POSITION_HEADER]}
            assert reader.post("/v1/search", json={"query": "gnu"}, headers=header).json()["hits"]
            gone = writer.delete(place)
            header = {POSITION_HEADER: gone.headers[POSITION_HEADER]}
            assert reader.post("/v1/search", json=asked).json()["hits"]
            assert not reader.post("/v1/search", json=asked, headers=header).json()["hits"]
        refused = reader.get(place, headers={POSITION_HEADER: ID_EXAMPLE["position"]})
        assert refused.status_code == 400
        assert refused.json()["error"]["message"].startswith("there is no position position_")


def test_one_server_that_fails_leaves_the_other(pair: Pair) -> None:
    with pair.lexichord() as lexichord:
        assert first(lexichord, 1) == "doc/0001"
        stop_now(pair.standby_data)
        result = lexichord.search(word(2), mode="keyword")
        assert (result.hits[0].uri, result.degraded) == ("doc/0002", [replica.GONE])


async def test_what_a_standby_refuses_the_primary_may_know(pair: Pair) -> None:
    """A vector of the space to which the database has just changed, as one that lags sees it."""
    made = EmbeddingSpace("test", "new", 4)
    question = Question("x", [1.0, 0, 0, 0], space=str(made), mode="dense")
    async with Database(pair.primary, 2, read_dsn=pair.standby) as database:
        with paused(pair), psycopg.connect(pair.primary, autocommit=True) as primary:
            primary.execute("update lexichord_data.embedding_space set model = 'new'")
            assert len(await hybrid_search(database, question)) == question.k
            assert not replicas(database).is_lost
            stop_now(pair.primary_data)
            with pytest.raises(EmbeddingMismatchError):
                await hybrid_search(database, question)


async def test_a_search_that_replay_has_ended_is_done_by_the_primary(pair: Pair) -> None:
    """VACUUM removes on the standby, too, what a search there may still read."""
    with psycopg.connect(pair.standby, autocommit=True) as standby:
        standby.execute("alter system set max_standby_streaming_delay = 0")
        standby.execute("select pg_reload_conf()")
    with psycopg.connect(pair.primary, autocommit=True) as primary:
        primary.execute(SLOW)
        primary.execute("create table old as select generate_series(1, 1000)")
        assert within(answers(pair.standby, "select to_regclass('old') is not null"))
        async with Database(pair.primary, 2, read_dsn=pair.standby) as database:
            slow = asyncio.create_task(database.read("slow"))
            await asyncio.to_thread(within, answers(pair.standby, IS_SLOW))
            await asyncio.to_thread(primary.execute, "delete from old")
            await asyncio.to_thread(primary.execute, "vacuum old")
            assert await slow == [{"slow": False}]
            assert not replicas(database).is_lost


async def test_a_busy_standby_is_not_taken_for_a_lost_one(pair: Pair) -> None:
    with psycopg.connect(pair.primary, autocommit=True) as primary:
        primary.execute(SLOW)
    async with Database(pair.primary, 1, read_dsn=pair.standby) as database:
        await asyncio.to_thread(within, answers(pair.standby, IS_THERE))
        slow = asyncio.create_task(database.read("slow"))
        await asyncio.to_thread(within, answers(pair.standby, IS_SLOW))
        assert len(await database.read("list_datasets")) == 1
        assert (replicas(database).is_lost, database.notes()) == (False, [])
        assert await slow == [{"slow": True}]


async def test_who_finds_all_connections_in_use_is_told_so_in_time(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "CONNECT_TIMEOUT_SECONDS", 2.0)
    async with Database(pair.primary, 1) as database, database.transaction():
        start = time.monotonic()
        with pytest.raises(DatabaseError, match="all 1 connections to the database are in use"):
            await database.call("list_datasets")
        assert time.monotonic() - start < 4.0
        assert database.connections()["lent"] == 1
    assert database.connections()["lent"] == 0


def test_a_primary_that_fails_leaves_searches_and_its_standby_takes_over(pair: Pair) -> None:
    both = f"{pair.primary.partition('?')[0]}?" + "host={}&target_session_attrs=read-write"
    hosts = ",".join(dsn.partition("host=")[2] for dsn in (pair.primary, pair.standby))
    with SyncLexichord(dsn=both.format(hosts), read_dsn=pair.standby) as lexichord:
        assert first(lexichord, 1) == "doc/0001"
        stop_now(pair.primary_data)
        for number in range(MANY_DOCUMENTS):
            assert first(lexichord, number) == f"doc/{number:04d}"
        assert lexichord.query(word(1)).hits[0].uri == "doc/0001"
        assert within(lambda: replica.ALONE in lexichord.search("x", mode="keyword").degraded)
        with psycopg.connect(pair.standby, autocommit=True) as standby:
            standby.execute("select pg_promote()")
        lexichord.ingest(documents=documents(MANY_DOCUMENTS, MANY_DOCUMENTS + 1))
        assert first(lexichord, MANY_DOCUMENTS) == f"doc/{MANY_DOCUMENTS:04d}"
        assert lexichord.search("x", mode="keyword").degraded == []
        assert not lexichord.doctor().problems


def test_one_that_is_late_or_lost_is_asked_again_in_time() -> None:
    asked = replica.Replica(awaited="0/1")
    state = {"is_replica": True, "is_following": True, "seconds": 0.0, "reached": False}
    asked.judge(state)
    assert (asked.is_fit, asked.is_due, asked.note, asked.awaited) == (False, True, None, "0/1")
    asked.judge({**state, "reached": True, "seconds": replica.MAX_LAG_SECONDS})
    assert (asked.is_fit, asked.is_due, asked.awaited) == (True, False, None)
    assert asked.note == "the replica is up to 30 s behind"
    asked.judge({**state, "reached": True, "seconds": replica.MAX_LAG_SECONDS + 1})
    assert (asked.is_fit, asked.note) == (False, replica.LATE.format(seconds=31))
    both = replica.Replicas()
    assert (both.at(("a", "", 1)) is both.at(("a", "", 1)), both.is_lost) == (True, False)
    both.lose()
    assert (both.is_lost, both.notes()) == (True, [replica.GONE])


def test_what_was_stored_last_may_be_missing_after_its_primary_failed(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "LOOK_SECONDS", 60.0)  # it was looked at a moment ago
    with pair.lexichord() as lexichord:
        assert first(lexichord, 1) == "doc/0001"
        with paused(pair):
            assert first(lexichord, 1) == "doc/0001"
            lexichord.ingest(documents=documents(MANY_DOCUMENTS, MANY_DOCUMENTS + 1))
            stop_now(pair.primary_data)
            for _ in range(2):
                result = lexichord.search(word(MANY_DOCUMENTS), mode="keyword")
                assert (result.hits, result.degraded) == ([], [replica.MISSED])


def test_what_a_standby_that_took_over_never_had_is_said_to_be_lost(pair: Pair) -> None:
    with psycopg.connect(pair.standby, autocommit=True) as standby:
        standby.execute("alter system set primary_conninfo = ''")
        standby.execute("select pg_reload_conf()")
        assert within(answers(pair.standby, "select count(*) = 0 from pg_stat_wal_receiver"))
        with SyncLexichord(dsn=pair.primary) as writer:
            position = writer.ingest(
                documents=documents(MANY_DOCUMENTS, MANY_DOCUMENTS + 5)
            ).position
        stop_now(pair.primary_data)
        standby.execute("select pg_promote()")
    with (
        SyncLexichord(dsn=pair.standby, read_dsn=pair.standby) as reader,
        reader.reading_after(str(position)),
    ):
        result = reader.search(word(MANY_DOCUMENTS), mode="keyword")
    assert (result.hits, result.degraded) == ([], [replica.LOST])


def test_another_database_is_no_replica(pair: Pair) -> None:
    with psycopg.connect(pair.primary, autocommit=True) as primary:
        primary.execute("create database other")
    other = pair.primary.replace("/postgres?", "/other?")
    prepare(other, Choice(space=SPACE))
    with (
        SyncLexichord(dsn=pair.primary, read_dsn=other) as lexichord,
        pytest.raises(ConfigError, match="leads to another database"),
    ):
        lexichord.search("x", mode="keyword")
    unread = "LEXICHORD_READ_DSN cannot be read: write postgresql"
    for wrong in (
        "postgresql://me:secret@standby:port/db",
        "postgresql://[me:secret",
        "me=my sign",
    ):
        with pytest.raises(ConfigError, match=unread) as raised:
            SyncLexichord(dsn=pair.primary, read_dsn=wrong).open()
        assert "secret" not in str(raised.value)
    with SyncLexichord(dsn=pair.primary, read_dsn="") as lexichord:
        assert lexichord.search(word(1), mode="keyword").degraded == []
