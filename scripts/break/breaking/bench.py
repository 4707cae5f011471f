"""A server that is there to be broken, and what breaks it: processes, disk, clock, connections.

It lies in memory of a bounded size where that can be mounted, so that its disk can be filled.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from signal import SIGKILL
from typing import Any
from urllib.parse import quote

import psutil
import psycopg
from tests.own_server import Server, own_user

SIZE = "1500m"
SETTINGS = ("deadlock_timeout=20ms", "max_wal_size=200MB", "timezone=UTC")
FAKETIME = "/usr/lib/{}-linux-gnu/faketime/libfaketime.so.1"
PATIENCE = 120.0  # seconds
CLIENTS = """
select count(*) from pg_stat_activity where application_name = 'lexichord' and datname = %s
"""
BACKEND = """
select pid from pg_stat_activity where application_name = 'lexichord' and datname = %s
order by random() limit 1
"""

type Connection = psycopg.Connection[Any]


@dataclass
class Bench:
    """The server of an engine; a standby may take its place."""

    pg_ctl: Path
    preload: str
    server: Server
    is_bounded: bool

    def dsn(self, database: str, options: str = "", port: int | None = None) -> str:
        """Return the address of a database, perhaps through a port of this machine."""
        host = quote(str(self.server.folder), safe="") if port is None else "127.0.0.1"
        more = f"&port={port}" if port else ""
        return (
            f"postgresql://postgres@/{database}?host={host}{more}&options={quote(options, safe='')}"
        )

    def connected(self, database: str) -> Connection:
        """Connect once the server lets somebody in; start it if it is gone."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                if not self._runs():
                    self.server.start(self.preload, *SETTINGS)
                return psycopg.connect(self.dsn(database), autocommit=True, connect_timeout=10)
            except (psycopg.OperationalError, subprocess.CalledProcessError) as error:
                if time.monotonic() > deadline:
                    said = f"the server lets nobody in: {error}; its log: {self._log()}"
                    raise AssertionError(said) from error
                time.sleep(0.05)

    def recover(self) -> None:
        """Start the server if it is gone, and wait until it lets somebody in."""
        self.connected("postgres").close()

    def _log(self) -> str:
        return (self.server.folder / "log").read_text()[-1500:]

    def rest(self, database: str) -> None:
        """Wait until no session of a killed client goes on."""
        with self.connected("postgres") as connection:
            deadline = time.monotonic() + PATIENCE
            while connection.execute(CLIENTS, [database]).fetchone() != (0,):
                assert time.monotonic() < deadline, "a session of a client that is gone goes on"
                time.sleep(0.02)

    def _postmaster(self) -> int | None:
        file = self.server.folder / "data" / "postmaster.pid"
        lines = file.read_text().splitlines() if file.exists() else []
        return int(lines[0]) if lines else None

    def _runs(self) -> bool:
        """Return whether the server's process is there: soon another may have its number."""
        pid = self._postmaster()
        with suppress(psutil.NoSuchProcess):
            return pid is not None and str(self.server.folder) in psutil.Process(pid).cmdline()
        return False

    def kill_postmaster(self) -> None:
        if self._runs() and (pid := self._postmaster()):
            os.kill(pid, SIGKILL)
            wait_until(lambda: not psutil.pid_exists(pid))

    def kill_backend(self, database: str) -> None:
        """Kill a process that serves a client; the server then starts all its processes again."""
        with self.connected("postgres") as connection:
            row = connection.execute(BACKEND, [database]).fetchone()
        if row is not None:
            with suppress(ProcessLookupError):
                os.kill(row[0], SIGKILL)

    def end_backend(self, database: str) -> None:
        with self.connected("postgres") as connection:
            connection.execute(
                f"select pg_terminate_backend(pid) from ({BACKEND}) as b".encode(), [database]
            )

    @contextmanager
    def full_disk(self, left: int) -> Iterator[None]:
        """Leave so many bytes free, and less by what is written meanwhile."""
        ballast = self.server.folder / "ballast"
        with ballast.open("wb") as file:
            size, step = 0, 2**28
            while step >= 2**12:
                try:
                    os.posix_fallocate(file.fileno(), size, step)
                    size += step
                except OSError:
                    step //= 2
            file.truncate(max(0, size - left))
        try:
            yield
        finally:
            ballast.unlink()

    @contextmanager
    def other_clock(self) -> Iterator[Callable[[str], None]]:
        """Start the server anew under a clock of ours; yield what sets it: "+3d", "-2h"."""
        clock = self.server.folder / "clock"

        def turn(offset: str) -> None:
            clock.write_text(offset)

        turn("+0")
        self.server.run("stop", "-m", "fast")
        environment = {
            "LD_PRELOAD": str(find_faketime()),
            "FAKETIME_TIMESTAMP_FILE": str(clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        self.server.start(self.preload, *SETTINGS, environment=environment)
        try:
            yield turn
        finally:
            self.server.run("stop", "-m", "fast")
            self.server.start(self.preload, *SETTINGS)

    @contextmanager
    def standby(self) -> Iterator[Callable[[], None]]:
        """Keep a standby that has whatever the server reports as done; yield what promotes it."""
        standby = new_folder(self.pg_ctl)[0]
        self.copy_to(standby)
        standby.start(self.preload, *SETTINGS)
        with self.connected("postgres") as connection:
            self.await_standbys(connection, "*")
            synchronous = "select from pg_stat_replication where sync_state = 'sync'"
            wait_until(lambda: bool(connection.execute(synchronous.encode()).fetchall()))
        spare = [standby]

        def promote() -> None:
            self.server.crash()
            standby.run("promote", "-w")
            spare[:] = [self.server]
            self.server = standby

        try:
            yield promote
        finally:
            with self.connected("postgres") as connection:
                self.await_standbys(connection, "")
            discard(spare[0])

    def copy_to(self, other: Server) -> None:
        """Copy the server as it runs into another's folder, to follow it."""
        base = [str(self.pg_ctl.with_name("pg_basebackup")), "-D", str(other.folder / "data")]
        options = ["-d", self.dsn("postgres"), "-R", "-X", "stream", "-c", "fast"]
        subprocess.run([*base, *options], check=True, user=other.user, stdout=subprocess.DEVNULL)

    @staticmethod
    def await_standbys(connection: Connection, names: str) -> None:
        """Report as done what these standbys have, too."""
        connection.execute(f"alter system set synchronous_standby_names = '{names}'".encode())
        connection.execute("select pg_reload_conf()")


def discard(server: Server) -> None:
    """End a server, if it runs, and remove what it had."""
    if (server.folder / "data" / "postmaster.pid").exists():
        with suppress(subprocess.CalledProcessError):
            server.crash()
    if os.path.ismount(server.folder):
        umount = ["umount", str(server.folder)]
        wait_until(lambda: subprocess.run(umount, capture_output=True).returncode == 0)
    shutil.rmtree(server.folder, ignore_errors=True)


@contextmanager
def bench(pg_ctl: Path, preload: str) -> Iterator[Bench]:
    server, is_bounded = new_folder(pg_ctl)
    made = Bench(pg_ctl, preload, server, is_bounded)
    try:
        server.make()
        server.start(preload, *SETTINGS)
        yield made
    finally:
        discard(made.server)


def new_folder(pg_ctl: Path) -> tuple[Server, bool]:
    """Make a folder for a server, in memory of a bounded size where we may mount it."""
    folder = Path(tempfile.mkdtemp(prefix="lxc"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    is_bounded = shutil.which("mount") is not None and (
        subprocess.run(mount, capture_output=True).returncode == 0
    )
    server = Server(pg_ctl, folder, own_user())
    if server.user:
        shutil.chown(folder, server.user)
    return server, is_bounded


def find_faketime() -> Path | None:
    path = Path(FAKETIME.format(os.uname().machine))
    return path if path.exists() else None


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


class Wire:
    """A port that leads to the server, and is cut once so many bytes have gone there."""

    def __init__(self, folder: Path, cut_after: int) -> None:
        self._target, self._left = str(folder / ".s.PGSQL.5432"), cut_after
        self._lock, self._ends = threading.Lock(), list[socket.socket]()
        self._threads = list[threading.Thread]()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)

    def _start(self, run: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=run, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                self._ends += [client, server]
                try:
                    server.connect(self._target)
                except OSError:  # it is gone, or starts
                    client.shutdown(socket.SHUT_RDWR)
                    continue
                self._start(self._pump, client, server, True)
                self._start(self._pump, server, client, False)

    def _pump(self, source: socket.socket, target: socket.socket, is_counted: bool) -> None:
        with suppress(OSError):
            while data := source.recv(4096):
                target.sendall(data)
                if is_counted:
                    self._count(len(data))
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _count(self, size: int) -> None:
        with self._lock:
            before, self._left = self._left, self._left - size
            if before > 0 >= self._left:
                self.cut()

    def cut(self) -> None:
        """End each connection that there is; the next ones go through."""
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join()
        self.cut()
        for thread in self._threads:
            thread.join()
        for end in self._ends:
            end.close()


class Locker:
    """A session that locks tables of ours in any order and mode, until it is closed."""

    def __init__(self, dsn: str, random: Random) -> None:
        self._dsn, self._random, self._done = dsn, random, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._done.is_set():
            with (
                suppress(psycopg.Error),
                psycopg.connect(self._dsn, autocommit=True) as connection,
            ):
                tables = [name for (name,) in connection.execute(TABLES).fetchall()]
                while not self._done.is_set():
                    self._lock_some(connection, tables)

    def _lock_some(self, connection: Connection, tables: list[str]) -> None:
        with suppress(psycopg.errors.DeadlockDetected), connection.transaction():
            for _ in range(self._random.choice((1, 2, 3))):
                mode = self._random.choice(("share", "exclusive", "access exclusive"))
                table = self._random.choice(tables)
                connection.execute(f"lock table lexichord_data.{table} in {mode} mode".encode())
                self._done.wait(self._random.uniform(0, 0.08))
        self._done.wait(self._random.uniform(0, 0.05))

    def close(self) -> None:
        self._done.set()
        self._thread.join(PATIENCE)


TABLES = """
select relname from pg_class where relnamespace = 'lexichord_data'::regnamespace and relkind = 'r'
order by relname
"""
