"""LocalEmbedder, measured: sorting by length against the given order, 8 bits against 32.

With --data, the folder of shared public data, also Pass@k of exact vector search on its code set.

python scripts/bench/embed.py --texts DIR [--sample N] SPACE …

Instead, each space's model beside onnxruntime alone and, where it is installed, fastembed: texts a
second, and milliseconds for a question, by the clock and, in brackets, by processor time on all
cores. SPACE is one that `init` takes: local/all-MiniLM-L6-v2/384, local//FOLDER/384,
local//FOLDER-int8/384.
"""

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import batched
from pathlib import Path
from statistics import mean, median

import numpy as np

from common import texts
from lexichord.providers.embed.local import (
    LOCAL_BATCH_TEXTS,
    LOCAL_INT8_SPACE,
    LocalEmbedder,
    LocalModel,
)
from models import compare

SAMPLE, SEED = 200, 7
ROUNDS = 9
NEIGHBOURS, KS = 10, (5, 10, 20)


def sample(folder: Path, most: int = SAMPLE) -> list[str]:
    """Cut every text into windows and draw some."""
    pieces = [piece for text in texts(folder) for _, piece in text.windows()]
    return random.Random(SEED).sample(pieces, min(most, len(pieces)))


def embed_unsorted(model: LocalModel, pieces: list[str]) -> None:
    for batch in batched(model.tokenize(pieces), LOCAL_BATCH_TEXTS):
        model.run(batch)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_rss() -> float:
    """Give the process's peak memory in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def race(ways: Mapping[str, Callable[[], object]], pieces: Sequence[str]) -> None:
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(ROUNDS):
        # Who goes first alternates, so that a drifting machine favours neither.
        for name in list(ways)[:: 1 if turn % 2 else -1]:
            speeds[name].append(len(pieces) / seconds(ways[name]))
    for name, values in speeds.items():
        print(f"{name:>8}: {median(values):6.1f} texts/s", [round(value, 1) for value in values])
    ratios = [first / second for first, second in zip(*speeds.values(), strict=True)]
    print(f"   ratio: {median(ratios):6.2f}, the median of {ROUNDS} pairs")


def loss(whole: LocalEmbedder, small: LocalEmbedder, pieces: Sequence[str]) -> None:
    """Say how far 8 bits move the vectors, and how many of a text's nearest stay."""
    one, other = (each.embed(pieces, "document") for each in (whole, small))
    cosines = np.sum(one * other, axis=1)
    print(f"    int8: cosine with 32 bits {cosines.mean():.4f}, at least {cosines.min():.4f}")
    near = [np.argsort(-(each @ each.T), axis=1)[:, 1 : NEIGHBOURS + 1] for each in (one, other)]
    kept = mean(len(set(a) & set(b)) / NEIGHBOURS for a, b in zip(*near, strict=True))
    print(f"    int8: {kept:.1%} of the {NEIGHBOURS} nearest stay")


def pass_at_k(embedder: LocalEmbedder, data: Path) -> None:
    documents = json.loads((data / "codebase/codebase_chunks.json").read_text())
    with (data / "codebase/evaluation_set.jsonl").open() as lines:
        queries = [json.loads(line) for line in lines]
    places = [(d["original_uuid"], c["original_index"]) for d in documents for c in d["chunks"]]
    contents = [chunk["content"] for document in documents for chunk in document["chunks"]]
    vectors = embedder.embed(contents, "document")
    query_vectors = embedder.embed([query["query"] for query in queries], "query")
    order = np.argsort(-(query_vectors @ vectors.T), axis=1)
    for k in KS:
        shares = [
            mean(
                tuple(golden) in {places[n] for n in best[:k]}
                for golden in query["golden_chunk_uuids"]
            )
            for query, best in zip(queries, order, strict=True)
        ]
        print(f"{embedder.space.model}: Pass@{k} {mean(shares):.2%}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("spaces", nargs="*", metavar="SPACE")
    parser.add_argument("--texts", type=Path, required=True, help="a folder of .txt files")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="texts to draw")
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    pieces = sample(arguments.texts, arguments.sample)
    if arguments.spaces:
        compare(arguments.spaces, pieces)
        return
    with tempfile.TemporaryDirectory() as home:
        whole, small = LocalEmbedder(Path(home)), LocalEmbedder(Path(home), space=LOCAL_INT8_SPACE)
        model, _ = whole.load(), small.load()
        by_length = {"sorted": lambda: whole.embed(pieces, "document")}
        race(by_length | {"unsorted": lambda: embed_unsorted(model, pieces)}, pieces)
        race({"int8": lambda: small.embed(pieces, "document")} | by_length, pieces)
        loss(whole, small, pieces)
        for embedder in (whole, small) if arguments.data else ():
            pass_at_k(embedder, arguments.data)
    print(f"peak RSS: {peak_rss():6.0f} MiB, the graph's build included ({len(pieces)} texts)")


if __name__ == "__main__":
    main()
