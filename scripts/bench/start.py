"""How long the command line takes to start: whole processes, by processor time and by the clock.

python scripts/bench/start.py [--rounds N] [PYTHON ...]

Each PYTHON, by default this one, has a lexichord of its own, as two checkouts' environments do;
they take turns. Cold: without any compiled module (.pyc), the standard library's neither, but with
all files in the system's cache; else with them. `search` and `query` ask the samples, of a server
that runs and, in the end, of one that the search starts and stops.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
QUESTION = "when does the lease start"
LEXICHORD = ("-m", "lexichord")
COMMANDS: Mapping[str, Sequence[str]] = {
    "python": ("-c", "pass"),
    "import lexichord": ("-c", "import lexichord"),
    "lexichord --version": (*LEXICHORD, "--version"),
    "lexichord --help": (*LEXICHORD, "--help"),
    "lexichord search": (*LEXICHORD, "search", QUESTION),
    "lexichord query": (*LEXICHORD, "query", QUESTION),
    "lexichord ingest, nothing new": (*LEXICHORD, "ingest", str(SAMPLES / "policies")),
}
ALONE = "lexichord search, starts the server"

type Times = tuple[float, float]  # milliseconds of processor time, and by the clock


class Start:
    """One Python with a lexichord, its documents and its compiled modules, in a folder."""

    def __init__(self, python: str, folder: Path) -> None:
        self.python, self.folder = python, folder
        folder.chmod(0o755)  # root's server is another user's
        self.run(*LEXICHORD, "start")
        self.run(*LEXICHORD, "ingest", str(SAMPLES / "agreements"), str(SAMPLES / "policies"))

    def run(self, *arguments: str, cold: bool = False) -> Times:
        """Run a command to its end, without or with compiled modules."""
        compiled = self.folder / ("none" if cold else "compiled")
        environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith("PYTHON")},
            **{"LEXICHORD_HOME": str(self.folder), "PYTHONPYCACHEPREFIX": str(compiled)},
            **({"PYTHONDONTWRITEBYTECODE": "1"} if cold else {}),
        }
        before, started = getrusage(RUSAGE_CHILDREN), time.perf_counter()
        command = [self.python, *arguments]
        subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, check=True)
        clock, after = time.perf_counter() - started, getrusage(RUSAGE_CHILDREN)
        used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        return used * 1000, clock * 1000


def measure(starts: Sequence[Start], arguments: Sequence[str], rounds: int, cold: bool) -> str:
    """Return medians of a command, processor time and clock, a pair for each Python."""
    for start in starts:
        start.run(*arguments, cold=cold)
    turns = [[start.run(*arguments, cold=cold) for start in starts] for _ in range(rounds)]
    each = (zip(*turn, strict=True) for turn in zip(*turns, strict=True))
    return " | ".join(f"{median(used):.0f} | {median(clock):.0f}" for used, clock in each)


def report(starts: Sequence[Start], rounds: int) -> None:
    """Print a table, in milliseconds, and the machine's load before and after."""
    print(
        f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors, medians of {rounds}",
        flush=True,
    )
    print("| | " + " | ".join(f"{start.python}, CPU | clock" for start in starts) + " |")
    print("|---" * (1 + 2 * len(starts)) + "|")
    for name, arguments in COMMANDS.items():
        print(f"| {name} | {measure(starts, arguments, rounds, cold=False)} |", flush=True)
    for name in ("lexichord --version", "lexichord --help", "lexichord search"):
        print(
            f"| {name}, cold | {measure(starts, COMMANDS[name], rounds, cold=True)} |", flush=True
        )
    for start in starts:
        start.run(*LEXICHORD, "stop")
    print(f"| {ALONE} | {measure(starts, COMMANDS['lexichord search'], rounds, cold=False)} |")
    print(f"load {os.getloadavg()[0]:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pythons", nargs="*", default=[sys.executable], metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="lxc") as folder:
        Path(folder).chmod(0o755)
        homes = [Path(folder, str(number)) for number in range(len(arguments.pythons))]
        for home in homes:
            home.mkdir()
        report(list(map(Start, arguments.pythons, homes)), arguments.rounds)


if __name__ == "__main__":
    main()
