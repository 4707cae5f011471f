"""A backup: all that is stored, in one file that any engine and any later version restores.

The file is a zip archive of two: `manifest.json`, with the number and a sum of each table's rows,
and `state.dump`, which is pg_dump's, both of one moment. Functions, indexes and what else an engine
makes of the state are left out and made anew; so are roles and rights, which are the server's.
"""

import json
import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Annotated, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from psycopg import Connection, sql
from pydantic import StringConstraints, TypeAdapter, ValidationError

from lexichord.db import schema
from lexichord.db.dumps import (
    BLOCK_BYTES,
    COPY_LINE,
    DERIVED_TABLES,
    STATEMENT_CHARS,
    WITHOUT_ROLES,
    begin,
    check_own,
    check_sequences,
    copy_rows,
    dumping,
    fetch,
    head_of,
    normal_form,
    parts_of,
    running,
    schema_of,
    take_snapshot,
    transaction,
    vector_types,
)
from lexichord.db.pool import check_dsn
from lexichord.db.session import translate_errors
from lexichord.errors import ConfigError, DatabaseError, LexichordError
from lexichord.types import Backup
from lexichord.types.base import explain_invalid, one_line

MANIFEST, STATE = "manifest.json", "state.dump"
MAX_SQL_BYTES = 10_000_000  # of a backup, besides rows; a schema has some 200 kB, as its entries
MAX_MANIFEST_BYTES = 10_000_000  # some 100 bytes a table, of which a database may index thousands
MAX_NAME_BYTES = 63  # of what Postgres has a name for
FORMAT = 1  # 1.0 also wrote 2, of several databases
# What an engine or a program makes of the rest, or that has no meaning elsewhere.
DERIVED_ROWS: tuple[str, ...] = ("keyword_tail", "keyword_segment", "index_build")
DERIVED_ROWS += ("function_release", "query_vector", "worker")
MAX_NAMED_TABLES = 3
HAS_INDEXED_TABLES = "select exists (select from lexichord_data.indexed_table)"
SCHEMA_NAME = re.compile(r'[a-z_][a-z0-9_]*|"[^"\x00-\x1f]+"', re.A)
TENANT_POLICY = re.compile(r" POLICY lexichord_data \w+ own ")

TABLES = f"""
select c.relname from pg_class c where c.relnamespace = 'lexichord_data'::regnamespace
and c.relkind = 'r' and c.relname <> all(%s)
and c.relname !~ '^({"|".join(DERIVED_TABLES).replace("*", ".*")})$'
order by c.relname
"""
TABLE_SUM = """
select count(*), coalesce(sum(('x' || left(md5(t::text), 16))::bit(64)::bigint), 0)::text
from lexichord_data.{} as t
"""
ENGINE_INDEXES = """
select c.relname from pg_class c join pg_am a on a.oid = c.relam
where c.relnamespace = 'lexichord_data'::regnamespace and c.relkind = 'i'
and a.amname not in ('btree', 'gin') order by c.relname
"""
VECTOR_SCHEMA = """
select quote_ident(n.nspname) from pg_extension e join pg_namespace n on n.oid = e.extnamespace
where e.extname = 'vector'
"""
PREPARED = "select where to_regclass('lexichord_data.migration') is not null"
# Of a database of 1.0, which a backup may be of: what is in the others would be missing.
LISTS_OTHERS = "select where to_regclass('lexichord_data.shard') is not null"
OTHERS = "select from lexichord_data.shard"
# Tables with rows in a database in which nothing was stored yet.
INITIAL_TABLES = {"configuration", "corpus", "embedding_space", "migration"}
# What others built upon a schema, and would lose with it.
DEPENDENTS = """
select distinct v.oid::regclass::text
from pg_depend d
join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
join pg_class v on v.oid = r.ev_class
left join pg_class t on d.refclassid = 'pg_class'::regclass and t.oid = d.refobjid
left join pg_proc p on d.refclassid = 'pg_proc'::regclass and p.oid = d.refobjid
where coalesce(t.relnamespace, p.pronamespace)::regnamespace::text ~ '^lexichord'
and v.relnamespace::regnamespace::text !~ '^lexichord'
"""
# A table that is not there has no number: `follow_tables` then deletes what was stored of it.
LATE_TABLES = "alter table lexichord_data.indexed_table alter column relation type text"
KNOWN_TABLES = """
alter table lexichord_data.indexed_table alter column relation type regclass
using coalesce(to_regclass(relation), 0::oid::regclass)
"""
ALONE = "select pg_try_advisory_xact_lock(hashtextextended('lexichord restore', 0))"
# What engines add to chunks, whose vectors and impacts searches compare.
ENGINE_TRIGGERS = """
keep_inserted keep_updated spread_inserted spread_updated spread_deleted spread_truncated"""
LEAVE_ENGINE = ";".join(
    f"drop trigger if exists {name} on lexichord_data.chunk" for name in ENGINE_TRIGGERS.split()
)
NAME_ENGINE = "update lexichord_data.configuration set engine = %s"


type Name = Annotated[str, StringConstraints(max_length=MAX_NAME_BYTES)]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup's state was when it was made; `tables` has rows and sum of each."""

    format: int
    version: str
    engine: str
    vector_schema: str
    indexes: list[Name]
    tables: dict[str, tuple[int, str]]


@dataclass(frozen=True, slots=True)
class OwnSchema:
    """The schema of this version: SQL that makes it, and the heads of what is to be there."""

    parts: Collection[bytes]
    heads: Collection[bytes]


@dataclass(frozen=True, slots=True)
class Archive:
    """An opened backup."""

    file: ZipFile
    manifest: Manifest

    def state(self) -> IO[bytes]:
        """Open what pg_dump wrote."""
        return self.file.open(STATE)


def backup(dsn: str, file: Path) -> Backup:
    """Write all that a database holds to a new file. Raises ConfigError, DatabaseError."""
    if file.exists():
        raise ConfigError(f"{file} exists: name another file, or move it away")
    check_dsn(dsn)
    with translate_errors(), _new_file(file) as opened, take_snapshot(dsn) as (connection, name):
        manifest = _describe(connection)
        with ZipFile(opened, "w") as archive:
            archive.writestr(MANIFEST, json.dumps(asdict(manifest), indent=1))
            with archive.open(STATE, "w", force_zip64=True) as member:
                _dump(dsn, name, member)
    return _outcome(file, manifest, manifest.engine)


def restore(dsn: str, file: Path, engine: str | None = None, *, trust: bool = False) -> Backup:
    """Put a backup into a database that holds nothing of lexichord's yet.

    The engine is the one named, else the backup's, else the best that the server has. All or
    nothing is stored: numbers and sums of rows are compared first. A backup is SQL: what this
    version does not write itself is run only where the caller has `trust` in the file. Raises
    ConfigError, DatabaseError.
    """
    check_dsn(dsn)
    with _opened(file) as archive:
        with _all_or_nothing():
            own = None if trust else _own_schema(dsn, archive, engine)
            with transaction(dsn) as connection:
                chosen = _load(connection, archive, engine, own)
        with _or_cleared(dsn):
            schema.prepare(dsn, schema.Choice())
            if own is not None:
                _check_whole(dsn, own.heads)
        with translate_errors(), transaction(dsn) as connection:
            left_out = _follow_tables(connection)
    return _outcome(file, archive.manifest, chosen, left_out)


@contextmanager
def _all_or_nothing() -> Iterator[None]:
    """Raise what fails with the news that nothing was restored."""
    try:
        with translate_errors():
            yield
    except DatabaseError as error:
        raise type(error)(f"nothing was restored: {error}") from error


@contextmanager
def _or_cleared(dsn: str) -> Iterator[None]:
    """Leave nothing of what was restored where it is not taken on."""
    try:
        yield
    except LexichordError as error:
        with translate_errors(), transaction(dsn) as connection:
            _make_room(connection)
        raise type(error)(f"nothing was restored: {error}") from error


def _check_whole(dsn: str, wanted: Collection[bytes]) -> None:
    """Raise ConfigError where what was restored lacks a part of the schema."""
    lacking = sorted(set(wanted) - {*map(head_of, parts_of(schema_of(dsn)))})
    if lacking:
        raise ConfigError(
            f"the backup lacks {len(lacking)} parts that lexichord "
            f"{version('lexichord')} writes ({one_line(lacking[0].decode(), STATEMENT_CHARS)}): "
            "make it again"
        )


def _outcome(file: Path, manifest: Manifest, engine: str, left_out: tuple[str, ...] = ()) -> Backup:
    documents, chunks = (manifest.tables[name][0] for name in ("document", "chunk"))
    return Backup(str(file), documents, chunks, engine, left_out)


@contextmanager
def _new_file(file: Path) -> Iterator[IO[bytes]]:
    """Yield a file that gets its name when it is whole, and that only its owner may read."""
    try:
        with NamedTemporaryFile(dir=file.parent, prefix=file.name, suffix=".part") as opened:
            yield opened
            opened.flush()
            os.fsync(opened.fileno())
            os.link(opened.name, file)
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}") from error


def _describe(connection: Connection) -> Manifest:
    if not _is_prepared(connection):
        raise ConfigError("the database has no lexichord schema: there is nothing to back up")
    if fetch(connection, LISTS_OTHERS) and fetch(connection, OTHERS):
        raise ConfigError(
            "the database has shards: back it up by lexichord 1.0.0, which knows them"
        )
    configuration = fetch(connection, "select engine from lexichord_data.configuration")
    return Manifest(
        FORMAT,
        version("lexichord"),
        configuration[0][0],
        fetch(connection, VECTOR_SCHEMA)[0][0],
        [name for (name,) in fetch(connection, ENGINE_INDEXES)],
        _table_sums(connection),
    )


def _is_prepared(connection: Connection) -> bool:
    return bool(fetch(connection, PREPARED))


def _table_sums(connection: Connection) -> dict[str, tuple[int, str]]:
    """Return the number of each table's rows and a sum of them, whatever their order."""
    return {
        name: fetch(connection, sql.SQL(TABLE_SUM).format(sql.Identifier(name)))[0]
        for (name,) in fetch(connection, TABLES, list(DERIVED_ROWS))
    }


def _dump(dsn: str, snapshot: str, target: IO[bytes]) -> None:
    rows = [f"--exclude-table-data=lexichord_data.{name}" for name in DERIVED_ROWS]
    with dumping(dsn, "-Fc", f"--snapshot={snapshot}", *rows) as dump:
        shutil.copyfileobj(dump, target, BLOCK_BYTES)


@contextmanager
def _opened(file: Path) -> Iterator[Archive]:
    """Open a backup. Raises ConfigError for one that this version cannot read."""
    if file.exists() and not file.is_file():
        raise ConfigError(f"{file} is no backup: it is no file")
    try:
        with ZipFile(file) as opened:
            yield Archive(opened, _read_manifest(opened, file))
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error
    except KeyError as error:
        raise ConfigError(f"{file} is no backup, or not whole: it lacks {error}") from error
    except ValidationError as error:
        raise ConfigError(f"{file} is no backup, or not whole: {explain_invalid(error)}") from error
    except (BadZipFile, RecursionError, TypeError, ValueError) as error:
        raise ConfigError(f"{file} is no backup, or not whole: {error}") from error


def _read_manifest(opened: ZipFile, file: Path) -> Manifest:
    if any(opened.getinfo(name).compress_type != ZIP_STORED for name in (MANIFEST, STATE)):
        raise ConfigError(f"{file} is no backup, or not whole: lexichord packs no part of one")
    with opened.open(MANIFEST) as member:
        text = member.read(MAX_MANIFEST_BYTES + 1)
    if len(text) > MAX_MANIFEST_BYTES:
        raise ConfigError(f"{file} is no backup, or not whole: its {MANIFEST} is too large")
    found = TypeAdapter(dict[str, Any]).validate_json(text)
    if found["format"] != FORMAT:
        raise ConfigError(
            f"{file} is of a form that only lexichord {found['version']} is known to read: restore "
            "it with that"
        )
    if not SCHEMA_NAME.fullmatch(found["vector_schema"]):
        raise ConfigError(f"{file} is no backup, or not whole: no schema has such a name")
    return TypeAdapter(Manifest).validate_json(text, strict=True)


def _check_empty(connection: Connection) -> None:
    """Raise ConfigError where there is something to lose, once what is being stored is there."""
    if not _is_prepared(connection):
        return
    tables = [name for (name,) in fetch(connection, TABLES, list(DERIVED_ROWS))]
    own = sql.SQL(", ").join(sql.Identifier("lexichord_data", name) for name in tables)
    connection.execute(sql.SQL("lock {} in exclusive mode").format(own))
    exists = sql.SQL("select exists (select from lexichord_data.{})")
    full = [
        name
        for name in tables
        if name not in INITIAL_TABLES
        and fetch(connection, exists.format(sql.Identifier(name)))[0][0]
    ]
    if full:
        raise ConfigError(
            f"the database is not empty, it has rows in {', '.join(full[:MAX_NAMED_TABLES])}"
            f"{' …' * (len(full) > MAX_NAMED_TABLES)}: restore into another, named by --dsn"
        )


def _make_room(connection: Connection) -> None:
    """Drop a schema; raise ConfigError where others built upon it."""
    if views := [name for (name,) in fetch(connection, DEPENDENTS)]:
        raise ConfigError(f"views use functions of lexichord: drop them first ({', '.join(views)})")
    connection.execute("drop schema if exists lexichord, lexichord_data, lexichord_former cascade")


def _clear(connection: Connection) -> None:
    """Drop a schema that holds nothing.

    Raises ConfigError where there is something to lose, or another restore goes on.
    """
    if not fetch(connection, ALONE)[0][0]:
        raise ConfigError("another restore goes on there")
    _check_empty(connection)
    _make_room(connection)


def _own_schema(dsn: str, archive: Archive, engine: str | None) -> OwnSchema:
    """Return what this version makes on a server, for tenants too.

    The database is left without it, as it was. Raises ConfigError where there is something to lose.
    """
    has_tenants = any(map(TENANT_POLICY.search, [*_entries(archive)]))
    with transaction(dsn) as connection:
        _clear(connection)
        chosen = schema.choose_engine(connection, engine, archive.manifest.engine)
    schema.prepare(dsn, schema.Choice(chosen))
    without = text = schema_of(dsn)
    if has_tenants:  # else no role is made for it
        with transaction(dsn) as connection:
            connection.execute("select lexichord.turn_tenants_on()")
        text = schema_of(dsn)
    with transaction(dsn) as connection:
        vector_schema = fetch(connection, VECTOR_SCHEMA)[0][0]
        _clear(connection)
    parts = [*parts_of(text)]
    known = {normal_form(part, vector_schema) for part in (*parts_of(without), *parts)}
    return OwnSchema(known, {*map(head_of, parts)})


def _load(
    connection: Connection, archive: Archive, engine: str | None, own: OwnSchema | None
) -> str:
    """Restore the state, compared with the manifest; return the engine that it gets."""
    manifest = archive.manifest
    _clear(connection)
    chosen = schema.choose_engine(connection, engine, manifest.engine)
    vector_schema = schema.create_extensions(connection, chosen)["vector"]
    begin(connection)
    with NamedTemporaryFile("w", encoding="utf-8") as entries:
        entries.writelines(_wanted_entries(archive))
        entries.flush()
        with (
            archive.state() as state,
            running(
                "pg_restore", [f"--use-list={entries.name}", "-f-", *WITHOUT_ROLES], None, state
            ) as lines,
        ):
            parts = None if own is None else own.parts
            _run_script(connection, lines, manifest, vector_schema, parts)
    begin(connection)
    _compare(manifest.tables, _table_sums(connection))
    check_sequences(connection)
    schema.take_on(connection)
    if own is not None and fetch(connection, HAS_INDEXED_TABLES)[0][0]:
        raise ConfigError(
            "the backup follows tables of its database, by filters that are SQL: restore with "
            "--trust what you trust"
        )
    connection.execute(KNOWN_TABLES)
    connection.execute(LEAVE_ENGINE)
    connection.execute(NAME_ENGINE, [chosen])
    return chosen


def _wanted_entries(archive: Archive) -> Iterator[str]:
    """Yield the lines of an archive's contents but for what is made anew.

    That is the engine's indexes, and what follows the tables that are indexed.
    """
    indexes = archive.manifest.indexes
    made = (
        r" FUNCTION lexichord_data queue_changes_\d+\(\) | INDEX lexichord_data keyword_document "
    )
    made += r"| (TABLE|(FK )?CONSTRAINT|TRIGGER|POLICY|ROW SECURITY) lexichord_data keyword "
    if indexes:
        made += rf"| INDEX lexichord_data ({'|'.join(map(re.escape, indexes))}) "
    yield from (line for line in _entries(archive) if not re.search(made, line))


def _entries(archive: Archive) -> Iterator[str]:
    """Yield the lines of an archive's contents."""
    left = MAX_SQL_BYTES
    with archive.state() as state, running("pg_restore", ["--list"], source=state) as lines:
        while line := lines.readline(left):
            yield line.decode()
            left -= len(line)
            if left == 0:
                raise ConfigError("the backup holds more entries than lexichord writes")


def _run_script(
    connection: Connection,
    lines: IO[bytes],
    manifest: Manifest,
    vector_schema: str,
    own: Collection[bytes] | None,
) -> None:
    """Run pg_dump's script: statements, and in between the rows of tables."""
    vector_schemas = manifest.vector_schema, vector_schema
    before_rows, statements, size = LATE_TABLES, list[bytes](), 0
    for line in iter(lambda: lines.readline(BLOCK_BYTES), b""):
        if copied := COPY_LINE.fullmatch(line):
            if (name := copied[1].decode().strip('"')) not in manifest.tables:
                raise DatabaseError(
                    f"the backup holds rows of {name}, of which its manifest counts none; make the "
                    "backup again"
                )
            _run_statements(connection, statements, vector_schemas, own)
            connection.execute(before_rows)
            before_rows = ""
            copy_rows(connection, line, lines)
        else:
            statements.append(line)
            size += len(line)
            if size > MAX_SQL_BYTES:
                raise ConfigError("the backup holds more SQL than lexichord writes")
    _run_statements(connection, statements, vector_schemas, own)


def _run_statements(
    connection: Connection,
    statements: list[bytes],
    vector_schemas: tuple[str, str],
    own: Collection[bytes] | None,
) -> None:
    """Run statements, with the schema in which this database has pgvector; forget them."""
    former, present = vector_schemas
    parts = [*parts_of(b"".join(statements))]
    if own is not None:
        check_own(parts, former, own)
    types = present.encode() + rb".\1\2"
    connection.execute(vector_types(former).sub(types, b"\n".join(parts)))
    statements.clear()


def _compare(
    expected: Mapping[str, tuple[int, str]], stored: Mapping[str, tuple[int, str]]
) -> None:
    """Raise DatabaseError unless the tables have the rows that were there."""
    nothing = (0, "0")
    for name in sorted(expected.keys() | stored.keys()):
        if stored.get(name) != (rows := expected.get(name, nothing)):
            raise DatabaseError(
                f"table {name} has not the rows of the backup's, "
                f"{stored.get(name, nothing)[0]} for {rows[0]}; make the backup again"
            )


def _follow_tables(connection: Connection) -> tuple[str, ...]:
    """Let indexed tables that are there be followed again; say what became of the others."""
    connection.execute(
        "select lexichord.create_table_triggers(t) from lexichord_data.indexed_table t "
        "join pg_class c on c.oid = t.relation"
    )
    rows = fetch(connection, "select source, remark from lexichord.follow_tables()")
    return tuple(f"indexed table {source}: {remark}" for source, remark in rows)
