"""Answers that readers found right or wrong, and the set of questions that the right ones make."""

import json
from collections.abc import AsyncIterator, Sequence
from itertools import groupby
from pathlib import Path

from lexichord.db import catalogue
from lexichord.db.pool import Database, Row
from lexichord.errors import ConfigError
from lexichord.ingest.llm_context.backfill import OpenApplication
from lexichord.types import Json, JudgedSet
from lexichord.types.options import read_number
from lexichord.types.questions import Scope

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
