import psycopg

from tests.conftest import at
from tests.sql.corpus import value

IDENTITY = "select lexichord.database_identity()"


def identity(dsn: str, **options: str) -> str:
    with psycopg.connect(dsn, **options) as connection:  # type: ignore[arg-type]
        return str(value(connection, IDENTITY))


def test_the_same_for_each_connection_to_a_database(dsn: str) -> None:
    assert identity(dsn) == identity(dsn, options="-c timezone=Asia/Tokyo -c datestyle=german")


def test_a_copy_beside_it_is_another(template: str, dsn: str) -> None:
    assert identity(template) != identity(dsn)
    assert at(template, "") == at(dsn, "")  # though on one server
