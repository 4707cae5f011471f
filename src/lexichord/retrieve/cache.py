"""What queries keep for later ones; each tenant has its own.

How long a query takes tells nothing of others' questions and documents then.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from hashlib import sha256
from math import inf
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from lexichord.db.session import Asker, current_asker
from lexichord.providers import DigestCache, Embedder, EmbedKind, Reader, Vectors, size_in_bytes
from lexichord.types.questions import Passage, Reading
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


KEPT_VECTOR_BYTES = 32_000_000  # 20,000 texts of 384 dimensions


class TextVectors:
    """Embeds sentences and questions, and keeps the vectors of those that queries needed last.

    What judges a query's evidence and what answers by it embed each sentence once, and so do later
    queries. Each tenant has its own: how long a query takes tells nothing of others. Several
    threads may share one.
    """

    def __init__(self, limit: int = KEPT_VECTOR_BYTES) -> None:
        self._kept = DigestCache[NDArray[np.float32]](limit, size_in_bytes)

    def embed(self, embedder: Embedder, texts: Sequence[str], kind: EmbedKind) -> Vectors:
        """Embed texts, rows in their order; one that is refused is NaN. Raises ProviderError."""
        owner = f"{embedder.space}\0{kind}\0{current_asker()}\0"
        digests = {
            text: sha256(f"{owner}{text}".encode(errors="surrogatepass")).digest() for text in texts
        }
        rows = {text: self._kept.find(digest) for text, digest in digests.items()}
        new = [text for text, row in rows.items() if row is None]
        if new:
            made = embedder.embed(new, kind)
            rows.update(zip(new, made, strict=True))
            for text, row in zip(new, made, strict=True):
                self._kept.keep(digests[text], row.copy())
        return np.array([rows[text] for text in texts], np.float32)


KEPT_READINGS = 4_000  # passages; of some ten sentences each: 8 MB


class Readings:
    """Reads passages, and keeps what was made of those that queries read last, for their question.

    Each tenant has its own: how long a query takes tells nothing of others. Several threads may
    share one.
    """

    def __init__(self, most: int = KEPT_READINGS) -> None:
        self._most = most
        self._kept_by: tuple[Reader | None, DigestCache[Reading]] = (None, self._no_readings())

    def _no_readings(self) -> DigestCache[Reading]:
        return DigestCache(self._most, size=lambda _: 1)

    def read(self, reader: Reader, question: str, passages: Sequence[Passage]) -> list[Reading]:
        """Return what is made of each passage, in their order. Raises ProviderError."""
        owner, kept = self._kept_by
        if owner is not reader:  # what another reader made is let go
            kept = self._no_readings()
            self._kept_by = (reader, kept)
        digests = [_digest(question, one) for one in passages]
        found = {digest: kept.find(digest) for digest in digests}
        read = {digest: one for digest, one in found.items() if one is not None}
        new = {
            digest: one for digest, one in zip(digests, passages, strict=True) if digest not in read
        }
        if new:
            for digest, made in zip(new, reader.read(question, [*new.values()]), strict=True):
                kept.keep(digest, made)
                read[digest] = made
        return [read[digest] for digest in digests]


def _digest(question: str, passage: Passage) -> bytes:
    said = (current_asker(), question, passage.title, passage.text, passage.sentences)
    return sha256(repr(said).encode(errors="surrogatepass")).digest()


# Reasoned, not measured: who may not store a scale does not see how much more is stored, and to
# measure takes some seconds.
KEPT_SCALE_SECONDS = 3600.0


@dataclass(slots=True)
class KnownScales:
    """Scales of cosines that were measured here and could not be stored, for an hour each.

    A reader may store none, and a model that finds nothing alike has none. Each tenant has its own,
    as each sees other sentences.
    """

    _scales: dict[tuple[Asker | None, str], tuple[float, CosineScale | None]] = field(
        default_factory=dict
    )

    def find(self, space: str) -> CosineScale | None:
        """Return the scale of a space."""
        return self._find(space)[1]

    def is_measured(self, space: str) -> bool:
        """Return whether a space was measured here within the hour, whatever came of it."""
        return self._find(space)[0] > monotonic() - KEPT_SCALE_SECONDS

    def keep(self, space: str, scale: CosineScale | None) -> None:
        """Keep what came of measuring a space."""
        self._scales[current_asker(), space] = monotonic(), scale

    def _find(self, space: str) -> tuple[float, CosineScale | None]:
        return self._scales.get((current_asker(), space), (-inf, None))


@dataclass(frozen=True, slots=True)
class QueryCache:
    """What an application's queries keep for one another."""

    vectors: TextVectors = field(default_factory=TextVectors)
    readings: Readings = field(default_factory=Readings)
    scales: KnownScales = field(default_factory=KnownScales)
