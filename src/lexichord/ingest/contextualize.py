"""Free context: what a chunk alone does not say, from the document's structure, without a model."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from math import log

from lexichord.types import Chunk

KEYPHRASES = 14  # per document; chosen of 8 to 20 on half of a code set (docs/benchmarks.md)
IDENTIFIER = re.compile(r"[^\W\d_]\w{2,}")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+")


@dataclass
class Reference:
    """How many of some texts hold a word: what is rare among them tells a document apart."""

    texts: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, text: str) -> None:
        """Count a text."""
        self.texts += 1
        words = set(IDENTIFIER.findall(text))
        self.counts.update({part for word in words for part in _parts(word)})

    def rarity(self, identifier: str) -> float:
        """Give the mean inverse document frequency of an identifier's parts."""
        parts = _parts(identifier)
        return sum(log((self.texts + 1) / (self.counts[part] + 0.5)) for part in parts) / len(parts)


def keyphrases(text: str, reference: Reference, limit: int = KEYPHRASES) -> list[str]:
    """Give the identifiers that tell a document from the others, best first.

    Scored by the square root of how often one occurs times its rarity.
    """
    counts = Counter(IDENTIFIER.findall(text))
    scores = {word: count**0.5 * reference.rarity(word) for word, count in counts.items()}
    best = sorted(scores, key=lambda word: (-scores[word], word))
    return list(islice(_distinct(best), limit))


def structural_context(chunk: Chunk, title: str, phrases: Iterable[str]) -> Chunk:
    """Give the chunk its title, heading path and document's keyphrases as context."""
    place = " › ".join(filter(None, (title, chunk.heading)))
    return replace(chunk, context="\n".join(filter(None, (place, " ".join(phrases)))))


def embedding_text(context: str, content: str) -> str:
    """Give what is embedded for a chunk."""
    return f"{context}\n{content}" if context else content


def _distinct(words: Iterable[str]) -> Iterator[str]:
    """Leave out what differs from an earlier word only in case."""
    seen = set[str]()
    for word in words:
        if word.lower() not in seen:
            seen.add(word.lower())
            yield word


@cache
def _parts(identifier: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in PART.findall(identifier)) or (identifier.lower(),)
