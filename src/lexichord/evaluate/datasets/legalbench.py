"""LegalBench-RAG (Pipitone & Houir Alami, 2024, arXiv 2408.10343): spans of a corpus of files."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel

from lexichord.errors import ConfigError
from lexichord.evaluate.datasets.reading import (
    LazyDocuments,
    NonBlankText,
    SetFormat,
    StorableText,
    read_json,
    read_text,
)
from lexichord.ingest.load import title
from lexichord.types import Json
from lexichord.types.evaluation import EvalQuery, EvalSet, EvidenceSpan

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


def fits(path: Path) -> bool:
    """Return whether this is such a folder, or one benchmark's file in it."""
    if path.is_dir():
        return (path / "benchmarks").is_dir() and (path / "corpus").is_dir()
    return path.suffix == ".json" and (path.resolve().parent.parent / "corpus").is_dir()


def load(path: Path) -> EvalSet:
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
    fits,
    load,
)
