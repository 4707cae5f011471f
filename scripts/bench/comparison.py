"""Comparison tables: share of cells that are right, by half.

Files and aspects are given, or with --whole the question alone.
"""

import argparse
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from common import opened
from lexichord import SyncLexichord
from lexichord.retrieve.evidence.passages import aggregate_evidence
from lexichord.retrieve.evidence.relevance import Meaning
from lexichord.types import FileHit, Mode
from lexichord.types.evidence import Cell, Comparison

SAMPLES = Path(__file__).parents[2] / "samples"
HOMES = {"samples": "samples", "contractnli": "contracts-clauses"}


class Judged(NamedTuple):
    """A cell of a half: whether a value is expected there, and whether the table is right."""

    half: str
    there: bool
    good: bool


class Shape(NamedTuple):
    """A table of a half: whether its rows and its columns are exactly those expected."""

    half: str
    rows: bool
    columns: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the public sets, for the NDAs")
    parser.add_argument("--words", action="store_true", help="without vectors")
    parser.add_argument("--whole", action="store_true", help="give nothing but the question")
    parser.add_argument("--halves", default="AB", help="A while building")
    parser.add_argument("--wrong", action="store_true", help="show what is wrong")
    arguments = parser.parse_args()
    lines = (SAMPLES / "comparisons.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    cells: list[Judged] = []
    shapes: list[Shape] = []
    for corpus, folders in _folders(arguments.data).items():
        with opened(HOMES[corpus], "plain", None) as lexichord:
            lexichord.ingest(folders)
            for question in questions:
                if question["corpus"] != corpus or question["half"] not in arguments.halves:
                    continue
                if arguments.whole:
                    mode: Mode = "keyword" if arguments.words else "hybrid"
                    table = lexichord.query(question["question"], mode=mode).comparison
                    shapes.append(_shape(lexichord, question, table, arguments.wrong))
                else:
                    table = ask(lexichord, question, arguments.words)
                cells += _judge(lexichord, question, table, arguments.wrong)
    _report(cells, shapes)


def _folders(data: Path | None) -> dict[str, list[Path]]:
    folders = {"samples": [SAMPLES / "agreements", SAMPLES / "policies"]}
    if data is not None:
        folders["contractnli"] = [data.resolve() / "legalbenchrag/corpus/contractnli"]
    return folders


def ask(lexichord: SyncLexichord, question: dict[str, Any], words: bool = False) -> Comparison:
    """Compare the question's files by its aspects, as the pipeline does with linked files."""
    core = lexichord.core
    embedder = None if words else core.embedder
    aspects: list[str] = question["aspects"]

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        assert embedder is not None
        return embedder.embed(texts, "document")

    evidence = lexichord.run(
        aggregate_evidence(
            core.database,
            "comparison",
            question["question"],
            [],
            aspects=aspects,
            files=[_file(lexichord, name) for name in question["files"]],
            meaning=None
            if embedder is None
            else Meaning(list(embedder.embed(aspects, "query")), core.space, embed),
        )
    )
    assert evidence.comparison is not None
    assert not evidence.dropped
    return evidence.comparison


def _file(lexichord: SyncLexichord, name: str) -> FileHit:
    row = next(row for row in lexichord.list() if row.uri.endswith(f"/{name}"))
    place = (row.document_id, row.dataset, row.uri, row.title)
    return FileHit(*place, score=0.0, scores={}, hits=0)


def _shape(
    lexichord: SyncLexichord, question: dict[str, Any], table: Comparison | None, shown: bool
) -> Shape:
    wanted = {_file(lexichord, name).document_id for name in question["files"]}
    rows = {file.document_id for file in table.documents} if table else set()
    aspects = table.aspects if table else ()
    columns = sorted(map(_words, aspects)) == sorted(map(_words, question["aspects"]))
    if shown and not (rows == wanted and columns):
        print(question["id"], "rows missing, too many:", wanted - rows, rows - wanted, aspects)
    return Shape(question["half"], rows == wanted, columns)


def _words(aspect: str) -> list[str]:
    return [word for word in re.findall(r"\w+", aspect.lower()) if word not in ("a", "an", "the")]


def _judge(
    lexichord: SyncLexichord, question: dict[str, Any], table: Comparison | None, shown: bool
) -> Iterable[Judged]:
    for expected in question["cells"]:
        document = _file(lexichord, expected["file"]).document_id
        cells = table.cells if table else ()
        row = [cell for cell in cells if cell.document_id == document]
        good = _is_right(row, expected["aspect"], expected["value"])
        if shown and not good:
            quotes = {cell.aspect: [quote.text[:80] for quote in cell.quotes] for cell in row}
            print(question["id"], *expected.values(), quotes)
        yield Judged(question["half"], expected["value"] is not None, good)


def _is_right(row: Sequence[Cell], aspect: str, value: str | None) -> bool:
    """Judge by the column of this name, else, a value being expected, by any that holds it.

    Where nothing should be found, the column that shares most words counts. No column, no row:
    wrong.
    """
    if value is not None:
        named = [cell for cell in row if _words(cell.aspect) == _words(aspect)]
        return any(value in quote.text for cell in named or row for quote in cell.quotes)
    shared = {cell: len({*_words(cell.aspect)} & {*_words(aspect)}) for cell in row}
    best = max(
        shared, key=lambda cell: (_words(cell.aspect) == _words(aspect), shared[cell]), default=None
    )
    return best is not None and shared[best] > 0 and not best.found


def _report(cells: Sequence[Judged], shapes: Sequence[Shape]) -> None:
    for half in sorted({cell.half for cell in cells}):
        own = [cell for cell in cells if cell.half == half]
        kinds = [[cell.good for cell in own if cell.there is kind] for kind in (True, False)]
        shares = " ".join(f"{_percent(kind)} of {len(kind)}" for kind in kinds)
        total = _percent([cell.good for cell in own])
        print(f"half {half}: {total} of {len(own)} cells right; there, not there: {shares}")
        if tables := [shape for shape in shapes if shape.half == half]:
            shares = " ".join(
                _percent(kind)
                for kind in (
                    [table.rows for table in tables],
                    [table.columns for table in tables],
                    [table.rows and table.columns for table in tables],
                )
            )
            print(f"  of {len(tables)} tables rows, columns, both exact: {shares}")


def _percent(outcomes: Sequence[bool]) -> str:
    return f"{100 * mean(outcomes):.1f}"


if __name__ == "__main__":
    main()
