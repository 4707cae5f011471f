"""One way of asking a question, among several that are searched at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Variant:
    """A query in other words: `terms`, lexeme to times, or else `text`, and a vector.

    `weight` is its part in the fusion, `documents` where it searches; None is everywhere in scope.
    Names are unique among the variants of a search.
    """

    name: str
    text: str
    vector: Sequence[float] | None
    weight: float
    documents: tuple[int, ...] | None = None
    terms: Mapping[str, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape, which is also what the SQL function search_variants takes."""
        vector = None if self.vector is None else [float(x) for x in self.vector]
        documents = None if self.documents is None else list(self.documents)
        terms = None if self.terms is None else dict(self.terms)
        return {
            "name": self.name,
            "text": self.text,
            "terms": terms,
            "vector": vector,
            "weight": self.weight,
            "documents": documents,
        }


@dataclass(frozen=True, slots=True)
class Feedback:
    """What the best chunk of each of the first documents says of a query.

    `coherence` is the mean cosine of two of these chunks, None with fewer than two vectors.
    `terms` and `vector` are None where it is below the threshold.
    """

    chunk_ids: tuple[int, ...]
    coherence: float | None
    terms: Mapping[str, int] | None
    vector: Sequence[float] | None
