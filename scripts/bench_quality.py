"""Quality through SQL with all defaults: Pass@k on code, document@1 and recall on contracts."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from bench_data import cache_folder
from lexichord import SyncLexichord
from lexichord.types import Mode

KS = (5, 10, 20)
MODES: tuple[Mode, ...] = ("dense", "keyword", "hybrid")


def codebase(data: Path) -> None:
    """Anthropic's contextual-retrieval set in its own chunks; halves by the golden document."""
    documents = json.loads((data / "codebase/codebase_chunks.json").read_text())
    with (data / "codebase/evaluation_set.jsonl").open() as lines:
        queries = [json.loads(line) for line in lines]
    numbers = {document["original_uuid"]: n for n, document in enumerate(documents)}
    parity = [numbers[query["golden_doc_uuids"][0]] % 2 for query in queries]
    with SyncLexichord(home=cache_folder() / "codebase") as lexichord:
        lexichord.ingest(documents=map(_document, documents))
        starts = {
            (document["uri"], chunk["char_start"]): chunk["ordinal"]
            for document in lexichord.list()
            for chunk in lexichord.show(document["document_id"])["chunks"]
        }
        print(f"codebase, {len(queries)} queries, Pass@5/10/20: all | half A | half B")
        for mode in MODES:
            scores = [_passes(lexichord, query, starts, mode) for query in queries]
            halves = [[s for s, p in zip(scores, parity, strict=True) if p == n] for n in (0, 1)]
            print(f"  {mode:8}", " | ".join(map(_row, (scores, *halves))))


def _document(document: dict[str, Any]) -> dict[str, Any]:
    chunks = [{"content": chunk["content"]} for chunk in document["chunks"]]
    return {"uri": document["original_uuid"], "text": document["content"], "chunks": chunks}


def _passes(
    lexichord: SyncLexichord, query: dict[str, Any], starts: dict[tuple[str, int], int], mode: Mode
) -> list[float]:
    hits = lexichord.search(query["query"], k=max(KS), mode=mode).hits
    found = [(hit.uri, starts[hit.uri, hit.start]) for hit in hits]
    golden = [(uri, index) for uri, index in query["golden_chunk_uuids"]]
    return [mean(place in found[:k] for place in golden) for k in KS]


def _row(scores: Sequence[Sequence[float]]) -> str:
    return " ".join(f"{100 * mean(column):6.2f}" for column in zip(*scores, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    arguments = parser.parse_args()
    codebase(arguments.data)


if __name__ == "__main__":
    main()
