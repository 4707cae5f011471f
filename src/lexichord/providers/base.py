"""What a provider owes the rest of the program."""

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from lexichord.types import EmbeddingSpace

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Texts in, unit vectors out."""

    @property
    def space(self) -> EmbeddingSpace:
        """Which space the vectors live in; two spaces never mix in one database."""
        ...

    def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
        """Embed each text.

        Returns a float32 array of shape (len(texts), space.dimension), rows of length 1,
        in the order of `texts`. Raises ProviderError.
        """
        ...


class Reranker(Protocol):
    """A query and texts in, their relevance out."""

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Score each text's relevance to the query, in the order of `texts`; higher is better.

        Raises ProviderError.
        """
        ...
