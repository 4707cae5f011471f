"""Sets that others have published, each in the form of files in which it comes.

- BEIR's folders (Thakur et al., 2021, arXiv 2104.08663); of their splits, the test part
- TREC's qrels ("query 0 document grade", as trec_eval reads them), with texts beside them
- Anthropic's contextual-retrieval code set: documents in their chunks, golden chunks a query
- ContractNLI (Koreeda & Manning, 2021, arXiv 2110.01799): the evidence of a hypothesis
- LegalBench-RAG (Pipitone & Houir Alami, 2024, arXiv 2408.10343): spans of a corpus of files
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, Field

from lexichord.errors import ConfigError
from lexichord.evaluate.datasets.reading import (
    LazyDocuments,
    NonBlankText,
    Qrels,
    SetFormat,
    StorableText,
    collect_qrels,
    make_queries,
    map_files,
    read_documents,
    read_json,
    read_json_lines,
    read_lines,
    read_query_texts,
    read_text,
)
from lexichord.ingest.load import title
from lexichord.types import Json
from lexichord.types.evaluation import EvalQuery, EvalSet, EvidenceSpan

BEIR_QRELS_HEADER = ["query-id", "corpus-id", "score"]


class BeirDocument(BaseModel):
    """A line of corpus.jsonl."""

    id: NonBlankText = Field(alias="_id")
    title: StorableText | None = None
    text: StorableText | None = None


def fits_beir(path: Path) -> bool:
    """Return whether this is such a folder; `load_beir` says where the test part is missing."""
    return (path / "corpus.jsonl").is_file() and (path / "qrels").is_dir()


def load_beir(path: Path) -> EvalSet:
    """Read a folder. Raises ConfigError."""
    qrels = path / "qrels" / "test.tsv"
    documents = LazyDocuments(partial(read_corpus, path / "corpus.jsonl"))
    texts = read_query_texts(path / "queries.jsonl")
    judged = make_queries(texts, collect_qrels(_beir_rows(qrels)), documents, qrels)
    return EvalSet(path.resolve().name, documents, judged)


def read_corpus(file: Path) -> Iterator[Json]:
    """Yield the documents of a corpus.jsonl, except those without any text.

    The title stands above the text, as a heading does in a file: BEIR's baselines search both.
    """
    for _, document in read_json_lines(file, BeirDocument):
        parts = [part for part in (document.title, document.text) if part and part.strip()]
        if parts:
            yield {"uri": document.id, "title": document.title or "", "text": "\n\n".join(parts)}


def _beir_rows(file: Path) -> Iterator[tuple[str, str, str, str]]:
    for place, line in read_lines(file):
        match line.split("\t"):
            case [*names] if names == BEIR_QRELS_HEADER:
                continue
            case [query, document, grade]:
                yield place, query, document, grade
            case _:
                raise ConfigError(
                    f"{place}: has to be {', '.join(BEIR_QRELS_HEADER)}, separated by tabs"
                )


BEIR_FORMAT = SetFormat(
    "BEIR (a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv)", fits_beir, load_beir
)


def fits_trec(path: Path) -> bool:
    """Return whether this is a folder with TREC's qrels."""
    return path.is_dir() and bool(_qrels(path))


def load_trec(path: Path) -> EvalSet:
    """Read a folder. In a folder of files, a document's id is its path, its ending may be left out.

    Raises ConfigError.
    """
    match _qrels(path):
        case [file]:
            qrels = collect_qrels(_trec_rows(file))
        case several:
            raise ConfigError(f"{path} has {len(several)} files qrels*: keep one of them")
    documents = LazyDocuments(partial(read_corpus, path / "corpus.jsonl"))
    if (path / "corpus").is_dir():
        files = map_files(path / "corpus", [path / "corpus"])
        documents = read_documents(files.items())
        qrels = _by_uri(qrels, files)
    texts = path / "queries.tsv"
    texts = texts if texts.is_file() else path / "queries.jsonl"
    judged = make_queries(read_query_texts(texts), qrels, documents, file)
    return EvalSet(path.resolve().name, documents, judged)


def _qrels(path: Path) -> list[Path]:
    return sorted(file for file in path.glob("qrels*") if file.is_file())


def _trec_rows(file: Path) -> Iterator[tuple[str, str, str, str]]:
    for place, line in read_lines(file):
        match line.split():
            case [query, _, document, grade]:
                yield place, query, document, grade
            case _:
                raise ConfigError(f"{place}: has to be query, 0, document and grade")


def _by_uri(qrels: Qrels, uris: Iterable[str]) -> Qrels:
    """Name documents by their uris; an ending that was left out has to be clear."""
    full_uris = {uri: uri for uri in uris}
    bare: dict[str, list[str]] = {}
    for uri in full_uris:
        bare.setdefault(PurePosixPath(uri).with_suffix("").as_posix(), []).append(uri)
    unique = {name: full[0] for name, full in bare.items() if len(full) == 1}
    full_uris = unique | full_uris
    return {
        query: {full_uris.get(name, name): grade for name, grade in grades.items()}
        for query, grades in qrels.items()
    }


TREC_FORMAT = SetFormat(
    "TREC (a folder with one file qrels*, queries.tsv or queries.jsonl, and corpus.jsonl or a "
    "folder corpus)",
    fits_trec,
    load_trec,
)


CODEBASE_CHUNKS_FILE, CODEBASE_QUESTIONS_FILE = "codebase_chunks.json", "evaluation_set.jsonl"

type ChunkPlace = tuple[str, int]  # a document's uri, and a chunk's number there


class CodebaseChunk(BaseModel):
    """A chunk; golden chunks are named by its index."""

    original_index: int
    content: StorableText


class CodebaseDocument(BaseModel):
    """A document in its chunks, in order."""

    original_uuid: NonBlankText
    content: StorableText
    chunks: list[CodebaseChunk]


class CodebaseQuestion(BaseModel):
    """A line of the questions."""

    query: NonBlankText
    golden_chunk_uuids: list[tuple[str, int]]


def fits_codebase(path: Path) -> bool:
    """Return whether this is such a folder."""
    return (path / CODEBASE_CHUNKS_FILE).is_file() and (path / CODEBASE_QUESTIONS_FILE).is_file()


def load_codebase(path: Path) -> EvalSet:
    """Read a folder. Raises ConfigError."""
    documents = read_json(path / CODEBASE_CHUNKS_FILE, list[CodebaseDocument])
    places = {
        (document.original_uuid, chunk.original_index): (document.original_uuid, number)
        for document in documents
        for number, chunk in enumerate(document.chunks)
    }
    queries = tuple(
        _codebase_query(number, question, places, place)
        for number, (place, question) in enumerate(
            read_json_lines(path / CODEBASE_QUESTIONS_FILE, CodebaseQuestion), 1
        )
    )
    return EvalSet("codebase", tuple(map(_codebase_document, documents)), queries)


def _codebase_query(
    number: int, question: CodebaseQuestion, places: dict[ChunkPlace, ChunkPlace], place: str
) -> EvalQuery:
    for golden in question.golden_chunk_uuids:
        if golden not in places:
            raise ConfigError(f"{place}: there is no chunk {golden[1]} of {golden[0]}")
    chunks = tuple(dict.fromkeys(places[golden] for golden in question.golden_chunk_uuids))
    files = tuple(dict.fromkeys(uri for uri, _ in chunks))
    return EvalQuery(id=str(number), text=question.query, files=files, chunks=chunks)


def _codebase_document(document: CodebaseDocument) -> Json:
    chunks = [{"content": chunk.content} for chunk in document.chunks]
    return {"uri": document.original_uuid, "text": document.content, "chunks": chunks}


CODEBASE_FORMAT = SetFormat(
    "Anthropic's code set (a folder with codebase_chunks.json and evaluation_set.jsonl)",
    fits_codebase,
    load_codebase,
)


class ContractNliLabel(BaseModel):
    """A hypothesis, which is asked of every document."""

    hypothesis: NonBlankText


class ContractNliAnnotation(BaseModel):
    """The evidence: numbers of the document's spans, none where it says nothing."""

    spans: list[int]


class ContractNliAnnotationSet(BaseModel):
    """One annotator's view of a document, by label."""

    annotations: dict[str, ContractNliAnnotation]


class ContractNliDocument(BaseModel):
    """A contract; `spans` are (start, end) in characters of its text."""

    id: int
    file_name: NonBlankText
    text: StorableText
    spans: list[tuple[int, int]]
    annotation_sets: list[ContractNliAnnotationSet]


class ContractNliFile(BaseModel):
    """One part of the set: train, dev or test."""

    documents: list[ContractNliDocument]
    labels: dict[str, ContractNliLabel]


def fits_contractnli(path: Path) -> bool:
    """Return whether this is a folder with the development part, or a file of any part."""
    if path.is_dir():
        return (path / "dev.json").is_file()
    return path.suffix == ".json" and not (path.resolve().parent.parent / "corpus").is_dir()


def load_contractnli(path: Path) -> EvalSet:
    """Read a part. A question is asked `within` one document: which one is no question.

    Raises ConfigError.
    """
    file = path / "dev.json" if path.is_dir() else path
    part = read_json(file, ContractNliFile)
    queries = tuple(
        _contractnli_query(document, key, label.hypothesis, file)
        for document in part.documents
        for key, label in part.labels.items()
    )
    documents = tuple(map(_contractnli_document, part.documents))
    return EvalSet(f"contractnli-{file.stem}", documents, queries)


def _contractnli_query(
    document: ContractNliDocument, key: str, hypothesis: str, file: Path
) -> EvalQuery:
    place = f"{file}: document {document.id}, {key}"
    try:
        # the set has one annotator a document
        evidence = document.annotation_sets[0].annotations[key].spans
        places = [document.spans[number] for number in evidence]
    except (IndexError, KeyError):
        raise ConfigError(f"{place}: its annotation or a span of it is missing") from None
    if not all(0 <= start < end <= len(document.text) for start, end in places):
        raise ConfigError(f"{place}: a span does not lie in the text")
    uri = _uri(document)
    spans = (EvidenceSpan(uri, start, end) for start, end in places)
    return EvalQuery(
        id=f"{document.id}/{key}",
        text=hypothesis,
        within=(uri,),
        # one span of the set is a single blank, which no chunk holds
        spans=tuple(span for span in spans if document.text[span.start : span.end].strip()),
        answerable=bool(places),
    )


def _contractnli_document(document: ContractNliDocument) -> Json:
    heading = title(document.file_name, document.text, "text/plain")
    return {"uri": _uri(document), "title": heading, "text": document.text}


def _uri(document: ContractNliDocument) -> str:
    return f"{document.id}/{document.file_name}"


CONTRACTNLI_FORMAT = SetFormat(
    "ContractNLI (a folder with dev.json, or a .json file with documents and labels)",
    fits_contractnli,
    load_contractnli,
)


# Some file systems forbid them in names: unpacked there, they are _.
FORBIDDEN_FILE_CHARS = re.compile(r'[<>:"|?*]')


class LegalBenchSnippet(BaseModel):
    """A stretch of a file, `span` in characters, and its text."""

    file_path: NonBlankText
    span: tuple[int, int]
    answer: StorableText


class LegalBenchTest(BaseModel):
    """A question and all that answers it."""

    query: NonBlankText
    snippets: list[LegalBenchSnippet]


class LegalBenchFile(BaseModel):
    """One file of benchmarks/."""

    tests: list[LegalBenchTest]


def fits_legalbench(path: Path) -> bool:
    """Return whether this is such a folder, or one benchmark's file in it."""
    if path.is_dir():
        return (path / "benchmarks").is_dir() and (path / "corpus").is_dir()
    return path.suffix == ".json" and (path.resolve().parent.parent / "corpus").is_dir()


def load_legalbench(path: Path) -> EvalSet:
    """Read a folder, all benchmarks over the whole corpus, or one benchmark over its own part.

    A benchmark's part of the corpus is those folders of it that its answers lie in. The question
    is the whole text of the query, as users' questions come. Raises ConfigError.
    """
    root = path if path.is_dir() else path.resolve().parent.parent
    files = sorted((path / "benchmarks").glob("*.json")) if path.is_dir() else [path]
    corpus = _corpus(root / "corpus")
    queries = tuple(query for file in files for query in _queries(file, corpus))
    if path.is_dir():
        return EvalSet("legalbenchrag", _documents(corpus), queries)
    parts = {_part(uri) for query in queries for uri in query.files}
    own = {uri: file for uri, file in corpus.items() if _part(uri) in parts}
    return EvalSet(f"legalbenchrag-{path.stem}", _documents(own), queries)


def _corpus(folder: Path) -> dict[str, Path]:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name[0] != ".")
    return {file.relative_to(folder).as_posix(): file for file in files}


def _part(uri: str) -> str:
    return uri.partition("/")[0]


def _documents(corpus: Mapping[str, Path]) -> LazyDocuments:
    def read() -> Iterator[Json]:
        for uri, file in corpus.items():
            text = read_text(file)
            yield {"uri": uri, "title": title(uri, text, "text/plain"), "text": text}

    return LazyDocuments(read)


def _queries(file: Path, corpus: Mapping[str, Path]) -> Iterator[EvalQuery]:
    uris = {FORBIDDEN_FILE_CHARS.sub("_", uri): uri for uri in corpus}
    text = lru_cache(maxsize=8)(read_text)  # a document's questions stand together
    for number, test in enumerate(read_json(file, LegalBenchFile).tests, 1):
        place, spans = f"{file}: test {number}", []
        for snippet in test.snippets:
            uri = uris.get(FORBIDDEN_FILE_CHARS.sub("_", snippet.file_path))
            if uri is None:
                raise ConfigError(f"{place}: the corpus has no file {snippet.file_path}")
            span = EvidenceSpan(uri, *snippet.span)
            if text(corpus[uri])[span.start : span.end] != snippet.answer:
                raise ConfigError(f"{place}: its answer does not stand at its span of {uri}")
            spans.append(span)
        files = tuple(dict.fromkeys(span.file for span in spans))
        yield EvalQuery(f"{file.stem}-{number}", test.query, files=files, spans=tuple(spans))


LEGALBENCH_FORMAT = SetFormat(
    "LegalBench-RAG (a folder with benchmarks/*.json and corpus/, or one of benchmarks/*.json)",
    fits_legalbench,
    load_legalbench,
)
