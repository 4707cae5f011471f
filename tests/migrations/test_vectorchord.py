"""Servers that the engine vectorchord must refuse."""

import logging
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from lexichord.db.schema import Choice, prepare
from lexichord.errors import EngineUnsupportedError
from tests.conftest import SPACE, new_database
from tests.own_server import own_server

CHOICE = Choice("vectorchord", "english", SPACE)
CHOSEN = "select engine from lexichord.configuration()"
NOTHING = "select from pg_namespace where nspname like 'lexichord%'"


@pytest.fixture
def empty(vectorchord_dsn: str) -> Iterator[str]:
    with new_database(vectorchord_dsn) as dsn:
        yield dsn


@pytest.mark.parametrize("extension", ["vchord", "vchord_bm25"])
@pytest.mark.parametrize("version", ["0.2.2", "1.0.0", "2.0.0"])
def test_another_version_is_refused(empty: str, extension: str, version: str) -> None:
    """Its number is written into the catalogue: no server can install all of them."""
    with psycopg.connect(empty) as connection:
        connection.execute(f"create extension {extension} cascade".encode())
        set_version(connection, extension, version)
    with pytest.raises(EngineUnsupportedError) as error:
        prepare(empty, CHOICE)
    assert f"found: {extension} {version}: start the server of" in str(error.value)
    with psycopg.connect(empty) as connection:
        assert not connection.execute(NOTHING).rowcount
        row = connection.execute(
            "select default_version from pg_available_extensions where name = %s", (extension,)
        ).fetchone()
        assert row is not None
        set_version(connection, extension, row[0])
    prepare(empty, CHOICE)


def set_version(connection: psycopg.Connection, extension: str, version: str) -> None:
    connection.execute(
        "update pg_extension set extversion = %s where extname = %s", (version, extension)
    )


def test_a_server_that_has_not_loaded_the_libraries_is_refused(not_loaded: str) -> None:
    with pytest.raises(EngineUnsupportedError) as error:
        prepare(not_loaded, CHOICE)
    assert str(error.value) == (
        "the server has not loaded vchord and vchord_bm25 at its start: "
        "set shared_preload_libraries = 'vchord,vchord_bm25' in postgresql.conf and restart the "
        "server."
    )
    with psycopg.connect(not_loaded) as connection:
        assert not connection.execute(NOTHING).rowcount


def test_where_none_is_asked_for_one_that_works_is_taken(
    not_loaded: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Packages bring the files of extensions that nobody has loaded."""
    with caplog.at_level(logging.WARNING, "lexichord"):
        prepare(not_loaded, replace(CHOICE, engine=None))
    message = caplog.records[0].getMessage()
    assert message.startswith(
        "the engine vectorchord is left out: the server has not loaded vchord and vchord_bm25 at "
        "its start: set shared_preload_libraries"
    )
    with psycopg.connect(not_loaded) as connection:
        assert connection.execute(CHOSEN).fetchall() == [("plain",)]


@pytest.fixture
def not_loaded(vectorchord_dsn: str) -> Iterator[str]:
    with own_server(vectorchord_dsn, preload="") as server:
        yield server.dsn
