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
MEANING, WORDS = "by meaning", "by words"


@pytest.fixture(scope="module")
def templates(embedded_dsn: str, embedding_template: str) -> Iterator[dict[str, str]]:
    with new_database(embedded_dsn) as by_words:
        schema.prepare(by_words, schema.Choice(space=EmbeddingSpace("test", "none", 8)))
        yield {MEANING: embedding_template, WORDS: by_words}


@contextmanager
def stored(template: str, home: Path, *paths: Path) -> Iterator[SyncLexichord]:
    """Files in a database of their own."""
    with (
        new_database(template, copy_of=template) as dsn,
        SyncLexichord(dsn=dsn, home=home) as lexichord,
    ):
        lexichord.ingest(list(paths))
        yield lexichord


@pytest.mark.parametrize("space", [MEANING, WORDS])
@pytest.mark.parametrize("beside", [(), ("agreements", "policies")], ids=["alone", "samples"])
def test_a_document_that_is_named_says_it_in_other_words(
    templates: dict[str, str], home: Path, tmp_path: Path, space: str, beside: tuple[str, ...]
) -> None:
    (tmp_path / "lease.md").write_text(LEASE)
    folders = [SAMPLES / folder for folder in beside]
    with stored(templates[space], home, tmp_path / "lease.md", *folders) as lexichord:
        found = lexichord.query("Which law applies to the Saltpan House lease?", answer=True)
    assert not found.abstained
    assert "governed by Irish law" in found.answer


@pytest.mark.parametrize(("space", "documents"), [(MEANING, 1), (MEANING, 10), (WORDS, 200)])
def test_the_words_that_ask_how_much_need_not_be_in_the_answer(
    templates: dict[str, str], home: Path, tmp_path: Path, space: str, documents: int
) -> None:
    write_others(tmp_path, documents - 1)
    (tmp_path / "handbook.md").write_text(LEAVE)
    with stored(templates[space], home, tmp_path) as lexichord:
        found = lexichord.query("how many days of leave a year", answer=True)
        foreign = lexichord.query("how many moons does Jupiter have", answer=True)
    assert not found.abstained
    assert "days of leave a year" in found.answer
    assert foreign.abstained


def test_a_sentence_without_a_date_is_no_sure_answer_to_when(
    embedding_template: str, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "ferry.md").write_text(
        "# Halden Ferry Timetable\n\nThe Halden Ferry Timetable, edition 4, was printed by Orsk. "
        "Ferries carry bicycles.\n"
    )
    question = "When was edition 4 of the Halden Ferry Timetable printed?"
    with stored(embedding_template, home, tmp_path, SAMPLES) as lexichord:
        found = lexichord.query(question, answer=True)
        by_whom = lexichord.query(question.replace("When was", "Who printed"), answer=True)
    assert (found.answer_confidence or 0) < 0.7 <= (by_whom.answer_confidence or 0)
