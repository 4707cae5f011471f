"""What is stored: documents, their chunks, and how they come to be."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from lexichord.errors import ConfigError
from lexichord.types.base import Json, Shaped, Shown, counted, frame_of

if TYPE_CHECKING:
    import pandas

CONTEXT_BY = "context_by"  # the key in a chunk's metadata: the model that wrote part of its context


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """Which model made a vector. Vectors of different spaces cannot be compared."""

    provider: str
    model: str
    dimension: int

    def __str__(self) -> str:
        """Return the form that the database and the SQL functions use: provider/model/dimension."""
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
class Heading:
    """A heading at `start`; what follows is under it, up to the next of the same or a lower level.

    `level` counts from 1, the outermost. The text from `start` to `end` is the heading itself. What
    is under one that is `apart`, as a slide is, shares no chunk with what is before or after it.
    """

    start: int
    end: int
    level: int
    name: str
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table in a text, a line a row, or other lines that belong apart.

    `header_end` is `start` where no row is a header. `first_row` is the number that the row after
    the header has in the file, where rows have numbers.
    """

    start: int
    end: int
    header_end: int
    first_row: int | None = None


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
    are the same, nothing needs to be done again. `text_config` is Postgres' text configuration of
    its language, None for the database's.
    """

    dataset: str
    uri: str
    title: str
    media_type: str
    sha256: str
    recipe: str
    text: str
    metadata: Json = field(default_factory=dict)
    text_config: str | None = None


@dataclass(frozen=True, slots=True)
class StoredDataset(Shaped):
    """A dataset, and how many documents and chunks it holds."""

    dataset: str
    documents: int
    chunks: int


@dataclass(frozen=True, slots=True)
class StoredDocument(Shaped):
    """A document in a list; `characters` is the length of its text, `chunks` their number."""

    document_id: str
    dataset: str
    uri: str
    title: str
    media_type: str
    characters: int
    chunks: int
    metadata: Json
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class PageSize(Shaped):
    """A page of a PDF, counted from 1, with its width and height in points, 72 an inch."""

    page: int
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PageBox(Shaped):
    """A line's part on a page of a PDF, as shares of its width and height from the upper left.

    Pages count from 1.
    """

    page: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Original:
    """The bytes that a document was read from, under its file's name."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Facet(Shaped):
    """A value of a metadata key, and how many documents have it."""

    value: Any
    documents: int


class Documents(list[StoredDocument], Shown):
    """A list of documents, which notebooks show as a table."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape, `documents`."""
        return {"documents": [document.to_dict() for document in self]}

    def to_frame(self) -> "pandas.DataFrame":
        """Return a frame of pandas', a row each. Raises ConfigError without pandas."""
        return frame_of(StoredDocument, self)

    def __repr__(self) -> str:
        """Return a line a document."""
        return "\n".join(map(str, self)) or "no documents"


@dataclass(frozen=True, slots=True)
class StoredChunk(Shaped):
    """A chunk of a document: its text from `start` to `end` is `content`; `ordinal` is from 0.

    `context` is embedded and indexed with it, `keyword_context` is indexed for words only.
    """

    chunk_id: str
    ordinal: int
    heading: str
    start: int
    end: int
    page: int | None
    content: str
    context: str
    keyword_context: str
    metadata: Json
    has_vector: bool


@dataclass(frozen=True, slots=True, repr=False)
class ShownDocument(Shown):
    """A document whole: its text, and the chunks that were made of it, in their order."""

    document: StoredDocument
    text: str
    chunks: list[StoredChunk]

    def __repr__(self) -> str:
        return f"<ShownDocument {self.document}: {counted(len(self.chunks), 'chunk')}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON shape: that of the document, with `text` and `chunks`."""
        chunks = [chunk.to_dict() for chunk in self.chunks]
        return {**self.document.to_dict(), "text": self.text, "chunks": chunks}


@dataclass(frozen=True, slots=True)
class Excerpt(Shown):
    """A chunk with the text around it: the document's from `start` to `end`."""

    chunk_id: str
    document_id: str
    uri: str
    title: str
    heading: str
    start: int
    end: int
    content: str
