"""Qdrant in local mode: vectors and BM25's sparse vectors, fused by its own RRF."""

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence

import bm25s
import numpy as np
from qdrant_client import QdrantClient, models

from lexichord.providers import Vectors
from peers import DEPTH, Place, Rows, folder_size, seconds

K1, B = 1.2, 0.75  # its BM25's defaults; it multiplies by the inverse document frequency itself
BATCH = 1000  # points of one upload


class Qdrant:
    def __init__(self, place: Place) -> None:
        self.folder = place.folder / "qdrant"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.client = QdrantClient(path=str(self.folder))
        self.numbers: dict[str, int] = {}

    def fill(self, rows: Rows) -> float:
        return seconds(lambda: self._fill(rows))

    def _fill(self, rows: Rows) -> None:
        idf = models.SparseVectorParams(modifier=models.Modifier.IDF)
        self.client.create_collection(
            "chunk",
            vectors_config={
                "dense": models.VectorParams(size=384, distance=models.Distance.COSINE)
            },
            sparse_vectors_config={"words": idf},
        )
        self.client.upload_points("chunk", self._points(rows), batch_size=BATCH)

    def _points(self, rows: Rows) -> Iterator[models.PointStruct]:
        texts = [Counter(_words(text)) for text in rows.texts]
        mean = float(np.mean([words.total() for words in texts]))
        for id, text, words, vector in zip(rows.ids, rows.texts, texts, rows.vectors, strict=True):
            room = K1 * (1 - B + B * words.total() / mean)
            weights = {word: count * (K1 + 1) / (count + room) for word, count in words.items()}
            vectors = {"dense": vector.tolist(), "words": self._sparse(weights)}
            yield models.PointStruct(id=id, vector=vectors, payload={"text": text})

    def _sparse(self, weights: dict[str, float]) -> models.SparseVector:
        numbers = [self.numbers.setdefault(word, len(self.numbers)) for word in weights]
        return models.SparseVector(indices=numbers, values=list(weights.values()))

    def search(self, text: str, vector: Vectors, k: int) -> Sequence[int]:
        words = self._sparse(dict.fromkeys(_words(text), 1.0))
        sides = [
            models.Prefetch(query=vector.tolist(), using="dense", limit=DEPTH),
            models.Prefetch(query=words, using="words", limit=DEPTH),
        ]
        fusion = models.FusionQuery(fusion=models.Fusion.RRF)
        found = self.client.query_points("chunk", prefetch=sides, query=fusion, limit=k)
        return [int(point.id) for point in found.points]

    def size(self) -> int:
        return folder_size(self.folder)

    def close(self) -> None:
        self.client.close()


def _words(text: str) -> list[str]:
    words: list[list[str]] = bm25s.tokenize(text, return_ids=False, show_progress=False)
    return words[0]
