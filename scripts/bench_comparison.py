"""Comparison tables: share of cells that are right, by half, through the real search."""

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench_data import cache_folder
from lexichord import SyncLexichord
from lexichord.retrieve.aggregate import gather_evidence
from lexichord.types import FileHit
from lexichord.types.evidence import Comparison

SAMPLES = Path(__file__).parents[1] / "samples"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the public sets, for the NDAs")
    parser.add_argument("--words", action="store_true", help="without vectors")
    parser.add_argument("--wrong", action="store_true", help="show the cells that are wrong")
    arguments = parser.parse_args()
    lines = (SAMPLES / "comparisons.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    right: list[tuple[str, str, bool, bool]] = []
    for corpus, folders in _folders(arguments.data).items():
        home = cache_folder() / f"comparison-{corpus}"
        home.mkdir(parents=True, exist_ok=True)
        with SyncLexichord(home=home) as lexichord:
            lexichord.ingest(folders)
            for question in questions:
                if question["corpus"] == corpus:
                    table = ask(lexichord, question, arguments.words)
                    right += list(_judge(lexichord, question, table, arguments.wrong))
    _report(right)


def _folders(data: Path | None) -> dict[str, list[Path]]:
    found = {"samples": [SAMPLES / "agreements", SAMPLES / "policies"]}
    if data is not None:
        found["contractnli"] = [data.resolve() / "legalbenchrag/corpus/contractnli"]
    return found


def ask(lexichord: SyncLexichord, question: dict[str, Any], words: bool = False) -> Comparison:
    """Compare the question's files by its aspects, as the pipeline does with linked files."""
    core = lexichord.core
    embedder = None if words else core.embedder
    aspects: list[str] = question["aspects"]

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        assert embedder is not None
        return embedder.embed(texts, "document")

    found = lexichord.run(
        gather_evidence(
            core.database,
            "comparison",
            question["question"],
            [],
            aspects=aspects,
            files=[_file(lexichord, name) for name in question["files"]],
            vectors=None if embedder is None else list(embedder.embed(aspects, "query")),
            space=None if embedder is None else core.space,
            embed=None if embedder is None else embed,
        )
    )
    assert found.comparison is not None
    assert not found.dropped
    return found.comparison


def _file(lexichord: SyncLexichord, name: str) -> FileHit:
    row = next(row for row in lexichord.list() if row["uri"].endswith(f"/{name}"))
    place = (row["document_id"], row["dataset"], row["uri"], row["title"])
    return FileHit(*place, score=0.0, scores={}, hits=0)


def _judge(
    lexichord: SyncLexichord, question: dict[str, Any], table: Comparison, shown: bool
) -> Iterable[tuple[str, str, bool, bool]]:
    """Give half, corpus, whether a value is expected, and whether the cell is right."""
    for expected in question["cells"]:
        document = _file(lexichord, expected["file"]).document_id
        cell = table.cell(document, expected["aspect"])
        value = expected["value"]
        good = any(value in quote.text for quote in cell.quotes) if value else not cell.found
        if shown and not good:
            quotes = [quote.text[:80] for quote in cell.quotes]
            print(question["id"], expected["file"], expected["aspect"], value, quotes)
        yield question["half"], question["corpus"], value is not None, good


def _report(right: Sequence[tuple[str, str, bool, bool]]) -> None:
    for half in ("A", "B"):
        cells = [(there, good) for name, _, there, good in right if name == half]
        kinds = [[good for there, good in cells if there is kind] for kind in (True, False)]
        shares = " ".join(f"{100 * mean(kind):.1f} of {len(kind)}" for kind in kinds)
        total = 100 * mean(good for _, good in cells)
        print(f"half {half}: {total:.1f} of {len(cells)} cells right; there, not there: {shares}")


if __name__ == "__main__":
    main()
