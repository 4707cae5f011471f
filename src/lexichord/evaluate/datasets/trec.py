"""TREC's qrels ("query 0 document grade", as trec_eval reads them), with texts beside them."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath

from lexichord.errors import ConfigError
from lexichord.evaluate.datasets import beir
from lexichord.evaluate.datasets.reading import (
    Documents,
    Judgments,
    collect,
    files_below,
    lines,
    queries,
    query_texts,
    read_files,
)
from lexichord.types.evaluation import EvalSet

LAYOUT = (
    "TREC (a folder with one file qrels*, queries.tsv or queries.jsonl, and corpus.jsonl or a "
    "folder corpus)"
)


def fits(path: Path) -> bool:
    """Tell whether this is a folder with TREC's qrels."""
    return path.is_dir() and bool(_qrels(path))


def load(path: Path) -> EvalSet:
    """Read a folder. In a folder of files, a document's id is its path, its ending may be left out.

    Raises ConfigError.
    """
    match _qrels(path):
        case [file]:
            judgments = collect(_rows(file))
        case several:
            raise ConfigError(f"{path} has {len(several)} files qrels*: keep one of them")
    documents = Documents(partial(beir.corpus, path / "corpus.jsonl"))
    if (path / "corpus").is_dir():
        files = files_below(path / "corpus", [path / "corpus"])
        documents = read_files(files.items())
        judgments = _by_uri(judgments, files)
    texts = path / "queries.tsv"
    texts = texts if texts.is_file() else path / "queries.jsonl"
    judged = queries(query_texts(texts), judgments, documents, file)
    return EvalSet(path.resolve().name, documents, judged)


def _qrels(path: Path) -> list[Path]:
    return sorted(file for file in path.glob("qrels*") if file.is_file())


def _rows(file: Path) -> Iterator[tuple[str, str, str, str]]:
    for place, line in lines(file):
        match line.split():
            case [query, _, document, grade]:
                yield place, query, document, grade
            case _:
                raise ConfigError(f"{place}: has to be query, 0, document and grade")


def _by_uri(judgments: Judgments, uris: Iterable[str]) -> Judgments:
    """Name documents by their uris; an ending that was left out has to be clear."""
    known = {uri: uri for uri in uris}
    bare: dict[str, list[str]] = {}
    for uri in known:
        bare.setdefault(PurePosixPath(uri).with_suffix("").as_posix(), []).append(uri)
    known = {name: found[0] for name, found in bare.items() if len(found) == 1} | known
    return {
        query: {known.get(name, name): grade for name, grade in grades.items()}
        for query, grades in judgments.items()
    }
