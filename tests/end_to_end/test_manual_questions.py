"""What people ask of a manual: a command, a default, a keyword, two things that are alike.

The manual is of a program that does not exist; contracts and policies stand beside it.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from tests.conftest import SAMPLES, new_database

MANUAL = Path(__file__).parent / "manual"


@pytest.fixture(scope="module")
def manual(embedding_template: str, home: Path) -> Iterator[SyncLexichord]:
    with (
        new_database(embedding_template, copy_of=embedding_template) as dsn,
        SyncLexichord(dsn=dsn, home=home) as lexichord,
    ):
        lexichord.ingest([MANUAL, SAMPLES / "agreements", SAMPLES / "policies"])
        yield lexichord


def test_a_command_is_the_answer_where_two_titles_stand_in_the_question(
    manual: SyncLexichord,
) -> None:
    response = manual.query("How do I launch a worker from the command line?", answer=True)
    assert response.intent.kind != "comparison"
    assert "hodd run --app=mill.app worker" in response.answer


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is the priority of a task that is given none?", "If you give no priority, it is 0"),
        ("Which keyword takes a length of time?", "The keyword `after` takes a length of time"),
        ("What is the default priority of a task?", "If you give no priority, it is 0"),
    ],
)
def test_what_says_it_stands_before_what_speaks_of_it(
    manual: SyncLexichord, question: str, first: str
) -> None:
    response = manual.query(question, answer=True)
    assert response.claimed
    assert response.answer.startswith(first)


@pytest.mark.parametrize(
    "question",
    [
        "How do I schedule a task an hour and a half from now?",
        "How do I put off a task for 90 minutes?",
    ],
)
def test_what_few_words_of_the_question_say_is_marked_in_its_passage_and_not_claimed(
    manual: SyncLexichord, question: str
) -> None:
    response = manual.query(question, answer=True)
    assert not response.claimed
    assert "**The keyword `after` takes a length of time" in response.answer


@pytest.mark.parametrize(
    "question",
    [
        "Compare a lock and a queueing lock.",
        "What is the difference between a lock and a queueing lock?",
    ],
)
def test_both_of_two_things_that_are_alike_are_found(manual: SyncLexichord, question: str) -> None:
    response = manual.query(question, answer=True)
    said = {quote.uri.rpartition("/")[2] for quote in response.quotes}
    assert {"locks.md", "queueing-locks.md"} <= said
    assert "never done at the same time" in response.answer
    assert "at most one task waits" in response.answer


@pytest.mark.parametrize(
    ("question", "things", "pages"),
    [
        (
            "Compare tab completion and negative numbers",
            ("tab completion", "negative numbers"),
            "finds 'Use the command line', 'Priorities'",
        ),
        (
            "shelf list vs retry",
            ("shelf list", "retry"),
            "names 'Retries'; finds 'Use the command line'",
        ),
    ],
)
def test_things_that_no_page_is_called_are_the_columns_of_the_pages_that_tell_of_them(
    manual: SyncLexichord, question: str, things: tuple[str, str], pages: str
) -> None:
    response = manual.query(question, answer=True)
    assert response.comparison is not None
    assert response.comparison.aspects == things
    assert response.intent.reason.endswith(f"; {pages}")
    filled = [cell for cell in response.comparison.cells if cell.quotes]
    said = {cell.aspect: cell.quotes[0].text for cell in filled}
    assert all(thing[:4].lower() in said[thing].lower() for thing in things)


@pytest.mark.parametrize(
    "question",
    [
        "Which version of Python does the worker need?",
        "How do I paint the office green?",
        "How much does a support contract for hodd cost?",
    ],
)
def test_what_the_manual_does_not_say_is_not_claimed(manual: SyncLexichord, question: str) -> None:
    assert not manual.query(question, answer=True).claimed


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("How many attempts does retry=5 allow in HODD-7?", "HODD-7"),
        ("What does the keyword `after` take since 2019?", "2019"),
    ],
)
def test_what_is_asked_of_something_that_no_text_holds_is_not_claimed(
    manual: SyncLexichord, question: str, absent: str
) -> None:
    response = manual.query(question, answer=True)
    assert not response.claimed
    assert response.answer_confidence is None
    assert response.answer.startswith("Nothing that was found surely answers this.")
    assert any(f"no text in scope holds {absent}:" in line for line in response.degraded)
    without = manual.query(question.replace(f" in {absent}", "").replace(f" since {absent}", ""))
    assert not any("no text in scope" in line for line in without.degraded)
