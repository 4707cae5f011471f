"""What the models of a folder have in common, whatever their form: scores, a batch at a time."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

RERANK_BATCH_TEXTS = 8  # a run: between two runs it can be stopped
MAX_RERANK_TOKENS = 512  # of a run's row: more than a chunk of ours has

Scores = NDArray[np.float64]


class Scorer(Protocol):
    """A loaded model."""

    def score(self, query: str, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Scores]]:
        """Yield scores as they are made, each batch with its places among the texts.

        Raises ProviderError.
        """
        ...
