"""Answers that were found right, as a set of questions to evaluate by."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from tests.end_to_end.processes import run_cli

TEXTS = {
    "lease": "Rent is due monthly.\n\nThe tenant pays for travel.",
    "policy": "Logs are kept for a year.\n\nTravel is booked early.",
}


@pytest.fixture
def lexichord(dsn: str) -> Iterator[SyncLexichord]:
    with SyncLexichord(dsn=dsn, record="text") as lexichord:
        for uri, text in TEXTS.items():
            lexichord.ingest(documents=[{"uri": uri, "text": text}], dataset="open")
        yield lexichord


def judge(lexichord: SyncLexichord, question: str, *, right: bool = True) -> None:
    response = lexichord.query(question, answer=True)
    assert response.query_id is not None
    lexichord.judge_query(response.query_id, right=right)


def lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_the_command_writes_a_set_that_is_evaluated(
    dsn: str, lexichord: SyncLexichord, tmp_path: Path
) -> None:
    judge(lexichord, "How long are logs kept?")
    judge(lexichord, "When is rent due?")
    judge(lexichord, "Who sings?", right=False)
    folder = tmp_path / "new" / "judged"
    done = run_cli(dsn, tmp_path, "judged-set", str(folder))
    assert (done.exit_code, done.stdout) == (0, "2 questions and 2 documents written\n")
    asked = {each["query"]: each["relevant_files"] for each in lines(folder / "questions.jsonl")}
    assert asked == {"How long are logs kept?": ["policy"], "When is rent due?": ["lease"]}
    assert {each["uri"]: each["text"] for each in lines(folder / "documents.jsonl")} == TEXTS
    (run,) = lexichord.evaluate(folder, strategies=["keyword"]).runs
    assert run.metrics["document@1"] == [1.0, 1.0]


def test_a_folder_with_something_in_it_stays_as_it_is(
    lexichord: SyncLexichord, tmp_path: Path
) -> None:
    judge(lexichord, "When is rent due?")
    (tmp_path / "questions.jsonl").write_text("mine")
    with pytest.raises(ConfigError, match="is not empty"):
        lexichord.write_judged_set(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["questions.jsonl"]
    assert (tmp_path / "questions.jsonl").read_text() == "mine"
    with pytest.raises(ConfigError, match="cannot write"):
        lexichord.write_judged_set(tmp_path / "questions.jsonl")
