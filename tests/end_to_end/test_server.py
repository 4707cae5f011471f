"""The life of the embedded server: who starts it, who shares it, who stops it."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM
from threading import Event
from time import monotonic, sleep

import psutil
import psycopg
import pytest
from psycopg.rows import dict_row

from lexichord import Lexichord, SyncLexichord
from lexichord.db.embedded import running_url
from lexichord.db.pool import CONNECT_TIMEOUT_SECONDS
from lexichord.db.postmaster import STALE_LOCK_SECONDS, Machine, ServerSettings, find_postmaster
from lexichord.db.server import start_server, stop_server
from lexichord.errors import DatabaseError
from lexichord.settings import Settings, load_settings
from tests.end_to_end.client import SPACE
from tests.end_to_end.processes import Client, kill_postmaster, postmaster, wait_until

MANY = "generate_series(1, 1_500_000) as n"


def attached(home: Path) -> list[int]:
    pids: list[int] = json.loads((home / "postgres" / ".handle_pids.json").read_text())
    return pids


def settings_of(home: Path) -> Settings:
    return load_settings(home=home)


def setting(lexichord: SyncLexichord, name: str) -> str:
    with psycopg.connect(lexichord.core.database.dsn) as connection:
        row = connection.execute("select current_setting(%s)", [name]).fetchone()
    assert row is not None
    return str(row[0])


def test_the_last_process_to_leave_stops_the_server(prepared_home: Path) -> None:
    with Client(prepared_home, "hold") as first:
        server = postmaster(prepared_home)
        assert server is not None
        with Client(prepared_home, "hold") as second:
            assert postmaster(prepared_home) == server
            assert attached(prepared_home) == [first.process.pid, second.process.pid]
            first.rest()
            assert postmaster(prepared_home) == server
            second.rest()
            assert postmaster(prepared_home) is None


async def test_several_open_at_once_share_the_server(prepared_home: Path) -> None:
    """Each opens in a thread of its own; none may stop the server under another."""
    several = [Lexichord(home=prepared_home) for _ in range(4)]
    await asyncio.gather(*(lexichord.__aenter__() for lexichord in several))
    for number, lexichord in enumerate(several):
        await lexichord.__aexit__()
        for other in several[number + 1 :]:
            assert (await other.status()).documents == 0
    assert postmaster(prepared_home) is None


def test_killed_processes_are_forgotten(prepared_home: Path) -> None:
    with Client(prepared_home, "hold") as killed, Client(prepared_home, "hold") as unreaped:
        unreaped.kill()  # and not waited for: a zombie is as dead
        killed.kill()
        killed.process.wait()
        wait_until(lambda: psutil.Process(unreaped.process.pid).status() == psutil.STATUS_ZOMBIE)
        assert len(attached(prepared_home)) == 2
        with SyncLexichord(home=prepared_home):
            assert attached(prepared_home) == [os.getpid()]
        assert postmaster(prepared_home) is None


def test_a_server_that_came_after_a_crash_is_stopped_too(prepared_home: Path) -> None:
    """The first client knew another server process than the one that it leaves."""
    with Client(prepared_home, "hold") as client:
        kill_postmaster(prepared_home)
        with SyncLexichord(home=prepared_home) as lexichord:
            assert lexichord.status().documents == 0
        assert postmaster(prepared_home) is not None
        client.rest()
        assert postmaster(prepared_home) is None


def test_another_process_under_the_number_of_a_crashed_server_is_not_taken_for_it(
    prepared_home: Path,
) -> None:
    """As in a container, where numbers are few."""
    with Client(prepared_home, "hold") as client:
        client.kill()
        kill_postmaster(prepared_home)
    with subprocess.Popen(["sleep", "60"]) as other:
        file = prepared_home / "postgres" / "postmaster.pid"
        _, *lines = file.read_text().splitlines()
        file.write_text("\n".join([str(other.pid), *lines]))
        assert find_postmaster(prepared_home / "postgres") is None
        if os.geteuid() == 0:  # else Postgres itself takes it for a server: it may signal to it
            with SyncLexichord(home=prepared_home) as lexichord:
                assert lexichord.status().documents == 0
        other.kill()


def test_a_first_start_that_was_killed_is_made_again(bare_home: Path) -> None:
    """What initdb leaves half done never starts."""
    code = "import sys; from lexichord import SyncLexichord as S; from pathlib import Path; "
    code += "S(home=Path(sys.argv[1])).__enter__()"
    run = [sys.executable, "-c", code, str(bare_home)]
    with subprocess.Popen(run, start_new_session=True) as first:
        wait_until((bare_home / "postgres-init/global/pg_control").exists)
        os.killpg(first.pid, SIGKILL)
    with SyncLexichord(home=bare_home, embedding=SPACE) as lexichord:
        assert lexichord.status().documents == 0
    assert not (bare_home / "postgres-init").exists()


def test_started_it_stays_up_until_it_is_stopped(prepared_home: Path) -> None:
    settings = settings_of(prepared_home)
    dsn = start_server(settings)
    server = postmaster(prepared_home)
    assert server is not None
    assert start_server(settings) == dsn
    for home in (prepared_home, prepared_home):
        with SyncLexichord(home=home):
            assert postmaster(prepared_home) == server
        assert postmaster(prepared_home) == server
    with Client(prepared_home, "hold") as client:
        client.rest()
        assert postmaster(prepared_home) == server
    with psycopg.connect(dsn) as connection:
        connection.execute("select lexichord.configuration()")
    assert stop_server(settings) is True
    assert postmaster(prepared_home) is None
    assert stop_server(settings) is False
    with SyncLexichord(home=prepared_home):
        pass
    assert postmaster(prepared_home) is None


def test_it_is_stopped_under_those_who_use_it(prepared_home: Path) -> None:
    with SyncLexichord(home=prepared_home), Client(prepared_home, "hold") as client:
        assert stop_server(settings_of(prepared_home)) is True
        assert postmaster(prepared_home) is None
        client.rest()
        assert client.process.returncode == 0
        assert "Traceback" not in client.errors()


def test_who_needs_a_dead_server_starts_it(prepared_home: Path) -> None:
    with SyncLexichord(home=prepared_home) as lexichord, ThreadPoolExecutor(8) as clients:
        lexichord.ingest(documents=[{"uri": "a.md", "text": "The zebra has stripes."}])
        for _ in range(2):
            kill_postmaster(prepared_home)
            started = monotonic()
            found = clients.map(lambda _: lexichord.search("zebra", mode="keyword"), range(16))
            assert {hit.uri for result in found for hit in result.hits} == {"a.md"}
            assert monotonic() - started < CONNECT_TIMEOUT_SECONDS  # nobody waited for the pool
    assert postmaster(prepared_home) is None


@pytest.fixture
def hung_home(prepared_home: Path) -> Iterator[Path]:
    """A server that was stopped while it recovered from a crash: by itself it never ends."""
    data = prepared_home / "postgres"
    with Client(prepared_home, "hold") as client:
        with psycopg.connect(running_url(prepared_home) or "", autocommit=True) as connection:
            connection.execute("create table large as select md5(n::text) from " + MANY)
            os.kill(connection.info.backend_pid, SIGKILL)
        wait_until(lambda: "redo starts" in (data / "log").read_text())
        os.kill(postmaster(prepared_home) or 0, SIGINT)
        client.kill()
    yield prepared_home
    if postmaster(prepared_home) is not None:
        kill_postmaster(prepared_home)


def test_a_server_that_never_ends_is_stopped_at_once(hung_home: Path) -> None:
    started = monotonic()
    with SyncLexichord(home=hung_home) as lexichord:
        assert lexichord.status().documents == 0
    assert monotonic() - started < STALE_LOCK_SECONDS
    assert postmaster(hung_home) is None


def sleep_in_it(url: str, begun: Event) -> None:
    with psycopg.connect(url) as connection:
        begun.set()
        connection.execute("select pg_sleep(3)")


def test_a_server_that_somebody_stops_gently_ends_what_it_does(prepared_home: Path) -> None:
    """Who needs it meanwhile waits."""
    with Client(prepared_home, "hold") as client, ThreadPoolExecutor(1) as pool:
        work = pool.submit(sleep_in_it, running_url(prepared_home) or "", begun := Event())
        begun.wait()
        os.kill(postmaster(prepared_home) or 0, SIGTERM)
        client.kill()
        with SyncLexichord(home=prepared_home) as lexichord:
            work.result(timeout=0)
            assert lexichord.status().documents == 0


def test_a_checkpoint_is_waited_for(prepared_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexichord.db.postmaster.STOP_TURN_SECONDS", 1)
    with ThreadPoolExecutor(1) as pool, SyncLexichord(home=prepared_home) as lexichord:
        lexichord.ingest(documents=[{"uri": "a.md", "text": "The zebra has stripes."}])
        server = psutil.Process(postmaster(prepared_home) or 0)
        (slow,) = (one for one in server.children() if "checkpointer" in " ".join(one.cmdline()))
        slow.suspend()
        stopped = pool.submit(stop_server, settings_of(prepared_home))
        sleep(4)
        slow.resume()
        assert stopped.result() is True
    log = (prepared_home / "postgres" / "log").read_text()
    assert "received fast shutdown request" in log
    assert "received immediate shutdown request" not in log


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 30 MB, too small for a server."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=30m", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a small disk")
    tmp_path.chmod(0o755)
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_full_disk_is_said_at_once(small_disk: Path) -> None:
    started = monotonic()
    with pytest.raises(DatabaseError, match=r"disk of \S+ is full \(\d+ MB are free\)"):
        SyncLexichord(home=small_disk / "home").open()
    assert monotonic() - started < STALE_LOCK_SECONDS  # it did not try again


@pytest.fixture
def read_only(prepared_home: Path, tmp_path: Path) -> Iterator[Path]:
    """The prepared home, on a disk that takes no writes any more."""
    mount = ["mount", "--bind", str(prepared_home), str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a disk")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(tmp_path)], check=True)
        yield tmp_path
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.parametrize("name", [".", "new"])
def test_a_disk_that_takes_no_writes_is_said_in_one_line(read_only: Path, name: str) -> None:
    run = [sys.executable, "-m", "lexichord", "status"]
    environment = os.environ | {"LEXICHORD_HOME": str(read_only / name)}
    done = subprocess.run(run, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "the data folder" in line
    assert line.endswith(
        (" cannot be written: set LEXICHORD_HOME", "file system): set LEXICHORD_HOME")
    )


def test_stopping_where_nothing_is_makes_nothing(tmp_path: Path) -> None:
    assert stop_server(settings_of(tmp_path / "none")) is False
    assert not (tmp_path / "none").exists()


def test_its_settings_are_in_force_and_suit_the_machine(prepared_home: Path) -> None:
    main = prepared_home / "postgres" / "postgresql.conf"
    main.write_text(main.read_text() + "work_mem = 7MB\n")
    with SyncLexichord(home=prepared_home):
        pass
    with SyncLexichord(home=prepared_home) as lexichord:
        assert (setting(lexichord, "jit"), setting(lexichord, "work_mem")) == ("off", "7MB")
        assert main.read_text().count("lexichord.conf") == 1
        with psycopg.connect(lexichord.core.database.dsn, row_factory=dict_row) as connection:
            facts = connection.execute("select * from lexichord.server_facts()").fetchone()
        assert facts is not None
        suited = vars(ServerSettings.of(Machine.here()))
        assert facts.items() >= suited.items()
        assert (facts["is_local"], lexichord.doctor().advice) == (True, [])
        assert setting(lexichord, "listen_addresses") == ""  # no other user can connect
        (socket,) = (prepared_home / "postgres").glob(".s.PGSQL.*[0-9]")
        assert socket.stat().st_mode & 0o777 == 0o700


def test_a_program_that_ends_without_leaving_stops_the_server(prepared_home: Path) -> None:
    with Client(prepared_home, "exit") as client:
        client.rest()
        assert client.process.returncode == 0
        wait_until(lambda: postmaster(prepared_home) is None)
