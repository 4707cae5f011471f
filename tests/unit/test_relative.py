import pytest

from lexichord.db.evidence import Terms
from lexichord.retrieve.relative import compare


def terms(text: str) -> Terms:
    return {word: (text.split().count(word), 1.0) for word in text.split()}


RIVALS = [
    terms(f"{words} w{number}")
    for number, words in enumerate(["rent due early", "cats sleep long", "rent due early"] * 2)
]
DOCUMENTS = [1, 1, 2, 2, 3, 3]
COSINES = [0.9, 0.1, 0.8, None, 0.7, 0.1]


def relative(*sentences: str) -> float:
    own = [terms(sentence) for sentence in sentences]
    return compare(terms("rent"), [*RIVALS, *own], DOCUMENTS, COSINES)


def test_a_sentence_like_the_best_is_about_one() -> None:
    assert relative("rent due early here") == pytest.approx(1, abs=0.2)


def test_words_that_the_best_share_count_without_being_asked_for() -> None:
    learnt, asked, other = relative("due early"), relative("rent"), relative("cats sleep")
    assert learnt > 0.3
    assert asked > 0.3
    assert other == pytest.approx(0, abs=0.01)


def test_the_best_sentence_counts() -> None:
    assert relative("cats sleep", "rent due early") == pytest.approx(
        relative("rent due early"), rel=0.1
    )


def test_without_own_sentences_there_is_no_evidence() -> None:
    assert relative() == 0


def test_rivals_without_words_compare_with_nothing() -> None:
    assert compare(terms("rent"), [{}, terms("rent")], [1], [None]) == 0
    assert compare({}, [{}, {}], [1], [0.5]) == 0
