from collections import Counter

import pytest

from lexichord.db.evidence import Postings
from lexichord.retrieve.judge.in_documents import compare_sentences

RIVALS = [
    f"{words} w{number}"
    for number, words in enumerate(["rent due early", "cats sleep long", "rent due early"] * 2)
]
DOCUMENTS = ["a", "a", "b", "b", "c", "c"]
COSINES = [0.9, 0.1, 0.8, None, 0.7, 0.1]


def postings(*texts: str) -> list[Postings]:
    counts = [Counter(text.split()) for text in texts]
    lexemes = sorted({lexeme for held in counts for lexeme in held})
    places = {word: [n for n, held in enumerate(counts) if word in held] for word in lexemes}
    return [
        Postings(word, 1.0, numbers, [counts[n][word] for n in numbers])
        for word, numbers in places.items()
    ]


def relative(*sentences: str, query: str = "rent") -> float:
    texts = [*RIVALS, *sentences]
    return compare_sentences(postings(*texts, query), range(len(texts)), DOCUMENTS, COSINES)


def test_a_sentence_like_the_best_is_about_one() -> None:
    assert relative("rent due early here") == pytest.approx(1, abs=0.2)


def test_words_that_the_best_share_count_without_being_asked_for() -> None:
    learnt, of_query, other = relative("due early"), relative("rent"), relative("cats sleep")
    assert learnt > 0.3
    assert of_query > 0.3
    assert other == pytest.approx(0, abs=0.01)


def test_the_best_sentence_counts() -> None:
    assert relative("cats sleep", "rent due early") == pytest.approx(
        relative("rent due early"), rel=0.1
    )


def test_without_own_sentences_there_is_no_evidence() -> None:
    assert relative() == 0


def test_rivals_without_words_compare_with_nothing() -> None:
    assert compare_sentences(postings("", "rent", "rent"), [0, 1], ["a"], [None]) == 0
    assert compare_sentences([], [0, 1], ["a", "a"], [0.5, 0.5]) == 0


def test_words_that_only_the_question_has_change_nothing() -> None:
    assert relative("rent due", query="rent flibber") == relative("rent due")


def test_a_text_that_is_several_sentences_is_analysed_once() -> None:
    rivals, own = ["rent due early", "cats sleep long"], "rent cats"
    apart = postings(*rivals, *rivals, own, own, "rent")
    once = postings(*rivals, own, "rent")
    judged = ["a", "a", "b", "b"], [0.9, 0.1, 0.8, 0.1]
    whole = compare_sentences(apart, [0, 1, 2, 3, 4, 5], *judged)
    assert compare_sentences(once, [0, 1, 0, 1, 2, 2], *judged) == pytest.approx(whole)
    assert compare_sentences(once, [0, 1, 2, 2], ["a", "b"], [0.9, 0.1]) != pytest.approx(whole)
