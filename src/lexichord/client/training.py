"""Recorded queries as what an embedding model learns from: a question, an answer, and what is none.

By the probability that a hit holds an answer (`hit_confidence`): the first hit is taken
for one where it is likely enough, and lower hits of other documents for none where they are not.
Nobody has judged them: a model is trained on what search was sure of.
"""

from collections.abc import Sequence
from itertools import groupby

from lexichord.db.catalogue import recorded_passages
from lexichord.db.pool import Row
from lexichord.errors import ConfigError
from lexichord.ingest.llm_context.backfill import OpenApplication
from lexichord.ingest.vectors import embedding_text
from lexichord.types import TrainingTriplet
from lexichord.types.options import read_number

MIN_POSITIVE, MAX_NEGATIVE = 0.5, 0.1  # probabilities
NOTHING_RECORDED = (
    "no recorded query can be learnt from: their words are kept with LEXICHORD_RECORD=text, and "
    "those that abstain, ask for a list or whose passages have changed are left out"
)


async def training_triplets(
    app: OpenApplication, *, latest: int = 10_000, negatives: int = 3
) -> list[TrainingTriplet]:
    """Return triplets of the latest recorded queries, `negatives` at most of each.

    Texts are as they are embedded, with their context. Raises ConfigError where there is none.
    """
    latest = read_number("latest", latest, 1)
    negatives = read_number("negatives", negatives, 1)
    rows = await recorded_passages(app.database, latest)
    queries = (list(hits) for _, hits in groupby(rows, lambda row: row["query_id"]))
    triplets = [triplet for hits in queries for triplet in _triplets(hits, negatives)]
    if not triplets:
        raise ConfigError(NOTHING_RECORDED)
    return list(dict.fromkeys(triplets))


def _triplets(hits: Sequence[Row], negatives: int) -> list[TrainingTriplet]:
    """Return those of one query; hits are by rank."""
    from lexichord.client.passages import hit_confidence

    first, *others = hits
    if first["rank"] != 1 or hit_confidence(first["confidence"], 1) < MIN_POSITIVE:
        return []
    positive = _text(first)
    texts = dict.fromkeys(
        _text(hit)
        for hit in others
        if hit["document_id"] != first["document_id"]
        and hit["content"] != first["content"]
        and hit_confidence(hit["confidence"], hit["rank"]) <= MAX_NEGATIVE
    )
    return [TrainingTriplet(first["query"], positive, text) for text in list(texts)[:negatives]]


def _text(hit: Row) -> str:
    return embedding_text(hit["context"], hit["content"])
