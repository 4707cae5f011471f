"""Transactions of a backup: one moment of a database and its shards, rows as the same text."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import Connection, sql

from lexichord.db.pool import SEARCH_PATH, UNPREPARED
from lexichord.errors import DatabaseError

# Rows as text do not depend on the session: sums of two servers can be compared.
PLAIN_TEXT = """
select set_config(name, value, true) from (values
    ('search_path', %s), ('timezone', 'UTC'), ('datestyle', 'ISO, YMD'), ('bytea_output', 'hex'),
    ('intervalstyle', 'postgres'), ('extra_float_digits', '1')) as v (name, value)
"""
SHARDS = "select 'shard-' || number || '/', dsn from lexichord_data.shard order by number"


def begin(connection: Connection) -> None:
    """Have rows read the same whatever the session; again after what changes the settings."""
    connection.execute("set local client_min_messages = warning")
    connection.execute(PLAIN_TEXT, [SEARCH_PATH])


def fetch(connection: Connection, statement: str | sql.Composed, *values: object) -> list[Any]:
    """Return what a statement gives."""
    return connection.execute(statement, values).fetchall()


@contextmanager
def transaction(dsn: str) -> Iterator[Connection]:
    """Yield a connection in a transaction, which is committed in the end."""
    with psycopg.connect(dsn, **UNPREPARED) as connection:
        begin(connection)
        yield connection


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A connection that sees one moment of a database, and the name by which others see it."""

    folder: str
    dsn: str
    connection: Connection
    name: str


@contextmanager
def take_snapshots(dsn: str) -> Iterator[list[Snapshot]]:
    """Yield one moment of a database, and the same of its shards: nobody writes just then."""
    with ExitStack() as stack:
        folders = {"": dsn}
        with ExitStack() as writers:
            home = writers.enter_context(transaction(dsn))
            if fetch(home, "select where to_regclass('lexichord_data.shard') is not null"):
                folders |= dict(fetch(home, SHARDS))
            for folder, address in folders.items() if len(folders) > 1 else ():
                with _named(folder):
                    other = writers.enter_context(transaction(address)) if folder else home
                    other.execute("select lexichord.hold_writers()")
            snapshots = [_snapshot(*each, stack) for each in folders.items()]
        yield snapshots


@contextmanager
def _named(folder: str) -> Iterator[None]:
    """Say which shard does not answer."""
    try:
        yield
    except psycopg.OperationalError as error:
        shard = folder.strip("/").replace("-", " ")
        raise DatabaseError(f"{shard or 'the database'} does not answer: {error}") from error


def _snapshot(folder: str, dsn: str, stack: ExitStack) -> Snapshot:
    connection = stack.enter_context(psycopg.connect(dsn, **UNPREPARED))
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    begin(connection)
    name = fetch(connection, "select pg_export_snapshot()")[0][0]
    return Snapshot(folder, dsn, connection, name)
