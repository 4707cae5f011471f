"""What a query may take of the database, and servers that go away without a word."""

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.pq import PipelineStatus, TransactionStatus

from lexichord import SyncLexichord
from lexichord.db.pool import TCP_OPTIONS, Database
from lexichord.db.session import MIN_CALL_SECONDS, time_limit
from lexichord.errors import ConfigError, DatabaseError, DatabaseTimeoutError

ACTIVE = TransactionStatus.ACTIVE
MAX_TABLE_LOCK_SECONDS = 20  # the function waits for 5
RUNNING = "select count(*) from pg_stat_activity where datname = current_database() and state = %s"


@contextmanager
def locked_chunks(dsn: str) -> Iterator[psycopg.Connection]:
    """Hold back whoever reads chunks."""
    with psycopg.connect(dsn) as connection:
        connection.execute("lock table lexichord_data.chunk in access exclusive mode")
        yield connection
        connection.rollback()


def test_a_query_is_stopped_in_the_server(plain: SyncLexichord, dsn: str) -> None:
    plain.ingest(documents=[{"uri": "a.md", "text": "The zebra has stripes."}])
    assert plain.query("zebra").hits
    with locked_chunks(dsn) as connection:
        started = monotonic()
        with pytest.raises(DatabaseTimeoutError, match="longer than the time for it"):
            plain.query("zebra", budget_ms=1)
        assert MIN_CALL_SECONDS <= monotonic() - started < 4 * MIN_CALL_SECONDS
        (waiting,) = connection.execute(RUNNING, ["active"]).fetchone() or ()
        assert waiting == 1  # this one that asks
    assert plain.query("zebra").hits


def test_the_limit_ends_with_its_call(plain: SyncLexichord) -> None:
    plain.ingest(documents=[{"uri": "a.md", "text": "The zebra has stripes."}])
    plain.query("zebra")
    rows = plain.run(show(plain, "statement_timeout"))
    assert rows == {"0"}


async def show(lexichord: SyncLexichord, setting: str) -> set[str]:
    async with lexichord.core.database.transaction() as connection:
        cursor = await connection.execute(f"show {setting}".encode())
        return {str(row[setting]) for row in await cursor.fetchall()}


def test_what_the_database_refuses_is_said_under_a_limit(plain: SyncLexichord) -> None:
    with pytest.raises(ConfigError, match="candidates of a channel"):
        plain.search("zebra", k=900, depth=100)
    with pytest.raises(ConfigError, match="1025 distinct words, at most 1024: shorten it"):
        plain.query(" ".join(f"word{number}" for number in range(1025)))


def test_who_waits_for_a_lock_is_told(plain: SyncLexichord, dsn: str) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute("create table public.article (id int primary key, body text)")
        connection.commit()
        connection.execute("insert into public.article values (1, 'a row that is not committed')")
        started = monotonic()
        with pytest.raises(DatabaseError, match="another session holds what this changes"):
            plain.run(index_articles(plain))
        assert monotonic() - started < MAX_TABLE_LOCK_SECONDS
        connection.rollback()
    plain.run(index_articles(plain))


async def index_articles(lexichord: SyncLexichord) -> None:
    database = lexichord.core.database
    await database.call("index_table", source="public.article", text=["body"])


SOCKET_OPTIONS = {
    "keepalives_idle": "TCP_KEEPIDLE",
    "keepalives_interval": "TCP_KEEPINTVL",
    "keepalives_count": "TCP_KEEPCNT",
    "tcp_user_timeout": "TCP_USER_TIMEOUT",
}


@pytest.fixture
def over_tcp(dsn: str) -> str:
    """The address of a database that is reached over a network."""
    with psycopg.connect(dsn) as connection:
        if not connection.info.host.startswith("/"):
            return dsn
    pytest.skip("the server listens on a socket alone, which does not go silent")


async def asked(dsn: str) -> dict[str, int]:
    """Return what the system was asked for on a connection of the pool."""
    async with Database(dsn, 1) as database, database.transaction() as connection:
        with socket.socket(fileno=os.dup(connection.fileno())) as end:
            return {
                name: end.getsockopt(socket.IPPROTO_TCP, getattr(socket, option))
                for name, option in SOCKET_OPTIONS.items()
            }


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux has all four")
async def test_a_connection_asks_whether_the_server_is_there(over_tcp: str) -> None:
    assert await asked(over_tcp) == TCP_OPTIONS
    own = make_conninfo(over_tcp, keepalives_idle=77, tcp_user_timeout=9000)
    wanted = TCP_OPTIONS | {"keepalives_idle": 77, "tcp_user_timeout": 9000}
    assert await asked(own) == wanted


async def give_up(call: asyncio.Task[object]) -> None:
    call.cancel()
    await asyncio.wait([call])


async def test_a_call_that_is_given_up_leaves_its_connection_fit(
    plain: SyncLexichord, dsn: str
) -> None:
    """Under a limit a call is a pipeline: what is left in one has what is stored next inside it."""
    async with Database(dsn, 1) as database:
        for turns in range(30):
            with time_limit(60):
                given_up = asyncio.create_task(database.call("count_faults"))
            for _ in range(turns):
                await asyncio.sleep(0)
            await give_up(given_up)
            async with database.transaction() as connection:
                assert connection.pgconn.pipeline_status == PipelineStatus.OFF, turns
            await asyncio.sleep(0.1)  # the driver gives others a turn where it has not of late


async def test_a_call_that_is_given_up_at_its_end_leaves_no_transaction(
    plain: SyncLexichord, dsn: str
) -> None:
    """Rows so many that the driver gives others a turn between them and the pipeline's end."""
    documents = [{"uri": f"{number}.md", "text": f"word{number}"} for number in range(400)]
    plain.ingest(documents=documents)
    async with Database(dsn, 1) as database:
        async with database.transaction() as connection:
            pgconn = connection.pgconn
        with time_limit(60):
            given_up = asyncio.create_task(database.call("list_documents", page_size=400))
        for is_active in (False, True):
            while (pgconn.transaction_status == ACTIVE) is is_active:  # noqa: ASYNC110 - each turn
                await asyncio.sleep(0)
        assert not given_up.done()
        await give_up(given_up)
        async with database.transaction() as connection:
            cursor = await connection.execute("show statement_timeout")
            assert await cursor.fetchall() == [{"statement_timeout": "0"}]
