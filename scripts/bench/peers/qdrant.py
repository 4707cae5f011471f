"""Qdrant Edge, its engine in this process: vectors and BM25's sparse vectors, fused by its RRF."""

import shutil
from collections import Counter
from collections.abc import Sequence

import bm25s
import numpy as np
import qdrant_edge as edge

from lexichord.providers import Vectors
from peers import DEPTH, RRF, Place, Rows, folder_size, seconds

K1, B = 1.2, 0.75  # its BM25's defaults; it multiplies by the inverse document frequency itself
BATCH = 1000  # points of one update


class Qdrant:
    def __init__(self, place: Place) -> None:
        self.folder = place.folder / "qdrant"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.shard = edge.EdgeShard.create(
            str(self.folder),
            edge.EdgeConfig(
                vectors={"dense": edge.EdgeVectorParams(size=384, distance=edge.Distance.Cosine)},
                sparse_vectors={"words": edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
            ),
        )
        self.numbers: dict[str, int] = {}

    def fill(self, rows: Rows) -> float:
        return seconds(lambda: self._fill(rows))

    def _fill(self, rows: Rows) -> None:
        points = self._points(rows)
        for start in range(0, len(points), BATCH):
            self.shard.update(edge.UpdateOperation.upsert_points(points[start : start + BATCH]))
        self.shard.optimize()  # makes the vector index
        self.shard.flush()

    def _points(self, rows: Rows) -> list[edge.Point]:
        texts = [Counter(_words(text)) for text in rows.texts]
        mean = float(np.mean([words.total() for words in texts]))
        points = []
        for id, text, words, vector in zip(rows.ids, rows.texts, texts, rows.vectors, strict=True):
            room = K1 * (1 - B + B * words.total() / mean)
            weights = {word: count * (K1 + 1) / (count + room) for word, count in words.items()}
            vectors = {"dense": vector.tolist(), "words": self._sparse(weights)}
            points.append(edge.Point(id, vectors, {"text": text}))
        return points

    def _sparse(self, weights: dict[str, float]) -> edge.SparseVector:
        numbers = [self.numbers.setdefault(word, len(self.numbers)) for word in weights]
        return edge.SparseVector(indices=numbers, values=list(weights.values()))

    def search(self, text: str, vector: Vectors, k: int) -> Sequence[int]:
        words = self._sparse(dict.fromkeys(_words(text), 1.0))
        sides = [
            edge.Prefetch(limit=DEPTH, query=edge.Query.Nearest(vector.tolist(), using="dense")),
            edge.Prefetch(limit=DEPTH, query=edge.Query.Nearest(words, using="words")),
        ]
        fused = edge.Fusion.Rrf(k=RRF)
        request = edge.QueryRequest(limit=k, query=fused, prefetches=sides, with_payload=True)
        return [int(point.id) for point in self.shard.query(request)]

    def size(self) -> int:
        return folder_size(self.folder)

    def close(self) -> None:
        self.shard.close()


def _words(text: str) -> list[str]:
    words: list[list[str]] = bm25s.tokenize(text, return_ids=False, show_progress=False)
    return words[0]
