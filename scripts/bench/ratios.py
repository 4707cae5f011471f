"""Whether anything got slower: what costs how many times something else, against the last such run.

python scripts/bench/ratios.py [--rounds N] [--save]

Searches, queries and storing take turns on the sample corpus, beside a floor: work of Python's and
of Postgres' that nothing of ours is in. Processor time of the client and of the embedded server is
counted, and only ratios are kept, as machines differ and are shared. They are compared with those
in ratios.json; one more than TOLERANCE times as large is named, and the exit code is 1.
`--save` writes them there instead: on a machine with nothing else to do, after a change that is
meant to cost something, or that saves something for good.
"""

import argparse
import json
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

import numpy as np
import psycopg

from lexichord import SyncLexichord
from lexichord.retrieve.cache import QueryCache
from stages import Meter

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
LAST = Path(__file__).with_suffix(".json")
# Four runs on one machine at loads of 7 to 10 differed by 1.09 at most; the rest is for processors
# on which onnxruntime, Python and Postgres are fast in another proportion.
TOLERANCE = 1.4
CHUNKS = 64  # that are stored at once
WARM_UP = 5  # turns
# What is told of each bench: how many times of which other one it costs.
BESIDE = {
    "keyword search": "floor",
    "search": "keyword search",
    "query": "search",
    "query again": "search",
    "storing": "floor",
}

type Bench = Callable[[str], object]


def floor(dsn: str) -> Bench:
    """Sort and serialize in Python, count in Postgres: some ten milliseconds of each."""
    connection = psycopg.connect(dsn, autocommit=True)
    numbers = list(range(50_000))

    def run(question: str) -> object:
        connection.execute("select sum(i % 7) from generate_series(1, 100000) as i").fetchall()
        return json.dumps(sorted(numbers, key=lambda number: -number))

    return run


def storing(lexichord: SyncLexichord) -> Bench:
    """Store a document of given chunks and vectors again, with other ones each time."""
    assert lexichord.core.embedder is not None
    source, space = random.Random(7), str(lexichord.core.embedder.space)
    words = [f"word{number}" for number in range(2_000)]
    generator = np.random.default_rng(7)

    def run(question: str) -> object:
        vectors = generator.standard_normal((CHUNKS, 384)).tolist()
        contents = [" ".join(source.choices(words, k=80)) for _ in range(CHUNKS)]
        chunks = [
            {"content": content, "vector": vector}
            for content, vector in zip(contents, vectors, strict=True)
        ]
        document = {"uri": "stored.txt", "chunks": chunks, "space": space}
        return lexichord.ingest(documents=[document], dataset="stored")

    return run


def benches(lexichord: SyncLexichord) -> dict[str, Bench]:
    """Return what is measured, in the order in which it takes turns."""

    def query(question: str) -> object:
        lexichord.core.cache = QueryCache()
        return lexichord.query(question, answer=True)

    scope = ["default"]
    return {
        "floor": floor(lexichord.core.database.dsn),
        "keyword search": lambda question: lexichord.search(
            question, mode="keyword", datasets=scope
        ),
        "search": lambda question: lexichord.search(question, datasets=scope),
        "query": query,
        "query again": lambda question: lexichord.query(question, answer=True),
        "storing": storing(lexichord),
    }


def measure(lexichord: SyncLexichord, questions: Sequence[str], rounds: int) -> dict[str, float]:
    """Return how many times its other one each bench costs.

    Of each the lower quartile counts: what else runs on a machine makes things dearer, never
    cheaper.
    """
    meter, spent = Meter(lexichord.core.database.dsn), dict[str, list[float]]()
    named = benches(lexichord)
    for number in range(rounds * len(questions)):
        for name, run in named.items():
            before = meter.read()
            run(questions[number % len(questions)])
            spent.setdefault(name, []).append(meter.between(before).processor)
    cost = {name: quantiles(each[WARM_UP:], n=4)[0] for name, each in spent.items()}
    return {name: round(cost[name] / cost[other], 2) for name, other in BESIDE.items()}


def worse(last: Mapping[str, float], now: Mapping[str, float]) -> list[str]:
    """Return a line for each ratio that is larger than the tolerance, or is not there any more."""
    return [
        f"{name} got slower: {now.get(name, 'not measured')} times a {BESIDE.get(name, 'bench')}, "
        f"{ratio} at the last run (at most {TOLERANCE} times as much)"
        for name, ratio in last.items()
        if now.get(name, float("inf")) > TOLERANCE * ratio
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--save", action="store_true", help="keep these ratios as the last ones")
    options = parser.parse_args()
    lines = (SAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["query"] for line in lines]
    with TemporaryDirectory(prefix="lxr") as home:
        Path(home).chmod(0o755)
        with SyncLexichord(home=Path(home)) as lexichord:
            lexichord.ingest([SAMPLES / "agreements", SAMPLES / "policies"])
            now = measure(lexichord, questions, options.rounds)
    print(json.dumps(now, indent=2))
    if options.save:
        LAST.write_text(json.dumps(now, indent=2) + "\n")
    elif lines := worse(json.loads(LAST.read_text()), now):
        sys.exit("\n".join(lines))


if __name__ == "__main__":
    main()
