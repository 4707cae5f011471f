"""What queries keep for later ones; each tenant has its own.

How long a query takes tells nothing of others' questions and documents then.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from hashlib import sha256

import numpy as np

from lexichord.db.session import Asker, current_asker
from lexichord.providers.base import Embedder, VectorCache, Vectors
from lexichord.types.state import CosineScale


def cached_by_tenant[Made](count: int) -> Callable[[Callable[[str], Made]], Callable[[str], Made]]:
    """Keep what a function made of so many texts; what it makes must not be changed.

    Each tenant has its own: how long a query takes tells nothing of others.
    """

    def decorate(function: Callable[[str], Made]) -> Callable[[str], Made]:
        @lru_cache(count)
        def by_asker(asker: Asker | None, text: str) -> Made:
            return function(text)

        @wraps(function)
        def call(text: str) -> Made:
            return by_asker(current_asker(), text)

        return call

    return decorate


KEPT_SENTENCE_BYTES = 32_000_000  # 20,000 sentences of 384 dimensions


class SentenceVectors:
    """Embeds sentences, and keeps the vectors of those that queries needed last.

    What judges a query's evidence and what answers by it embed each sentence once, and so do later
    queries. Each tenant has its own: how long a query takes tells nothing of others. Several
    threads may share one.
    """

    def __init__(self, limit: int = KEPT_SENTENCE_BYTES) -> None:
        self._kept = VectorCache[np.float32](limit)

    def embed(self, embedder: Embedder, texts: Sequence[str]) -> Vectors:
        """Embed texts as documents, rows in their order; one that is refused is like nothing else.

        Raises ProviderError.
        """
        owner = f"{embedder.space}\0{current_asker()}\0"
        digests = {
            text: sha256(f"{owner}{text}".encode(errors="surrogatepass")).digest() for text in texts
        }
        rows = {text: self._kept.find(digest) for text, digest in digests.items()}
        new = [text for text, row in rows.items() if row is None]
        if new:
            made = np.nan_to_num(embedder.embed(new, "document"))
            rows.update(zip(new, made, strict=True))
            for text, row in zip(new, made, strict=True):
                self._kept.keep(digests[text], row.copy())
        return np.array([rows[text] for text in texts], np.float32)


@dataclass
class KnownScales:
    """Scales of cosines that were measured here and could not be stored: a reader may not.

    Each tenant has its own, as each sees other sentences.
    """

    _scales: dict[tuple[Asker | None, str], CosineScale] = field(default_factory=dict)

    def find(self, space: str) -> CosineScale | None:
        """Return the scale of a space."""
        return self._scales.get((current_asker(), space))

    def keep(self, scale: CosineScale) -> None:
        """Keep a scale as long as the program runs."""
        self._scales[current_asker(), scale.space] = scale
