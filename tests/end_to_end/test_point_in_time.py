"""Point-in-time recovery, as Postgres' own manual describes it, brings lexichord back as it was."""

import subprocess

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.db.embedded import PROGRAMS, EmbeddedServer
from lexichord.db.postmaster import postmaster_url
from lexichord.db.schema import Choice, prepare
from lexichord.types import EmbeddingSpace
from tests.end_to_end.client import documents, word
from tests.end_to_end.conftest import new_home
from tests.postmasters import give, running

pytestmark = pytest.mark.slow

SPACE = EmbeddingSpace("test", "tiny", 4)


def test_the_moment_before_a_mistake_comes_back() -> None:
    with new_home() as home:
        data, archive, copy = home / "main", home / "archive", home / "copy"
        data.mkdir()
        archive.mkdir()
        server = EmbeddedServer(data)
        server.ensure_pgdata_inited()
        user = server.system_user
        give(archive, user)
        kept = {"archive_mode": "on", "archive_command": f"cp %p {archive}/%f"}
        with running(data, user, wal_level="replica", **kept) as info:
            url = postmaster_url(info, "postgres")
            prepare(url, Choice(space=SPACE))
            with SyncLexichord(dsn=url) as lexichord:
                lexichord.ingest(documents=documents(0, 20))
                base = [str(PROGRAMS / "pg_basebackup"), "-D", str(copy), "-X", "none", "-d", url]
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
            running(copy, user, **recovery) as info,
            SyncLexichord(dsn=postmaster_url(info, "postgres")) as lexichord,
        ):
            assert lexichord.status().documents == 40
            assert not lexichord.doctor().problems
            for number in (0, 19, 20, 39):
                hits = lexichord.search(word(number), mode="keyword", k=1).hits
                assert hits[0].uri == f"doc/{number:04d}"
            lexichord.ingest(documents=documents(40, 41))
