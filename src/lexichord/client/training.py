"""Recorded queries, to learn from: triplets for an embedding model, and sets of judged questions.

A triplet is a question, an answer, and what is none. By the probability that a hit holds an answer
(`hit_confidence`): the first hit is taken for one where it is likely enough, and lower hits of
other documents for none where they are not. Nobody has judged them: a model is trained on what
search was sure of.

Readers find answers right or wrong; the right ones make a set of questions.
"""

import json
from collections.abc import AsyncIterator, Sequence
from itertools import groupby
from pathlib import Path

from lexichord.db import catalogue
from lexichord.db.catalogue import recorded_passages
from lexichord.db.pool import Database, Row
from lexichord.errors import ConfigError
from lexichord.ingest.llm_context.backfill import OpenApplication
from lexichord.ingest.vectors import embedding_text
from lexichord.types import Json, JudgedSet, TrainingTriplet
from lexichord.types.query_options import read_number
from lexichord.types.questions import Scope

MIN_POSITIVE, MAX_NEGATIVE = 0.5, 0.1  # probabilities
NOTHING_RECORDED = (
    "no recorded query can be learnt from: their words are kept with LEXICHORD_RECORD=text, and "
    "those that abstain, ask for a list or whose passages have changed are left out"
)


async def training_triplets(
    app: OpenApplication, *, latest: int = 10_000, negatives: int = 3
) -> list[TrainingTriplet]:
    """Return triplets of the latest recorded queries, `negatives` at most of each.

    Texts are as they are embedded, with their context. Raises ConfigError where there is none.
    """
    latest = read_number("latest", latest, 1)
    negatives = read_number("negatives", negatives, 1)
    rows = await recorded_passages(app.database, latest)
    queries = (list(hits) for _, hits in groupby(rows, lambda row: row["query_id"]))
    triplets = [triplet for hits in queries for triplet in _triplets(hits, negatives)]
    if not triplets:
        raise ConfigError(NOTHING_RECORDED)
    return list(dict.fromkeys(triplets))


def _triplets(hits: Sequence[Row], negatives: int) -> list[TrainingTriplet]:
    """Return those of one query; hits are by rank."""
    from lexichord.retrieve.confidence import hit_confidence

    first, *others = hits
    if first["rank"] != 1 or hit_confidence(first["confidence"], 1) < MIN_POSITIVE:
        return []
    positive = _text(first)
    texts = dict.fromkeys(
        _text(hit)
        for hit in others
        if hit["document_id"] != first["document_id"]
        and hit["content"] != first["content"]
        and hit_confidence(hit["confidence"], hit["rank"]) <= MAX_NEGATIVE
    )
    return [TrainingTriplet(first["query"], positive, text) for text in list(texts)[:negatives]]


def _text(hit: Row) -> str:
    return embedding_text(hit["context"], hit["content"])


NOTHING_JUDGED = (
    "no recorded answer was found right more often than wrong: questions are kept with "
    "LEXICHORD_RECORD=text and judged below their answers on the page, or by judge_query"
)


async def judge_query(app: OpenApplication, query_id: int, *, right: bool) -> None:
    """Count that somebody found the answer to a recorded query right, or wrong.

    `query_id` is its response's. Raises NotFoundError for a query that is not recorded.
    """
    await catalogue.judge_query(app.database, query_id, right)


async def write_judged_set(
    app: OpenApplication, folder: Path | str, *, latest: int = 10_000
) -> JudgedSet:
    """Write what was found right among the latest recorded queries as a set that `evaluate` reads.

    Into the folder go questions.jsonl, where a question's answer stands in the document that was
    found first, and documents.jsonl: all of the datasets that these are of, with their texts.
    Raises ConfigError where nothing was judged, or the folder holds something or cannot be written.
    """
    rows = await catalogue.judged_questions(app.database, read_number("latest", latest, 1))
    if not rows:
        raise ConfigError(NOTHING_JUDGED)
    datasets = sorted({row["dataset"] for row in rows})
    folder = Path(folder)
    questions = _questions(rows, datasets)
    try:
        _make_empty(folder)
        documents = await _write_documents(app.database, folder / "documents.jsonl", datasets)
        with (folder / "questions.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(map(_line, questions))
    except OSError as error:
        raise ConfigError(f"cannot write '{folder}': {error.strerror}") from None
    return JudgedSet(str(folder), len(questions), documents)


def _make_empty(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ConfigError(f"'{folder}' is not empty: name a new folder")


async def _write_documents(database: Database, file: Path, datasets: Sequence[str]) -> int:
    """Write the documents of datasets and return their number."""
    written = 0
    with file.open("w", encoding="utf-8") as lines:
        async for document in _documents(database, datasets):
            lines.write(_line(document))
            written += 1
    return written


async def _documents(database: Database, datasets: Sequence[str]) -> AsyncIterator[Json]:
    """Yield those with a text, one by one: all texts together may be large."""
    for one in await catalogue.list_documents(database, Scope(tuple(datasets))):
        if one.characters:
            yield {
                "uri": _uri(one.dataset, one.uri, datasets),
                "title": one.title,
                "media_type": one.media_type,
                "metadata": one.metadata,
                "text": await catalogue.document_text(database, one.document_id),
            }


def _questions(rows: Sequence[Row], datasets: Sequence[str]) -> list[Json]:
    """Return each question once, by its words and its hint, with all documents that answer it."""

    def asked(row: Row) -> tuple[str, str]:
        return row["query"], row["hint"] or ""

    return [
        {
            "id": str(number),
            "query": query,
            **({"hint": hint} if hint else {}),
            "relevant_files": [_uri(row["dataset"], row["uri"], datasets) for row in found],
        }
        for number, ((query, hint), found) in enumerate(
            groupby(sorted(rows, key=asked), key=asked), 1
        )
    ]


def _uri(dataset: str, uri: str, datasets: Sequence[str]) -> str:
    """Return a document's uri in the set; two datasets may have a document of the same uri."""
    return uri if len(datasets) == 1 else f"{dataset}/{uri}"


def _line(record: Json) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"
