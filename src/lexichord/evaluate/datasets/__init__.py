"""Evaluation sets: our own format and those of others; the format is recognised by what is there.

Entity cases, too, as a post on context-aware retrieval over ContractNLI lists them for its answers:
a JSON list; each case has a `query`, its answer's `clause` verbatim, the `source_file` that holds
it, `entities` by type and `critical_types` among them. A file is named by its uri or the end of it.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from lexichord.db.schema import folder
from lexichord.errors import ConfigError
from lexichord.evaluate.datasets.public import (
    BEIR_FORMAT,
    CODEBASE_FORMAT,
    CONTRACTNLI_FORMAT,
    LEGALBENCH_FORMAT,
    TREC_FORMAT,
)
from lexichord.evaluate.datasets.reading import (
    LazyDocuments,
    NonBlankText,
    SetFormat,
    map_files,
    read_document,
    read_documents,
    read_json,
    read_json_lines,
)
from lexichord.evaluate.entities import EntityType
from lexichord.types import IntentKind, Json
from lexichord.types.evaluation import (
    EvalQuery,
    EvalSet,
    EvidenceSpan,
    ExpectedAnswer,
    ExpectedCell,
)

QUESTIONS_FILE, DOCUMENTS_FILE = "questions.jsonl", "documents.jsonl"
MAX_QUOTE_CHARS = 60  # of a quote, in an error

type Entities = dict[EntityType, Annotated[list[NonBlankText], Field(min_length=1)]]
NonNegativeInt = Annotated[int, Field(ge=0)]


class StrictRecord(BaseModel):
    """A record in which an unknown field is an error: what it holds would be lost."""

    model_config = ConfigDict(extra="forbid")


class NativeSpan(StrictRecord):
    """A span of a file by its characters, or by its words."""

    file: NonBlankText
    start: NonNegativeInt | None = None
    end: NonNegativeInt | None = None
    quote: NonBlankText | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        by_place = self.start is not None and self.end is not None
        if by_place == (self.quote is not None) or (self.start is None) != (self.end is None):
            raise ValueError("a span has either start and end, or a quote")
        return self


class NativeCell(StrictRecord):
    """What a comparison's table says of one aspect of one file; null: nothing."""

    file: NonBlankText
    aspect: NonBlankText
    value: NonBlankText | None


class NativeQuestion(StrictRecord):
    """A line: a question, and what is known of its answer."""

    id: NonBlankText
    query: NonBlankText
    hint: NonBlankText | None = None
    relevant_files: list[NonBlankText] = []
    relevant_spans: list[NativeSpan] = []
    relevant_chunks: list[tuple[NonBlankText, NonNegativeInt]] = []
    entities: Entities = {}
    critical_types: list[EntityType] = []
    intent: IntentKind | None = None
    answerable: bool = True
    kind: str = ""
    type: str = ""
    first: list[NonBlankText] = []
    columns: list[NonBlankText] = []
    cells: list[NativeCell] = []

    @property
    def files(self) -> tuple[str, ...]:
        """The uris of the files that answer, named as such or by a place in them."""
        spans = [span.file for span in self.relevant_spans]
        chunks = [file for file, _ in self.relevant_chunks]
        cells = [cell.file for cell in self.cells]
        return tuple(dict.fromkeys([*self.relevant_files, *spans, *chunks, *cells]))

    @property
    def is_described(self) -> bool:
        """Whether it says what sort of question it is, or what a right answer says."""
        return bool(self.kind or self.type or self.first or self.cells)

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if not self.answerable and (self.files or self.entities or self.first):
            raise ValueError("what is not answerable has no relevant files, spans or entities")
        if odd := {cell.aspect for cell in self.cells} ^ set(self.columns):
            raise ValueError(f"columns and the aspects of cells differ in {min(odd)!r}")
        check_critical_types(self.critical_types, self.entities)
        return self


def check_critical_types(critical: Iterable[EntityType], entities: Entities) -> None:
    """Raise ValueError for a critical type that no entity has."""
    if unknown := set(critical) - entities.keys():
        raise ValueError(f"critical_types has {min(unknown)}, which entities lacks")


class NativeDocument(BaseModel):
    """A line of documents.jsonl; `ingest --chunked` checks the rest of it."""

    model_config = ConfigDict(extra="allow")

    uri: NonBlankText
    text: str | None = None
    chunks: list[dict[str, Any]] = []

    @property
    def stored(self) -> str:
        """The text as it is stored."""
        return self.text or "\n\n".join(str(chunk.get("content")) for chunk in self.chunks)


@dataclass(frozen=True, slots=True)
class NativeCorpus:
    """A set's documents, and of those that questions name: text and number of own chunks."""

    documents: Iterable[Json]
    texts: Mapping[str, str]
    chunks: Mapping[str, int]


def fits(path: Path) -> bool:
    """Return whether this is a file of questions, or a folder with one."""
    return path.suffix == ".jsonl" if path.is_file() else (path / QUESTIONS_FILE).is_file()


def load(path: Path, name: str | None = None) -> EvalSet:
    """Read questions and find their spans and quotes in the texts as they will be stored.

    Uris are paths from the questions' folder; files right beside the questions are no documents.
    `name` is the folder's by default. Raises ConfigError.
    """
    file = path / QUESTIONS_FILE if path.is_dir() else path
    questions: dict[str, tuple[str, NativeQuestion]] = {}
    for place, question in read_json_lines(file, NativeQuestion):
        if question.id in questions:
            raise ConfigError(f"{place}: the id {question.id} was there before")
        questions[question.id] = (place, question)
    named = {uri for _, question in questions.values() for uri in question.files}
    corpus = read_corpus(file.parent, named.__contains__)
    queries = tuple(_query(question, corpus, place) for place, question in questions.values())
    if not queries:
        raise ConfigError(f"{file} holds no question")
    return EvalSet(name or file.resolve().parent.name, corpus.documents, queries)


def read_corpus(root: Path, is_named: Callable[[str], bool]) -> NativeCorpus:
    """Return the documents of a folder, with the texts of those of which the uri is named.

    Raises ConfigError.
    """
    if (root / DOCUMENTS_FILE).is_file():
        return _read_documents_file(root / DOCUMENTS_FILE, is_named)
    folders = sorted(path for path in root.iterdir() if path.is_dir() and path.name[0] != ".")
    files = map_files(root, folders)
    if not files:
        raise ConfigError(
            f"{root} has neither {DOCUMENTS_FILE} nor folders with files to ask about"
        )
    texts = {uri: read_document(uri, files[uri])["text"] for uri in filter(is_named, files)}
    return NativeCorpus(read_documents(files.items()), texts, {})


def _read_documents_file(file: Path, is_named: Callable[[str], bool]) -> NativeCorpus:
    texts, chunks = {}, {}
    for _, document in read_json_lines(file, NativeDocument):
        if is_named(document.uri):
            texts[document.uri] = document.stored
            chunks[document.uri] = len(document.chunks)
    documents = LazyDocuments(
        lambda: (
            document.model_dump(exclude_unset=True)
            for _, document in read_json_lines(file, NativeDocument)
        )
    )
    return NativeCorpus(documents, texts, chunks)


def _query(question: NativeQuestion, corpus: NativeCorpus, place: str) -> EvalQuery:
    for uri in question.files:
        if uri not in corpus.texts:
            raise ConfigError(f"{place}: there is no document {uri}")
    for uri, number in question.relevant_chunks:
        if number >= corpus.chunks.get(uri, 0):
            raise ConfigError(f"{place}: {uri} does not come with a chunk {number}")
    spans = tuple(_span(span, corpus.texts[span.file], place) for span in question.relevant_spans)
    return EvalQuery(
        id=question.id,
        text=question.query,
        hint=question.hint,
        files=question.files,
        spans=spans,
        chunks=tuple(question.relevant_chunks),
        entities={str(kind): variants for kind, variants in question.entities.items()},
        critical=tuple(question.critical_types),
        intent=question.intent,
        answerable=question.answerable,
        expected=_expected(question, spans, corpus) if question.is_described else None,
    )


def _expected(
    question: NativeQuestion, spans: Iterable[EvidenceSpan], corpus: NativeCorpus
) -> ExpectedAnswer:
    quotes = tuple(corpus.texts[span.file][span.start : span.end] for span in spans)
    cells = tuple(ExpectedCell(cell.file, cell.aspect, cell.value) for cell in question.cells)
    return ExpectedAnswer(question.kind, question.type, tuple(question.first), quotes, cells)


def cut_quote(quote: str) -> str:
    """Return a quote as an error shows it."""
    return quote if len(quote) <= MAX_QUOTE_CHARS else quote[: MAX_QUOTE_CHARS - 1] + "…"


def _span(span: NativeSpan, text: str, place: str) -> EvidenceSpan:
    if span.quote is None:
        start, end = span.start or 0, span.end or 0
        if not start < end <= len(text):
            where = f"{start} to {end} is no part of {span.file}"
            raise ConfigError(f"{place}: {where}, which has {len(text)} characters")
        return EvidenceSpan(span.file, start, end)
    quote = span.quote
    excerpt = cut_quote(quote)
    start = text.find(quote)
    if start < 0:
        raise ConfigError(f"{place}: {span.file} does not hold the quote {excerpt!r}")
    if text.find(quote, start + 1) >= 0:
        more = "quote more of it, or give start and end"
        raise ConfigError(
            f"{place}: {span.file} holds the quote {excerpt!r} more than once: {more}"
        )
    return EvidenceSpan(span.file, start, start + len(quote))


NATIVE_FORMAT = SetFormat(
    "our own format (a folder with questions.jsonl, or a .jsonl file of questions, beside folders "
    "of files or documents.jsonl)",
    fits,
    load,
)


CASES_FILE = "cases.json"


class EntityCase(StrictRecord):
    """A question, the clause that answers it, and what an answer should name."""

    id: NonBlankText | None = None
    query: NonBlankText
    clause: NonBlankText | None = None
    source_file: NonBlankText | None = None
    entities: Entities = Field(min_length=1)
    critical_types: list[EntityType] = Field(default=[])

    @model_validator(mode="after")
    def _agrees(self) -> "EntityCase":
        if self.clause is not None and self.source_file is None:
            raise ValueError("a clause needs the source_file that holds it")
        check_critical_types(self.critical_types, self.entities)
        return self


def fits_cases(path: Path) -> bool:
    """Return whether this is a file of cases, or a folder with one."""
    if path.is_dir():
        return (path / CASES_FILE).is_file()
    return path.suffix == ".json" and path.stem.endswith("cases")


def load_cases(path: Path) -> EvalSet:
    """Read cases, whose documents lie beside them as those of our own format do.

    A clause is found in its document whatever its line ends and blanks. Raises ConfigError.
    """
    file = path / CASES_FILE if path.is_dir() else path
    cases = read_json(file, list[EntityCase])
    if not cases:
        raise ConfigError(f"{file} holds no case")
    names = {case.source_file for case in cases if case.source_file is not None}
    corpus = read_corpus(file.parent, lambda uri: any(_is_named(uri, name) for name in names))
    queries = tuple(
        _case_query(case, case.id or f"test_{number:03}", corpus, file)
        for number, case in enumerate(cases, 1)
    )
    _check_ids(queries, file)
    return EvalSet(file.resolve().parent.name, corpus.documents, queries)


def _is_named(uri: str, name: str) -> bool:
    return uri == name or uri.endswith(f"/{name}")


def _check_ids(queries: Iterable[EvalQuery], file: Path) -> None:
    seen = set[str]()
    for query in queries:
        if query.id in seen:
            raise ConfigError(f"{file}: the id {query.id} is there twice")
        seen.add(query.id)


def _case_query(case: EntityCase, name: str, corpus: NativeCorpus, file: Path) -> EvalQuery:
    place = f"{file}: {name}"
    uri = None if case.source_file is None else _uri(case.source_file, corpus, place)
    spans = (
        () if uri is None or case.clause is None else (_case_span(uri, case.clause, corpus, place),)
    )
    return EvalQuery(
        id=name,
        text=case.query,
        files=() if uri is None else (uri,),
        spans=spans,
        entities={str(kind): variants for kind, variants in case.entities.items()},
        critical=tuple(case.critical_types),
    )


def _uri(name: str, corpus: NativeCorpus, place: str) -> str:
    uris = [name] if name in corpus.texts else [u for u in corpus.texts if _is_named(u, name)]
    if len(uris) != 1:
        found = f"several are: {', '.join(sorted(uris)[:3])}" if uris else "none is"
        raise ConfigError(f"{place}: one document should be {name}, {found}")
    return uris[0]


def _case_span(uri: str, clause: str, corpus: NativeCorpus, place: str) -> EvidenceSpan:
    words = r"\s+".join(map(re.escape, clause.split()))
    match = re.search(words, corpus.texts[uri])
    if match is None:
        raise ConfigError(f"{place}: {uri} does not hold the clause {cut_quote(clause)!r}")
    return EvidenceSpan(uri, match.start(), match.end())


CASES_FORMAT = SetFormat(
    f"entity cases (a folder with {CASES_FILE}, or a file ...cases.json, beside folders of files "
    "or documents.jsonl)",
    fits_cases,
    load_cases,
)


SAMPLE_SET = "sample"  # the one set that comes with the program

SET_FORMATS = (
    CODEBASE_FORMAT,
    CASES_FORMAT,
    BEIR_FORMAT,
    TREC_FORMAT,
    LEGALBENCH_FORMAT,
    CONTRACTNLI_FORMAT,
    NATIVE_FORMAT,
)


def load_set(path_or_name: str | Path) -> EvalSet:
    """Read a set: the sample by its name, else a file or folder.

    Its documents are read from their files on each iteration, one by one. Raises ConfigError, in
    one line that names the file and line at fault.
    """
    if path_or_name == SAMPLE_SET:
        return load(folder("samples") / QUESTIONS_FILE, SAMPLE_SET)
    path = Path(path_or_name)
    if not path.exists():
        raise ConfigError(
            f"there is no file or folder {path}, and '{SAMPLE_SET}' is the only set with a name"
        )
    for set_format in SET_FORMATS:
        if set_format.fits(path):
            return set_format.load(path)
    layouts = "; ".join(set_format.layout for set_format in SET_FORMATS)
    raise ConfigError(f"{path} is not a set of questions: what can be read is {layouts}")
