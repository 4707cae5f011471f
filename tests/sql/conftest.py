"""Databases that tests share, for a fresh one takes time: two to read, one to roll back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest

from tests.conftest import new_database
from tests.sql import corpus


@pytest.fixture(scope="session")
def scratch_dsn(template: str) -> Iterator[str]:
    with new_database(template, copy_of=template) as dsn:
        yield dsn


@pytest.fixture
def connection(scratch_dsn: str) -> Iterator[corpus.Connection]:
    """An empty database whose ids begin at 1, inside a transaction that is rolled back."""
    with (
        psycopg.connect(scratch_dsn, autocommit=True) as connection,
        connection.transaction(force_rollback=True),
    ):
        connection.execute(
            "truncate lexichord_data.document, lexichord_data.run restart identity cascade"
        )
        yield connection


@pytest.fixture
def fresh(dsn: str) -> Iterator[corpus.Connection]:
    """The database of `dsn` and `database`, which other connections see as well."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def library(template: str) -> Iterator[corpus.Connection]:
    """122 chunks, indexed; a search that wrote anything would fail."""
    with shared(template, corpus.library) as connection:
        yield connection


@pytest.fixture(scope="session")
def wide(template: str) -> Iterator[corpus.Connection]:
    """3,552 chunks, indexed; read-only, too."""
    with shared(template, corpus.wide) as connection:
        yield connection


@contextmanager
def shared(template: str, fill: Callable[[corpus.Connection], None]) -> Iterator[corpus.Connection]:
    with new_database(template, copy_of=template) as dsn:
        with psycopg.connect(dsn, autocommit=True) as connection:
            fill(connection)
        settings = "-c default_transaction_read_only=on -c timezone=UTC"
        with psycopg.connect(dsn, autocommit=True, options=settings) as connection:
            yield connection
