"""Break things at random while documents are stored, deleted, copied, migrated; check after each.

python scripts/break/faults.py --count 100 [--seed 0] [--server DSN] [--engine plain] [--losses]

With --losses, servers are lost amid searches and ingests instead: a primary, its standby
(breaking/losses.py).

A seed is a trial: a step, a kind of fault, one to three times (breaking/trial.py). What breaks is
a server of its own, made of the programs of the one that --server names, without one of the
embedded server's. A trial that fails is named with its seed: --seed SEED --count 1 repeats it.
"""

import argparse
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.faults.earlier import PRELOADS, fill_earlier
from tests.own_server import find_pg_ctl

from breaking.bench import bench
from breaking.losses import Loss, pair
from breaking.stage import stage
from breaking.trial import Trial, unfit_faults
from lexichord.db.embedded import PROGRAMS


def main() -> None:
    """Exit with 1 if a trial failed."""
    ended = Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())  # after the trial, with no server left
    arguments = _arguments()
    pg_ctl = find_pg_ctl(arguments.server) if arguments.server else PROGRAMS / "pg_ctl"
    engine = arguments.engine
    counts: Counter[str] = Counter()
    failed = 0
    with (losses if arguments.losses else trials)(pg_ctl, engine) as make:
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            if ended.is_set():
                break
            trial = make(seed)
            failed += not _try(trial)
            counts[trial.fault] += trial.hits
    print(f"{engine}: {counts.total()} faults, {failed} trials failed")
    print(", ".join(f"{fault} {count}" for fault, count in sorted(counts.items())))
    sys.exit(failed > 0)


@contextmanager
def trials(pg_ctl: Path, engine: str) -> Iterator[Callable[[int], Trial]]:
    with bench(pg_ctl, PRELOADS[engine]) as own, stage(own, engine, fill_earlier(engine)) as ready:
        for fault, reason in unfit_faults(ready).items():
            print(f"left out: {fault} ({reason})", flush=True)
        yield lambda seed: Trial(ready, seed)


@contextmanager
def losses(pg_ctl: Path, engine: str) -> Iterator[Callable[[int], Loss]]:
    with pair(pg_ctl, PRELOADS[engine], engine) as made:
        yield lambda seed: Loss(made, seed)
        print(dict(made.traffic.counts), flush=True)


def _try(trial: Trial | Loss) -> bool:
    started = time.perf_counter()
    try:
        trial.run()
    except Exception as error:  # whatever it is, the next trial goes on
        place = traceback.extract_tb(error.__traceback__)[-1]
        said = f"FAILED: {type(error).__name__} at {place.name}:{place.lineno}: {error}"[:4000]
    else:
        said = f"{trial.hits} times"
    print(f"{trial}: {said} ({time.perf_counter() - started:.1f} s)", flush=True)
    return not said.startswith("FAILED")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100, help="of trials")
    parser.add_argument("--seed", type=int, default=0, help="of the first trial")
    parser.add_argument("--server", help="DSN of a server on this machine, for its programs")
    parser.add_argument("--engine", choices=[*PRELOADS], default="plain")
    parser.add_argument("--losses", action="store_true", help="of servers, amid searches")
    return parser.parse_args()


if __name__ == "__main__":
    main()
