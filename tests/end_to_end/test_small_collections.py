"""What is asked of next to nothing, and of a document that the question names, is answered."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from tests.conftest import SAMPLES, new_database
from tests.others import write_others

LEASE = "# Saltpan House lease\n\nThis lease is governed by Irish law.\n"
LEAVE = "# Handbook\n\nEverybody has 30 days of leave a year.\n"
MEANING, WORDS = "by meaning", "by words"


@pytest.fixture(scope="module")
def by_words(bare: str) -> Iterator[str]:
    """The samples, without an embedder: to be copied."""
    with new_database(bare, copy_of=bare) as dsn:
        with SyncLexichord(dsn=dsn) as lexichord:
            lexichord.ingest([SAMPLES / "agreements", SAMPLES / "policies"])
        yield dsn


@pytest.fixture
def templates(
    bare: str, by_words: str, embedding_template: str, corpus: str
) -> dict[tuple[str, bool], str]:
    """By the way to search, and whether the samples are in it."""
    return {
        (MEANING, False): embedding_template,
        (MEANING, True): corpus,
        (WORDS, False): bare,
        (WORDS, True): by_words,
    }


@contextmanager
def stored(template: str, home: Path, folder: Path) -> Iterator[SyncLexichord]:
    """Files in a database of their own, with what the template has."""
    with (
        new_database(template, copy_of=template) as dsn,
        SyncLexichord(dsn=dsn, home=home) as lexichord,
    ):
        lexichord.ingest([folder])
        yield lexichord


@pytest.mark.parametrize("space", [MEANING, WORDS])
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "samples"])
def test_a_document_that_is_named_says_it_in_other_words(
    templates: dict[tuple[str, bool], str], home: Path, tmp_path: Path, space: str, beside: bool
) -> None:
    (tmp_path / "lease.md").write_text(LEASE)
    with stored(templates[space, beside], home, tmp_path) as lexichord:
        found = lexichord.query("Which law applies to the Saltpan House lease?", answer=True)
    assert not found.abstained
    assert "governed by Irish law" in found.answer


@pytest.mark.parametrize(("space", "documents"), [(MEANING, 1), (MEANING, 10), (WORDS, 200)])
def test_the_words_that_ask_how_much_need_not_be_in_the_answer(
    templates: dict[tuple[str, bool], str], home: Path, tmp_path: Path, space: str, documents: int
) -> None:
    write_others(tmp_path, documents - 1)
    (tmp_path / "handbook.md").write_text(LEAVE)
    with stored(templates[space, False], home, tmp_path) as lexichord:
        found = lexichord.query("how many days of leave a year", answer=True)
        foreign = lexichord.query("how many moons does Jupiter have", answer=True)
    assert not found.abstained
    assert "days of leave a year" in found.answer
    assert foreign.abstained


@pytest.mark.xfail(reason="the reader takes who printed it for when", strict=True)
def test_a_sentence_without_a_date_is_no_sure_answer_to_when(
    corpus: str, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "ferry.md").write_text(
        "# Halden Ferry Timetable\n\nThe Halden Ferry Timetable, edition 4, was printed by Orsk. "
        "Ferries carry bicycles.\n"
    )
    question = "When was edition 4 of the Halden Ferry Timetable printed?"
    with stored(corpus, home, tmp_path) as lexichord:
        found = lexichord.query(question, answer=True)
        by_whom = lexichord.query(question.replace("When was", "Who printed"), answer=True)
    assert (found.answer_confidence or 0) < 0.7 <= (by_whom.answer_confidence or 0)
