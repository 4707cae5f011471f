"""PostgreSQL's settings by memory and cores: the embedded server's, and advice for others.

All that the embedded server takes at once stays below a quarter of the memory, containers' limits
heeded.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from lexichord.types.state import Problem

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
            yield int(file.read_text())
        except (OSError, ValueError):  # none, or "max"
            continue


def _cores() -> int:
    count = getattr(os, "process_cpu_count", os.cpu_count)() or 1
    try:
        quota, period = map(int, CPU_LIMIT.read_text().split())
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
