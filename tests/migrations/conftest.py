from collections.abc import Iterator

import psycopg
import pytest

from lexichord.db.schema import Choice
from tests.conftest import ROOT, SPACE, new_database
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
RELEASE = (ROOT / "migrations/0035_release_1_0.sql").read_text()
# The ledger as it was in the last state before the first release, and what was dropped since.
UNRELEASED = (
    "delete from lexichord_data.migration where number > 35",
    "insert into lexichord_data.migration (number, name, sha256) "
    "select number, 'one of before', '' from generate_series(1, 34) as number",
    "update lexichord_data.migration set name = 'query_phrase', sha256 = '' where number = 35",
    RELEASE.partition("-- SHARDS\n")[2].partition("-- TABLES OF USERS")[0],
)


def run_statements(dsn: str, *statements: str) -> None:
    """Run statements, on a Citus cluster on the coordinator alone."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("set citus.enable_ddl_propagation = off")
        for statement in statements:
            connection.execute(statement.encode())


def connect(dsn: str) -> Connection:
    """Connect anew, for a session keeps the plans of functions that are renamed."""
    return psycopg.connect(dsn, autocommit=True)
