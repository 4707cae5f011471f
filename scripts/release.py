"""Build the release that pyproject.toml names, check what was built, and tag it.

python scripts/release.py [--tag]
python scripts/release.py --signatures

dist/ then holds an sdist and a wheel of each package that is new, and a bill of materials; to
upload them is left to you. Stops where the tree has changes, CHANGELOG.md has no day for this
version or says something of a later one, SQL's signatures are not those of tests/sql/released.txt,
twine or check-wheel-contents find a fault, or the tag is there. --signatures stores them, where
CHANGELOG.md tells of all that changed in them.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

import psycopg

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.sql.corpus import signatures
from tests.sql.test_changelog import by_name, section, told, untold

from lexichord import SyncLexichord

ROOT = Path(__file__).resolve().parents[1]
READER = "packages/lexichord-reader"
RELEASED = ROOT / "tests/sql/released.txt"
DIST = ROOT / "dist"
# By uvx, each at one version: what only a release needs is in no one's environment.
CHECKS = (
    ("twine==7.0.0", "twine", "check", "--strict"),
    ("check-wheel-contents==0.6.3", "check-wheel-contents"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", action="store_true", help="tag what was built")
    parser.add_argument("--signatures", action="store_true", help="store SQL's, and end")
    arguments = parser.parse_args()
    for name in [each for each in os.environ if each.startswith("LEXICHORD_")]:
        del os.environ[name]  # which would name another database
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    if arguments.signatures:
        store_signatures(version)
        return
    check_tree(version)
    build([ROOT, ROOT / READER] if is_reader_new() else [ROOT])
    if arguments.tag:
        run("git", "tag", "--annotate", f"v{version}", "--message", f"lexichord {version}")
        print(f"tagged v{version}")


def sql_signatures() -> str:
    """Return what SQL offers, a line a function: name, arguments, result."""
    with tempfile.TemporaryDirectory(prefix="lxr") as home:
        Path(home).chmod(0o755)  # root's server is another user's
        with (
            SyncLexichord(home=Path(home)) as lexichord,
            psycopg.connect(lexichord.core.database.dsn) as connection,
        ):
            offered = signatures(connection)
    lines = (f"{name}|{given}|{result}\n" for name, (given, result) in sorted(offered.items()))
    return "".join(lines)


def store_signatures(version: str) -> None:
    """Store what SQL offers now. Exits with a line where CHANGELOG.md is silent on a change."""
    now = sql_signatures()
    before = by_name(RELEASED.read_text().splitlines())
    if left := untold(before, by_name(now.splitlines()), told(version)):
        sys.exit(f"CHANGELOG.md says nothing under {version} of SQL's {', '.join(sorted(left))}")
    RELEASED.write_text(now)


def is_reader_new() -> bool:
    """Return whether the reader's package has changed since the last release, under a new version.

    Exits with a line where its version stayed: what is published cannot be replaced.
    """
    tags = run("git", "tag", "--list", "v*", "--sort=-version:refname").split()
    changed = run("git", "diff", "--name-only", tags[0], "--", READER).split() if tags else []
    if changed and f"{READER}/pyproject.toml" not in changed:
        sys.exit(f"{READER} has changed since {tags[0]}: give it a new version")
    return not tags or bool(changed)


def check_tree(version: str) -> None:
    """Exit with a line where the checkout is no release of this version."""
    if run("git", "status", "--porcelain"):
        sys.exit("the tree has changes: commit them first")
    if run("git", "tag", "--list", f"v{version}"):
        sys.exit(f"v{version} is tagged: name the next version in pyproject.toml")
    changes = (ROOT / "CHANGELOG.md").read_text()
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changes, re.M):
        sys.exit(f"CHANGELOG.md has no line '## [{version}] - YEAR-MONTH-DAY'")
    if section("Unreleased").strip():
        sys.exit(f"CHANGELOG.md has something under Unreleased: move it to {version}")
    if sql_signatures() != RELEASED.read_text():
        sys.exit("SQL's signatures have changed: python scripts/release.py --signatures")


def build(packages: Sequence[Path]) -> None:
    """Build packages and the bill of materials, and check them."""
    if DIST.exists():
        shutil.rmtree(DIST)
    for package in packages:
        run(sys.executable, "-m", "hatchling", "build", "-d", str(DIST), folder=package)
    built = sorted(map(str, DIST.iterdir()))
    wheels = [each for each in built if each.endswith(".whl")]
    for checker, *command in CHECKS:
        files = built if "twine" in command else wheels
        print(run("uvx", "--quiet", "--from", checker, *command, *files))
    print(run(sys.executable, "-m", "pytest", "-q", "--no-header", "tests/unit/test_wheel.py"))
    print(run("scripts/sbom", str(DIST / "sbom.json")))


def run(*command: str, folder: Path = ROOT) -> str:
    """Run a command and return what it prints; exit with all of it where it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


if __name__ == "__main__":
    main()
