"""What a named document is held to: what others say of the matter is no answer about it."""

import re
from collections.abc import Sequence

from lexichord.retrieve.understand.cues import says_something
from lexichord.retrieve.understand.linking import (
    BRIDGE_WORDS,
    DEFINITE_WORDS,
    PLACE_PREPOSITIONS,
)
from lexichord.types import ChunkHit
from lexichord.types.questions import Intent

CALLING_WORDS = DEFINITE_WORDS - {"s"}
NAMING_WORD = re.compile(r"\w+")
# What leads to a name; without it, a name may be what the question asks about: "configure CORS".
LEADING_WORDS = (
    rf"(?:\baccording )?\b(?:{'|'.join(sorted(PLACE_PREPOSITIONS))}) "
    rf"(?:(?:{'|'.join(sorted(CALLING_WORDS))}) )?"
    rf"|\b(?:{'|'.join(sorted(CALLING_WORDS))}) "
)
MIN_WORDS = 2  # that a question without names has


def hold_to_named(intent: Intent, hits: Sequence[ChunkHit]) -> list[ChunkHit]:
    """Return the hits that speak of the documents that a query names, in their order.

    These are hits from those documents, or, where there are none, from others that say the name
    themselves. All of them where none is named, and for a comparison, which has its own rows.
    """
    if not intent.documents or intent.kind == "comparison":
        return list(hits)
    if own := [hit for hit in hits if hit.document_id in intent.documents]:
        return own
    names = [_words(part) - BRIDGE_WORDS for part in (intent.hint or "").split(", ")]
    return [hit for hit in hits if _says(hit, names)]


def named_first(intent: Intent, hits: Sequence[ChunkHit]) -> list[ChunkHit]:
    """Return hits with those from the documents that a query names before all others."""
    return sorted(hits, key=lambda hit: hit.document_id not in intent.documents)


def without_names(intent: Intent) -> str:
    """Return a question without what names its documents; as it is where too little is left.

    What a sentence of the lease says of rent is judged by "When is rent due?", not by "under the
    lease": each of its sentences is as much of the lease as any other.
    """
    rest = intent.question
    if intent.documents:
        for part in filter(None, (intent.hint or "").split(", ")):
            name = rf"{re.escape(part)}\b(?:['’]s?\b)?"
            rest = re.sub(rf"(?:{LEADING_WORDS}){name}|^{name}(?=:)", " ", rest, flags=re.I)
    rest = " ".join(rest.split()).lstrip(",;:.?! ")
    enough = len(NAMING_WORD.findall(rest)) >= MIN_WORDS and says_something(rest)
    return rest if enough else intent.question


def unnamed(intent: Intent) -> str:
    """Return a question with "it" in place of "the lease", as sentences of the lease are judged."""
    question = intent.question
    if intent.documents and intent.kind == "clause_lookup":
        for part in filter(None, (intent.hint or "").split(", ")):
            called = rf"\b(?:{'|'.join(sorted(CALLING_WORDS))})\s+{re.escape(part)}\b(?!['’-])"
            question = re.sub(called, "it", question, flags=re.I)
    return question


def _says(hit: ChunkHit, names: Sequence[set[str]]) -> bool:
    said = _words(f"{hit.title} {hit.heading} {hit.content}")
    return any(name and name <= said for name in names)


def _words(text: str) -> set[str]:
    return {word.casefold() for word in NAMING_WORD.findall(text)}
