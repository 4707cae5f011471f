"""Our own format: questions as lines of JSON, beside folders of files or documents.jsonl."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from lexichord.errors import ConfigError
from lexichord.evaluate.datasets.reading import (
    Documents,
    Named,
    files_below,
    json_lines,
    read_file,
    read_files,
)
from lexichord.evaluate.extract import EntityType
from lexichord.types import IntentKind, Json
from lexichord.types.evaluation import EvalQuery, EvalSet, Span

FILE, DOCUMENTS = "questions.jsonl", "documents.jsonl"
LAYOUT = (
    "our own format (a folder with questions.jsonl, or a .jsonl file of questions, beside folders "
    "of files or documents.jsonl)"
)
SHOWN = 60  # characters of a quote, in an error

Place = Annotated[int, Field(ge=0)]


class Given(BaseModel):
    """A misspelt field is an error: what it says would be lost."""

    model_config = ConfigDict(extra="forbid")


class GivenSpan(Given):
    """A stretch of a file by its characters, or by its words."""

    file: Named
    start: Place | None = None
    end: Place | None = None
    quote: Named | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        by_place = self.start is not None and self.end is not None
        if by_place == (self.quote is not None) or (self.start is None) != (self.end is None):
            raise ValueError("a span has either start and end, or a quote")
        return self


class GivenQuestion(Given):
    """A line: a question, and what is known of its answer."""

    id: Named
    query: Named
    hint: Named | None = None
    relevant_files: list[Named] = []
    relevant_spans: list[GivenSpan] = []
    relevant_chunks: list[tuple[Named, Place]] = []
    entities: dict[EntityType, Annotated[list[Named], Field(min_length=1)]] = {}
    critical_types: list[EntityType] = []
    intent: IntentKind | None = None
    answerable: bool = True

    @property
    def files(self) -> tuple[str, ...]:
        """Give the files that answer, named as such or by a place in them."""
        spans = [span.file for span in self.relevant_spans]
        chunks = [file for file, _ in self.relevant_chunks]
        return tuple(dict.fromkeys([*self.relevant_files, *spans, *chunks]))

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if not self.answerable and (self.files or self.entities):
            raise ValueError("what is not answerable has no relevant files, spans or entities")
        if unknown := set(self.critical_types) - self.entities.keys():
            raise ValueError(f"critical_types has {min(unknown)}, which entities lacks")
        return self


class GivenDocument(BaseModel):
    """A line of documents.jsonl; `ingest --chunked` checks the rest of it."""

    model_config = ConfigDict(extra="allow")

    uri: Named
    text: str | None = None
    chunks: list[dict[str, Any]] = []

    @property
    def stored(self) -> str:
        """Give the text as it is stored."""
        return self.text or "\n\n".join(str(chunk.get("content")) for chunk in self.chunks)


@dataclass(frozen=True, slots=True)
class Corpus:
    """A set's documents, and of those that questions name: text and number of own chunks."""

    documents: Iterable[Json]
    texts: Mapping[str, str]
    chunks: Mapping[str, int]


def fits(path: Path) -> bool:
    """Tell whether this is a file of questions, or a folder with one."""
    return path.suffix == ".jsonl" if path.is_file() else (path / FILE).is_file()


def load(path: Path, name: str | None = None) -> EvalSet:
    """Read questions and find their spans and quotes in the texts as they will be stored.

    Uris are paths from the questions' folder; files right beside the questions are no documents.
    `name` is the folder's by default. Raises ConfigError.
    """
    file = path / FILE if path.is_dir() else path
    given: dict[str, tuple[str, GivenQuestion]] = {}
    for place, question in json_lines(file, GivenQuestion):
        if question.id in given:
            raise ConfigError(f"{place}: the id {question.id} was there before")
        given[question.id] = (place, question)
    named = {uri for _, question in given.values() for uri in question.files}
    corpus = _corpus(file.parent, named)
    queries = tuple(_query(question, corpus, place) for place, question in given.values())
    if not queries:
        raise ConfigError(f"{file} holds no question")
    return EvalSet(name or file.resolve().parent.name, corpus.documents, queries)


def _corpus(root: Path, named: Set[str]) -> Corpus:
    if (root / DOCUMENTS).is_file():
        return _given_corpus(root / DOCUMENTS, named)
    folders = sorted(path for path in root.iterdir() if path.is_dir() and path.name[0] != ".")
    files = files_below(root, folders)
    if not files:
        raise ConfigError(f"{root} has neither {DOCUMENTS} nor folders with files to ask about")
    texts = {uri: read_file(uri, files[uri])["text"] for uri in sorted(named & files.keys())}
    return Corpus(read_files(files.items()), texts, {})


def _given_corpus(file: Path, named: Set[str]) -> Corpus:
    texts, chunks = {}, {}
    for _, document in json_lines(file, GivenDocument):
        if document.uri in named:
            texts[document.uri] = document.stored
            chunks[document.uri] = len(document.chunks)
    documents = Documents(
        lambda: (
            document.model_dump(exclude_unset=True)
            for _, document in json_lines(file, GivenDocument)
        )
    )
    return Corpus(documents, texts, chunks)


def _query(given: GivenQuestion, corpus: Corpus, place: str) -> EvalQuery:
    for uri in given.files:
        if uri not in corpus.texts:
            raise ConfigError(f"{place}: there is no document {uri}")
    for uri, number in given.relevant_chunks:
        if number >= corpus.chunks.get(uri, 0):
            raise ConfigError(f"{place}: {uri} does not come with a chunk {number}")
    return EvalQuery(
        id=given.id,
        text=given.query,
        hint=given.hint,
        files=given.files,
        spans=tuple(_span(span, corpus.texts[span.file], place) for span in given.relevant_spans),
        chunks=tuple(given.relevant_chunks),
        entities={str(kind): found for kind, found in given.entities.items()},
        critical=tuple(given.critical_types),
        intent=given.intent,
        answerable=given.answerable,
    )


def _span(given: GivenSpan, text: str, place: str) -> Span:
    if given.quote is None:
        start, end = given.start or 0, given.end or 0
        if not start < end <= len(text):
            where = f"{start} to {end} is no part of {given.file}"
            raise ConfigError(f"{place}: {where}, which has {len(text)} characters")
        return Span(given.file, start, end)
    shown = repr(given.quote if len(given.quote) <= SHOWN else given.quote[: SHOWN - 1] + "…")
    start = text.find(given.quote)
    if start < 0:
        raise ConfigError(f"{place}: {given.file} does not hold the quote {shown}")
    if text.find(given.quote, start + 1) >= 0:
        more = "quote more of it, or give start and end"
        raise ConfigError(f"{place}: {given.file} holds the quote {shown} more than once: {more}")
    return Span(given.file, start, start + len(given.quote))
