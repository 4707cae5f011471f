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

from lexichord.providers.local import BATCH, LocalEmbedder, LocalModel

WINDOW, STRIDE = 800, 265  # characters
SAMPLE, SEED = 400, 7
ROUNDS = 3


def windows(folder: Path) -> list[str]:
    """Cut every text into overlapping windows and draw the sample."""
    texts = [file.read_text(errors="replace") for file in sorted(folder.rglob("*.txt"))]
    found = [
        text[start : start + WINDOW]
        for text in texts
        for start in range(0, max(1, len(text) - WINDOW + STRIDE), STRIDE)
    ]
    return random.Random(SEED).sample(found, min(SAMPLE, len(found)))


def embed_unsorted(model: LocalModel, texts: list[str]) -> None:
    for batch in batched(model.tokenize(texts), BATCH):
        model.run(batch)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_rss() -> float:
    """Give the process's peak memory in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def measure(embedder: LocalEmbedder, texts: list[str]) -> None:
    model = embedder.load()
    ways: dict[str, Callable[[], object]] = {
        "sorted": lambda: embedder.embed(texts, "document"),
        "unsorted": lambda: embed_unsorted(model, texts),
    }
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(ROUNDS):
        # Who goes first alternates, so that a drifting machine favours neither.
        for name in list(ways)[:: 1 if turn % 2 else -1]:
            speeds[name].append(len(texts) / seconds(ways[name]))
    medians = {name: median(values) for name, values in speeds.items()}
    for name, values in speeds.items():
        print(f"{name:>8}: {medians[name]:6.1f} texts/s", [round(value, 1) for value in values])
    print(f"   ratio: {medians['sorted'] / medians['unsorted']:6.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True, help="a folder of .txt files")
    texts = windows(parser.parse_args().texts)
    with tempfile.TemporaryDirectory() as home:
        measure(LocalEmbedder(Path(home)), texts)
    print(f"peak RSS: {peak_rss():6.0f} MiB, the graph's build included ({len(texts)} texts)")


if __name__ == "__main__":
    main()
