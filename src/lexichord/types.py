"""Frozen records that cross module borders. Offsets are in characters, scores: higher is better."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypedDict

from lexichord.errors import ConfigError

Json = Mapping[str, Any]
Mode = Literal["hybrid", "dense", "keyword"]
ContextKind = Literal["none", "structural", "given"]
ContextPart = Literal["title", "heading", "keyphrases", "edges", "symbols"]  # of the structural


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """Which model made a vector. Vectors of different spaces cannot be compared."""

    provider: str
    model: str
    dimension: int

    def __str__(self) -> str:
        """Give the form that the database and the SQL functions use: provider/model/dimension."""
        return f"{self.provider}/{self.model}/{self.dimension}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `provider/model/dimension`; the model's name may hold slashes itself."""
        provider, _, rest = text.partition("/")
        model, _, dimension = rest.rpartition("/")
        if not (provider and model and dimension.isdecimal() and int(dimension) > 0):
            raise ConfigError(
                f"'{text}' is no embedding space: write provider/model/dimension, "
                "for example local/all-MiniLM-L6-v2/384"
            )
        return cls(provider, model, int(dimension))


@dataclass(frozen=True, slots=True)
class Scope:
    """Which documents a search may see; all conditions hold at once, none means everything."""

    datasets: tuple[str, ...] = ()
    documents: tuple[int, ...] = ()
    uri_prefix: str | None = None
    filter: Json | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading at `start`; what follows is under it, up to the next of the same or a lower level.

    `level` counts from 1, the outermost. The text from `start` to `end` is the heading itself.
    """

    start: int
    end: int
    level: int
    name: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table in a text: a line a row, cells parted by tabs; the header ends at `header_end`.

    `header_end` is `start` where no row is a header.
    """

    start: int
    end: int
    header_end: int


@dataclass(frozen=True, slots=True)
class LoadedText:
    """A file's text, and what its format says about it.

    `headings` are those that the format marks itself, `pages` where each page starts, by order;
    `metadata` becomes the document's.
    """

    text: str
    media_type: str
    title: str
    headings: tuple[Heading, ...] = ()
    tables: tuple[Table, ...] = ()
    pages: tuple[int, ...] = ()
    metadata: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: `document.text[start:end] == content`.

    `context` is embedded and indexed with the content; `keyword_context` is indexed for words only.
    """

    start: int
    end: int
    content: str
    heading: str = ""
    context: str = ""
    keyword_context: str = ""
    page: int | None = None
    metadata: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it is stored.

    `sha256` is that of the source's bytes, `recipe` says how chunks were made of them: where both
    are the same, nothing needs to be done again.
    """

    dataset: str
    uri: str
    title: str
    media_type: str
    sha256: str
    recipe: str
    text: str
    metadata: Json = field(default_factory=dict)


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


@dataclass(frozen=True, slots=True)
class Response:
    """Evidence for a query: files, chunks, and both as text for a reader or a model.

    `context` holds whole passages only, numbered as in `sources`; `timings_ms` is by stage.
    """

    query: str
    hint: str | None
    files: list[FileHit]
    hits: list[ChunkHit]
    context: str
    sources: list[Json]
    degraded: list[str]
    timings_ms: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape."""
        shape = {name: getattr(self, name) for name in self.__slots__}
        files = [file.to_dict() for file in self.files]
        return shape | {"files": files, "hits": [hit.to_dict() for hit in self.hits]}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, where to look, and how.

    `vector` is the query's embedding, `hint_vector` the hint's, both of `space`; None where there
    is no embedder. `k` results, from `depth` candidates per channel.
    """

    text: str
    vector: Sequence[float] | None = None
    hint: str | None = None
    hint_vector: Sequence[float] | None = None
    space: str | None = None
    scope: Scope = field(default_factory=Scope)
    mode: Mode = "hybrid"
    k: int = 10
    depth: int = 100


class SearchOptions(TypedDict, total=False):
    """How and where to search: what `search`, `files` and `query` share.

    `documents` takes ids, uris or the ends of uris; `filter` is described in sql/README.md.
    """

    k: int
    depth: int
    mode: Mode
    datasets: Sequence[str]
    documents: Sequence[int | str]
    uri_prefix: str | None
    filter: Json | None
