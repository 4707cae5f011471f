"""The broad set: its documents are laid out, and each question's quote stands in its file."""

import importlib
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lexichord.evaluate.metrics import fold
from lexichord.ingest.load import load
from tests.conftest import ROOT

DATA = ROOT.parent / "shared" / "data"
EVERYDAY = Path(__file__).parents[1] / "everyday"
GOOD = {
    "id": "samples-x",
    "kind": "samples",
    "type": "look-up",
    "query": "how much holiday do I get",
    "relevant_spans": [{"file": "samples/a.md", "quote": "Everybody has 30 days of leave."}],
    "first": ["30 days"],
}


@pytest.fixture(scope="module")
def script() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "scripts/data")
        yield importlib.import_module("everyday")


@pytest.fixture(scope="module")
def laid_out(script: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder of the whole set, and what was left out of it."""
    if not DATA.is_dir():
        pytest.skip("the public sets are not here")
    folder = tmp_path_factory.mktemp("everyday")
    return folder, list(script.lay_out(DATA, folder))


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_kind_without_data_is_left_out_and_that_is_said(script: Any, tmp_path: Path) -> None:
    left_out = list(script.lay_out(tmp_path / "nowhere", tmp_path))
    assert [line.split(" is left out: ")[0] for line in left_out] == [
        kind for kind in script.DOCUMENTS if kind != "samples"
    ]
    assert {row["kind"] for row in rows(tmp_path / "chosen.jsonl")} <= {"samples"}
    assert (tmp_path / "samples/agreements/office-lease-saltpan-house.md").is_file()
    assert list(script.faults(tmp_path)) == []


def test_every_kind_has_every_type_of_question(script: Any) -> None:
    assert sorted([*script.CHOSEN, *script.HELD_BACK]) == sorted(script.DOCUMENTS)
    written = {file.stem: rows(file) for file in EVERYDAY.glob("*.jsonl")}
    assert written.keys() <= script.DOCUMENTS.keys()
    for kind, questions in written.items():
        types = {row["type"] for row in questions}
        if kind in script.FILE_ENDINGS:  # a few files, asked what they answer
            assert {"look-up", "near-miss"} <= types < script.TYPES, kind
        else:
            assert types == script.TYPES - {"span"}, kind


def test_each_quote_stands_in_its_file(
    script: Any, laid_out: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, left_out = laid_out
    monkeypatch.setenv("LEXICHORD_OCR", script.SCANS_OCR)
    recognizes = shutil.which("tesseract") is not None
    assert left_out == ([] if recognizes else ["scans is left out: there is no tesseract on PATH"])
    assert list(script.faults(folder)) == []
    chosen, held_back = rows(folder / "chosen.jsonl"), rows(folder / "held-back.jsonl")
    drawn = Counter(row["kind"] for row in [*chosen, *held_back] if row["type"] == "span")
    assert drawn == {f"{kind}-spans": count for kind, count in script.SPAN_QUESTIONS.items()}
    asked = {Path(file).name for row in chosen for file in row.get("relevant_files", [])}
    kept = {Path(file).name for row in held_back for file in row.get("relevant_files", [])}
    assert not (asked & kept) - {"README.md"}


def test_each_cell_of_a_table_stands_in_its_file(
    script: Any, laid_out: tuple[Path, list[str]]
) -> None:
    texts = cache(lambda file: load(laid_out[0] / file).text)
    halves = {**script.SPLITS, "further": script.SPLITS["held-back"]}
    for half, kinds in halves.items():
        for row in rows(EVERYDAY / "tables" / f"{half}.jsonl"):
            assert row["kind"] in kinds
            for cell in row["cells"]:
                assert cell["aspect"] in row["columns"], row["id"]
                value, text = cell["value"], texts(cell["file"])
                assert value is None or fold(value) in fold(text), cell


CELLS = [{"file": "samples/a.md", "aspect": "x", "value": "31"}]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ([{}], None),
        ([{}, {}], "the id samples-x was there before"),
        ([{"type": "riddle"}], "there is no type riddle"),
        ([{"kind": "policies"}], "among the questions of another kind than policies"),
        ([{"type": "near-miss"}], "of type near-miss has answerable True"),
        ([{"first": []}], "not what a right first sentence holds"),
        ([{"first": ["40 days"]}], "no quote is near the first sentence's '40 days'"),
        ([{"relevant_files": ["samples/b.md"]}], "there is no file samples/b.md"),
        (
            [{"relevant_spans": [{"file": "samples/a.md", "quote": "31 days"}]}],
            "holds the quote '31 days' 0 times",
        ),
        ([{"columns": ["x"], "cells": CELLS}], "does not hold the cell '31'"),
    ],
)
def test_a_fault_is_found(
    script: Any, tmp_path: Path, changes: list[dict[str, Any]], fault: str | None
) -> None:
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "a.md").write_text("# Leave\n\nEverybody has 30 days of leave.\n")
    lines = [json.dumps({**GOOD, **change}) for change in changes]
    (tmp_path / "chosen.jsonl").write_text("\n".join(lines))
    (tmp_path / "held-back.jsonl").write_text("")
    found = list(script.faults(tmp_path))
    assert [fault in line for line in found if fault] == [True] * len(found)
    assert bool(found) == bool(fault)
