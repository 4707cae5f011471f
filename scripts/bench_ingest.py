"""What ingest costs beyond the bare embedder, over the same chunks, in alternating rounds."""

import argparse
import random
import tempfile
import time
from pathlib import Path
from statistics import median

from lexichord import SyncLexichord
from lexichord.ingest.contextualize import embedding_text
from lexichord.providers.local import LocalEmbedder

ROUNDS = 3


def ingest(files: list[Path], home: Path, dataset: str) -> tuple[float, list[str]]:
    """Seconds that an ingest takes, and the texts that it embedded."""
    with SyncLexichord(home=home) as lexichord:
        lexichord.search("load the model")
        started = time.perf_counter()
        lexichord.ingest(files, dataset=dataset)
        spent = time.perf_counter() - started
        documents = lexichord.list(datasets=[dataset])
        chunks = [c for d in documents for c in lexichord.show(d["document_id"])["chunks"]]
        lexichord.delete([d["document_id"] for d in documents])
    return spent, [embedding_text(chunk["context"], chunk["content"]) for chunk in chunks]


def embed(texts: list[str], embedder: LocalEmbedder) -> float:
    started = time.perf_counter()
    embedder.embed(texts, "document")
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True, help="folder of .txt files")
    parser.add_argument("--files", type=int, default=12, help="how many of them")
    arguments = parser.parse_args()
    found = sorted(arguments.texts.rglob("*.txt"))
    files = random.Random(7).sample(found, arguments.files)
    with tempfile.TemporaryDirectory(prefix="lxc") as folder:
        home = Path(folder)
        home.chmod(0o755)
        embedder = LocalEmbedder(home)
        embedder.load()
        pairs = []
        for number in range(ROUNDS):
            whole, texts = ingest(files, home, f"round {number}")
            pairs.append((whole, embed(texts, embedder)))
    whole, bare = (median(column) for column in zip(*pairs, strict=True))
    print(f"{len(files)} files, {len(texts)} chunks, {ROUNDS} rounds, medians")
    print(f"ingest {whole:.1f} s, bare embedder {bare:.1f} s, ratio {whole / bare:.3f}")


if __name__ == "__main__":
    main()
