"""What was found, with every score. Scores: higher is better; ranks are from 1."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lexichord.types.json import Json, Shaped, Shown, Sparse, frame_of
from lexichord.types.text import TITLE_CHARS, counted, one_line

if TYPE_CHECKING:
    import pandas

CHANNEL_NAMES = ("dense", "keyword")


@dataclass(frozen=True, slots=True)
class HitScores(Sparse):
    """What led to a hit's score. Higher is better; None where it was not in that list.

    `dense` is the cosine similarity of the vectors, -1 to 1; `keyword` is BM25, 0 upwards; `fused`
    is both, each on the scale of its own candidates (0 = their mean, 1 = one standard deviation
    above), weighed and added.

    The others are left out of the JSON shape where they are None. Of `query`, `variants` is the sum
    of `contributions`, which are by way of asking, weight / (60 + rank). With a reranker, `rerank`
    is the reranker's own score; with a reader, `read` is how likely it holds the answer, 0 to 1.
    """

    dense: float | None
    keyword: float | None
    fused: float | None
    variants: float | None = None
    contributions: Mapping[str, float] | None = None
    rerank: float | None = None
    read: float | None = None

    @property
    def by_list(self) -> dict[str, float | None]:
        """The scores in the lists that `ranks` has: of each way of asking, and of each channel."""
        return {**(self.contributions or {}), "dense": self.dense, "keyword": self.keyword}


@dataclass(frozen=True, slots=True)
class ChunkHit(Shown):
    """A chunk that a search found, with every score and rank that led to it.

    `content` is the document's stored text from `start` to `end`, in characters; `page` is from 1,
    None where the format has none. `context` was embedded and indexed with it.

    `score` is what the hits are ordered by, comparable within one result only. Of `search` it is
    the `fused` score plus the boost of the chunk's document, of `query` the sum over its ways of
    asking, or the reranker's, and what a reader gives; `scores` are what it is made of.

    `ranks` are the places, from 1, in the lists of `dense` and `keyword` (of the question itself;
    None where the hit is not in it) and, of `query`, in that of each way of asking, by its name.
    """

    chunk_id: str
    document_id: str
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
    scores: HitScores
    ranks: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class FileHit(Sparse):
    """A document that file discovery found.

    `score` is what the files are ordered by, comparable within one result only: the two parts of
    `scores`, each on the scale of its own list, weighed and added, or the reranker's. `scores` are
    by name, and a stage of your own may name others:

    - `chunks`: the best of its chunks' scores, 0 = the mean of the candidates;
    - `card`: BM25 of its title, file name and beginning, 0 upwards; None where no word is there;
    - `fused` and `rerank` (with a reranker): the score before it, and its own;
    - `dense` (of `similar`): the best cosine similarity of a chunk to the other document's mean
      vector, -1 to 1.

    `hits` is how many of its chunks were among the candidates. `metadata` are the document's, of
    `similar` alone.
    """

    document_id: str
    dataset: str
    uri: str
    title: str
    score: float
    scores: Mapping[str, float | None]
    hits: int
    metadata: Json | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """One of the texts that a reranker was given: its place among them, from 0, and its score."""

    index: int
    score: float


@dataclass(frozen=True, slots=True, repr=False)
class SearchResult(Shown):
    """The chunks that answer a query, best first; `degraded` says what could not be done."""

    query: str
    hits: list[ChunkHit]
    degraded: list[str]

    def to_frame(self) -> "pandas.DataFrame":
        """Return the hits as a frame of pandas', a row each. Raises ConfigError without pandas."""
        return frame_of(ChunkHit, self.hits)

    def __repr__(self) -> str:
        query, hits = one_line(self.query, TITLE_CHARS), counted(len(self.hits), "hit")
        return f"<SearchResult of {query!r}: {hits}>"


@dataclass(frozen=True, slots=True)
class KeywordSets(Shaped):
    """Other words for a query, in sets that differ; `degraded` says what could not be done."""

    query: str
    sets: list[list[str]]
    degraded: list[str]


@dataclass(frozen=True, slots=True, repr=False)
class FilesResult(Shown):
    """The documents that a query is about, best first; `degraded` says what could not be done."""

    query: str
    files: list[FileHit]
    degraded: list[str]

    def to_frame(self) -> "pandas.DataFrame":
        """Return the files as a frame of pandas', a row each. Raises ConfigError without pandas."""
        return frame_of(FileHit, self.files)

    def __repr__(self) -> str:
        query, files = one_line(self.query, TITLE_CHARS), counted(len(self.files), "file")
        return f"<FilesResult of {query!r}: {files}>"
