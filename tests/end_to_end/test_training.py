"""Recorded queries as training data: what is taken for an answer, and what for none."""

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.types.json import Jsonb

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.types import TrainingTriplet
from tests.end_to_end.processes import run_cli

TEXTS = {
    "lease": ["Rent is due monthly.", "The tenant pays for travel."],
    "policy": ["Logs are kept for a year.", "Travel is booked early.", "Taxis are paid back."],
    "copy": ["The tenant pays for travel.", "Meals are not paid."],
}


@pytest.fixture
def lexichord(dsn: str) -> Iterator[SyncLexichord]:
    with SyncLexichord(dsn=dsn) as lexichord:
        for uri, contents in TEXTS.items():
            chunks = [{"content": content, "context": f"Of {uri}"} for content in contents]
            lexichord.ingest(documents=[{"uri": uri, "chunks": chunks}], dataset="d")
        yield lexichord


def record(
    dsn: str, *hits: tuple[str, int], query: str | None = "who pays", **more: object
) -> None:
    """Record a query that found these chunks, each named by its document and place."""
    fields: dict[str, object] = {
        **{"intent": "general", "confidence": 0.9, "abstained": False, "version": "1"},
        **more,
    }
    with psycopg.connect(dsn, autocommit=True) as connection:
        places = (
            "select c.id, c.char_start, c.char_end from lexichord_data.chunk c "
            "join lexichord_data.document d on d.id = c.document_id "
            "where d.uri = %s and c.ordinal = %s"
        )
        rows = []
        for uri, ordinal in hits:
            row = connection.execute(places, (uri, ordinal)).fetchone()
            assert row is not None
            place = {"chunk_id": row[0], "char_start": row[1], "char_end": row[2]}
            rows.append({"dataset": "d", "uri": uri, "score": 1.0, **place})
        names = [*fields, "hits", "query"]
        arguments = ", ".join(f"{name} => %s" for name in names)
        call = f"select lexichord.record_query({arguments})".encode()
        connection.execute(call, [*fields.values(), Jsonb(rows), query])


FOUND = (
    ("lease", 1),
    ("policy", 0),  # may answer as well: its probability is above .1
    ("lease", 0),
    ("copy", 0),  # says the same
    ("policy", 1),
    ("copy", 1),
    ("policy", 2),
)
POSITIVE = "Of lease\nThe tenant pays for travel."
NEGATIVES = ["Of policy\nTravel is booked early.", "Of copy\nMeals are not paid."]


def test_what_is_surely_an_answer_and_surely_none_makes_a_triplet(
    dsn: str, lexichord: SyncLexichord
) -> None:
    record(dsn, *FOUND)
    triplets = lexichord.training_triplets(negatives=2)
    assert triplets == [TrainingTriplet("who pays", POSITIVE, text) for text in NEGATIVES]
    record(dsn, *FOUND)  # asked again
    assert len(lexichord.training_triplets(negatives=2)) == 2
    assert len(lexichord.training_triplets()) == 3
    record(dsn, *FOUND, query="who else pays")
    assert {each.anchor for each in lexichord.training_triplets(latest=1)} == {"who else pays"}


@pytest.mark.parametrize(
    "more",
    [
        {"query": None},
        {"abstained": True},
        {"confidence": 0.6},
        {"intent": "list_all"},
        {"intent": "comparison"},
    ],
)
def test_what_is_not_sure_teaches_nothing(
    dsn: str, lexichord: SyncLexichord, more: dict[str, object]
) -> None:
    record(dsn, *FOUND, **more)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="LEXICHORD_RECORD=text"):
        lexichord.training_triplets()


def test_a_passage_that_is_gone_is_left_out(dsn: str, lexichord: SyncLexichord) -> None:
    record(dsn, *FOUND)
    lexichord.delete(["copy"])
    negatives = [each.negative for each in lexichord.training_triplets()]
    assert negatives == ["Of policy\nTravel is booked early.", "Of policy\nTaxis are paid back."]
    lexichord.delete(["lease"])
    with pytest.raises(ConfigError):
        lexichord.training_triplets()


def test_the_command_writes_lines_of_json(
    dsn: str, lexichord: SyncLexichord, tmp_path: Path
) -> None:
    record(dsn, *FOUND)
    file = tmp_path / "triplets.jsonl"
    done = run_cli(dsn, tmp_path, "training-triplets", str(file), "--negatives", "1")
    assert (done.exit_code, done.stdout) == (0, "1 triplet written\n"), done.stderr
    (line,) = file.read_text(encoding="utf-8").splitlines()
    triplet = {"anchor": "who pays", "positive": POSITIVE, "negative": NEGATIVES[0]}
    assert json.loads(line) == triplet
    refused = run_cli(dsn, tmp_path, "training-triplets", str(tmp_path))
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1)
