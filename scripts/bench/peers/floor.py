"""The floor: bm25s and a product of matrices in this process, fused by RRF."""

import shutil
from collections import defaultdict
from collections.abc import Sequence

import bm25s
import numpy as np

from lexichord.providers import Vectors
from peers import DEPTH, RRF, Place, Rows, folder_size, seconds


class Floor:
    def __init__(self, place: Place) -> None:
        self.folder = place.folder / "floor"
        shutil.rmtree(self.folder, ignore_errors=True)

    def fill(self, rows: Rows) -> float:
        return seconds(lambda: self._fill(rows))

    def _fill(self, rows: Rows) -> None:
        self.rows = rows
        self.keywords = bm25s.BM25()
        self.keywords.index(bm25s.tokenize(rows.texts, show_progress=False), show_progress=False)
        self.keywords.save(self.folder, corpus=list(rows.texts), show_progress=False)
        np.save(self.folder / "vectors.npy", rows.vectors)

    def search(self, text: str, vector: Vectors, k: int) -> Sequence[int]:
        words = bm25s.tokenize(text, show_progress=False)
        by_words, scores = self.keywords.retrieve(words, k=DEPTH, show_progress=False)
        near = self.rows.vectors @ vector
        by_meaning = np.argpartition(-near, DEPTH)[:DEPTH]
        fused: defaultdict[int, float] = defaultdict(float)
        for ranking in (by_meaning[np.argsort(-near[by_meaning])], by_words[0][scores[0] > 0]):
            for place, row in enumerate(ranking.tolist(), start=1):
                fused[row] += 1 / (RRF + place)
        best = sorted(fused, key=lambda row: -fused[row])[:k]
        return [self.rows.ids[row] for row in best]

    def size(self) -> int:
        return folder_size(self.folder)

    def close(self) -> None:
        pass
