"""The embedded server of a home: our settings, shared by processes, safe to lose."""

import atexit
import contextlib
import logging
import os
import shutil
from functools import partial
from pathlib import Path
from threading import RLock

import psutil
import psycopg
from fasteners import InterProcessLock

from lexichord.db.pool import SEARCH_PATH
from lexichord.db.postmaster import (
    DATABASE_NAME,
    STALE_LOCK_SECONDS,
    Machine,
    PostgresServer,
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
        if include not in main.read_text(encoding="utf-8"):
            with main.open("a", encoding="utf-8") as file:
                file.write(include)
        suited = ServerSettings.of(Machine.here()).lines()
        (self.pgdata / "lexichord.conf").write_text(POSTGRES_SETTINGS + suited, encoding="utf-8")

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
        self._postmaster_info = await_postmaster(*self._server, self._start)

    @property
    def _server(self) -> tuple[Path, Path, str | None]:
        return self.pgdata, self.bin_path, self.system_user

    def _start(self) -> None:
        if os.name == "nt":
            super().ensure_postgres_running()
        else:
            start_postmaster(*self._server)

    def _stop(self) -> None:
        stop_postmaster(*self._server)

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
            with contextlib.suppress(psycopg.Error):  # whatever else is wrong, it has ended
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
