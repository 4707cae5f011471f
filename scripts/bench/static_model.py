"""A static model made of the local one, and its speed beside it.

python scripts/bench/static_model.py FOLDER --texts DIR

Each token of all-MiniLM-L6-v2 is embedded alone, their mean is taken off, and the frequent ones
weigh less, as model2vec distils but for its principal components. FOLDER gets what
`local//FOLDER/384` takes. Quality, then:

LEXICHORD_BENCH_CACHE=NEW LEXICHORD_EMBEDDING=local//FOLDER/384 \\
    python scripts/bench/quality.py --data DATA codebase
"""

import argparse
import os
import shutil
import time
from pathlib import Path
from statistics import median

import numpy as np
from safetensors.numpy import save_file

from common import cache_folder, texts
from lexichord.providers import Embedder
from lexichord.providers.embed.folder import FolderEmbedder
from lexichord.providers.embed.local import LocalEmbedder, find_model
from lexichord.types import EmbeddingSpace

SMOOTHING = 1e-4  # of the weights, by which a token half as frequent weighs up to twice as much
ROUNDS, TEXTS = 7, 512


def distil(folder: Path) -> None:
    """Write the static twin of the local model."""
    local, source = LocalEmbedder(cache_folder()), find_model(None, cache_folder())
    assert source is not None
    tokenizer = local.load().tokenizer
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda one: one[1])
    vectors = local.embed([token.removeprefix("##") for token, _ in vocabulary], "document")
    vectors -= vectors.mean(axis=0)  # dense Pass@10 of the code set 44.75, without 39.20
    shares = 1 / np.arange(2, len(vocabulary) + 2)  # by Zipf: the vocabulary is in that order
    weights = SMOOTHING / (SMOOTHING + shares / shares.sum())
    folder.mkdir(parents=True, exist_ok=True)
    save_file(
        {"embeddings": (vectors * weights[:, np.newaxis]).astype(np.float32)},
        folder / "model.safetensors",
    )
    shutil.copy(source / "tokenizer.json", folder)


def compare(folder: Path, pieces: list[str]) -> None:
    """Print how many texts a second each embeds, and the milliseconds of a question."""
    local = LocalEmbedder(cache_folder())
    static = FolderEmbedder(folder, EmbeddingSpace("local", str(folder), 384))
    both: dict[str, Embedder] = {"local": local, "static": static}
    spent: dict[str, list[float]] = {}
    for number in range(ROUNDS):
        for name, embedder in both.items():
            for what, given in (("texts", pieces), ("question", ["Who pays for a late delivery?"])):
                started = time.perf_counter()
                embedder.embed(given, "document")
                if number:  # the first loads the model
                    taken = time.perf_counter() - started
                    spent.setdefault(f"{name}, {what}", []).append(taken)
    for name, times in spent.items():
        print(f"{name:16} {1e3 * median(times):10.2f} ms")
    pairs = zip(spent["local, texts"], spent["static, texts"], strict=True)
    print(f"ratio over {len(pieces)} texts {median(one / other for one, other in pairs):.0f}")
    print("load", os.getloadavg())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--texts", type=Path, required=True)
    options = parser.parse_args()
    distil(options.folder)
    windows = (piece for text in texts(options.texts) for _, piece in text.windows())
    compare(options.folder, [piece for piece, _ in zip(windows, range(TEXTS), strict=False)])


if __name__ == "__main__":
    main()
