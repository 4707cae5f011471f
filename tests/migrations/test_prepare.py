"""A database is made once, for good; preparing it again does nothing."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import psycopg
import pytest

from lexichord.db.schema import DEFAULT_SPACE, LOCK, Choice, check, prepare
from lexichord.errors import (
    ConfigError,
    DatabaseError,
    EngineUnsupportedError,
    SchemaOutdatedError,
)
from lexichord.types import EmbeddingSpace
from tests.end_to_end.processes import wait_until
from tests.migrations.conftest import ANOTHER_VERSION, UNRELEASED, run_statements
from tests.sql.corpus import call, put, value

OTHER = {
    "plain": "vectorchord",
    "citus": "vectorchord",
    "textsearch": "vectorchord",
    "vectorchord": "textsearch",
}
LEDGER = "select array_agg((number, name, sha256)::text) from lexichord_data.migration"
NOTHING = "select count(*) from pg_namespace where nspname like 'lexichord%%'"


def everything(dsn: str) -> list[Any]:
    """All rows of the catalogue that preparing writes, with the transactions that wrote them."""
    with psycopg.connect(dsn) as connection:
        return [
            connection.execute(statement.encode()).fetchall()
            for statement in (
                "select oid, xmin::text, proname from pg_proc where oid > 16383 order by oid",
                "select oid, xmin::text, relname from pg_class where oid > 16383 order by oid",
                "select oid, xmin::text, tgname from pg_trigger where oid > 16383 order by oid",
                "select xmin::text, m::text from lexichord_data.migration m order by number",
                "select xmin::text, f::text from lexichord_data.function_release f",
                "select xmin::text, c::text from lexichord_data.configuration c",
                "select xmin::text, s::text from lexichord_data.embedding_space s",
            )
        ]


def one(dsn: str, statement: str) -> Any:
    with psycopg.connect(dsn) as connection:
        return value(connection, statement)


def test_an_empty_database_becomes_one_that_fits(empty: str, choice: Choice) -> None:
    with pytest.raises(SchemaOutdatedError, match=r"^[^\n]+: run lexichord init$"):
        check(empty)
    assert one(empty, NOTHING) == 0
    prepare(empty, replace(choice, text_config="german"))
    check(empty)
    configured = one(empty, "select c::text from lexichord.configuration() c")
    assert configured == f"({choice.engine},german,test/tiny/4,f)"
    assert one(empty, "select lexichord.lexemes('die Häuser')::text") == "'haus':2"


def test_preparing_again_changes_nothing(dsn: str, choice: Choice) -> None:
    before = everything(dsn)
    for again in (choice, Choice(), Choice(text_config="english")):
        prepare(dsn, again)
        check(dsn)
    assert everything(dsn) == before


def test_defaults(empty: str) -> None:
    prepare(empty, Choice())
    with psycopg.connect(empty) as connection:
        configured = call(connection, "configuration")[0]
    assert configured["text_config"] == "english"
    assert configured["space"] == str(DEFAULT_SPACE)


def test_another_choice_later_is_an_error(dsn: str, choice: Choice) -> None:
    before = everything(dsn)
    changes: list[tuple[dict[str, Any], str]] = [
        ({"engine": "other"}, f"engine is {choice.engine} for good: for other, use another"),
        ({"text_config": "german"}, "text configuration is english for good: for german, use"),
        (
            {"space": EmbeddingSpace("test", "tiny", 5)},
            "embedding space is test/tiny/4: for test/tiny/5, use another database or lexi",
        ),
    ]
    for change, message in changes:
        with pytest.raises(ConfigError, match=message):
            prepare(dsn, replace(choice, **change))
    assert everything(dsn) == before


def test_an_engine_without_its_extensions_is_refused(empty: str, choice: Choice) -> None:
    assert choice.engine is not None
    other = OTHER[choice.engine]
    lacks = rf"lacks extensions.*\(engine {other}\)$"
    with pytest.raises(DatabaseError, match=rf"{lacks}|has not loaded|not loaded\.|is refused"):
        prepare(empty, replace(choice, engine=other))
    assert one(empty, NOTHING) == 0
    prepare(empty, choice)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text_config": "klingon"}, 'text search configuration "klingon" does not exist'),
        ({"space": EmbeddingSpace("test", "huge", 16001)}, "embedding_space_dimension_check"),
    ],
)
def test_a_choice_that_cannot_be_leaves_nothing_behind(
    empty: str, choice: Choice, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(DatabaseError, match=message):
        prepare(empty, replace(choice, **change))
    assert one(empty, NOTHING) == 0


def test_a_space_of_more_dimensions_than_the_index_takes_is_refused(
    empty: str, choice: Choice
) -> None:
    wide = replace(choice, space=EmbeddingSpace("test", "wide", 4001))
    if choice.engine == "vectorchord":
        prepare(empty, wide)
        assert one(empty, "select lexichord.most_dimensions()") == 16000
        return
    with pytest.raises(EngineUnsupportedError, match=r"at most 4,000 dimensions.*has 4001"):
        prepare(empty, wide)
    assert one(empty, NOTHING) == 0


def test_two_at_once_both_succeed(empty: str, choice: Choice) -> None:
    barrier = Barrier(2)

    def run(_: int) -> None:
        barrier.wait(10)
        prepare(empty, choice)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, range(2)))
    check(empty)


def test_a_server_that_is_not_there_is_an_error() -> None:
    for function in (check, lambda dsn: prepare(dsn, Choice())):
        with pytest.raises(DatabaseError, match=r"127\.0\.0\.1"):
            function("postgresql://nobody@127.0.0.1:1/none")


def test_an_edited_migration_is_an_error_that_names_it(dsn: str, choice: Choice) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute("update lexichord_data.migration set sha256 = 'x' where number = 35")
    for function in (check, lambda dsn: prepare(dsn, choice)):
        with pytest.raises(DatabaseError, match=r"^0035_release_1_0\.sql was edited"):
            function(dsn)


def test_a_migration_that_the_program_does_not_know(dsn: str, choice: Choice) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute("insert into lexichord_data.migration values (9999, 'later', 'x')")
    for function in (check, lambda dsn: prepare(dsn, choice)):
        with pytest.raises(SchemaOutdatedError, match=r"has migration 9999.*upgrade lexichord"):
            function(dsn)


def test_the_last_state_before_the_first_release_is_taken_on(dsn: str, choice: Choice) -> None:
    before = one(dsn, LEDGER)
    run_statements(dsn, *UNRELEASED)
    with pytest.raises(SchemaOutdatedError, match=r"^[^\n]+: run lexichord init$"):
        check(dsn)
    prepare(dsn, choice)
    check(dsn)
    assert one(dsn, LEDGER) == before


@pytest.mark.parametrize("last", [20, 34])
def test_an_older_state_is_refused_as_it_is(dsn: str, choice: Choice, last: int) -> None:
    run_statements(dsn, *UNRELEASED, f"delete from lexichord_data.migration where number > {last}")
    before = everything(dsn)
    for function in (check, lambda dsn: prepare(dsn, choice)):
        with pytest.raises(SchemaOutdatedError, match=r"^[^\n]+before 1\.0\.0: [^\n]+ingest anew$"):
            function(dsn)
    assert everything(dsn) == before


def test_preparing_builds_what_indexes_are_missing(dsn: str, choice: Choice) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        put(connection, "a", ["w1"], [[1, 0, 0, 0]])
        assert [row["plan"] for row in call(connection, "index_use")] == [None, None]
        prepare(dsn, choice)
        assert call(connection, "index_use")[0]["plan"] is not None


HOLD = "lock table lexichord_data.chunk in share update exclusive mode"
WAITING = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
WAITING += "and datname = current_database()"


def test_a_deadlock_with_a_session_that_writes_begins_it_anew(dsn: str, choice: Choice) -> None:
    """The writer holds a table and waits for what the preparation holds, which Postgres ends."""
    run_statements(dsn, ANOTHER_VERSION)
    with psycopg.connect(dsn) as writer, ThreadPoolExecutor(1) as pool:
        writer.execute("set deadlock_timeout = '10min'")  # it is the other one that is ended
        writer.execute(HOLD.encode())
        preparing = pool.submit(prepare, dsn, choice)
        wait_until(lambda: one(dsn, WAITING) == 1)
        writer.execute("select pg_advisory_xact_lock(%s)", [LOCK])
        writer.commit()
        preparing.result()
    check(dsn)
