import psycopg

from lexichord.db import schema
from tests.conftest import new_database
from tests.sql.corpus import Connection, call, value

SECRET = "select id_secret from lexichord.id_secret()"


def test_a_database_keeps_its_own(dsn: str) -> None:
    with psycopg.connect(dsn) as one, psycopg.connect(dsn) as other:
        assert value(one, SECRET) == value(other, SECRET)
        assert value(one, SECRET).version == 4  # random


def test_a_new_database_has_another(embedded_dsn: str, library: Connection) -> None:
    (told,) = call(library, "id_secret")
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain"))
        with psycopg.connect(dsn) as connection:
            assert value(connection, SECRET) != told["id_secret"]
