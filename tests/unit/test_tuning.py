"""PostgreSQL's settings by a machine, and what is said of a server that has others."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lexichord.db import postmaster
from lexichord.db.postmaster import GB, MB, Machine, ServerSettings, advise

LAPTOP = Machine(memory=8 * GB, cores=4, shared=4 * GB)
FACTS: dict[str, Any] = {
    **vars(ServerSettings.of(LAPTOP)),
    "stored_bytes": 10 * GB,
    "index_bytes": 2 * GB,
    "is_local": True,
}


@pytest.mark.parametrize("memory", [512 * MB, GB, 2 * GB, 8 * GB, 24 * GB, 512 * GB])
def test_the_embedded_server_takes_a_quarter_of_the_memory_at_most(memory: int) -> None:
    settings = ServerSettings.of(replace(LAPTOP, memory=memory))
    assert settings.shared_buffers + settings.maintenance_work_mem <= memory / 4
    assert settings.shared_buffers <= 2 * GB


def test_settings_follow_memory_and_cores() -> None:
    assert ServerSettings.of(LAPTOP).lines().splitlines() == [
        "shared_buffers = 1024MB",
        "maintenance_work_mem = 512MB",
        "effective_cache_size = 4096MB",
        "max_parallel_maintenance_workers = 3",
        "random_page_cost = 1.1",
        "jit = off",
    ]
    one_core = replace(LAPTOP, cores=1)
    assert ServerSettings.of(one_core).max_parallel_maintenance_workers == 0


def test_an_index_is_built_by_one_process_where_several_cannot_share_its_memory() -> None:
    container = replace(LAPTOP, shared=64 * MB)
    assert ServerSettings.of(container).max_parallel_maintenance_workers == 0


def test_a_containers_limits_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, cpu = tmp_path / "memory.max", tmp_path / "cpu.max"
    monkeypatch.setattr(postmaster, "MEMORY_LIMITS", (tmp_path / "none", memory))
    monkeypatch.setattr(postmaster, "CPU_LIMIT", cpu)
    unlimited = Machine.here()
    memory.write_text("max\n")
    cpu.write_text("max 100000\n")
    assert Machine.here() == unlimited
    memory.write_text("268435456\n")
    cpu.write_text("100000 100000\n")
    assert (Machine.here().memory, Machine.here().cores) == (256 * MB, 1)
    cpu.write_text("50000 100000\n")
    assert Machine.here().cores == 1


STORED_LESS = {"stored_bytes": 300 * MB, "index_bytes": 80 * MB, "shared_buffers": 160 * MB}


@pytest.mark.parametrize(
    "setting",
    [
        {},
        STORED_LESS | {"maintenance_work_mem": 64 * MB},
        {"stored_bytes": 200 * MB, "jit": True},
        {"stored_bytes": None, "index_bytes": None, "jit": True},  # as a tenant is told
    ],
)
def test_a_server_that_suits_its_machine_and_what_it_stores_gets_no_advice(
    setting: dict[str, Any],
) -> None:
    assert advise(FACTS | setting, LAPTOP) == []


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        (
            {"shared_buffers": 128 * MB},
            "alter system set shared_buffers = '1024MB'; then restart Postgres",
        ),
        (
            {"maintenance_work_mem": 64 * MB},
            "alter system set maintenance_work_mem = '512MB'; then select pg_reload_conf();",
        ),
        (
            {"random_page_cost": 4.0},
            "alter system set random_page_cost = '1.1'; then select pg_reload_conf();",
        ),
        ({"jit": True}, "alter system set jit = 'off'; then select pg_reload_conf();"),
    ],
)
def test_what_is_far_off_is_named_with_the_line_to_run(setting: dict[str, Any], line: str) -> None:
    (advice,) = advise(FACTS | setting, LAPTOP)
    assert advice.remedy == line
    assert advice.problem.startswith(f"{next(iter(setting))} is ")


def test_of_a_server_elsewhere_this_machines_memory_says_nothing() -> None:
    large = replace(LAPTOP, memory=256 * GB, shared=128 * GB)
    assert [each.problem.split()[0] for each in advise(FACTS, large)] == ["effective_cache_size"]
    assert advise(FACTS | {"is_local": False}, large) == []
