"""Point-in-time recovery, as Postgres' own manual describes it, brings lexichord back as it was."""

import subprocess

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db.embedded import PROGRAMS
from lexichord.db.postmaster import postmaster_url
from lexichord.db.schema import Choice, prepare
from tests.conftest import ENGINES, SPACE
from tests.end_to_end.client import documents, word
from tests.end_to_end.conftest import new_home
from tests.faults.earlier import PRELOADS
from tests.own_server import find_pg_ctl, own_user
from tests.postmasters import give, running

INITDB = ("-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")


@pytest.mark.parametrize("engine", ENGINES)
def test_the_moment_before_a_mistake_comes_back(
    engine: str, request: pytest.FixtureRequest
) -> None:
    programs, user = PROGRAMS, own_user()
    if engine != "plain":
        programs = find_pg_ctl(request.getfixturevalue(f"{engine}_dsn")).parent
    libraries = {"shared_preload_libraries": PRELOADS[engine].strip("'")}
    with new_home() as home:
        data, archive, copy = home / "main", home / "archive", home / "copy"
        for folder in (data, archive):
            folder.mkdir()
            give(folder, user)
        initdb = [str(programs / "initdb"), *INITDB, "-D", str(data)]
        subprocess.run(initdb, check=True, capture_output=True, user=user)
        kept = {"archive_mode": "on", "archive_command": f"cp %p {archive}/%f", **libraries}
        with running(data, user, programs, wal_level="replica", **kept) as info:
            url = postmaster_url(info, "postgres")
            prepare(url, Choice(engine, space=SPACE))
            with SyncLexichord(dsn=url) as lexichord:
                lexichord.ingest(documents=documents(0, 20))
                base = [str(programs / "pg_basebackup"), "-D", str(copy), "-X", "none", "-d", url]
                subprocess.run([*base, "-c", "fast"], check=True, capture_output=True)
                lexichord.ingest(documents=documents(20, 40))
                with psycopg.connect(url, autocommit=True) as connection:
                    connection.execute("select pg_create_restore_point('before')")
                lexichord.delete([f"doc/{number:04d}" for number in range(40)])
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("select pg_switch_wal()")
        for lock in copy.glob(".s.PGSQL.*"):  # of the embedded server's socket in its data folder
            lock.unlink()
        (copy / "recovery.signal").touch()
        give(copy, user)
        recovery = {
            "restore_command": f"cp {archive}/%f %p",
            "recovery_target_name": "before",
            "recovery_target_action": "promote",
            "archive_mode": "off",
        }
        with (
            running(copy, user, programs, **recovery) as info,
            SyncLexichord(dsn=postmaster_url(info, "postgres")) as lexichord,
        ):
            assert (lexichord.status().engine, lexichord.status().documents) == (engine, 40)
            assert not lexichord.doctor().problems
            for number in (0, 19, 20, 39):
                hits = lexichord.search(word(number), mode="keyword", k=1).hits
                assert hits[0].uri == f"doc/{number:04d}"
            lexichord.ingest(documents=documents(40, 41))
