"""Vectors of texts that were embedded before."""

from collections import OrderedDict
from threading import Lock

import numpy as np
from numpy.typing import NDArray


class VectorCache[D: np.float16 | np.float32]:
    """Keeps vectors by their text's digest, those used last, in so many bytes.

    Several threads may share one.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[bytes, NDArray[D]] = OrderedDict()
        self._lock = Lock()

    def find(self, digest: bytes) -> NDArray[D] | None:
        """Return what is kept of a text, None if nothing is."""
        with self._lock:
            if digest not in self._kept:
                return None
            self._kept.move_to_end(digest)
            return self._kept[digest]

    def keep(self, digest: bytes, vectors: NDArray[D]) -> None:
        """Keep a text's vectors, and let go of those that were not used for longest."""
        with self._lock:
            before = self._kept.pop(digest, None)
            self._size += vectors.nbytes - (0 if before is None else before.nbytes)
            self._kept[digest] = vectors
            while self._size > self._limit:
                self._size -= self._kept.popitem(last=False)[1].nbytes
