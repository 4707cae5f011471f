"""What was found, with every score. Scores: higher is better."""

from dataclasses import dataclass
from typing import Any

from lexichord.types.json import Json


@dataclass(frozen=True, slots=True)
class ChunkHit:
    """A chunk that a search found, with every score and rank that led to it."""

    chunk_id: int
    document_id: int
    dataset: str
    uri: str
    title: str
    heading: str
    start: int
    end: int
    page: int | None
    content: str
    context: str
    score: float
    scores: Json
    ranks: Json

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape of a hit."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class FileHit:
    """A document that file discovery found: `scores` holds its two parts, `hits` its chunk hits."""

    document_id: int
    dataset: str
    uri: str
    title: str
    score: float
    scores: Json
    hits: int

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape of a file."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Ranked:
    """One of the texts that a reranker was given: its place among them, from 0, and its score."""

    index: int
    score: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The chunks that answer a query, best first; `degraded` says what could not be done."""

    query: str
    hits: list[ChunkHit]
    degraded: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape."""
        hits = [hit.to_dict() for hit in self.hits]
        return {"query": self.query, "hits": hits, "degraded": self.degraded}


@dataclass(frozen=True, slots=True)
class FilesResult:
    """The documents that a query is about, best first."""

    query: str
    files: list[FileHit]
    degraded: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape."""
        files = [file.to_dict() for file in self.files]
        return {"query": self.query, "files": files, "degraded": self.degraded}
