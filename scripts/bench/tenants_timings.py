"""What the time of a tenant's search tells of what another tenant stores.

A tenant of 1,000 chunks of made-up words and vectors, alone in a database, and in another one
beside a tenant of 50,000 chunks, half of whose words nobody else has. The first asks, as through a
server, in turn in both: for words of its own, for words that only the other has, and for words that
nobody has. Prints the median of processor time by database and kind of words, with the quartiles.

python scripts/bench/tenants_timings.py --server DSN [--rounds N] [--engine plain]

The server has to run on this machine, under Linux: what is measured is its processor time.
"""

import argparse
import random
import sys
from collections import defaultdict
from pathlib import Path
from statistics import quantiles

import psycopg
from psycopg import Connection

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.conftest import new_database

from lexichord.db.schema import Choice, prepare
from tenants import SPACE, WORDS, _vector, fill, milliseconds, serving

ASKER, OTHER, OTHERS_CHUNKS = "t1000", "other", 50_000
KINDS = {"own": "w", "only the other's": "v", "nobody's": "u"}  # by the words' first letter


def measure(servers: dict[str, Connection], rounds: int) -> dict[tuple[str, str], list[float]]:
    """Return the milliseconds by database and kind of words; all alternate within a question."""
    times = defaultdict[tuple[str, str], list[float]](list)
    rng = random.Random(5)
    cases = [(name, kind) for name in servers for kind in KINDS]
    for number in range(rounds + 5):
        places, vector = [int(rng.random() ** 2 * WORDS) for _ in range(6)], _vector(rng)
        for name, kind in rng.sample(cases, len(cases)):
            words = " ".join(f"{KINDS[kind]}{place}" for place in places)
            ms, _ = milliseconds(servers[name], ASKER, words, vector, named=False)
            if number >= 5:  # the first ones make plans and read pages
                times[name, kind].append(ms)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="a server's DSN, of a superuser")
    parser.add_argument("--rounds", type=int, default=200, help="questions asked of each case")
    parser.add_argument("--engine", default="plain")
    arguments = parser.parse_args()
    with new_database(arguments.server) as dsn:
        prepare(dsn, Choice(arguments.engine, "english", SPACE))
        with (
            new_database(arguments.server, copy_of=dsn) as shared,
            psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as alone,
            psycopg.connect(shared, autocommit=True, prepare_threshold=None) as other,
        ):
            fill(alone, {ASKER: 1_000})
            fill(other, {ASKER: 1_000, OTHER: OTHERS_CHUNKS}, {OTHER: "wv"})
            with serving(alone) as by_itself, serving(other) as beside:
                times = measure({"alone": by_itself, "beside": beside}, arguments.rounds)
    for (name, kind), values in sorted(times.items()):
        low, middle, high = quantiles(values)
        print(f"{name:8} {kind:18} p50 {middle:6.2f} ms ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
