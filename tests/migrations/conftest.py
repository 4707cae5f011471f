from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from lexichord.db.schema import Choice
from tests.conftest import SPACE, new_database
from tests.sql.corpus import Connection


@pytest.fixture
def empty(template: str) -> Iterator[str]:
    """A database without anything, on a server of the engine."""
    with new_database(template) as dsn:
        yield dsn


@pytest.fixture
def choice(dsn: str) -> Choice:
    """What the prepared databases were made with."""
    with psycopg.connect(dsn) as connection:
        row = connection.execute("select engine from lexichord.configuration()").fetchone()
    assert row is not None
    return Choice(row[0], "english", SPACE)


ANOTHER_VERSION = "update lexichord_data.function_release set sha256 = 'of another version'"


def run_statements(dsn: str, *statements: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def connect(dsn: str) -> Connection:
    """Connect anew, for a session keeps the plans of functions that are renamed."""
    return psycopg.connect(dsn, autocommit=True)


def stored(dsn: str) -> list[Any]:
    """Return what the analyzer made: of chunks, cards and statistics."""
    statements = (
        "select ordinal, lexemes::text, token_count from lexichord_data.chunk order by ordinal",
        "select lexeme, tf from lexichord_data.card_term order by lexeme",
        "select lexeme, df from lexichord_data.term_statistics where df > 0 order by lexeme",
        "select id, card_length from lexichord_data.document",
        "select * from lexichord_data.corpus_statistics",
    )
    with connect(dsn) as connection:
        return [connection.execute(statement.encode()).fetchall() for statement in statements]
