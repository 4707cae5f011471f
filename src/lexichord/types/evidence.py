"""What was found, with every score, and the evidence in it: quotes, sources, tables, answers.

Scores: higher is better; ranks are from 1. Offsets are in characters.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from lexichord.types.base import (
    TITLE_CHARS,
    Json,
    Shaped,
    Shown,
    Sparse,
    cite,
    counted,
    frame_of,
    one_line,
)
from lexichord.types.questions import ReaderFit

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


NOT_FOUND = "not found in this file"
NEAREST_TO_IT = "Nearest to it:"
NEAREST_MARK = "**"  # before and after the sentence that comes nearest, in its passage

type Place = tuple[str, int, int]  # a document, and from where to where

# A cosine of the database's space as one of the space that the constants were fitted in.
type Align = Callable[[float], float]


def as_it_is(cosine: float) -> float:
    """Return a cosine of the space that the constants were fitted in."""
    return cosine


@dataclass(frozen=True, slots=True)
class Quote(Shaped):
    """A stretch of a document, verbatim: its stored text from `start` to `end` is `text`.

    Offsets are in characters, `page` is from 1, None where the format has none. `chunk_id` is the
    chunk it came from, the best one where several were joined, `score` that chunk's as a hit; of a
    sentence in a list, a summary or a table it is the sentence's own, comparable within one
    response only.
    """

    text: str
    document_id: str
    uri: str
    title: str
    heading: str
    start: int
    end: int
    page: int | None
    chunk_id: str
    score: float

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self.document_id, self.start, self.end

    @classmethod
    def of(cls, hit: ChunkHit) -> Self:
        """Quote a whole chunk."""
        same = {name: getattr(hit, name) for name in cls.__slots__ if name != "text"}
        return cls(text=hit.content, **same)


class ReadSentence(NamedTuple):
    """A sentence that a reader read, its share of its passage's answer, 0 to 1, and its phrase.

    `head` is that of the table whose row it is, "" of other sentences.
    """

    quote: Quote
    share: float
    phrase: Quote
    head: str


class ReadPassage(NamedTuple):
    """How likely a passage holds an answer, 0 to 1, and its sentences.

    `number` is its place among those that were found, the best 0.
    """

    number: int
    quote: Quote
    here: float
    sentences: Sequence[ReadSentence]


class ReadPassages(NamedTuple):
    """What a reader made of passages and what was fitted with it."""

    passages: Sequence[ReadPassage]
    fit: ReaderFit


# A question and passages; None where nothing reads them.
type ReadQuotes = Callable[[str, Sequence[Quote]], Awaitable[ReadPassages | None]]


async def read_nothing(question: str, quotes: Sequence[Quote]) -> None:
    """Read nothing: there is no reader."""


@dataclass(frozen=True, slots=True)
class ContextSource(Shaped):
    """A passage of a response's context, by its number there, from 1.

    `citation` is its document's title and its heading. Offsets are in characters, `page` is from 1,
    None where the format has none; `score` is that of its quote.
    """

    number: int
    citation: str
    uri: str
    start: int
    end: int
    page: int | None
    chunk_id: str
    document_id: str
    score: float

    @classmethod
    def of(cls, number: int, quote: Quote) -> Self:
        """Return the source that a quote is."""
        same = {name: getattr(quote, name) for name in cls.__slots__[2:]}
        return cls(number, cite(quote.title, quote.heading), **same)


@dataclass(frozen=True, slots=True)
class Cell:
    """What one document says of one aspect; without quotes: not found in this file.

    `values` are the dates, amounts, durations and the like in the quotes, as they are written
    there. `score` is that of the document's best sentence, kept also where nothing was found.
    """

    document_id: str
    aspect: str
    quotes: tuple[Quote, ...] = ()
    values: tuple[str, ...] = ()
    score: float = 0.0

    @property
    def found(self) -> bool:
        """Whether the document says anything of the aspect."""
        return bool(self.quotes)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape of a cell."""
        return {
            "document_id": self.document_id,
            "aspect": self.aspect,
            "found": self.found,
            "quotes": [quote.to_dict() for quote in self.quotes],
            "values": list(self.values),
            "score": self.score,
        }


@dataclass(frozen=True, slots=True)
class Comparison(Shown):
    """A table of documents × aspects, its `cells` row by row."""

    aspects: tuple[str, ...]
    documents: tuple[FileHit, ...]
    cells: tuple[Cell, ...]

    def cell(self, document_id: str, aspect: str) -> Cell:
        """Return one cell. Raises KeyError if the table has no such row or column."""
        for cell in self.cells:
            if (cell.document_id, cell.aspect) == (document_id, aspect):
                return cell
        raise KeyError(document_id, aspect)


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """What an answer is to be written to; `advice` is what a reader missed in an earlier one.

    `confidence` is the probability, 0 to 1, that the evidence holds an answer; `align` is what
    cosines of sentences are compared by, `read` what reads passages for the question.
    """

    kind: str
    question: str
    advice: str = ""
    confidence: float | None = None
    align: Align = as_it_is
    read: ReadQuotes = read_nothing


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as Markdown; `unverified` is what a model said without a source that holds it.

    `comparison` is the table that it was written from, if that is not the evidence's. `confidence`
    is the probability, 0 to 1, that its first sentence is right; None where that is not known.
    `best` is that sentence, as far as one was chosen, `phrase` what of it answers.
    """

    text: str
    unverified: tuple[str, ...] = ()
    comparison: Comparison | None = None
    confidence: float | None = None
    best: Quote | None = None
    phrase: Quote | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an intent's aggregation returns.

    `files` and `quotes` are best first, for a summary `quotes` are in document order; `dropped`
    says of each quote that is not in the stored text where it claimed to be.
    """

    files: tuple[FileHit, ...]
    quotes: tuple[Quote, ...]
    dropped: tuple[str, ...] = ()
    comparison: Comparison | None = None
