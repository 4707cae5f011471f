"""Datasets from one database to another: the same documents, chunks, vectors and answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from lexichord import SyncLexichord
from lexichord.cli.commands import app
from lexichord.db.schema import Choice, prepare
from lexichord.errors import ConfigError, DatabaseError
from lexichord.types import EmbeddingSpace
from tests.conftest import SPACE, new_database
from tests.end_to_end.client import CHUNKS, uri
from tests.end_to_end.conftest import Servers, stocked
from tests.end_to_end.killed import CLIENTS, assert_same, finish, kill
from tests.end_to_end.processes import wait_until
from tests.sql.corpus import call, put, value

PAIRS = [("plain", "plain"), ("plain", "vectorchord"), ("vectorchord", "plain")]
STORED = 30  # documents of the source
KILLS = 6
SECRET = "s3cr3t"
UNREACHABLE = f"postgresql://someone:{SECRET}@127.0.0.1:1/none"


@pytest.fixture(scope="session")
def stocked_plain(embedded_dsn: str) -> Iterator[str]:
    with stocked("plain", embedded_dsn, STORED) as dsn:
        yield dsn


@pytest.fixture(scope="session")
def stocked_vectorchord(vectorchord_dsn: str) -> Iterator[str]:
    with stocked("vectorchord", vectorchord_dsn, STORED) as dsn:
        yield dsn


@pytest.fixture(params=PAIRS, ids="-to-".join)
def pair(request: pytest.FixtureRequest, server: Servers) -> Iterator[tuple[str, str]]:
    """A stocked database of one engine and an empty one on a server of the other."""
    one, other = request.param
    full = str(request.getfixturevalue(f"stocked_{one}"))
    with (
        new_database(full, copy_of=full) as source,
        new_database(server(other)) as target,
    ):
        yield source, target


@pytest.fixture
def source(pair: tuple[str, str]) -> str:
    return pair[0]


@pytest.fixture
def target(pair: tuple[str, str]) -> str:
    return pair[1]


@pytest.fixture
def opened(source: str, tmp_path: Path) -> Iterator[SyncLexichord]:
    with SyncLexichord(dsn=source, home=tmp_path) as lexichord:
        yield lexichord


def counts(reports: Any) -> list[tuple[str, int, int, int, int]]:
    return [(r.dataset, r.copied, r.replaced, r.skipped, r.chunks) for r in reports]


def run(dsn: str, statement: str, *values: object) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement.encode(), values)


def rows(dsn: str, function: str, **arguments: object) -> list[dict[str, Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        return call(connection, function, **arguments)


def hashes(dsn: str, dataset: str = "default") -> dict[str, str]:
    return {row["uri"]: row["hash"] for row in rows(dsn, "document_hashes", dataset=dataset)}


def test_everything_is_copied_once(opened: SyncLexichord, source: str, target: str) -> None:
    lines: list[str] = []
    totals: list[int] = []
    reports = opened.copy_to(
        target, on_start=totals.append, listener=lambda uri, status, _: lines.append(status)
    )
    assert counts(reports) == [
        ("default", STORED, 0, 0, STORED * CHUNKS),
        ("other", 1, 0, 0, CHUNKS),
    ]
    assert (totals, lines) == ([STORED, 1], ["copied"] * (STORED + 1))
    assert_same(target, source)
    assert hashes(target, "other") == hashes(source, "other")

    runs = rows(target, "list_runs")
    assert [(each["source"], each["state"], each["inserted"]) for each in runs] == [
        ("copy of dataset other", "finished", 1),
        ("copy of dataset default", "finished", STORED),
    ]
    again = opened.copy_to(target)
    assert counts(again) == [("default", 0, 0, STORED, 0), ("other", 0, 0, 1, 0)]
    assert again[1].run_id == rows(target, "list_runs")[0]["run_id"]


def test_one_connection_to_each_database_is_enough(
    source: str, target: str, tmp_path: Path
) -> None:
    with SyncLexichord(dsn=source, home=tmp_path, pool_size=1) as lexichord:
        reports = lexichord.copy_to(target)
    assert [report.copied for report in reports] == [STORED, 1]


def test_the_source_wins_and_what_it_lacks_stays(
    opened: SyncLexichord, source: str, target: str
) -> None:
    opened.copy_to(target)
    with psycopg.connect(target, autocommit=True) as connection:
        put(connection, "only here", ["w1"], dataset="default")
        put(connection, uri(0), ["written here"], dataset="default")
    run(source, "update lexichord_data.document set title = 'new' where uri = %s", uri(1))
    run(source, "update lexichord_data.chunk set page = 7 where document_id = 3 and ordinal = 1")
    reports = opened.copy_to(target)
    assert counts(reports)[0] == ("default", 0, 3, STORED - 3, 3 * CHUNKS)
    here, there = hashes(source), hashes(target)
    assert set(there) - set(here) == {"only here"}
    assert here.items() <= there.items()
    assert rows(target, "list_runs")[1]["replaced"] == 3


def test_what_no_program_would_write_is_copied_too(
    opened: SyncLexichord, source: str, target: str
) -> None:
    """Numbers of more digits than a float has, gaps in the order, no chunks, no vectors."""
    numbers = """{"price": 1.10, "n": 12345678901234567890.123456789, "t": "\\\\N\\té\\u2028"}"""
    run(source, "update lexichord_data.document set metadata = %s where id < 3", numbers)
    run(source, "update lexichord_data.chunk set ordinal = ordinal * 5 + 2, metadata = %s", numbers)
    with psycopg.connect(source, autocommit=True) as connection:
        put(connection, "empty", [], dataset="default")
        put(connection, "wordless", ["w1", "w2"], [[1, 0, 0, 0], None], dataset="default")
    opened.copy_to(target)
    assert hashes(target) == hashes(source)
    vector = "select array_agg(embedding::text order by ordinal) from lexichord.read_chunks(%s)"
    for dsn in (source, target):
        with psycopg.connect(dsn) as connection:
            (document,) = call(connection, "find_documents", reference="wordless")
            assert value(connection, vector, document["document_id"]) == ["[1,0,0,0]", None]


def test_killed_at_any_moment_it_goes_on(source: str, target: str) -> None:
    random = Random(1)
    kills = sum(kill(random, source, "copy", target) for _ in range(KILLS))
    assert kills >= KILLS / 2  # on a fast machine the last ones come too late
    with psycopg.connect(target, autocommit=True) as connection:
        wait_until(lambda: connection.execute(CLIENTS).fetchall() == [(0,)])
    before = hashes(target).keys() | hashes(target, "other").keys()
    news = finish(source, "copy", target)
    assert len(news) == len(["open"]) + STORED + 1 - len(before)
    assert_same(target, source)


@pytest.mark.parametrize("victim", ["source", "target"])
def test_a_lost_connection_is_one_line_and_it_goes_on(
    victim: str, opened: SyncLexichord, source: str, target: str
) -> None:
    clients = "select pg_terminate_backend(pid) from pg_stat_activity where datname = "
    clients += "current_database() and application_name = 'lexichord'"
    lines: list[str] = []

    def cut(name: str, status: str, _: str) -> None:
        lines.append(name)
        if len(lines) == 5:
            run(source if victim == "source" else target, clients)

    with pytest.raises(DatabaseError, match=r"terminating connection|closed") as caught:
        opened.copy_to(target, listener=cut)
    assert "\n" not in str(caught.value)
    assert counts(opened.copy_to(target))[0] == ("default", 25, 0, 5, 25 * CHUNKS)
    assert_same(target, source)


def test_what_changes_meanwhile_is_an_error_until_it_is_copied_again(
    opened: SyncLexichord, source: str, target: str
) -> None:
    def change(name: str, *_: str) -> None:
        if name == uri(STORED - 3):
            run(source, "update lexichord_data.document set title = 'x' where uri = %s", uri(0))
            run(target, "delete from lexichord_data.chunk where document_id = 2 and ordinal = 0")
            run(source, "delete from lexichord_data.document where uri = %s", uri(STORED - 1))

    message = rf"^2 of {STORED - 1} documents of dataset default are not the same in the copy, "
    message += rf"the first is {uri(0)} \(it differs\): copy again$"
    with pytest.raises(DatabaseError, match=message):
        opened.copy_to(target, listener=change)
    (last,) = rows(target, "list_runs", latest=1)
    assert (last["state"], last["inserted"]) == ("finished", STORED - 3)
    assert last["failures"] == {
        uri(0): "it differs",
        uri(1): f"it has {CHUNKS - 1} chunks instead of {CHUNKS}",
    }
    assert counts(opened.copy_to(target))[0] == ("default", 0, 2, STORED - 3, 2 * CHUNKS)
    assert rows(target, "failed_files", dataset="default") == []


MOVE = "select lexichord.move_documents(array(select id from lexichord_data.document "
MOVE += "where uri = 'doc/0090'), %s)"


@pytest.mark.parametrize(
    ("at", "change", "target_dataset", "told"),
    [
        (0, "select lexichord.rename_dataset('other', %s)", "new", "other is gone, new is new"),
        (0, MOVE, "new", "new is new"),
        (
            STORED,
            MOVE,
            "default",
            "default has 31 of 30 documents, 1 document came to what was copied already",
        ),
        (
            STORED,
            MOVE + ", lexichord.delete_documents(array(select id from lexichord_data.document "
            "where uri = 'doc/0000'))",
            "default",
            "1 document came to what was copied already",
        ),
    ],
)
def test_documents_that_go_to_another_dataset_meanwhile_are_told(
    opened: SyncLexichord,
    source: str,
    target: str,
    at: int,
    change: str,
    target_dataset: str,
    told: str,
) -> None:
    """What a dataset held that was copied before, or has another name by now."""
    seen: list[str] = []

    def listen(name: str, *_: str) -> None:
        if len(seen) == at:
            run(source, change, target_dataset)
        seen.append(name)

    with pytest.raises(DatabaseError, match=f"meanwhile: {told}.*: copy again$"):
        opened.copy_to(target, listener=listen)
    opened.copy_to(target)
    for dataset in ("default", "new", "other"):
        assert hashes(source, dataset).items() <= hashes(target, dataset).items()


def test_a_document_that_the_target_refuses_stops_no_other(
    opened: SyncLexichord, target: str
) -> None:
    opened.copy_to(target, ["other"])
    run(target, "alter table lexichord_data.document add check (uri <> 'doc/0001')")
    run(
        target,
        "create function refuse() returns trigger language plpgsql as $$ begin "
        "raise 'too long' using errcode = 'program_limit_exceeded'; end $$; "
        "create trigger refuse before insert on lexichord_data.document for each row "
        "when (new.uri = 'doc/0001') execute function refuse()",
    )
    with pytest.raises(DatabaseError, match=r"^1 of 30 .* doc/0001 \(too long\): copy again$"):
        opened.copy_to(target)
    assert len(hashes(target)) == STORED - 1
    assert rows(target, "list_runs", latest=1)[0]["failures"] == {"doc/0001": "too long"}


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (Choice(None, "german", SPACE), "text configuration is german for good: for english, use"),
        (
            Choice(None, "english", EmbeddingSpace("test", "other", 4)),
            "embedding space is test/other/4: for test/tiny/4, use another database",
        ),
    ],
)
def test_a_database_of_another_kind_is_refused(
    choice: Choice, message: str, opened: SyncLexichord, target: str
) -> None:
    prepare(target, choice)
    with pytest.raises(ConfigError, match=message):
        opened.copy_to(target)
    assert rows(target, "list_runs") == []


def test_what_makes_no_sense_is_refused_before_anything_is_made(
    opened: SyncLexichord, source: str, target: str
) -> None:
    with pytest.raises(ConfigError, match=r"dataset 'none': take one of 'default', 'other'$"):
        opened.copy_to(target, ["other", "none"])
    with pytest.raises(ConfigError, match="there is no option kk"):
        opened.copy_to(target, kk=1)  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="cannot be copied onto itself"):
        opened.copy_to(source + ("&" if "?" in source else "?") + "application_name=other")
    with psycopg.connect(target) as connection:
        assert value(connection, "select to_regnamespace('lexichord')") is None


def cli(*arguments: str, **environment: str) -> Any:
    return CliRunner().invoke(app, ["copy", *arguments], env=environment)


def test_the_command_tells_what_it_did(source: str, target: str) -> None:
    done = cli("--from", source, "--to", target, "--dataset", "other")
    assert (done.exit_code, done.stdout) == (
        0,
        f"other: 1 copied, 0 replaced, 0 skipped; {CHUNKS} chunks copied\n",
    )
    assert done.stderr == f"copied {uri(90)}\n"
    again = cli("--to", target, "--json", LEXICHORD_DSN=source)
    assert json.loads(again.stdout) == {
        "datasets": [
            {"dataset": "default", "copied": STORED, "replaced": 0, "skipped": 0, "run_id": 2}
            | {"chunks": STORED * CHUNKS},
            {"dataset": "other", "copied": 0, "replaced": 0, "skipped": 1, "run_id": 3}
            | {"chunks": 0},
        ]
    }
    back = cli("--from", target, "--to", target)
    assert (back.exit_code, back.stdout) == (2, "")
    assert back.stderr.startswith("lexichord: a database cannot be copied onto itself")


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (["--from", UNREACHABLE, "--to", "{}"], 1),
        (["--from", "{}", "--to", UNREACHABLE], 1),
        (["--from", "{}", "--dsn", "{}", "--to", UNREACHABLE], 2),
        (["--from", "{}", "--to", f"postgres:{SECRET}@host/db"], 2),
        (["--from", "{}", "--to", f"postgresql://someone:{SECRET}/x@host/db"], 2),
        (["--from", "{}", "--to", f"postgresql://someone:x@{SECRET}@host/db"], 2),
        (["--from", f"postgresql://someone:{SECRET}%zz@host/db", "--to", "{}"], 2),
        (["--from", "{}", "--to", f"postgresql://someone:{SECRET}@{{}}"], 1),
    ],
)
def test_wrong_addresses_are_one_line_without_the_password(
    wrong: list[str], code: int, embedded_dsn: str, template: str
) -> None:
    known = {"{}": template}
    arguments = [known.get(argument, argument) for argument in wrong]
    arguments = [each.replace("{}", "127.0.0.1:1,127.0.0.1:2/none") for each in arguments]
    done = cli(*arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert done.stderr.startswith("lexichord: ")
    assert done.stderr.count("\n") == 1
    assert SECRET not in done.stderr


def test_kept_bytes_are_copied_too(embedded_dsn: str, tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("# Zebra\n\nStripes.")
    with new_database(embedded_dsn) as one, new_database(embedded_dsn) as other:
        prepare(one, Choice("plain", "english", SPACE))
        with SyncLexichord(dsn=one) as lexichord:
            lexichord.ingest([file])
            assert lexichord.copy_to(other)[0].copied == 1
            lexichord.ingest([file], keep_originals=True)
            assert lexichord.copy_to(other)[0].skipped == 1
        content = file.read_bytes()
        file.unlink()
        with SyncLexichord(dsn=other) as lexichord:
            assert lexichord.original("a.md").content == content
