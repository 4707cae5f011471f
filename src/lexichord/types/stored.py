"""What is stored, as it is read back. Offsets are in characters."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from lexichord.types.json import Json


@dataclass(frozen=True, slots=True)
class StoredDocument:
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

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape; the time is in ISO 8601."""
        shape = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**shape, "updated_at": self.updated_at.isoformat()}


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk of a document: its text from `start` to `end` is `content`; `ordinal` is from 0."""

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

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A document whole: its text, and the chunks that were made of it, in their order."""

    document: StoredDocument
    text: str
    chunks: list[StoredChunk]

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape: that of the document, with `text` and `chunks`."""
        chunks = [chunk.to_dict() for chunk in self.chunks]
        return {**self.document.to_dict(), "text": self.text, "chunks": chunks}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A chunk with the text around it: the document's from `start` to `end`."""

    chunk_id: int
    document_id: int
    uri: str
    title: str
    heading: str
    start: int
    end: int
    content: str

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON shape."""
        return {name: getattr(self, name) for name in self.__slots__}
