"""Query variants: what feedback adds within a document, and what variants cost.

python scripts/bench/variants.py --data DIR [spans speed]
"""

import argparse
import asyncio
import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from common import fill_windows, opened, questions
from lexichord import SyncLexichord
from lexichord.db import search as db
from lexichord.db import search as db_search
from lexichord.retrieve.search import (
    FEEDBACK_WEIGHT,
    MIN_COHERENCE,
    boost_files,
    make_variants,
    search_variants,
)
from lexichord.types import ChunkHit, FileHit, Json, Question, Scope, SearchOptions
from lexichord.types.query_options import DEFAULT_FILES
from lexichord.types.questions import Variant
from quality import _row

type PreparedQuestion = tuple[Question, list[FileHit], Json | None]


async def ask(lexichord: SyncLexichord, text: str) -> PreparedQuestion:
    """Embed a question, discover its files and weigh them as the pipeline does."""
    question = await lexichord.core._embedded_question(text, None, SearchOptions(), [])
    file_question = replace(question, k=DEFAULT_FILES)
    files = await db_search.discover_files(lexichord.core.database, file_question)
    return question, files, await boost_files(files, None)


def _report(scores: dict[str, list[list[float]]], parity: Sequence[int]) -> None:
    for name, rows in scores.items():
        halves = [[s for s, p in zip(rows, parity, strict=True) if p == n] for n in (0, 1)]
        print(f"    {name:18}", " | ".join(map(_row, (rows, *halves))))


def spans(data: Path, rounds: int) -> None:
    """ContractNLI dev: mean average precision of a document's spans, a span a chunk."""
    documents = json.loads((data / "contractnli/dev.json").read_text())
    hypotheses = {key: label["hypothesis"] for key, label in documents["labels"].items()}
    with opened("nli", "plain", None) as lexichord:
        lexichord.ingest(documents=map(_spans, documents["documents"]))
        ids = {row.uri: row.document_id for row in lexichord.list()}
        scores: dict[str, list[list[float]]] = {}
        parity = []
        for number, document in enumerate(documents["documents"]):
            annotations = document["annotation_sets"][0]["annotations"]
            for key, annotation in annotations.items():
                gold = {document["spans"][index][0] for index in annotation["spans"]}
                if not gold:
                    continue
                parity.append(number % 2)
                rank = rank_spans(lexichord, hypotheses[key], ids[_spans(document)["uri"]])
                for way, hits in lexichord.run(rank).items():
                    precision = _average_precision([hit.start for hit in hits], gold)
                    scores.setdefault(way, []).append([precision])
        print(f"ContractNLI dev, {len(parity)} pairs with evidence, mAP: all | half A | half B")
        _report(scores, parity)


def _spans(document: dict[str, Any]) -> dict[str, Any]:
    text = document["text"]
    chunks = [{"content": text[a:b], "start": a} for a, b in document["spans"] if a < b]
    name = document["file_name"]
    return {"uri": f"nli/{document['id']}", "title": name, "text": text, "chunks": chunks}


async def rank_spans(
    lexichord: SyncLexichord, hypothesis: str, document: str
) -> dict[str, list[ChunkHit]]:
    """Rank all spans of a document: by the hypothesis, and with what feedback makes of it."""
    database = lexichord.core.database
    question = await lexichord.core._embedded_question(
        hypothesis, None, SearchOptions(k=1000, depth=1000), []
    )
    inside = replace(question, scope=Scope(documents=(document,)))
    feedback = await db.relevance_feedback(database, replace(question, depth=100), MIN_COHERENCE)
    plain = Variant("original", hypothesis, question.vector, 1.0)
    by_terms = replace(plain, name="feedback", weight=FEEDBACK_WEIGHT, terms=feedback.terms)
    moved = replace(plain, vector=feedback.vector)
    ways = {
        "plain": [plain],
        "+ RM3": [by_terms],
        "+ Rocchio": [moved],
        "+ both": [replace(by_terms, vector=feedback.vector)],
        "as variants": [plain, by_terms],
        "original heaviest": [plain, replace(by_terms, weight=0.9)],
    }
    return {
        name: await search_variants(database, inside, variants) for name, variants in ways.items()
    }


def _average_precision(ranked: Sequence[int], gold: set[int]) -> float:
    places = [place for place, start in enumerate(ranked, start=1) if start in gold]
    return sum(number / place for number, place in enumerate(places, start=1)) / len(gold)


def speed(data: Path, rounds: int) -> None:
    """p50 of a query with four variants over 100k chunks, against one hybrid search."""
    with opened("windows", "plain", None) as lexichord:
        fill_windows(lexichord, data)
        lexichord.run(_speed(lexichord, (questions(data) * rounds)[:rounds]))


async def _speed(lexichord: SyncLexichord, texts: list[str]) -> None:
    database = lexichord.core.database
    prepared = [await ask(lexichord, text) for text in texts[:17]]
    await asyncio.gather(*(database.call("configuration") for _ in range(8)))  # opens the pool
    spent: dict[str, list[float]] = {}
    random.Random(7).shuffle(prepared)
    for number in range(len(texts)):
        for name, milliseconds in (
            await _turn(lexichord, prepared[number % len(prepared)])
        ).items():
            if number >= len(prepared):  # the first round warms up
                spent.setdefault(name, []).append(milliseconds)
    one = median(spent["hybrid_search"])
    print(f"speed, {len(texts)} questions, p50 in ms, ratio to hybrid_search")
    for name, times in spent.items():
        print(f"    {name:42} {median(times):8.2f} {median(times) / one:6.2f}")
    for four in ("4 variants", "4 over the whole scope"):
        ratio = median(spent[f"{four}, one after another"]) / median(spent[f"{four}, parallel"])
        print(f"    {four}: one after another / parallel {ratio:.2f}")


async def _turn(lexichord: SyncLexichord, prepared: PreparedQuestion) -> dict[str, float]:
    """Time every case on one question."""
    database = lexichord.core.database
    question, files, boost = prepared
    variant_set = await make_variants(database, question, files, always=True)

    wide = [replace(variant, documents=None) for variant in variant_set.variants]

    async def one_after_another(variants: Sequence[Variant]) -> None:
        rows = [
            await db.variant_candidates(database, question, variant, boost) for variant in variants
        ]
        await db.read_hits(database, [row["chunk_id"] for row in rows[0][: question.k]])

    async def whole() -> None:
        shown = replace(question, k=DEFAULT_FILES)
        wide_files = await db_search.discover_files(database, shown)
        new = await make_variants(database, question, wide_files, always=True)
        await search_variants(database, question, new.variants, boost)

    cases: dict[str, Callable[[], Any]] = {
        "hybrid_search": lambda: db_search.hybrid_search(database, question),
        "discover_files": lambda: db_search.discover_files(database, question),
        "relevance_feedback": lambda: db.relevance_feedback(database, question, None),
        "4 variants, parallel": lambda: search_variants(
            database, question, variant_set.variants, boost
        ),
        "4 variants, one after another": lambda: one_after_another(variant_set.variants),
        "4 over the whole scope, parallel": lambda: search_variants(
            database, question, wide, boost
        ),
        "4 over the whole scope, one after another": lambda: one_after_another(wide),
        "4 variants, in SQL": lambda: db.search_variants(
            database, question, variant_set.variants, boost
        ),
        "files, feedback and 4 variants": whole,
    }
    times = {}
    for name, case in cases.items():
        started = time.perf_counter()
        await case()
        times[name] = (time.perf_counter() - started) * 1000
    return times


SETS: dict[str, Callable[[Path, int], None]] = {
    "spans": spans,
    "speed": speed,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("sets", nargs="*", default=list(SETS), help=", ".join(SETS))
    parser.add_argument("--rounds", type=int, default=200, help="questions of speed")
    arguments = parser.parse_args()
    for name in arguments.sets:
        SETS[name](arguments.data.resolve(), arguments.rounds)


if __name__ == "__main__":
    main()
