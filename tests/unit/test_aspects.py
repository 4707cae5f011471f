"""The columns of a comparison, out of a question that has lost its documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.retrieve.understand import MAX_READ_CHARS
from lexichord.retrieve.understand.aspects import MAX_ASPECTS, find_aspects


@pytest.mark.parametrize(
    ("question", "aspects"),
    [
        (
            "How do differ in the survival of confidentiality obligations, the penalty for a"
            " breach and the limit of liability?",
            [
                "survival of confidentiality obligations",
                "penalty for a breach",
                "limit of liability",
            ],
        ),
        (
            "What is the difference between in the retention of customer support logs, backup"
            " copies and hotel rooms?",
            ["retention of customer support logs", "backup copies", "hotel rooms"],
        ),
        ("Are the rules on sub-processors the same in both?", ["rules on sub-processors"]),
        ("Compare fees with regard to late payment and refunds.", ["late payment", "refunds"]),
        ("Compare:\n- fees\n- the dates, if known", ["fees", "dates", "if known"]),
        ("governing law and term", ["governing law", "term"]),
        (
            "Could you compare how disputes are settled, as well as the language of the contract,"
            " in the three of them?",
            ["how disputes are settled", "language of the contract"],
        ),
        ("Which has the longer term?", ["term"]),
        ("Worin unterscheiden sich bei der Kaution und der Laufzeit?", ["Kaution", "Laufzeit"]),
        ("which is longer, how long logs are kept?", ["how long logs are kept"]),
        (
            "What do say about a lost device, about gifts and about how often they are reviewed?",
            ["a lost device", "gifts", "how often they are reviewed"],
        ),
    ],
)
def test_each_thing_of_a_list_is_an_aspect(question: str, aspects: list[str]) -> None:
    assert [*find_aspects(question)] == aspects


@pytest.mark.parametrize("question", ["How do they differ?", ""])
def test_without_a_list_the_question_is_the_aspect(question: str) -> None:
    assert find_aspects(question) == (question,)


@pytest.mark.parametrize(
    ("listed", "aspects"),
    [
        ("the terms and conditions for hosts", ["terms and conditions for hosts"]),
        ("“rent and costs” and notice", ["“rent and costs”", "notice"]),
        ("direct and indirect losses", 1),
        ("the rights and obligations", 1),
        ("the rights and the obligations", 2),
        ("the searches and seizures, and rescue", 2),
        ("loss, fire or theft", 3),
        ("a cap of 1,000 euros and interest", 2),
        ("a notice for 30 days", ["a notice for 30 days"]),
        # What words cannot tell: quotes would.
        ("oral and written notice", ["oral", "written notice"]),
    ],
)
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
