"""Databases that tests share, for a fresh one takes time: two to read, one to roll back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import psycopg
import pytest

from tests.conftest import Keeper, new_database
from tests.sql import corpus

RESTART = """
select setval(format('%I.%I', schemaname, sequencename), 1, false) from pg_sequences
where schemaname = 'lexichord_data'"""
# What was rolled back still takes room, which tells in plans and times.
BLOAT = "select pg_relation_size('lexichord_data.chunk') > 100 * 8192"


@pytest.fixture(scope="session")
def scratch(template: str) -> Iterator[corpus.Connection]:
    """Not kept: what earlier tests left of dead rows and statistics tells in plans."""
    with (
        new_database(template, copy_of=template) as dsn,
        psycopg.connect(dsn, autocommit=True) as connection,
    ):
        yield connection


@pytest.fixture
def connection(scratch: corpus.Connection) -> Iterator[corpus.Connection]:
    """An empty database whose ids begin at 1, inside a transaction that is rolled back."""
    with scratch.transaction(force_rollback=True):
        scratch.execute(RESTART)
        yield scratch
    if scratch.execute(BLOAT).fetchone() == (True,):
        scratch.execute("truncate lexichord_data.document cascade")


@pytest.fixture
def fresh(dsn: str) -> Iterator[corpus.Connection]:
    """The database of `dsn` and `database`, which other connections see as well."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def library(template: str, keeper: Keeper) -> corpus.Connection:
    """122 chunks, indexed; a search that wrote anything would fail."""
    return keeper.keep((template, "library"), partial(shared, template, corpus.library))


@pytest.fixture(scope="session")
def wide(template: str, keeper: Keeper) -> corpus.Connection:
    """3,552 chunks, indexed; read-only, too."""
    return keeper.keep((template, "wide"), partial(shared, template, corpus.wide))


@contextmanager
def shared(template: str, fill: Callable[[corpus.Connection], None]) -> Iterator[corpus.Connection]:
    with new_database(template, copy_of=template) as dsn:
        with psycopg.connect(dsn, autocommit=True) as connection:
            fill(connection)
        settings = "-c default_transaction_read_only=on -c timezone=UTC"
        with psycopg.connect(dsn, autocommit=True, options=settings) as connection:
            yield connection
