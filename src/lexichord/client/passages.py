"""What programs of other makers take of a response: passages with one score and their metadata."""

from dataclasses import dataclass

from lexichord.db.catalogue import list_documents
from lexichord.db.pool import Database
from lexichord.retrieve.confidence import JUDGED_HITS
from lexichord.types import ChunkHit, Json, QueryOptions, Response, Scope, StoredDocument
from lexichord.types.base import file_name

# scripts/bench/hit_confidence.py fits and checks these: code questions and every second LegalBench
# question, raw and with a hint, each also asked of the other corpus; documents of half A.
# On half B (7,290 hits) with a vector / by words alone: calibration error .015 / .012, log loss
# .216 / .237, AUROC .88 / .84. A term in the hit's cosine: log loss .215, in its fused score .215;
# fitted by words alone .236. A logistic function of confidence and rank, not their product: .221.
# score >= .1 keeps 2.8 to 3.5 hits a question with 78 to 81 % of the answering ones, >= .3 1.2 to
# 1.8 with 57 to 62 %, >= .5 .6 to .9 with 36 to 50 %; of 132 foreign questions 71, 89, 95 % keep
# none (by words alone 19, 44, 58 %).
RANK_DECAY, RANK_EXPONENT = 0.38, 2.24


def hit_confidences(response: Response) -> list[float]:
    """Return for each hit of a response the probability, 0 to 1, that it holds an answer.

    The same scale with a reranker, whose own scores differ from model to model: it changes the
    order and, through what it puts first, the confidence. Measured on questions for one thing; of
    a list or a comparison, where many hits hold a part, it is too low.
    """
    ranks = range(1, 1 + len(response.hits))
    return [hit_confidence(response.confidence, rank) for rank in ranks]


def hit_confidence(confidence: float, rank: int) -> float:
    """Return the probability of one hit, by the response's confidence and its rank, from 1."""
    decay: float = RANK_DECAY * rank**RANK_EXPONENT
    return confidence / (1 + decay)


def chunk_confidences(response: Response) -> dict[str, float]:
    """Return the same by the id of the chunk."""
    ids = (hit.chunk_id for hit in response.hits)
    return dict(zip(ids, hit_confidences(response), strict=True))


PASSAGE_PLACE_FIELDS = (
    "dataset",
    "document_id",
    "chunk_id",
    "uri",
    "title",
    "heading",
    "page",
    "start",
    "end",
)


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A hit with its document's `metadata`, its media type and folder among them.

    `score` is the probability, 0 to 1, that it holds an answer: see `hit_confidences`.
    """

    hit: ChunkHit
    score: float
    metadata: Json

    @property
    def name(self) -> str:
        """Its document's file name, that is the end of its uri."""
        return file_name(self.hit.uri)

    def describe(self) -> Json:
        """Return the metadata, and over it where the passage stands and how it was found.

        What a document says of itself cannot pass for its place.
        """
        place = {name: getattr(self.hit, name) for name in PASSAGE_PLACE_FIELDS}
        place["title"] = self.hit.title or self.name
        raw = {"scores": self.hit.scores.to_dict(), "ranks": self.hit.ranks}
        known = {name: value for name, value in place.items() if value is not None}
        return {**self.metadata, **known, "score": self.score, **raw}


def passage_options(options: Json) -> Json:
    """Return the options by which to query for the hits alone. Raises ConfigError.

    Whatever the intent, hits are searched alike; the table of a comparison, the list or summary,
    which take a second to make, would be thrown away. With fewer hits than the confidence is
    estimated from, their scores would depend on k.
    """
    k = QueryOptions.read(options).k
    return {"intent": "general", **options, "k": max(k, JUDGED_HITS)}


async def find_passages(
    database: Database, response: Response, k: int, min_score: float = 0.0
) -> list[ScoredPassage]:
    """Return the k best passages of a response, of those that score at least `min_score`."""
    scored = [
        (hit, score)
        for hit, score in zip(response.hits[:k], hit_confidences(response), strict=False)
        if score >= min_score
    ]
    if not scored:
        return []
    scope = Scope(documents=tuple({hit.document_id for hit, _ in scored}))
    rows = await list_documents(database, scope)
    metadata = {row.document_id: {**_built_in(row), **row.metadata} for row in rows}
    return [ScoredPassage(hit, score, metadata[hit.document_id]) for hit, score in scored]


def _built_in(row: StoredDocument) -> Json:
    """Return the keys that filters know of every document, but for those that a hit has."""
    return {"media_type": row.media_type, "folder": row.uri.rpartition("/")[0]}
