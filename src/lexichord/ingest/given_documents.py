"""Documents passed in, cut into chunks or not: one JSON object a line, or dictionaries."""

import hashlib
import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from lexichord.db.search import Vector
from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.chunk.splitter import CHUNK_RECIPE
from lexichord.ingest.load import title
from lexichord.ingest.load.text import MAX_TEXT_BYTES, too_long_error
from lexichord.ingest.sandbox import Sandbox
from lexichord.ingest.sources import (
    GIVEN_RECIPE_PREFIX,
    IngestSource,
    PreparedDocument,
    Spool,
    refused_source,
    storable_name,
)
from lexichord.types import Chunk, Document, EmbeddingSpace
from lexichord.types.base import MAX_NAME_BYTES, explain_invalid

MIN_VECTOR_VALUE = 2.0**-24  # vectors are stored in half precision, where less is 0


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("holds a NUL character, which Postgres cannot store")
    text.encode()  # a lone surrogate raises UnicodeEncodeError, a ValueError
    return text


def _indexable(uri: str) -> str:
    if len(uri.encode()) > MAX_NAME_BYTES:
        raise ValueError(f"is longer than {MAX_NAME_BYTES} bytes")
    return uri


def _comparable(vector: list[float]) -> list[float]:
    if not _has_direction(vector):
        raise ValueError("has no direction: all its numbers are 0, or as good as 0")
    return vector


def _has_direction(vector: Vector) -> bool:
    return max(max(vector, default=0), -min(vector, default=0)) >= MIN_VECTOR_VALUE


PostgresText = Annotated[str, AfterValidator(_storable)]
FiniteNumber = Annotated[float, Field(allow_inf_nan=False)]


class GivenChunk(BaseModel):
    """A chunk; without `start` its content is looked for in the text, after the one before."""

    model_config = ConfigDict(extra="forbid")

    content: Annotated[PostgresText, Field(min_length=1)]
    start: Annotated[int, Field(ge=0)] | None = None
    heading: PostgresText = ""
    page: Annotated[int, Field(ge=-(2**31), lt=2**31)] | None = None  # an integer in Postgres
    context: PostgresText = ""
    metadata: dict[str, Any] = {}
    vector: (
        Annotated[list[FiniteNumber], Field(fail_fast=True), AfterValidator(_comparable)] | None
    ) = None


class GivenDocument(BaseModel):
    """A document; without `text` it is its chunks, one below the other; without chunks it is cut.

    Vectors need `space`, the provider/model/dimension that made them.
    """

    model_config = ConfigDict(extra="forbid")

    uri: Annotated[PostgresText, Field(min_length=1), AfterValidator(_indexable)]
    chunks: Annotated[list[GivenChunk], Field(min_length=1, fail_fast=True)] | None = None
    text: PostgresText | None = None
    title: PostgresText | None = None
    media_type: PostgresText = "text/plain"
    metadata: dict[str, Any] = {}
    space: str | None = None

    @model_validator(mode="after")
    def _holds_something(self) -> Self:
        if self.chunks is None and not (self.text or "").strip():
            raise ValueError("give a text, or chunks")
        if len(self.text or "") > MAX_TEXT_BYTES:
            raise ValueError(str(too_long_error()))
        return self


@dataclass(slots=True)
class GivenSources:
    """Sources of documents that are passed in; `spool` keeps what they hold until it is stored."""

    dataset: str
    context: str
    sandbox: Sandbox
    spool: Spool
    seen: set[str] = field(default_factory=set)

    def json_lines(self, file: Path) -> Iterator[IngestSource]:
        """Yield a JSON-lines file's documents. Raises ConfigError if it cannot be read at all."""
        name = storable_name(file.name)
        try:
            with file.open("rb") as stream:
                for number, line in enumerate(stream, 1):
                    if line.strip():
                        yield self._source(line, f"{name}:{number}")
        except OSError as error:
            raise ConfigError(f"{file} cannot be read: {error.strerror}") from None

    def documents(self, descriptions: Iterable[Mapping[str, Any]]) -> Iterator[IngestSource]:
        """Yield documents in the shape of `GivenDocument`."""
        for number, document in enumerate(descriptions, 1):
            place = f"document {number}"
            bare, vectors = _part_vectors(document)
            try:
                line = json.dumps(bare).encode()
            except (TypeError, ValueError) as error:
                yield refused_source(place, IngestError(str(error)))
            else:
                yield self._source(line, place, vectors)

    def _source(
        self, line: bytes, place: str, vectors: Sequence[array[float]] = ()
    ) -> IngestSource:
        """Read one document. One that is refused is named by its place, not to touch another."""
        digest = hashlib.sha256(line)
        for vector in vectors:
            digest.update(vector)
        sha256 = digest.hexdigest()
        try:
            document = GivenDocument.model_validate_json(line)
        except ValidationError as error:
            return refused_source(place, IngestError(explain_invalid(error)))
        if document.uri in self.seen:
            again = f"{document.uri} was given before: give all its chunks at once"
            return refused_source(place, IngestError(again))
        self.seen.add(document.uri)
        made_by = f"{CHUNK_RECIPE} {self.context}"
        if document.chunks is not None:
            made_by = f"{self.context}{_contexts(document.chunks)}"
        recipe = f"{GIVEN_RECIPE_PREFIX}{made_by}"
        kept = self.spool.keep((document, vectors))
        read = partial(self._prepared, kept, sha256, recipe)
        return IngestSource(document.uri, sha256, recipe, read, size=len(line))

    def _prepared(
        self,
        kept: Callable[[], tuple[GivenDocument, Sequence[Vector]]],
        sha256: str,
        recipe: str,
    ) -> PreparedDocument:
        document, vectors = kept()
        if document.chunks is None:
            return _cut(self.sandbox, document, self.dataset, sha256, recipe)
        return prepare_document(document, self.dataset, sha256, recipe, vectors)


def _part_vectors(document: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[array[float]]]:
    """Part a document from its chunks' vectors: as text they take longer than all the rest.

    They stay where they are unless each chunk has a good one, so that what is wrong is named.
    """
    try:
        chunks = [dict(chunk) for chunk in document["chunks"]]
        vectors = [_numbers(chunk.pop("vector")) for chunk in chunks]
    except (KeyError, OverflowError, TypeError, ValueError):
        return document, []
    return {**document, "chunks": chunks}, vectors


def _numbers(vector: object) -> array[float]:
    """Return a list's numbers. Raises OverflowError, TypeError, ValueError if it is no vector."""
    if not isinstance(vector, list):
        raise TypeError
    numbers = array("d", vector)
    if not isfinite(sum(numbers)) or not _has_direction(numbers):
        raise ValueError
    return numbers


def _contexts(chunks: Sequence[GivenChunk]) -> str:
    """Return a digest of given contexts: a chunk whose context changes is embedded again."""
    contexts = [chunk.context for chunk in chunks]
    return " " + hashlib.sha256("\0".join(contexts).encode()).hexdigest() if any(contexts) else ""


def prepare_document(
    source: GivenDocument,
    dataset: str,
    sha256: str,
    recipe: str,
    vectors: Sequence[Vector] = (),
) -> PreparedDocument:
    """Return a document with its chunks, and their vectors if these stand apart, as it is stored.

    Raises IngestError.
    """
    chunks = source.chunks or []
    text = source.text or "\n\n".join(chunk.content for chunk in chunks)
    document = _document(source, text, dataset, sha256, recipe)
    own = vectors or _own_vectors(chunks)
    _check_dimension(own, source.space)
    return PreparedDocument(document, list(_place(chunks, text)), own, source.space)


def _cut(
    sandbox: Sandbox, source: GivenDocument, dataset: str, sha256: str, recipe: str
) -> PreparedDocument:
    """Return a document of a text alone. Raises IngestError."""
    document = _document(source, source.text or "", dataset, sha256, recipe)
    return PreparedDocument(
        document, sandbox.cut(document.text, document.media_type, document.title)
    )


def _document(source: GivenDocument, text: str, dataset: str, sha256: str, recipe: str) -> Document:
    return Document(
        dataset=dataset,
        uri=source.uri,
        title=source.title or _title(source, text),
        media_type=source.media_type,
        sha256=sha256,
        recipe=recipe,
        text=text,
        metadata=source.metadata,
    )


def _title(source: GivenDocument, text: str) -> str:
    """Return a title for a uri that names a file; one for a bare key would only add noise."""
    named = "/" in source.uri or "." in source.uri
    return title(source.uri, text, source.media_type) if named else ""


def _place(chunks: Iterable[GivenChunk], text: str) -> Iterator[Chunk]:
    """Yield the chunks with their places in the text; refuse what does not stand there."""
    after = 0
    for number, chunk in enumerate(chunks):
        start = text.find(chunk.content, after) if chunk.start is None else chunk.start
        end = start + len(chunk.content)
        if start < 0 or text[start:end] != chunk.content:
            raise IngestError(f"chunks.{number}: its content does not stand in the text there")
        after = start + 1
        yield Chunk(
            start,
            end,
            chunk.content,
            heading=chunk.heading,
            context=chunk.context,
            page=chunk.page,
            metadata=chunk.metadata,
        )


def _own_vectors(chunks: Sequence[GivenChunk]) -> list[list[float]]:
    vectors = [chunk.vector for chunk in chunks if chunk.vector is not None]
    if vectors and len(vectors) < len(chunks):
        raise IngestError("some chunks have a vector and some have none: give all or none")
    return vectors


def _check_dimension(vectors: Sequence[Vector], space: str | None) -> None:
    if not vectors:
        return
    if space is None:
        raise IngestError("vectors need a space: provider/model/dimension")
    try:
        dimension = EmbeddingSpace.parse(space).dimension
    except ConfigError as error:
        raise IngestError(str(error)) from None
    if any(len(vector) != dimension for vector in vectors):
        raise IngestError(f"a vector has not the {dimension} numbers that its space names")
