"""Where the cosines of a space lie, found without labels: from a sample of what is stored.

Unanswerable by construction: questions of everyday life asked of sentences that are stored.
Answerable by construction: such a sentence asked as a question, and itself. What any model makes of
the two are the two points that lead from its cosines to those that the constants were fitted on.
"""

from collections.abc import Sequence

import numpy as np

from lexichord.db import catalogue
from lexichord.db.pool import Database
from lexichord.errors import DatabaseError
from lexichord.providers.base import Embedder
from lexichord.retrieve.evidence.sentences import FITTED_SPACE
from lexichord.retrieve.vectors import KnownScales
from lexichord.types.state import CosineScale
from lexichord.work import in_thread

FOREIGN_QUESTIONS = (
    "How do I bake bread without yeast?",
    "Which river flows through the capital of Hungary?",
    "How long does it take to learn to swim?",
    "What time does the museum close on Sundays?",
    "Who painted the ceiling of the chapel?",
    "How often should I water a cactus?",
    "What is the best way to remove a wine stain from a carpet?",
    "Why do cats purr?",
    "When was the first bicycle built?",
    "How many players are there in a volleyball team?",
    "Where can I hire a boat for an afternoon?",
    "What does the word serendipity mean?",
)
# Of 120 sentences, six kinds of documents and four models: so many move the logarithm of odds by a
# standard deviation of .05, 30 by .08, 15 by .12, 8 by .17 and at most .6 in 19 of 20 samples, 4 by
# .25 and 1.0. Sentences asked of one another, in the place of these questions, tell a collection of
# one subject from none: of contracts, policies and code too much is refused then.
SAMPLE_SENTENCES = 60
MIN_SENTENCES = 8
MIN_RANGE = 0.02  # of cosines, below which a model tells nothing; e5-small-v2 has .21, the least
OUTGROWN = 4  # times as many chunks as when it was measured


async def ensure_scale(
    database: Database, embedder: Embedder, known: KnownScales
) -> CosineScale | None:
    """Return the scale of an embedder's space, measured where it is not yet, or is outgrown.

    None of the space that the constants were fitted in, which needs none, and where too little is
    stored. Raises DatabaseError, ProviderError.
    """
    found = await read_scale(database, embedder, known)
    if needs_none(embedder) or (found is not None and not is_outgrown(found)):
        return found
    return await renew_scale(database, embedder, known)


async def read_scale(
    database: Database, embedder: Embedder, known: KnownScales
) -> CosineScale | None:
    """Return the scale of an embedder's space that was measured, outgrown or not; else None."""
    if needs_none(embedder):
        return None
    space = str(embedder.space)
    stored = await catalogue.find_cosine_scale(database)
    return known.find(space) or (stored if stored and stored.space == space else None)


def needs_none(embedder: Embedder) -> bool:
    """Return whether the constants were fitted on this model's cosines."""
    return str(embedder.space) == FITTED_SPACE


def is_outgrown(scale: CosineScale) -> bool:
    """Return whether so much more is stored by now that it is to be measured anew."""
    return scale.stored >= OUTGROWN * max(1, scale.chunks)


async def renew_scale(
    database: Database, embedder: Embedder, known: KnownScales
) -> CosineScale | None:
    """Measure the scale of an embedder's space, the database's or the one that it changes to.

    It is stored, or kept in `known` by who may not store it. None as `ensure_scale` says.
    """
    if needs_none(embedder):
        return None
    sentences = await catalogue.sample_sentences(database, SAMPLE_SENTENCES)
    if len(sentences) < MIN_SENTENCES:
        return None
    scale = await in_thread(measure_scale, embedder, sentences)
    if scale is None:
        return None
    try:
        await catalogue.set_cosine_scale(database, scale)
    except DatabaseError:
        known.keep(scale)
    return scale


def measure_scale(embedder: Embedder, sentences: Sequence[str]) -> CosineScale | None:
    """Measure where a model's cosines lie; None of one that finds nothing alike.

    Raises ProviderError.
    """
    count = len(FOREIGN_QUESTIONS)
    stored = np.nan_to_num(embedder.embed(list(sentences), "document"))
    questions = np.nan_to_num(embedder.embed([*FOREIGN_QUESTIONS, *sentences[:count]], "query"))
    unlike = float((questions[:count] @ stored.T).mean())
    alike = float(np.einsum("nd,nd->n", questions[count:], stored[:count]).mean())
    if alike - unlike < MIN_RANGE:
        return None
    return CosineScale(str(embedder.space), unlike, alike, len(sentences))
