"""What is stored, as it is read back. Offsets are in characters."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lexichord.types.json import Json, Shaped
from lexichord.types.text import TITLE, one_line, visible


@dataclass(frozen=True, slots=True)
class StoredDataset(Shaped):
    """A dataset, and how many documents and chunks it holds."""

    dataset: str
    documents: int
    chunks: int


@dataclass(frozen=True, slots=True)
class StoredDocument(Shaped):
    """A document in a list; `characters` is the length of its text, `chunks` their number."""

    document_id: int
    dataset: str
    uri: str
    title: str
    media_type: str
    characters: int
    chunks: int
    metadata: Json
    updated_at: datetime

    def __str__(self) -> str:
        """Give its id, dataset, title and uri, on one line."""
        named = one_line(self.title or self.uri, TITLE)
        return f"{self.document_id}  {self.dataset}  {named}  {visible(self.uri)}"


class Documents(list[StoredDocument]):
    """A list of documents, which notebooks show as a table."""

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape, `documents`."""
        return {"documents": [document.to_dict() for document in self]}

    def __repr__(self) -> str:
        """Give a line a document."""
        return "\n".join(map(str, self)) or "no documents"

    def _repr_html_(self) -> str:
        from lexichord.types import notebook

        return notebook.documents(self)


@dataclass(frozen=True, slots=True)
class StoredChunk(Shaped):
    """A chunk of a document: its text from `start` to `end` is `content`; `ordinal` is from 0.

    `context` is embedded and indexed with it, `keyword_context` is indexed for words only.
    """

    chunk_id: int
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
class ShownDocument(Shaped):
    """A document whole: its text, and the chunks that were made of it, in their order."""

    document: StoredDocument
    text: str
    chunks: list[StoredChunk]

    def __repr__(self) -> str:
        return f"<ShownDocument {self.document}: {len(self.chunks)} chunks>"

    def __str__(self) -> str:
        """Give its text."""
        return self.text

    def _repr_html_(self) -> str:
        from lexichord.types import notebook

        return notebook.document(self)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape: that of the document, with `text` and `chunks`."""
        chunks = [chunk.to_dict() for chunk in self.chunks]
        return {**self.document.to_dict(), "text": self.text, "chunks": chunks}


@dataclass(frozen=True, slots=True)
class Excerpt(Shaped):
    """A chunk with the text around it: the document's from `start` to `end`."""

    chunk_id: int
    document_id: int
    uri: str
    title: str
    heading: str
    start: int
    end: int
    content: str

    def __str__(self) -> str:
        """Give the text."""
        return self.content

    def _repr_html_(self) -> str:
        from lexichord.types import notebook

        return notebook.excerpt(self)
