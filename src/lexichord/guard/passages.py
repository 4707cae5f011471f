"""What programs of other makers take of a response: passages with one score and their metadata."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from lexichord.db.pool import Database
from lexichord.db.search import list_documents
from lexichord.errors import ConfigError
from lexichord.retrieve.confidence import SEEN
from lexichord.retrieve.hit_confidence import hit_confidences
from lexichord.types import ChunkHit, Json, QueryOptions, Response, Scope

K = 10  # as `Lexichord.query`
PLACE = ("dataset", "document_id", "chunk_id", "uri", "title", "heading", "page", "start", "end")


@dataclass(frozen=True, slots=True)
class Passage:
    """A hit with its document's `metadata`.

    `score` is the probability, 0 to 1, that it holds an answer: see `hit_confidences`.
    """

    hit: ChunkHit
    score: float
    metadata: Json

    @property
    def name(self) -> str:
        """Its document's file name, that is the end of its uri."""
        return PurePosixPath(self.hit.uri).name or self.hit.uri

    def describe(self) -> Json:
        """Give the metadata, and over it where the passage stands and how it was found.

        What a document says of itself cannot pass for its place.
        """
        place = {name: getattr(self.hit, name) for name in PLACE}
        place["title"] = self.hit.title or self.name
        found = {"score": self.score, "scores": self.hit.scores, "ranks": self.hit.ranks}
        known = {name: value for name, value in place.items() if value is not None}
        return {**self.metadata, **known, **found}


def for_passages(options: QueryOptions) -> QueryOptions:
    """Give the options by which to query for the hits alone. Raises ConfigError.

    Whatever the intent, hits are searched alike; the table of a comparison, the list or summary,
    which take a second to make, would be thrown away. With fewer hits than the confidence is told
    by, their scores would depend on k.
    """
    if (k := options.get("k", K)) < 1:
        raise ConfigError(f"k must be at least 1, not {k}")
    return {"intent": "general", **options, "k": max(k, SEEN)}


async def find_passages(
    database: Database, response: Response, k: int, least: float = 0.0
) -> list[Passage]:
    """Give the k best passages of a response, of those that score at least `least`."""
    scored = [
        (hit, score)
        for hit, score in zip(response.hits[:k], hit_confidences(response), strict=False)
        if score >= least
    ]
    if not scored:
        return []
    scope = Scope(documents=tuple({hit.document_id for hit, _ in scored}))
    metadata = {row.document_id: row.metadata for row in await list_documents(database, scope)}
    return [Passage(hit, score, metadata[hit.document_id]) for hit, score in scored]
