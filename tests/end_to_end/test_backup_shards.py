"""A backup of all shards is of one moment, and is restored to as many databases, or to none."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from lexichord import SyncLexichord
from lexichord.cli.commands import app
from lexichord.db.backup import backup, restore
from lexichord.db.schema import Choice, prepare
from lexichord.errors import ConfigError, DatabaseError
from tests.conftest import new_database
from tests.end_to_end.processes import wait_until
from tests.end_to_end.test_rebalance import AMOUNT, SPACE, STORED, Databases, add_shards, execute
from tests.end_to_end.test_rebalance import fill as store
from tests.end_to_end.test_shards import stopped

WAITING = "select exists (select from pg_stat_activity where wait_event = 'advisory' "
DELETED = "select lexichord.delete_documents(array(select id from lexichord_data.document "
DELETED += "where uri = 'doc/extra'))"
WAITING += "and datname = current_database())"


def some(server: str) -> Iterator[Databases]:
    with ExitStack() as stack:
        yield Databases([stack.enter_context(new_database(server)) for _ in range(3)])


@pytest.fixture(scope="module")
def source(embedded_dsn: str) -> Iterator[Databases]:
    """Three shards; some documents have moved, and so are not where their ids were made."""
    for databases in some(embedded_dsn):
        prepare(databases.dsns[0], Choice("plain", "english", SPACE))
        store(databases.dsns[0], range(AMOUNT // 2))
        add_shards(databases)
        store(databases.dsns[0])
        with SyncLexichord(dsn=databases.dsns[0]) as lexichord:
            assert lexichord.rebalance_shards().documents
        yield databases


@pytest.fixture
def targets(embedded_dsn: str) -> Iterator[Databases]:
    yield from some(embedded_dsn)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "all.backup"


def command(*arguments: str) -> Any:
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_all_shards_are_restored_with_their_ids(
    source: Databases, targets: Databases, file: Path
) -> None:
    made = command("backup", str(file), "--dsn", source.dsns[0])
    assert (made["documents"], made["chunks"]) == (AMOUNT, 2 * AMOUNT)
    home, first, second = targets.dsns
    restored = command("restore", str(file), "--dsn", home, "--shard", first, "--shard", second)
    assert (restored["documents"], restored["engine"]) == (AMOUNT, "plain")
    assert targets.stored() == source.stored()
    with SyncLexichord(dsn=source.dsns[0]) as old, SyncLexichord(dsn=home) as new:
        assert [shard.dsn for shard in new.list_shards()] == [first, second]
        asked = [each.search("own7 common", k=10).hits for each in (old, new)]
        assert asked[0] == asked[1]
        assert new.doctor().problems == []
        new.ingest(documents=[{"uri": f"new/{n}", "chunks": [{"content": "x"}]} for n in range(9)])
        assert len({row.document_id for row in new.list()}) == AMOUNT + 9


def test_it_is_all_of_one_moment(source: Databases, file: Path) -> None:
    """Whoever moves documents, or changes the space, holds the writers of several shards."""
    with SyncLexichord(dsn=source.dsns[0]) as lexichord:
        extra = {"uri": "doc/extra", "space": str(SPACE), "chunks": [{"content": "extra"}]}
        lexichord.ingest(documents=[extra])
    having = [dsn for dsn in source.dsns if "doc/extra" in str(execute(dsn, STORED))]
    failures: list[BaseException] = []

    def back_up() -> None:
        try:
            assert backup(source.dsns[0], file).documents == AMOUNT
        except BaseException as error:
            failures.append(error)

    thread = Thread(target=back_up)
    with psycopg.connect(having[0]) as mover:
        mover.execute("select lexichord.hold_writers()")
        thread.start()
        wait_until(lambda: execute(having[0], WAITING) == [(True,)])
        mover.execute(DELETED)
    thread.join()
    assert not failures, failures


def test_what_cannot_be_whole_is_refused(source: Databases, targets: Databases, file: Path) -> None:
    with stopped(source.dsns[2]), pytest.raises(DatabaseError, match="shard 2 does not answer"):
        backup(source.dsns[0], file)
    assert not file.exists()
    backup(source.dsns[0], file)
    home, first, other = *targets.dsns[:2], source.dsns[1]
    refused: list[tuple[list[str], str]] = [
        ([], "a database with 2 shards: name as many"),
        ([first], "a database with 2 shards: name as many"),
        ([first, first], "two of the databases named are one"),
        ([first, home.replace("?", "?application_name=x&")], "two of the databases named are one"),
        ([first, other], "not empty, it has rows in"),
        ([first, "postgresql://me:secret@x/y"], "has no password"),  # pragma: allowlist secret
    ]
    for shards, reason in refused:
        with pytest.raises(ConfigError, match=reason):
            restore(home, file, shards=shards)
    present = "select to_regclass('lexichord_data.migration') is not null"
    assert [execute(dsn, present) for dsn in targets.dsns] == [[(False,)]] * 3


def test_cut_off_between_two_commits_it_goes_on(
    source: Databases, targets: Databases, file: Path
) -> None:
    """The home is committed last; shards that have what the backup has are restored again."""
    backup(source.dsns[0], file)
    home, first, second = targets.dsns
    restore(home, file, shards=[first, second])
    with pytest.raises(ConfigError, match="not empty"):  # it was not cut off
        restore(home, file, shards=[first, second])
    with psycopg.connect(home) as connection:  # as if this commit had not come
        connection.execute("drop schema lexichord, lexichord_data cascade")
    with pytest.raises(ConfigError, match="not empty, it has rows in"):
        restore(home, file, shards=[second, first])
    restore(home, file, shards=[first, second])
    assert targets.stored() == source.stored()
    execute(second, "update lexichord_data.document set title = 'mine' returning id")
    with pytest.raises(ConfigError, match="not empty, it has rows in"):
        restore(home, file, shards=[first, second])
