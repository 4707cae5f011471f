"""Scratch databases: created for an evaluation, dropped after it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import psycopg
from psycopg import Connection, errors, sql
from psycopg.conninfo import make_conninfo

from lexichord.db import schema
from lexichord.db.failures import translate_errors
from lexichord.db.pool import SEARCH_PATH, UNPREPARED, refuse_pooler
from lexichord.errors import ConfigError
from lexichord.types import EmbeddingSpace

SCRATCH_PREFIX = "lexichord_scratch"
CONFIGURATION_QUERY = """
select c.engine, c.text_config::text, c.by_document, s.provider, s.model, s.dimension
from lexichord_data.configuration c, lexichord_data.embedding_space s
"""
# The locale decides what a letter is. A server before Postgres 17 has other names for it.
LOCALE_QUERY = """
select pg_encoding_to_char(d.encoding), d.datcollate, d.datctype, d.datlocprovider::text,
       coalesce(to_jsonb(d)->>'datlocale', to_jsonb(d)->>'daticulocale')
from pg_database d where d.datname = current_database()
"""
DATABASE_OID_QUERY = "select oid from pg_database where datname = current_database()"
LOCALE_PROVIDERS = {"b": "builtin", "i": "icu", "c": "libc"}

scratch_numbers = count()  # of this process


@contextmanager
def scratch_database(like: str) -> Iterator[str]:
    """Yield the DSN of a new, prepared, empty database on the server of the DSN `like`.

    Engine, text configuration, embedding space and locale are those of `like`. It is dropped at the
    end, whoever is connected; what a killed process left is dropped by the next one. Raises
    ConfigError if the user may not create databases; DatabaseError.
    """
    with translate_errors(), psycopg.connect(like, autocommit=True, **UNPREPARED) as owner:
        refuse_pooler(owner.info.backend_pid, _value(owner, "select pg_backend_pid()"))
        owner.execute(f"set search_path = {SEARCH_PATH}")
        prefix = f"{SCRATCH_PREFIX}_{_value(owner, DATABASE_OID_QUERY)}_"
        _drop_abandoned(owner, prefix)
        name = f"{prefix}{os.getpid()}_{next(scratch_numbers)}"
        owner.execute("select pg_advisory_lock(hashtextextended(%s, 0))", [name])
        _create(owner, name)
        try:
            dsn = make_conninfo(like, dbname=name)
            schema.prepare(dsn, _choice(owner))
            yield dsn
        finally:
            _drop(owner, name)


def _drop_abandoned(owner: Connection, prefix: str) -> None:
    """Drop those of the same database whose owner's session, and so its lock, is gone."""
    names = owner.execute(
        "select datname from pg_database where starts_with(datname, %s)", [prefix]
    )
    for (name,) in names.fetchall():
        if _value(owner, "select pg_try_advisory_lock(hashtextextended(%s, 0))", name):
            _drop(owner, name)
            owner.execute("select pg_advisory_unlock(hashtextextended(%s, 0))", [name])


def _drop(owner: Connection, name: str) -> None:
    statement = sql.SQL("drop database if exists {} with (force)")
    owner.execute(statement.format(sql.Identifier(name)))


def _value(owner: Connection, statement: str, *values: object) -> object:
    row = owner.execute(statement.encode(), values).fetchone()
    assert row is not None
    return row[0]


def _choice(connection: Connection) -> schema.Choice:
    row = connection.execute(CONFIGURATION_QUERY).fetchone()
    assert row is not None
    engine, text_config, by_document, *space = row
    return schema.Choice(engine, text_config, EmbeddingSpace(*space), by_document)


def _create(connection: Connection, name: str) -> None:
    row = connection.execute(LOCALE_QUERY).fetchone()
    assert row is not None
    encoding, collate, ctype, provider, locale = row
    locale_option = sql.SQL("{} {}").format(
        sql.SQL(f"{LOCALE_PROVIDERS[provider]}_locale"), sql.Literal(locale)
    )
    statement = sql.SQL(
        "create database {} template template0 encoding {} lc_collate {} lc_ctype {} "
        "locale_provider {} {}"
    ).format(
        sql.Identifier(name),
        *map(sql.Literal, (encoding, collate, ctype)),
        sql.SQL(LOCALE_PROVIDERS[provider]),
        locale_option if provider in "bi" else sql.SQL(""),
    )
    try:
        connection.execute(statement)
    except errors.InsufficientPrivilege:
        raise ConfigError(
            "the server's user may not create a scratch database: grant it CREATEDB"
        ) from None
