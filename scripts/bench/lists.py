"""Lists: the cells of the comparisons, each column asked for as a list in its files.

A cell is right if a quote of its file holds the value, or, where nothing is there, if none is
quoted. python scripts/bench/lists.py [--data DIR]
"""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from statistics import mean
from typing import Any

from common import opened
from comparison import HOMES, SAMPLES, Judged, _file, _folders, _report
from lexichord import SyncLexichord
from lexichord.types.evidence import Quote

WORDINGS = (
    "List every clause on {}",
    "List all provisions about {}",
    "Give me a complete list of what is said about {}.",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the public sets, for the NDAs")
    arguments = parser.parse_args()
    lines = (SAMPLES / "comparisons.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    cells: list[Judged] = []
    lengths: list[int] = []
    for corpus, folders in _folders(arguments.data).items():
        with opened(HOMES[corpus], "plain", None) as lexichord:
            lexichord.ingest(folders)
            for question in questions:
                if question["corpus"] != corpus:
                    continue
                for aspect in (each for each in question["aspects"] if not each.endswith("?")):
                    for wording in WORDINGS:
                        quotes = ask(lexichord, question, wording.format(aspect))
                        lengths.append(sum(len(quote.text) for quote in quotes))
                        cells += _judge(lexichord, question, aspect, quotes)
    _report(cells, [])
    print(f"{mean(lengths):.0f} characters a list")


def ask(lexichord: SyncLexichord, question: dict[str, Any], query: str) -> list[Quote]:
    """Ask for a list in the question's files."""
    response = lexichord.query(query, documents=question["files"])
    assert response.intent.kind == "list_all"
    return list(response.quotes)


def _judge(
    lexichord: SyncLexichord, question: dict[str, Any], aspect: str, quotes: list[Quote]
) -> Iterable[Judged]:
    for expected in question["cells"]:
        if expected["aspect"] == aspect:
            document = _file(lexichord, expected["file"]).document_id
            texts = [quote.text for quote in quotes if quote.document_id == document]
            value = expected["value"]
            good = any(value in text for text in texts) if value else not texts
            yield Judged(question["half"], value is not None, good)


if __name__ == "__main__":
    main()
