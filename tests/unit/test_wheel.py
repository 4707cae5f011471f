"""The wheel holds all of the program: its SQL and its migrations are found once it is installed."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
CHILD = """
from lexichord.db.schema import folder
print(folder("sql"))
print(folder("migrations"))
from lexichord.evaluate.datasets import load_set
print(len(load_set("sample").queries))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = target.glob("*.whl")
    return built


def in_tree(folder: str, *endings: str) -> set[str]:
    files = (ROOT / folder).rglob("*")
    return {path.relative_to(ROOT).as_posix() for path in files if path.suffix in endings}


def in_wheel(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.parametrize("folder", ["sql", "migrations"])
def test_every_statement_is_in_it(wheel: Path, folder: str) -> None:
    names = {name for name in in_wheel(wheel) if name.startswith(f"lexichord/{folder}/")}
    statements = {name for name in names if name.endswith(".sql")}
    assert statements == {f"lexichord/{name}" for name in in_tree(folder, ".sql")}
    assert statements


def test_every_module_is_in_it(wheel: Path) -> None:
    modules = {name for name in in_wheel(wheel) if name.endswith(".py")}
    assert modules == {name.removeprefix("src/") for name in in_tree("src", ".py")}
    assert "lexichord/py.typed" in in_wheel(wheel)


def test_the_cues_of_each_language_are_in_it(wheel: Path) -> None:
    files = in_tree("src/lexichord/retrieve/understand/languages", ".toml")
    assert len(files) >= 5
    assert {name.removeprefix("src/") for name in files} <= in_wheel(wheel)


@pytest.mark.parametrize("folder", ["languages", "static", "templates"])
def test_every_file_of_the_pages_is_in_it(wheel: Path, folder: str) -> None:
    place = f"src/lexichord/serve/page/{folder}"
    files = in_tree(place, ".css", ".html", ".js", ".svg", ".toml")
    assert files
    assert len(files) == len([path for path in (ROOT / place).rglob("*") if path.is_file()])
    assert {name.removeprefix("src/") for name in files} <= in_wheel(wheel)


def test_nothing_else_is_in_it(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in in_wheel(wheel)}
    assert tops == {"lexichord", f"{'-'.join(wheel.stem.split('-')[:2])}.dist-info"}


def test_unpacked_it_finds_its_own_statements_and_samples(wheel: Path, tmp_path: Path) -> None:
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    run = subprocess.run(
        [sys.executable, "-c", CHILD],
        env={"PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout.splitlines() == [
        str(tmp_path / "lexichord" / "sql"),
        str(tmp_path / "lexichord" / "migrations"),
        "30",
    ]
