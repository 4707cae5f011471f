"""Migrate the state, replace the functions, check that program and database fit.

This is the one module that reads .sql files; what it asks itself is the little that must work
before any function of ours exists.
"""

import hashlib
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection

from lexichord.db.pool import SEARCH_PATH, SESSION_OPTIONS, check_dsn
from lexichord.db.replace import Rows, replace_functions
from lexichord.db.session import translate_errors
from lexichord.errors import ConfigError, DatabaseError, EngineUnsupportedError, SchemaOutdatedError
from lexichord.types import EmbeddingSpace, ExtensionFault

log = logging.getLogger("lexichord")

LOCK = 7_245_089_131  # any number that no other program takes: one preparation at a time
DEADLOCKS = 5  # with sessions that write meanwhile: so often a preparation begins anew
# The first release has one migration in place of the 35 before it, of which this was the last.
LAST_UNRELEASED = "query_phrase"
TAKE_ON = """
with base as (
    update lexichord_data.migration set name = %(name)s, sha256 = %(sha256)s
    where number = %(number)s and name = %(last)s
      and (select count(*) from lexichord_data.migration) = %(number)s
    returning number
)
delete from lexichord_data.migration m using base where m.number < base.number
"""
DEFAULT_SPACE = EmbeddingSpace("local", "all-MiniLM-L6-v2", 384)
DEFAULT_TEXT_CONFIG = "pg_catalog.english"
ONE_TEXT_CONFIG = """
update lexichord_data.configuration set by_document = false where by_document
"""
# Citus would make schemas, types and functions of a coordinator on its workers as well, and refuse
# them on these: each database is prepared by itself. Elsewhere the setting means nothing.
OWN_OBJECTS = "set local citus.enable_ddl_propagation = off"
ENGINES = {  # the extensions of each, best first; what they share is in folders of its own
    "vectorchord": ("vchord", "vchord_bm25"),
    "textsearch": ("vector", "pg_textsearch"),
    "citus": ("citus", "vector"),  # which is taken only where it is named: it is several servers
    "plain": ("vector",),
}
FOLDERS = {  # a later one's files replace those of the same name
    "vectorchord": ("one_node", "kept_tail", "sealed", "vectorchord"),
    "textsearch": ("one_node", "hnsw", "unsealed", "textsearch"),
    "plain": ("one_node", "hnsw", "kept_tail", "sealed", "block_maxima", "plain"),
    "citus": ("one_node", "hnsw", "kept_tail", "sealed", "block_maxima", "citus"),
}
EXTENSION_SCHEMA = re.compile(r"@extschema(?::(\w+))?@")  # as in Postgres' own extension scripts
FAULT_FUNCTIONS = ("release_numbers", "known_faults", "extension_faults")  # in this order
FAULT_COLUMNS = ", ".join(field.name for field in fields(ExtensionFault))
APART = ("constants", "engine", "state", "types")  # of sql/, whose files have a turn of their own
NO_FUNCTIONS = ("extensions.sql", "index.sql")  # of an engine's folders
UNSAFE = set("\"$'\\%")  # in a schema's name, which stands inside of quotes, formats and comments


@dataclass(frozen=True, slots=True)
class Choice:
    """What a database is given for good when it is made; None stands for the default.

    Without a text configuration each document has that of its language; `by_document` says so of
    one database for another, with the text configuration of documents whose language is not known.
    """

    engine: str | None = None
    text_config: str | None = None
    space: EmbeddingSpace | None = None
    by_document: bool | None = None


def folder(name: str) -> Path:
    """Find `sql` or `migrations`: inside the installed package, or at the root of a checkout."""
    package = Path(__file__).parents[1]
    installed = package / name
    return installed if installed.is_dir() else package.parents[1] / name


def prepare(dsn: str, choice: Choice, *, mend_rights: bool = True) -> None:
    """Bring a database to this program's schema: migrations, functions, indexes. Idempotent.

    With `mend_rights` the reader's role gets what it should have even where nothing is new.

    Raises DatabaseError, EngineUnsupportedError for more dimensions than the engine indexes;
    ConfigError if `choice` contradicts what an earlier call chose.
    """
    for _ in range(DEADLOCKS):
        try:
            return _prepare(dsn, choice, mend_rights)
        except DatabaseError as error:  # nothing was changed
            if not isinstance(error.__cause__, psycopg.errors.DeadlockDetected):
                raise
    return _prepare(dsn, choice, mend_rights)


def _prepare(dsn: str, choice: Choice, mend_rights: bool) -> None:
    with _transaction(dsn) as connection:
        connection.execute("select pg_advisory_xact_lock(%s)", [LOCK])
        is_migrated = _migrate(connection)
        _configure(connection, choice)
        is_new = _install(connection) or is_migrated
        if is_new or mend_rights:
            connection.execute("select lexichord.grant_reader()")
        if is_new:
            connection.execute("select lexichord.guard_tenants()")
    with _transaction(dsn) as connection:
        connection.execute("select pg_advisory_xact_lock(%s)", [LOCK])
        connection.execute("select lexichord.build_indexes()")


def check(dsn: str) -> None:
    """Raise SchemaOutdatedError unless a database fits this program as it is."""
    with _transaction(dsn) as connection:
        if not _is_initialised(connection):
            raise SchemaOutdatedError(
                "the database has no lexichord schema yet: run lexichord init"
            )
        pending = _pending(connection)
        engine = _rows(connection, "select engine from lexichord_data.configuration")
        if moved := _moved_extensions(connection):
            raise SchemaOutdatedError(
                f"extensions were moved to another schema ({', '.join(moved)}): run lexichord init"
            )
        if pending or not engine or _installed(connection) != _digest(connection, engine[0][0]):
            raise SchemaOutdatedError(
                "the database was prepared by another version of lexichord: run lexichord init"
            )


def bound_space(dsn: str) -> str:
    """Return a prepared database's space, as provider/model/dimension. Raises DatabaseError."""
    with _transaction(dsn) as connection:
        return str(_rows(connection, "select space from lexichord.configuration()")[0][0])


@contextmanager
def _transaction(dsn: str) -> Iterator[Connection]:
    """Yield a connection in a transaction in which nobody else's objects hide what is meant."""
    check_dsn(dsn)
    with translate_errors(), psycopg.connect(dsn, **SESSION_OPTIONS) as connection:
        connection.execute("set local client_min_messages = warning")
        connection.execute("set local standard_conforming_strings = on")
        connection.execute(f"set local search_path = {SEARCH_PATH}")
        connection.execute(OWN_OBJECTS)
        yield connection


def _rows(connection: Connection, statement: str, *values: object) -> Rows:
    return connection.execute(statement, values).fetchall()


def _by_own_path(connection: Connection, expression: str, *values: object) -> Any:  # noqa: ANN401
    """Return the value of an expression under the search path of whoever runs this."""
    with connection.transaction(force_rollback=True):
        connection.execute("set local search_path to default")
        return _rows(connection, f"select {expression}", *values)[0][0]


def _is_initialised(connection: Connection) -> bool:
    return bool(
        _rows(connection, "select where to_regclass('lexichord_data.migration') is not null")
    )


def _migrations() -> dict[int, Path]:
    return {int(path.name[:4]): path for path in sorted(folder("migrations").glob("*.sql"))}


def _pending(connection: Connection) -> list[Path]:
    """Return the migrations still to run, after checking those that have."""
    known = _migrations()
    applied: Rows = []
    if _is_initialised(connection):
        applied = _rows(connection, "select number, sha256 from lexichord_data.migration")
    if any(number < min(known) for number, _ in applied):
        is_last = max(applied)[0] == min(known)
        raise SchemaOutdatedError(
            "the database is of the last version before 1.0.0: run lexichord init"
            if is_last
            else "the database is of a version before 1.0.0: run lexichord init of the last one "
            "before 1.0.0 on it first, or ingest anew"
        )
    for number, sha256 in applied:
        if number not in known:
            raise SchemaOutdatedError(
                f"the database has migration {number}, which this lexichord "
                f"({version('lexichord')}) does not know: upgrade lexichord"
            )
        if sha256 != _sha256(known[number]):
            raise DatabaseError(
                f"{known[number].name} was edited after it had been applied: undo it"
            )
    done = {number for number, _ in applied}
    return [path for number, path in known.items() if number not in done]


def take_on(connection: Connection) -> list[Path]:
    """Give the list of migrations of the last state before the first release the release's one row.

    Return the migrations still to run. Raises SchemaOutdatedError for an older or later state.
    """
    if _is_initialised(connection):
        number, base = min(_migrations().items())
        values = {"name": base.stem[5:], "sha256": _sha256(base), "last": LAST_UNRELEASED}
        connection.execute(TAKE_ON, {"number": number, **values})
    return _pending(connection)


def _migrate(connection: Connection) -> bool:
    """Run the migrations that are pending; return whether there were any."""
    pending = take_on(connection)
    for path in pending:
        connection.execute(path.read_text(encoding="utf-8"))
        _rows(
            connection,
            "insert into lexichord_data.migration (number, name, sha256) values (%s, %s, %s) "
            "returning number",
            *(int(path.name[:4]), path.stem[5:], _sha256(path)),
        )
    return bool(pending)


def _configure(connection: Connection, choice: Choice) -> None:
    """Fix engine, analyzer and embedding space in a new database; elsewhere compare."""
    fixed = _rows(connection, "select engine, text_config::text from lexichord_data.configuration")
    if not fixed:
        _rows(
            connection,
            "insert into lexichord_data.configuration (engine, text_config, by_document) "
            "values (%s, %s::regconfig, %s) returning engine",
            choose_engine(connection, choice.engine),
            _text_config(connection, choice.text_config or DEFAULT_TEXT_CONFIG),
            choice.by_document or choice.text_config is None,
        )
        space = choice.space or DEFAULT_SPACE
        _rows(
            connection,
            "insert into lexichord_data.embedding_space (provider, model, dimension, is_default) "
            "values (%s, %s, %s, %s) returning model",
            *(space.provider, space.model, space.dimension, choice.space is None),
        )
        return
    bound = _rows(
        connection, "select provider, model, dimension from lexichord_data.embedding_space"
    )
    stored = (*fixed[0], EmbeddingSpace(*bound[0]))
    text_config = _text_config(connection, choice.text_config)
    wanted = (choice.engine, text_config, _unless_left(connection, choice.space))
    names = ("engine", "text configuration", "embedding space")
    for name, old, new in zip(names, stored, wanted, strict=True):
        if new is not None and old != new:
            good, way = (
                (" for good", "") if new is not choice.space else ("", " or lexichord reembed")
            )
            raise ConfigError(
                f"the database's {name} is {old}{good}: for {new}, use another database{way}"
            )
    if text_config is not None and choice.by_document is None:
        connection.execute(ONE_TEXT_CONFIG)


def _text_config(connection: Connection, name: str | None) -> str | None:
    """Find a text configuration where whoever runs this would; name it for any search path."""
    oid = _by_own_path(connection, "%s::pg_catalog.regconfig::pg_catalog.oid", name)
    text: str | None = _rows(connection, "select %s::oid::regconfig::text", oid)[0][0]
    return text


def _unless_left(connection: Connection, space: EmbeddingSpace | None) -> EmbeddingSpace | None:
    """Return a space unless the database was bound to it before: that is no wish to change."""
    left = "select from lexichord_data.reembedding where %s in (old_space, new_space)"
    return None if space and _rows(connection, left, str(space)) else space


def choose_engine(connection: Connection, wanted: str | None, former: str | None = None) -> str:
    """Return the engine wanted, else the former one, else the best that works on the server.

    Raises ConfigError; EngineUnsupportedError where extensions are missing.
    """
    rows = _rows(connection, "select name from pg_available_extensions")
    available = {name for (name,) in rows}
    meant = {wanted} if wanted else {engine for engine in ENGINES if engine != "citus"} | {former}
    possible = [
        engine
        for engine, extensions in ENGINES.items()
        if engine in meant and available.issuperset(extensions)
    ]
    if possible:
        best_first = sorted(possible, key=lambda engine: engine != former)
        return wanted or _first_that_works(connection, best_first)
    needed = " or ".join(
        f"{', '.join(extensions)} (engine {engine})"
        for engine, extensions in ENGINES.items()
        if engine in meant
    )
    raise EngineUnsupportedError(f"the server lacks extensions: install {needed}")


def _first_that_works(connection: Connection, engines: Sequence[str]) -> str:
    """Return the first engine whose extensions are sound and can be made, else the last one.

    An extension whose files are there may be another version, not loaded, or refused to this role.
    """
    for engine in engines[:-1]:
        try:
            _refuse_faulty(_extension_faults(connection, engine))
            with translate_errors(), connection.transaction(force_rollback=True):
                create_extensions(connection, engine)
        except DatabaseError as error:
            log.warning("the engine %s is left out: %s", engine, error)
        else:
            return engine
    return engines[-1]


def _refuse_faulty(faults: Sequence[ExtensionFault]) -> None:
    """Raise EngineUnsupportedError for versions with a fault to refuse."""
    for fault in faults:
        if fault.severity == "refuse":
            problems = "; ".join(
                each.problem for each in faults if each.extension == fault.extension
            )
            raise EngineUnsupportedError(
                f"{fault.extension} {fault.version} is refused ({problems}): {fault.remedy}"
            )


def _warn_of(faults: Sequence[ExtensionFault]) -> None:
    for fault in faults:
        log.warning("%s %s: %s: %s", fault.extension, fault.version, fault.problem, fault.remedy)


def _extension_faults(connection: Connection, engine: str) -> list[ExtensionFault]:
    """Return the known faults that an engine meets here, before init has changed anything."""
    files = {path.stem: path for path in _topics()}
    with connection.transaction(force_rollback=True):
        connection.execute("create schema if not exists lexichord")
        for name in FAULT_FUNCTIONS:  # those of an older version may have other columns
            connection.execute(f"drop function if exists lexichord.{name} cascade")
            connection.execute(files[name].read_text(encoding="utf-8"))
        rows = _rows(
            connection, f"select {FAULT_COLUMNS} from lexichord.extension_faults(%s)", engine
        )
    return [ExtensionFault(*row) for row in rows]


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _files(engine: str) -> list[Path]:
    """Return the functions' files, first those that stand in defaults of others' arguments."""
    root = folder("sql")
    folders = [root / "engine" / each for each in FOLDERS[engine]]
    own = {path.name: path for each in folders for path in sorted(each.glob("*.sql"))}
    files = {path.name: path for path in _topics()} | own
    constants = sorted((root / "constants").glob("*.sql"))
    return constants + [path for name, path in files.items() if name not in NO_FUNCTIONS]


def _topics() -> list[Path]:
    """Return the files of the functions that all engines share by name, whatever their folders."""
    topics = (each for each in folder("sql").iterdir() if each.name not in APART)
    files = (path for topic in topics for path in topic.rglob("*.sql"))
    return sorted(files, key=lambda path: path.name)


def _state(engine: str) -> list[Path]:
    """Return the files that make columns, tables and triggers by the extensions' types."""
    root = folder("sql")
    own = [root / "engine" / each / "index.sql" for each in FOLDERS[engine]]
    return sorted((root / "state").glob("*.sql")) + [path for path in own if path.is_file()]


def _types() -> list[Path]:
    return sorted((folder("sql") / "types").glob("*.sql"))


def _render(path: Path, schemas: Mapping[str | None, str]) -> str:
    """Read a file, with the schemas of extensions in place of @extschema:name@."""
    return EXTENSION_SCHEMA.sub(
        lambda match: schemas.get(match[1], match[0]), path.read_text(encoding="utf-8")
    )


def _extension_schemas(connection: Connection) -> dict[str | None, str]:
    """Find the schema of each extension of the engines, written as in a statement."""
    names = [name for extensions in ENGINES.values() for name in extensions]
    rows = _rows(
        connection,
        "select e.extname, n.nspname, quote_ident(n.nspname) from pg_extension e "
        "join pg_namespace n on n.oid = e.extnamespace where e.extname = any(%s)",
        names,
    )
    return {extension: _refuse_unsafe(schema, quoted) for extension, schema, quoted in rows}


def _refuse_unsafe(schema: str, quoted: str) -> str:
    """Return a schema's quoted name. Raises ConfigError if it would end what it stands in."""
    if not schema.isprintable() or not UNSAFE.isdisjoint(schema):
        raise ConfigError(f"the schema {quoted} holds one of {''.join(sorted(UNSAFE))}: rename it")
    return quoted


def _moved_extensions(connection: Connection) -> list[str]:
    """Name the extensions that stand elsewhere than where the functions look for them."""
    known = _rows(connection, "select to_regproc('lexichord.moved_extensions') is not null")[0][0]
    if not known:
        return []
    return [
        name for (name,) in _rows(connection, "select extension from lexichord.moved_extensions()")
    ]


def _digest(connection: Connection, engine: str) -> str:
    schemas = _extension_schemas(connection)
    extensions = folder("sql") / "engine" / engine / "extensions.sql"
    paths = (extensions, *_state(engine), *_types(), *_files(engine))
    texts = [_render(path, schemas) for path in paths]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _installed(connection: Connection) -> str | None:
    rows = _rows(connection, "select sha256 from lexichord_data.function_release")
    return rows[0][0] if rows else None


def _install(connection: Connection) -> bool:
    """Replace the functions in one transaction, if they are not the ones of this program.

    Return whether they were not.
    """
    engine = _rows(connection, "select engine from lexichord_data.configuration")[0][0]
    if _installed(connection) == _digest(connection, engine) and (
        engine != "citus" or _rows(connection, "select where lexichord_data.is_spread()")
    ):
        return False
    with connection.transaction():
        _refuse_older(connection)
        faults = _extension_faults(connection, engine)
        _refuse_faulty(faults)
        _warn_of(faults)
        schemas = create_extensions(connection, engine)
        for path in _state(engine):
            connection.execute(_render(path, schemas))
        connection.execute("create schema if not exists lexichord")
        for path in _types():
            connection.execute(path.read_text(encoding="utf-8"))
        files = {path.stem: _render(path, schemas) for path in _files(engine)}
        replace_functions(connection, files)
        _rows(
            connection,
            "insert into lexichord_data.function_release (sha256, version) values (%s, %s) "
            "on conflict (only_row) do update set sha256 = excluded.sha256, "
            "version = excluded.version returning sha256",
            *(_digest(connection, engine), version("lexichord")),
        )
    return True


def create_extensions(connection: Connection, engine: str) -> dict[str | None, str]:
    """Create the extensions that the engine lacks; return the schema of each."""
    schema = _by_own_path(connection, "pg_catalog.current_schema()") or "public"
    quoted = _rows(connection, "select quote_ident(%s)", schema)[0][0]
    path = folder("sql") / "engine" / engine / "extensions.sql"
    connection.execute(_render(path, {None: _refuse_unsafe(schema, quoted)}))
    return _extension_schemas(connection)


def _refuse_older(connection: Connection) -> None:
    mine = version("lexichord")
    for (theirs,) in _rows(connection, "select version from lexichord_data.function_release"):
        if _release(theirs) > _release(mine):
            raise SchemaOutdatedError(
                f"the database was prepared by lexichord {theirs}, this is {mine}: upgrade"
            )


def _release(text: str) -> list[int]:
    """Return the numbers of a version, without what marks one that comes before it: 1.2rc1."""
    numbers = re.match(r"\d+(\.\d+)*", text)
    return [int(number) for number in numbers[0].split(".")] if numbers else []
