"""What is asked of next to nothing, and of a document that the question names, is answered."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.types import EmbeddingSpace
from tests.conftest import SAMPLES, new_database
from tests.others import write_others

LEASE = "# Saltpan House lease\n\nThis lease is governed by Irish law.\n"
LEAVE = "# Handbook\n\nEverybody has 30 days of leave a year.\n"
WORDS_ONLY = schema.Choice(space=EmbeddingSpace("test", "none", 8))
SPACES = [pytest.param(schema.Choice(), id="by meaning"), pytest.param(WORDS_ONLY, id="by words")]


@contextmanager
def stored(server: str, home: Path, choice: schema.Choice, *paths: Path) -> Iterator[SyncLexichord]:
    """Files in a database of their own."""
    with new_database(server) as dsn:
        schema.prepare(dsn, choice)
        with SyncLexichord(dsn=dsn, home=home) as lexichord:
            lexichord.ingest(list(paths))
            yield lexichord


@pytest.mark.parametrize("choice", SPACES)
@pytest.mark.parametrize("beside", [(), ("agreements", "policies")], ids=["alone", "samples"])
@pytest.mark.usefixtures("embedder")
def test_a_document_that_is_named_says_it_in_other_words(
    embedded_dsn: str, home: Path, tmp_path: Path, choice: schema.Choice, beside: tuple[str, ...]
) -> None:
    (tmp_path / "lease.md").write_text(LEASE)
    folders = [SAMPLES / folder for folder in beside]
    with stored(embedded_dsn, home, choice, tmp_path / "lease.md", *folders) as lexichord:
        found = lexichord.query("Which law applies to the Saltpan House lease?", answer=True)
    assert not found.abstained
    assert "governed by Irish law" in found.answer


@pytest.mark.parametrize(
    ("choice", "documents"),
    [
        *(pytest.param(schema.Choice(), count, id=f"{count} by meaning") for count in (1, 10)),
        *(pytest.param(WORDS_ONLY, count, id=f"{count} by words") for count in (1, 200)),
    ],
)
@pytest.mark.usefixtures("embedder")
def test_the_words_that_ask_how_much_need_not_be_in_the_answer(
    embedded_dsn: str, home: Path, tmp_path: Path, choice: schema.Choice, documents: int
) -> None:
    write_others(tmp_path, documents - 1)
    (tmp_path / "handbook.md").write_text(LEAVE)
    with stored(embedded_dsn, home, choice, tmp_path) as lexichord:
        found = lexichord.query("how many days of leave a year", answer=True)
        foreign = lexichord.query("how many moons does Jupiter have", answer=True)
    assert not found.abstained
    assert "days of leave a year" in found.answer
    assert foreign.abstained


@pytest.mark.usefixtures("embedder")
def test_a_sentence_without_a_date_is_no_sure_answer_to_when(
    embedded_dsn: str, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "ferry.md").write_text(
        "# Halden Ferry Timetable\n\nThe Halden Ferry Timetable, edition 4, was printed by Orsk. "
        "Ferries carry bicycles.\n"
    )
    question = "When was edition 4 of the Halden Ferry Timetable printed?"
    with stored(embedded_dsn, home, schema.Choice(), tmp_path, SAMPLES) as lexichord:
        found = lexichord.query(question, answer=True)
        by_whom = lexichord.query(question.replace("When was", "Who printed"), answer=True)
    assert (found.answer_confidence or 0) < 0.7 <= (by_whom.answer_confidence or 0)
