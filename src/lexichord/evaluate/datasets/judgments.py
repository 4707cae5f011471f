"""Judgments of whole documents by grades, as BEIR and TREC have them."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, Field

from lexichord.errors import ConfigError
from lexichord.evaluate.datasets.reading import Named, json_lines, lines
from lexichord.types import Json
from lexichord.types.evaluation import EvalQuery

log = logging.getLogger("lexichord")


class GivenQuery(BaseModel):
    """A line of queries.jsonl."""

    id: Named = Field(alias="_id")
    text: Named


type Judgments = dict[str, dict[str, int]]  # by query and by document; above 0 is relevant


def collect(rows: Iterable[tuple[str, str, str, str]]) -> Judgments:
    """Gather rows of (place, query, document, grade). Raises ConfigError."""
    judgments: Judgments = {}
    for place, query, document, written in rows:
        try:
            grade = int(written)
        except ValueError:
            raise ConfigError(f"{place}: the grade '{written}' is no whole number") from None
        if judgments.setdefault(query, {}).setdefault(document, grade) != grade:
            raise ConfigError(f"{place}: {document} had another grade for query {query} before")
    return judgments


def queries(
    texts: Mapping[str, str], judgments: Judgments, documents: Iterable[Json], place: Path
) -> tuple[EvalQuery, ...]:
    """Give the queries that have judgments. Raises ConfigError if there is nothing to measure.

    Relevant documents that the corpus lacks stay judged, as trec_eval has it: they lower recall,
    so they are told of.
    """
    judged = {query: judgments[query] for query in texts if query in judgments}
    relevant = {uri for grades in judged.values() for uri, grade in grades.items() if grade > 0}
    if not relevant:
        raise ConfigError(f"{place} holds no relevant document for any of the queries")
    missing = relevant.difference(document["uri"] for document in documents)
    if missing == relevant:
        raise ConfigError(f"{place} names no document of the corpus, for example {min(missing)}")
    _tell(f"{place}: relevant documents that the corpus lacks", missing)
    _tell(f"{place}: judged queries without a text", judgments.keys() - texts.keys())
    return tuple(EvalQuery(id=id, text=texts[id], grades=grades) for id, grades in judged.items())


def query_texts(file: Path) -> dict[str, str]:
    """Read queries by id: lines of JSON as BEIR's, or "id<tab>text". Raises ConfigError."""
    texts: dict[str, str] = {}
    for place, query, text in _json_rows(file) if file.suffix == ".jsonl" else _tab_rows(file):
        if query in texts:
            raise ConfigError(f"{place}: the query {query} was there before")
        texts[query] = text
    return texts


def _json_rows(file: Path) -> Iterator[tuple[str, str, str]]:
    for place, query in json_lines(file, GivenQuery):
        yield place, query.id, query.text


def _tab_rows(file: Path) -> Iterator[tuple[str, str, str]]:
    for place, line in lines(file):
        query, tab, text = line.partition("\t")
        if not (query and tab and text.strip()):
            raise ConfigError(f"{place}: has to be an id, a tab and the query's text")
        yield place, query, text


def _tell(what: str, which: Iterable[str]) -> None:
    if names := sorted(which):
        log.warning("%s: %d, for example %s", what, len(names), names[0])
