"""The columns of a comparison, out of a question that has lost its documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.retrieve.understand import MAX_READ_CHARS
from lexichord.retrieve.understand.aspects import MAX_ASPECTS, find_aspects
from tests.wordings import worded


@worded("question", "aspects")
def test_each_thing_of_a_list_is_an_aspect(question: str, aspects: list[str]) -> None:
    assert [*find_aspects(question)] == aspects


@pytest.mark.parametrize("question", ["How do they differ?", ""])
def test_without_a_list_the_question_is_the_aspect(question: str) -> None:
    assert find_aspects(question) == (question,)


@worded("listed", "aspects")
def test_words_tell_what_belongs_together(listed: str, aspects: list[str] | int) -> None:
    result = find_aspects(f"Compare {listed}.")
    assert (len(result) if isinstance(aspects, int) else [*result]) == aspects


def test_questions_that_are_joined_are_aspects() -> None:
    aspects = find_aspects("Which law governs, and how long do they last?")
    assert aspects == ("Which law governs", "how long do they last")
    aspects = find_aspects("I have two offers. Compare the rent. Which is cheaper to leave?")
    assert aspects == ("rent", "Which is cheaper to leave")


def test_a_named_document_is_no_aspect() -> None:
    query = "Compare the lease and the licence."
    assert find_aspects(query, "lease, licence") == (query,)
    assert find_aspects("Compare rent in the lease and fees.", "lease") == (
        "rent in the lease",
        "fees",
    )


def test_of_a_long_list_the_last_aspect_takes_the_rest() -> None:
    aspects = find_aspects("Compare " + ", ".join(f"x{n}" for n in range(12)))
    assert len(aspects) == MAX_ASPECTS
    assert aspects[-1] == "x7, x8, x9, x10, x11"


def test_a_long_text_is_one_aspect() -> None:
    text = "Compare rent and fees. " + "x" * MAX_READ_CHARS
    assert find_aspects(text) == (text,)


PIECES = ["compare ", "the ", "rent", "fee ", " and ", ", ", "; ", "? ", ". ", "\n", "how do ", "“"]
PIECES += [
    *("differ in ", "(", ")", "between ", "which ", ": ", "”", "say about ", "the same ", " or "),
]


@given(st.lists(st.sampled_from(PIECES)))
def test_aspects_are_words_of_the_question(pieces: list[str]) -> None:
    question = "".join(pieces)
    aspects = find_aspects(question)
    assert 1 <= len(aspects) <= MAX_ASPECTS
    assert all(aspect in question for aspect in aspects)
    assert len({aspect.casefold() for aspect in aspects}) == len(aspects)
