"""An embedder whose cosines all lie higher, as those of other models do."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from lexichord.providers import Embedder, EmbedKind, Vectors
from lexichord.types import EmbeddingSpace

SHIFTED = "test/shifted/385"


class Shifted:
    """The real model's vectors, and a direction that all share: cosine c is t + (1 - t) × c."""

    def __init__(self, embedder: Embedder, shift: float = 0.7) -> None:
        self._embedder, self._shift = embedder, shift
        self.calls: list[Sequence[str]] = []

    @property
    def space(self) -> EmbeddingSpace:
        return EmbeddingSpace.parse(SHIFTED)

    def embed(self, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        self.calls.append(texts)
        own = self._embedder.embed(texts, kind) * sqrt(1 - self._shift)
        shared = np.full((len(own), 1), sqrt(self._shift), np.float32)
        return np.hstack([own, shared]).astype(np.float32)
