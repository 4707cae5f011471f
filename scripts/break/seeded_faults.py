"""Seed faults into the code, one at a time, and say which test files catch each.

python scripts/break/seeded_faults.py [--tree CHECKOUT] [--only ID …] [--tests PATH …]
    [--jobs 2] [--save]

seeded_faults.toml lists them: in `file`, `old`, which stands there once, becomes `new`; `tests` are
files, folders or globs of what is likely to catch it. Each is seeded into a scratch copy of the
checkout, by default of the one that this script stands in; so are code and SQL taken from there.
The tests are run without a fault first. --tests names others for all faults, as tests/sql.

Exits with 1 where a fault that seeded_faults.json says is caught is caught no more, the code does
not hold what a fault changes, or a test fails without one. --save keeps what is found there.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

LIST, RESULTS = (Path(__file__).with_suffix(suffix) for suffix in (".toml", ".json"))
PYTEST = f"{sys.executable} -m pytest -q --no-header -n 0 -p no:cacheprovider --timeout=120".split()
FAILED_FILE = re.compile(r"^(?:FAILED|ERROR) ([^\s:]+\.py)", re.MULTILINE)


@dataclass(frozen=True)
class Fault:
    """A line of the code and what a developer might have made of it."""

    id: str
    file: str
    old: str
    new: str
    suffers: str
    tests: list[str]

    def seed(self, copy: Path) -> None:
        """Raise ValueError unless the code holds what the fault changes exactly once."""
        text = (copy / self.file).read_text()
        if (times := text.count(self.old)) != 1:
            raise ValueError(f"{self.file} holds what it changes {times} times: mend the list")
        (copy / self.file).write_text(text.replace(self.old, self.new))


@dataclass
class Copies:
    """Scratch copies of a checkout, one a job."""

    tree: Path
    free: SimpleQueue[Path] = field(default_factory=SimpleQueue)

    def add(self, target: Path) -> None:
        others = shutil.ignore_patterns(".git", ".venv", ".*_cache", "build", "shared")
        self.free.put(shutil.copytree(self.tree, target, ignore=others, symlinks=True))

    def failures(self, tests: Iterable[str], fault: Fault | None = None) -> dict[str, int]:
        """Return how many tests of which file fail."""
        copy = self.free.get()
        try:
            if fault:
                fault.seed(copy)
            return self._run(copy, tests)
        finally:
            if fault and (self.tree / fault.file).is_file():
                # With its time, by which Python knows whether what it compiled is of it.
                shutil.copy2(self.tree / fault.file, copy / fault.file)
            self.free.put(copy)

    @staticmethod
    def _run(copy: Path, tests: Iterable[str]) -> dict[str, int]:
        own_code = os.environ | {"PYTHONPATH": str(copy / "src")}  # before the installed one
        ran = subprocess.run(
            [*PYTEST, *tests], cwd=copy, env=own_code, capture_output=True, text=True
        )
        failed = Counter(FAILED_FILE.findall(ran.stdout))
        if ran.returncode > 1 and not failed:
            raise ValueError(f"pytest ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
        return dict(failed)


def main() -> None:
    arguments = _arguments()
    listed = [Fault(**each) for each in tomllib.loads(LIST.read_text())["fault"]]
    faults = [fault for fault in listed if not arguments.only or fault.id in arguments.only]
    if unknown := set(arguments.only).difference(fault.id for fault in faults):
        sys.exit(f"no such fault: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory(prefix="faults") as home:
        copies = Copies(arguments.tree.resolve())
        for number in range(arguments.jobs):
            copies.add(Path(home) / str(number))
        caught, problems = _try_all(copies, faults, arguments.tests, arguments.jobs)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    lost = [fault for fault, by in caught.items() if known.get(fault) and not by]
    problems += [f"{fault}: caught no more, was by {', '.join(known[fault])}" for fault in lost]
    print(
        f"{len(caught)} faults tried, {sum(map(bool, caught.values()))} caught", *problems, sep="\n"
    )
    if arguments.save:
        RESULTS.write_text(json.dumps(known | caught, indent=1, sort_keys=True) + "\n")
    sys.exit(bool(problems))


def _try_all(
    copies: Copies, faults: list[Fault], instead: list[str], jobs: int
) -> tuple[dict[str, dict[str, int]], list[str]]:
    """Return by which files each fault is caught, and what went wrong."""
    tests = {fault.id: _files(copies.tree, instead or fault.tests) for fault in faults}
    failing = copies.failures(sorted(set().union(*tests.values())))
    problems = [f"{file}: {count} tests fail without a fault" for file, count in failing.items()]

    def attempt(fault: Fault) -> tuple[str, dict[str, int]] | None:
        try:
            if not (sound := [file for file in tests[fault.id] if file not in failing]):
                raise ValueError(f"none of its tests can be run: {', '.join(fault.tests)}")
            by = copies.failures(sound, fault)
        except (OSError, ValueError) as error:
            problems.append(f"{fault.id}: {error}")
            return None
        counts = ", ".join(f"{count} in {file}" for file, count in by.items())
        print(f"{fault.id}: {counts or 'UNCAUGHT'} ({fault.suffers})", flush=True)
        return fault.id, by

    with ThreadPoolExecutor(jobs) as pool:
        return dict(filter(None, pool.map(attempt, faults))), problems


def _files(tree: Path, patterns: Iterable[str]) -> list[str]:
    found = {path for pattern in patterns for path in tree.glob(pattern)}
    return sorted(str(path.relative_to(tree)) for path in found)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tree", type=Path, default=Path(__file__).parents[2])
    for option, metavar in (("--only", "ID"), ("--tests", "PATH")):
        parser.add_argument(option, nargs="+", default=[], metavar=metavar)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
