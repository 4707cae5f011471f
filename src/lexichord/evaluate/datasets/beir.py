"""BEIR's folders (Thakur et al., 2021, arXiv 2104.08663); of their splits, the test part."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pydantic import BaseModel, Field

from lexichord.errors import ConfigError
from lexichord.evaluate.datasets.reading import (
    LazyDocuments,
    NonBlankText,
    SetFormat,
    StorableText,
    collect_qrels,
    make_queries,
    read_json_lines,
    read_lines,
    read_query_texts,
)
from lexichord.types import Json
from lexichord.types.evaluation import EvalSet

BEIR_QRELS_HEADER = ["query-id", "corpus-id", "score"]


class BeirDocument(BaseModel):
    """A line of corpus.jsonl."""

    id: NonBlankText = Field(alias="_id")
    title: StorableText | None = None
    text: StorableText | None = None


def fits(path: Path) -> bool:
    """Return whether this is such a folder; `load` says where the test part is missing."""
    return (path / "corpus.jsonl").is_file() and (path / "qrels").is_dir()


def load(path: Path) -> EvalSet:
    """Read a folder. Raises ConfigError."""
    qrels = path / "qrels" / "test.tsv"
    documents = LazyDocuments(partial(read_corpus, path / "corpus.jsonl"))
    texts = read_query_texts(path / "queries.jsonl")
    judged = make_queries(texts, collect_qrels(_rows(qrels)), documents, qrels)
    return EvalSet(path.resolve().name, documents, judged)


def read_corpus(file: Path) -> Iterator[Json]:
    """Yield the documents of a corpus.jsonl, except those without any text.

    The title stands above the text, as a heading does in a file: BEIR's baselines search both.
    """
    for _, document in read_json_lines(file, BeirDocument):
        parts = [part for part in (document.title, document.text) if part and part.strip()]
        if parts:
            yield {"uri": document.id, "title": document.title or "", "text": "\n\n".join(parts)}


def _rows(file: Path) -> Iterator[tuple[str, str, str, str]]:
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
    "BEIR (a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv)", fits, load
)
