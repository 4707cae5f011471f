"""The embedded server of a home: started or attached to, shared by processes, safe to lose."""

import contextlib
import os
import subprocess
import time
from pathlib import Path

import psycopg

from lexichord.db.pool import SEARCH_PATH
from lexichord.db.server import (
    DATABASE,
    PATIENCE,
    EmbeddedServer,
    address,
    is_recovery,
    one_thread,
    running,
    servers,
    stay_up_file,
    warn_of_opened_folders,
)
from lexichord.errors import ConfigError, DatabaseError

LOCK_PATIENCE = 20  # seconds: a killed server's last processes were gone after three
SHELL_SIGNS = '"$`\\'  # pg_ctl puts a data folder's name into a shell's double quotes


def attach(home: Path) -> EmbeddedServer:
    """Attach to the server of `home`, starting it if need be, and make its database.

    After a crash the first tries may meet a dead address or a lock that is not yet released:
    connect, check, try again. Raises DatabaseError.
    """
    data = _data_folder(home)
    log_file = data / "log"
    written = log_file.stat().st_size if log_file.is_file() else 0
    started = time.monotonic()
    while True:
        try:
            with one_thread:
                server = _open(data)
                _make_database(server)
                server.join()
                return server
        except (psycopg.OperationalError, subprocess.SubprocessError, AssertionError, OSError) as e:
            patience = PATIENCE if is_recovery(e) else LOCK_PATIENCE
            if time.monotonic() - started > patience:
                _give_up(data)
                raise DatabaseError(_explain(e, log_file, written)) from e
            time.sleep(0.3)


def stay_up(home: Path) -> None:
    """Let the server of `home` outlive its users, until it is shut down."""
    stay_up_file(_data_folder(home)).touch()


def running_url(home: Path) -> str | None:
    """Give the address of the database, if the server of `home` runs."""
    info = running(home / "postgres")
    return address(info) if info else None


def shut_down(home: Path) -> bool:
    """Stop the server of `home`, whoever is attached; tell whether it ran."""
    data = home / "postgres"
    stay_up_file(data).unlink(missing_ok=True)
    if running(data) is None:
        return False
    server = attach(home)
    with one_thread:
        server.global_process_id_list.put([os.getpid()])
        server.close()
    return True


def _open(data: Path) -> EmbeddedServer:
    server = servers.get(data)
    if server is None:
        server = servers[data] = EmbeddedServer(data)
    else:
        with server._lock:
            server.ensure_postgres_running()
    return server


def _give_up(data: Path) -> None:
    """Leave a server that cannot be used, unless this process uses it already."""
    with one_thread:
        if data in servers:
            servers[data].join()
            servers[data].leave()


def _data_folder(home: Path) -> Path:
    data = home / "postgres"
    if os.name != "nt" and not set(SHELL_SIGNS).isdisjoint(str(data)):
        raise ConfigError(f"{data} holds one of {SHELL_SIGNS}: set LEXICHORD_HOME")
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


def _make_database(server: EmbeddedServer) -> None:
    """Make the database with a locale that knows every script's letters, on any machine."""
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"set search_path = {SEARCH_PATH}")
        known = connection.execute("select from pg_database where datname = %s", [DATABASE])
        if known.fetchone() is not None:
            return
        with contextlib.suppress(psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
            connection.execute(
                f"create database {DATABASE} template template0 encoding 'utf8' locale 'C' "
                "locale_provider builtin builtin_locale 'C.UTF-8'"
            )


def _explain(error: Exception, log_file: Path, written: int) -> str:
    """Give the reason that the server's log holds after the `written` bytes of earlier starts."""
    lines = log_file.read_bytes()[written:].splitlines() if log_file.is_file() else []
    wrong = (line for line in reversed(lines) if b"FATAL" in line or line.startswith(b"postgres:"))
    reason = next(wrong, str(error).encode()).decode(errors="replace")
    return f"the embedded server does not start: {reason.strip()} (its log: {log_file})"
