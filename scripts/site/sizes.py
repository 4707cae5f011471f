"""Print what each extra installs beyond the core, as docs/quickstart.md shows it.

python scripts/site/sizes.py

Builds the wheels and installs lexichord with each extra alone into an empty environment, from a
package index, as a user does; versions are those of the locks.
"""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
USUAL = "local,embedded,files,server,mcp"
UV = (str(Path(sys.executable).with_name("uv")), "--no-config", "--quiet")
LOCKS = ("requirements.lock", "requirements-dev.lock")


def main() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    with tempfile.TemporaryDirectory() as folder:
        wheel = _build(Path(folder))
        beside = f"--find-links={folder}"  # the reader's weights
        packages, megabytes = _install(f"{wheel}", beside, *_constraints(""))
        print("| extra | packages | MB |\n| --- | --- | --- |")
        print(f"| none: the core | {packages} | {megabytes:.0f} |")
        for extra in [*extras, USUAL]:
            more, larger = _install(f"{wheel}[{extra}]", beside, *_constraints(extra))
            print(f"| `{extra}` | +{more - packages} | +{larger - megabytes:.0f} |", flush=True)


def _build(folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    for project in (ROOT / "packages/lexichord-reader", ROOT):
        subprocess.run(command, cwd=project, check=True, capture_output=True)
    return next(folder.glob("lexichord-[0-9]*.whl"))


def _constraints(extra: str) -> list[str]:
    """The locks; vechord pins older versions of two packages than they hold."""
    return [] if extra == "vechord" else [f"--constraint={ROOT / lock}" for lock in LOCKS]


def _install(requirement: str, *options: str) -> tuple[int, float]:
    """Return how many packages stand in a new environment, and their megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        uv = [*UV, "pip", "install", "--target", folder, "--python", sys.executable]
        subprocess.run([*uv, *options, requirement], check=True)
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        packages = sum(path.name == "METADATA" for path in files)
        return packages, sum(path.stat().st_size for path in files) / 1e6


if __name__ == "__main__":
    main()
