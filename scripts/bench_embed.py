"""Sorting by length, measured: LocalEmbedder against the same session fed in the given order."""

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import batched
from pathlib import Path
from statistics import median

from bench_data import texts
from lexichord.providers.local import BATCH, LocalEmbedder, LocalModel

SAMPLE, SEED = 200, 7
ROUNDS = 9


def sample(folder: Path) -> list[str]:
    """Cut every text into windows and draw some."""
    pieces = [piece for text in texts(folder) for _, piece in text.windows()]
    return random.Random(SEED).sample(pieces, min(SAMPLE, len(pieces)))


def embed_unsorted(model: LocalModel, pieces: list[str]) -> None:
    for batch in batched(model.tokenize(pieces), BATCH):
        model.run(batch)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_rss() -> float:
    """Give the process's peak memory in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def measure(embedder: LocalEmbedder, pieces: list[str]) -> None:
    model = embedder.load()
    ways: dict[str, Callable[[], object]] = {
        "sorted": lambda: embedder.embed(pieces, "document"),
        "unsorted": lambda: embed_unsorted(model, pieces),
    }
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(ROUNDS):
        # Who goes first alternates, so that a drifting machine favours neither.
        for name in list(ways)[:: 1 if turn % 2 else -1]:
            speeds[name].append(len(pieces) / seconds(ways[name]))
    for name, values in speeds.items():
        print(f"{name:>8}: {median(values):6.1f} texts/s", [round(value, 1) for value in values])
    ratios = [first / second for first, second in zip(*speeds.values(), strict=True)]
    print(f"   ratio: {median(ratios):6.2f}, the median of {ROUNDS} pairs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True, help="a folder of .txt files")
    pieces = sample(parser.parse_args().texts)
    with tempfile.TemporaryDirectory() as home:
        measure(LocalEmbedder(Path(home)), pieces)
    print(f"peak RSS: {peak_rss():6.0f} MiB, the graph's build included ({len(pieces)} texts)")


if __name__ == "__main__":
    main()
