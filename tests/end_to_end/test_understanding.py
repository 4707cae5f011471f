"""Only what is certain is understood: comparisons, named documents, and the question as asked."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lexichord import SyncLexichord
from lexichord.types import Response
from tests.conftest import new_database

FOLDER = Path(__file__).parents[1] / "compared"
QUESTIONS = [json.loads(line) for line in (FOLDER / "questions.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module", params=["by meaning", "by words"])
def library(
    request: pytest.FixtureRequest, embedding_template: str, bare: str, home: Path
) -> Iterator[SyncLexichord]:
    """A tool's pages, contracts and policies, a dataset each. To be read only."""
    template = embedding_template if request.param == "by meaning" else bare
    with (
        new_database(template, copy_of=template) as dsn,
        SyncLexichord(dsn=dsn, home=home) as lexichord,
    ):
        for folder in ("tool", "contracts", "policies", "garden"):
            lexichord.ingest([FOLDER / folder], dataset=folder)
        yield lexichord


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(
            asked,
            id=asked["question"],
            marks=[pytest.mark.xfail(reason=asked["fails"], strict=True)]
            if "fails" in asked
            else [],
        )
        for asked in QUESTIONS
    ],
)
def test_a_question_is_read_as_what_it_says(library: SyncLexichord, asked: dict[str, Any]) -> None:
    response = library.query(asked["question"], datasets=[asked["set"]], answer=True)
    assert (response.comparison is not None) == asked["comparison"], response.intent
    if asked["comparison"]:
        assert table_of(response, asked) == expected(asked), response.intent


def expected(asked: dict[str, Any]) -> dict[str, object]:
    return {
        "rows": set(asked["rows"]),
        "columns": set(asked.get("columns", [])),
        "filled": set(),
    }


def table_of(response: Response, asked: dict[str, Any]) -> dict[str, object]:
    """What the table has of what is expected: columns only if some are, cells to be empty."""
    table = response.comparison
    assert table is not None
    files = {file.document_id: Path(file.uri).name for file in table.documents}
    empty = {(file, column) for file, column in asked.get("empty", [])}
    return {
        "rows": set(files.values()),
        "columns": set(table.aspects) if "columns" in asked else set(),
        "filled": {
            (files[cell.document_id], cell.aspect)
            for cell in table.cells
            if cell.found and (files[cell.document_id], cell.aspect) in empty
        },
    }
