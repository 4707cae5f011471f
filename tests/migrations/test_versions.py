"""Versions of the extensions with known faults: init refuses some, and warns of others once."""

import logging
from dataclasses import replace
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from lexichord.db.schema import ENGINES, Choice, prepare
from lexichord.errors import EngineUnsupportedError
from tests.migrations.conftest import ANOTHER_VERSION, run_statements

NOTHING = "select from pg_namespace where nspname like 'lexichord%'"
CHOSEN = "select engine from lexichord.configuration()"


def install(dsn: str, extension: str, version: str) -> None:
    """Write a version into the catalogue: no server can install all of them."""
    run_statements(
        dsn,
        f"create extension if not exists {extension}",
        f"update pg_extension set extversion = '{version}' where extname = '{extension}'",
    )


def fetch(dsn: str, statement: str) -> list[psycopg.rows.TupleRow]:
    with psycopg.connect(dsn) as connection:
        return connection.execute(statement.encode()).fetchall()


def skip_without(choice: Choice, extension: str) -> None:
    assert choice.engine is not None
    if extension not in ENGINES[choice.engine]:
        pytest.skip(f"the engine {choice.engine} does without {extension}")


@pytest.mark.parametrize(
    ("extension", "version", "mended_in"),
    [
        ("vector", "0.7.4", "0.8.0"),
        ("pg_textsearch", "0.6.1", "1.4.0"),
        ("pg_textsearch", "1.3.1", "1.4.0"),
    ],
)
def test_a_version_to_refuse_stops_init(
    empty: str, choice: Choice, extension: str, version: str, mended_in: str
) -> None:
    skip_without(choice, extension)
    install(empty, extension, version)
    with pytest.raises(EngineUnsupportedError) as error:
        prepare(empty, choice)
    message = str(error.value)
    assert message.startswith(f"{extension} {version} is refused (")
    assert f"install {extension} {mended_in} or later and run: alter extension" in message
    assert "\n" not in message
    assert fetch(empty, NOTHING) == []


def test_an_older_database_meets_the_same_refusal(dsn: str, choice: Choice) -> None:
    skip_without(choice, "vector")
    install(dsn, "vector", "0.7.4")
    run_statements(dsn, ANOTHER_VERSION)
    with pytest.raises(EngineUnsupportedError, match=r"vector 0\.7\.4 is refused"):
        prepare(dsn, choice)


def test_where_none_is_asked_for_a_sound_engine_is_taken(empty: str, choice: Choice) -> None:
    skip_without(choice, "pg_textsearch")
    install(empty, "pg_textsearch", "1.3.1")
    prepare(empty, replace(choice, engine=None))
    assert fetch(empty, CHOSEN) == [("plain",)]


def test_a_role_is_given_an_engine_whose_extensions_it_may_make(
    empty: str, choice: Choice, caplog: pytest.LogCaptureFixture
) -> None:
    """Who may make no extension has those that are there."""
    if choice.engine in ("plain", "citus"):
        pytest.skip("the engine plain has no other extension, citus is taken where it is named")
    role = urlsplit(empty).path[1:]
    run_statements(empty, "create extension if not exists vector")
    run_statements(empty, f"create role {role} login", f"alter database {role} owner to {role}")
    try:
        with caplog.at_level(logging.WARNING, "lexichord"):
            prepare(make_conninfo(empty, user=role), replace(choice, engine=None))
        assert fetch(empty, CHOSEN) == [("plain",)]
        assert f"the engine {choice.engine} is left out: permission denied" in caplog.text
    finally:
        give = f"reassign owned by {role} to current_user"
        run_statements(empty, give, f"drop owned by {role}", f"drop role {role}")


def test_of_other_faults_init_warns_once(
    empty: str, choice: Choice, caplog: pytest.LogCaptureFixture
) -> None:
    skip_without(choice, "vector")
    install(empty, "vector", "0.8.2")
    with caplog.at_level(logging.WARNING, "lexichord"):
        prepare(empty, choice)
        prepare(empty, choice)
    messages = [record.getMessage() for record in caplog.records]
    (message,) = [each for each in messages if each.startswith("vector ")]
    assert message.startswith("vector 0.8.2: vacuum may damage an HNSW index")
    assert "install vector 0.8.3 or later and run: alter extension vector update;" in message
