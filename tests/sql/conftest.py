"""Two corpora that tests share, read-only: a search that wrote anything would fail."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest

from tests.conftest import new_database
from tests.sql import corpus


@pytest.fixture(scope="session")
def library(template: str) -> Iterator[corpus.Connection]:
    """122 chunks, indexed."""
    with shared(template, corpus.library) as connection:
        yield connection


@pytest.fixture(scope="session")
def wide(template: str) -> Iterator[corpus.Connection]:
    """3,552 chunks, indexed."""
    with shared(template, corpus.wide) as connection:
        yield connection


@contextmanager
def shared(
    template: str, fill: Callable[[corpus.Connection], None]
) -> Iterator[corpus.Connection]:
    with new_database(template, copy_of=template) as dsn:
        with psycopg.connect(dsn, autocommit=True) as connection:
            fill(connection)
        settings = "-c default_transaction_read_only=on -c timezone=UTC"
        with psycopg.connect(dsn, autocommit=True, options=settings) as connection:
            yield connection
