"""BEIR's folders (Thakur et al., 2021, arXiv 2104.08663); of their splits, the test part."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pydantic import BaseModel, Field

from lexichord.errors import ConfigError
from lexichord.evaluate.datasets.reading import (
    Documents,
    Named,
    Text,
    collect,
    json_lines,
    lines,
    queries,
    query_texts,
)
from lexichord.types import Json
from lexichord.types.evaluation import EvalSet

LAYOUT = "BEIR (a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv)"
HEADER = ["query-id", "corpus-id", "score"]


class GivenDocument(BaseModel):
    """A line of corpus.jsonl."""

    id: Named = Field(alias="_id")
    title: Text | None = None
    text: Text | None = None


def fits(path: Path) -> bool:
    """Tell whether this is such a folder; one that lacks the test part is told of on reading."""
    return (path / "corpus.jsonl").is_file() and (path / "qrels").is_dir()


def load(path: Path) -> EvalSet:
    """Read a folder. Raises ConfigError."""
    qrels = path / "qrels" / "test.tsv"
    documents = Documents(partial(corpus, path / "corpus.jsonl"))
    texts = query_texts(path / "queries.jsonl")
    judged = queries(texts, collect(_rows(qrels)), documents, qrels)
    return EvalSet(path.resolve().name, documents, judged)


def corpus(file: Path) -> Iterator[Json]:
    """Give the documents of a corpus.jsonl, but for those without any text.

    The title stands above the text, as a heading does in a file: BEIR's baselines search both.
    """
    for _, given in json_lines(file, GivenDocument):
        parts = [part for part in (given.title, given.text) if part and part.strip()]
        if parts:
            yield {"uri": given.id, "title": given.title or "", "text": "\n\n".join(parts)}


def _rows(file: Path) -> Iterator[tuple[str, str, str, str]]:
    for place, line in lines(file):
        match line.split("\t"):
            case [*names] if names == HEADER:
                continue
            case [query, document, grade]:
                yield place, query, document, grade
            case _:
                raise ConfigError(f"{place}: has to be {', '.join(HEADER)}, parted by tabs")
