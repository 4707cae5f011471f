"""Through a pooler that lends a server's connection for one transaction: PgBouncer, as it is."""

import asyncio
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from lexichord import Lexichord
from lexichord.db.pool import Database
from lexichord.db.reembed import hold_reembed
from lexichord.db.server import scratch_database
from lexichord.errors import ConfigError
from lexichord.ingest.table_worker import TableWorker
from tests.end_to_end.hashing import Hashing
from tests.end_to_end.processes import wait_until
from tests.end_to_end.test_tables import ARTICLE, INDEX, SPACE, follow_with, stored
from tests.sql.corpus import Connection

CLIENTS = 8
CONFIGURATION = """
[databases]
{name} = {target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
"""


def pgbouncer() -> str:
    program = shutil.which("pgbouncer", path=os.environ["PATH"] + ":/usr/sbin")
    if program is None:
        pytest.skip("no pgbouncer on PATH")
    return program


@pytest.fixture
def pooled(dsn: str, tmp_path: Path) -> Iterator[str]:
    """The DSN of a prepared database through PgBouncer."""
    name = urlsplit(dsn).path[1:]
    parts = conninfo_to_dict(dsn)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    target = " ".join(f"{key}={value}" for key, value in parts.items())
    file = tmp_path / "pgbouncer.ini"
    file.write_text(CONFIGURATION.format(name=name, target=target, port=port))
    run = [pgbouncer(), str(file)]
    if os.getuid() == 0:  # PgBouncer refuses to be root, and reaches only the sockets that it may
        server = Path(str(parts.get("host", "")))
        run[1:1] = ["-u", server.owner() if server.is_dir() else "nobody"]
    with subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        address = f"postgresql://{parts['user']}@127.0.0.1:{port}/{name}"
        try:
            wait_until(lambda: answers(address))
            yield address
        finally:
            process.terminate()


def answers(address: str) -> bool:
    try:
        psycopg.connect(address).close()
    except psycopg.OperationalError:
        return False
    return True


async def test_clients_at_once_meet_no_statement_of_another(pooled: str) -> None:
    async def work(number: int) -> None:
        async with Lexichord(dsn=pooled) as lexichord:
            for turn in range(8):  # a driver prepares what it has run five times
                word = f"zebra{number}x{turn}"
                uri = f"{number}/{turn}.txt"
                chunks = [{"content": f"a {word} is here"}]
                await lexichord.ingest(documents=[{"uri": uri, "chunks": chunks}])
                hits = (await lexichord.search(word, mode="keyword")).hits
                assert [hit.uri for hit in hits] == [uri]
                assert (await lexichord.query(f"where is {word}?", mode="keyword")).hits

    await asyncio.gather(*(work(number) for number in range(CLIENTS)))
    async with Lexichord(dsn=pooled) as lexichord:
        assert (await lexichord.status()).documents == 8 * CLIENTS


async def test_a_worker_looks_by_itself_where_the_pooler_swallows_notifications(
    pooled: str, dsn: str
) -> None:
    with psycopg.connect(dsn, autocommit=True) as direct:
        direct.execute(ARTICLE.encode())
        direct.execute(INDEX.encode())
        async with Database(pooled, size=4) as database:
            worker = TableWorker(database, follow_with(Hashing(SPACE)))
            async with worker.in_background():
                for title in ("first", "second"):
                    direct.execute("insert into article (title) values (%s)", [title])
                    await asyncio.to_thread(wait_until, partial(is_stored, direct, title))
                statement = b"call lexichord.prepare_query('second', 30000)"
                await asyncio.to_thread(direct.execute, statement)
        direct.execute("update article set title = 'third' where title = 'first'")
        async with Database(pooled, size=4) as database:
            await TableWorker(database, follow_with(Hashing(SPACE))).run(until_idle=True)
        assert titles(direct) == {"second", "third"}
        assert direct.execute("select from lexichord.list_workers()").fetchall() == []


def is_stored(connection: Connection, title: str) -> bool:
    return title in titles(connection)


def titles(connection: Connection) -> set[str]:
    return {row[1] for row in stored(connection)}


async def test_what_needs_a_session_says_so(pooled: str) -> None:
    async with Database(pooled, 2) as database:
        with pytest.raises(ConfigError, match="leads through a connection pooler"):
            async with hold_reembed(database):
                pass
    with (
        pytest.raises(ConfigError, match="leads through a connection pooler"),
        scratch_database(pooled),
    ):
        pass
