"""Documents that are given, cut into chunks or not: one JSON object a line, or dictionaries."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
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

from lexichord.errors import ConfigError, IngestError
from lexichord.ingest.chunk import RECIPE
from lexichord.ingest.load import title
from lexichord.ingest.load.text import LIMIT, too_long
from lexichord.ingest.reader import Reader
from lexichord.ingest.sources import CHUNKED, Prepared, Source, refused, storable
from lexichord.types import Chunk, Document, EmbeddingSpace

LONGEST_URI = 2000  # bytes; an index takes 2,700
SMALLEST = 2.0**-24  # vectors are stored in half precision, where less is 0


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("holds a NUL character, which Postgres cannot store")
    text.encode()  # a lone surrogate raises UnicodeEncodeError, a ValueError
    return text


def _indexable(uri: str) -> str:
    if len(uri.encode()) > LONGEST_URI:
        raise ValueError(f"is longer than {LONGEST_URI} bytes")
    return uri


def _comparable(vector: list[float]) -> list[float]:
    if max(map(abs, vector), default=0) < SMALLEST:
        raise ValueError("has no direction: all its numbers are 0, or as good as 0")
    return vector


Text = Annotated[str, AfterValidator(_storable)]
Number = Annotated[float, Field(allow_inf_nan=False)]


class GivenChunk(BaseModel):
    """A chunk; without `start` its content is looked for in the text, after the one before."""

    model_config = ConfigDict(extra="forbid")

    content: Annotated[Text, Field(min_length=1)]
    start: Annotated[int, Field(ge=0)] | None = None
    heading: Text = ""
    page: Annotated[int, Field(ge=-(2**31), lt=2**31)] | None = None  # an integer in Postgres
    context: Text = ""
    metadata: dict[str, Any] = {}
    vector: Annotated[list[Number], AfterValidator(_comparable)] | None = None


class GivenDocument(BaseModel):
    """A document; without `text` it is its chunks, one below the other; without chunks it is cut.

    Vectors need `space`, the provider/model/dimension that made them.
    """

    model_config = ConfigDict(extra="forbid")

    uri: Annotated[Text, Field(min_length=1), AfterValidator(_indexable)]
    chunks: Annotated[list[GivenChunk], Field(min_length=1)] | None = None
    text: Text | None = None
    title: Text | None = None
    media_type: Text = "text/plain"
    metadata: dict[str, Any] = {}
    space: str | None = None

    @model_validator(mode="after")
    def _holds_something(self) -> Self:
        if self.chunks is None and not (self.text or "").strip():
            raise ValueError("give a text, or chunks")
        if len(self.text or "") > LIMIT:
            raise ValueError(str(too_long()))
        return self


def lines(file: Path, dataset: str, context: str, reader: Reader) -> Iterator[Source]:
    """Give the documents of a JSON-lines file. Raises ConfigError if it cannot be read at all."""
    seen = set[str]()
    name = storable(file.name)
    try:
        with file.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield _source(line, f"{name}:{number}", seen, dataset, context, reader)
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from None


def documents(
    given: Iterable[Mapping[str, Any]], dataset: str, context: str, reader: Reader
) -> Iterator[Source]:
    """Give documents in the shape of `GivenDocument`."""
    seen = set[str]()
    for number, document in enumerate(given, 1):
        place = f"document {number}"
        try:
            line = json.dumps(document).encode()
        except (TypeError, ValueError) as error:
            yield refused(place, IngestError(str(error)))
        else:
            yield _source(line, place, seen, dataset, context, reader)


def _source(
    line: bytes, place: str, seen: set[str], dataset: str, context: str, reader: Reader
) -> Source:
    """Read one document. Those that are refused are named by their place, not to touch another."""
    sha256 = hashlib.sha256(line).hexdigest()
    try:
        given = GivenDocument.model_validate_json(line)
    except ValidationError as error:
        return refused(place, IngestError(explain(error)))
    if given.uri in seen:
        again = f"{given.uri} was given before: give all its chunks at once"
        return refused(place, IngestError(again))
    seen.add(given.uri)
    if given.chunks is None:
        recipe = f"{CHUNKED}{RECIPE} {context}"
        read = partial(_cut, reader, given, dataset, sha256, recipe)
        return Source(given.uri, sha256, recipe, read)
    recipe = f"{CHUNKED}{context}{_contexts(given.chunks)}"
    return Source(given.uri, sha256, recipe, partial(prepare, given, dataset, sha256, recipe))


def _contexts(chunks: Sequence[GivenChunk]) -> str:
    """Tell contexts from others: a chunk whose given context changes is to be embedded again."""
    contexts = [chunk.context for chunk in chunks]
    return " " + hashlib.sha256("\0".join(contexts).encode()).hexdigest() if any(contexts) else ""


def explain(error: ValidationError) -> str:
    """Say in one line what is wrong first."""
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]


def prepare(given: GivenDocument, dataset: str, sha256: str, recipe: str) -> Prepared:
    """Give a document with its chunks as it is stored. Raises IngestError."""
    chunks = given.chunks or []
    text = given.text or "\n\n".join(chunk.content for chunk in chunks)
    document = _document(given, text, dataset, sha256, recipe)
    return Prepared(document, list(_place(chunks, text)), _vectors(given), given.space)


def _cut(reader: Reader, given: GivenDocument, dataset: str, sha256: str, recipe: str) -> Prepared:
    """Give a document of a text alone. Raises IngestError."""
    document = _document(given, given.text or "", dataset, sha256, recipe)
    return Prepared(document, reader.cut(document.text, document.media_type, document.title))


def _document(given: GivenDocument, text: str, dataset: str, sha256: str, recipe: str) -> Document:
    return Document(
        dataset=dataset,
        uri=given.uri,
        title=given.title or _title(given, text),
        media_type=given.media_type,
        sha256=sha256,
        recipe=recipe,
        text=text,
        metadata=given.metadata,
    )


def _title(given: GivenDocument, text: str) -> str:
    """Give a title to a uri that names a file; a bare key would only add noise."""
    named = "/" in given.uri or "." in given.uri
    return title(given.uri, text, given.media_type) if named else ""


def _place(chunks: Iterable[GivenChunk], text: str) -> Iterator[Chunk]:
    """Give each chunk its place in the text; what does not stand there is refused."""
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


def _vectors(given: GivenDocument) -> list[list[float]]:
    chunks = given.chunks or []
    vectors = [chunk.vector for chunk in chunks if chunk.vector is not None]
    if not vectors:
        return []
    if len(vectors) < len(chunks):
        raise IngestError("some chunks have a vector and some have none: give all or none")
    if given.space is None:
        raise IngestError("vectors need a space: provider/model/dimension")
    try:
        dimension = EmbeddingSpace.parse(given.space).dimension
    except ConfigError as error:
        raise IngestError(str(error)) from None
    if any(len(vector) != dimension for vector in vectors):
        raise IngestError(f"a vector has not the {dimension} numbers that its space names")
    return vectors
