"""TREC's qrels ("query 0 document grade", as trec_eval reads them), with texts beside them."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath

from lexichord.errors import ConfigError
from lexichord.evaluate.datasets import beir
from lexichord.evaluate.datasets.reading import (
    LazyDocuments,
    Qrels,
    SetFormat,
    collect_qrels,
    make_queries,
    map_files,
    read_documents,
    read_lines,
    read_query_texts,
)
from lexichord.types.evaluation import EvalSet


def fits(path: Path) -> bool:
    """Return whether this is a folder with TREC's qrels."""
    return path.is_dir() and bool(_qrels(path))


def load(path: Path) -> EvalSet:
    """Read a folder. In a folder of files, a document's id is its path, its ending may be left out.

    Raises ConfigError.
    """
    match _qrels(path):
        case [file]:
            qrels = collect_qrels(_rows(file))
        case several:
            raise ConfigError(f"{path} has {len(several)} files qrels*: keep one of them")
    documents = LazyDocuments(partial(beir.read_corpus, path / "corpus.jsonl"))
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


def _rows(file: Path) -> Iterator[tuple[str, str, str, str]]:
    for place, line in read_lines(file):
        match line.split():
            case [query, _, document, grade]:
                yield place, query, document, grade
            case _:
                raise ConfigError(f"{place}: has to be query, 0, document and grade")


def _by_uri(qrels: Qrels, uris: Iterable[str]) -> Qrels:
    """Name documents by their uris; an ending that was left out has to be clear."""
    known = {uri: uri for uri in uris}
    bare: dict[str, list[str]] = {}
    for uri in known:
        bare.setdefault(PurePosixPath(uri).with_suffix("").as_posix(), []).append(uri)
    known = {name: full[0] for name, full in bare.items() if len(full) == 1} | known
    return {
        query: {known.get(name, name): grade for name, grade in grades.items()}
        for query, grades in qrels.items()
    }


TREC_FORMAT = SetFormat(
    "TREC (a folder with one file qrels*, queries.tsv or queries.jsonl, and corpus.jsonl or a "
    "folder corpus)",
    fits,
    load,
)
