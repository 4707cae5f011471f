"""Entities of answers: what is extracted without the gold, and how it is scored against it."""

from dataclasses import astuple
from inspect import signature

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.evaluate.entities import (
    MAX_ANSWER_CHARS,
    RULE_ENTITY_TYPES,
    EntityCounts,
    EntityScores,
    count_entities,
    extract_entities,
    find_standing,
    score_entities,
    tabulate_entities,
)
from lexichord.types.evaluation import EvalQuery, Outcome

EXTRACTED = [
    ("within thirty (30) days of 1 July 2024", {"TIME": ["thirty (30) days", "1 July 2024"]}),
    ("EUR 5,000 or 5% of it", {"MONEY": ["EUR 5,000"], "PERCENTAGE": ["5%"]}),
    ("from Marlow Pumps AB to", {"ORGANIZATION": ["Marlow Pumps AB"]}),
    ("The Bank of England and the University of Delaware", None),
    ("the laws of the State of New York", {"LOCATION": ["State of New York"]}),
    ("the courts of England and Wales", {"LOCATION": ["England", "Wales"]}),
    ("a company incorporated in Lund", {"LOCATION": ["Lund"]}),
    ("within a fifty (50) mile radius", {"LOCATION": ["fifty (50) mile radius"]}),
    ("30 days, then 30 days", {"TIME": ["30 days"]}),
    ("The Receiving Party, located in Section 5 of the Agreement, shall not", {}),
    ("", {}),
]


@pytest.mark.parametrize(("text", "expected"), EXTRACTED)
def test_what_is_extracted(text: str, expected: dict[str, list[str]] | None) -> None:
    if expected is None:
        expected = {"ORGANIZATION": ["Bank of England", "University of Delaware"]}
    assert extract_entities(text) == {kind: expected.get(kind, []) for kind in RULE_ENTITY_TYPES}


def test_the_extractor_is_given_the_text_and_nothing_else() -> None:
    assert list(signature(extract_entities).parameters) == ["text"]


@given(st.lists(st.sampled_from([text for text, _ in EXTRACTED])).map(". ".join) | st.text())
def test_entities_stand_in_the_text_as_written(text: str) -> None:
    for entities in extract_entities(text).values():
        assert len(set(entities)) == len(entities)
        assert all(entity and entity in text for entity in entities)


POST = EvalQuery(  # an example of a post about such retrieval
    "test_006",
    "Is there a confidentiality obligation that survives contract termination?",
    entities={
        "TIME": ["5 years", "from the date of disclosure"],
        "CONDITION": ["termination", "expiration", "confidential"],
    },
    critical=("TIME", "CONDITION"),
)
EXACT = (
    "The obligations of confidentiality shall survive termination or expiration of this Agreement"
    " and shall continue for a period of five (5) years from the date of disclosure of the"
    " Confidential Information."
)


LEASE = EvalQuery(
    "lease",
    "?",
    entities={
        "MONEY": ["EUR 5,000|5,000 euro a month", "$20"],
        "TIME": ["three months"],
        "ACTION": ["pay|transfer", "notify the landlord"],
    },
    critical=("MONEY",),
)
ANSWER = "The tenant shall transfer 5,000 euros within 3 months, or 10 days in London."


def test_counts_by_hand() -> None:
    counts = count_entities(LEASE, ANSWER)
    assert counts["MONEY"] == EntityCounts(gold=2, matched=1, extracted=1, right=1)
    assert counts["TIME"] == EntityCounts(gold=1, matched=1, extracted=2, right=1)
    assert counts["LOCATION"] == EntityCounts(gold=0, matched=0, extracted=1, right=0)
    assert counts["ACTION"] == EntityCounts(gold=2, matched=1, extracted=0, right=0)


def test_scores_by_hand() -> None:
    scores = score_entities(LEASE, ANSWER)
    precision, recall = 2 / 4, 2 / 3
    assert scores == pytest.approx(
        {
            "entity_precision": precision,
            "entity_recall": recall,
            "entity_f1": 2 * precision * recall / (precision + recall),
            "entity_recall_all": 3 / 5,
            "entity_critical": 1 / 2,
        }
    )


MARKED = {"MONEY": ["5,000 euros"], "TIME": ["3 months"], "ACTION": ["shall transfer", "in London"]}


def test_a_model_s_entities_are_judged_in_all_types_and_no_others() -> None:
    counts = count_entities(LEASE, ANSWER, MARKED)
    assert counts["MONEY"] == EntityCounts(gold=2, matched=1, extracted=1, right=1)
    assert counts["TIME"] == EntityCounts(gold=1, matched=1, extracted=1, right=1)
    assert counts["LOCATION"] == EntityCounts(gold=0, matched=0, extracted=0, right=0)
    assert counts["ACTION"] == EntityCounts(gold=2, matched=1, extracted=2, right=1)
    scores = score_entities(LEASE, ANSWER, MARKED)
    assert scores["entity_llm_precision"] == 3 / 4
    assert scores["entity_llm_recall"] == scores["entity_recall_all"] == 3 / 5
    table = tabulate_entities([LEASE], [Outcome("lease", (), answer=ANSWER, entities=MARKED)])
    assert astuple(table["ACTION"]) == (1 / 2, 1 / 2, 1 / 2)
    assert astuple(table["micro"]) == pytest.approx((3 / 4, 3 / 5, 2 / 3))


@pytest.mark.parametrize(
    ("entity", "stands"),
    [("five years", True), ("5\nYEARS", True), ("15 years", False), ("§", False)],
)
def test_what_stands_in_a_text_does_so_by_whole_words(entity: str, stands: bool) -> None:
    standing = find_standing("For five (5) years, § 7.", [entity, entity])
    assert standing == ([entity] if stands else [])
    assert find_standing("For 25 years of it.", ["5 years", "25 years"]) == ["25 years"]


@pytest.mark.parametrize(
    ("entity", "right"),
    [
        ("Marlow Pumps AB", 1),
        ("Marlow Pumps", 1),
        ("the seller, Marlow Pumps AB", 1),
        ("Marlow Fans AB", 0),
    ],
)
def test_what_is_extracted_is_right_if_it_is_in_a_variant_or_holds_one(
    entity: str, right: int
) -> None:
    query = EvalQuery("q", "?", entities={"ORGANIZATION": [f"nobody|{entity}"]})
    assert count_entities(query, "From Marlow Pumps AB.")["ORGANIZATION"].right == right


def test_micro_counts_every_entity_alike() -> None:
    queries = [POST, LEASE, EvalQuery("none", "?")]
    outcomes = [Outcome("test_006", (), answer=EXACT), Outcome("lease", (), answer=ANSWER)]
    table = tabulate_entities(queries, [*outcomes, Outcome("none", (), answer="EUR 7 in 7 days")])
    expected = {
        "TIME": (2 / 3, 1, 0.8),
        "MONEY": (1, 0.5, 2 / 3),
        "LOCATION": (0, None, None),
        "PERCENTAGE": (None, None, None),
        "CONDITION": (None, 1, None),
        "ACTION": (None, 0.5, None),
        "micro": (3 / 5, 4 / 5, 24 / 35),
        "micro_all": (None, 8 / 10, None),
        "micro_critical": (None, 6 / 7, None),
    }
    assert {name: astuple(table[name]) for name in expected} == {
        name: pytest.approx(scores) for name, scores in expected.items()
    }


def test_an_error_has_found_nothing_whatever_it_says() -> None:
    table = tabulate_entities([POST], [Outcome("test_006", (), answer=EXACT, error="gone")])
    assert table["micro"] == EntityScores(0, 0, 0)
    assert table["micro_all"].recall == 0


@pytest.mark.parametrize(
    ("entity", "answer", "is_found"),
    [
        ("5 years", "for five (5) years after", True),
        ("5 years", "for 15 years", False),
        ("term", "the terms of it", True),
        ("not disclose", "shall NOT\ndisclose", True),
        ("10%|a tenth", "pay a tenth of it", True),
        ("|", "anything", False),
        ("€", "EUR", True),
    ],
)
def test_entities_are_found_by_whole_words_however_written(
    entity: str, answer: str, is_found: bool
) -> None:
    query = EvalQuery("q", "?", entities={"CONDITION": [entity]})
    assert score_entities(query, answer)["entity_recall_all"] == is_found


def test_answers_are_cut_to_one_length_between_words() -> None:
    query = EvalQuery("q", "?", entities={"TIME": ["5 years"]})
    room = " " * (MAX_ANSWER_CHARS - len("5 years"))
    assert score_entities(query, f"{room}5 years")["entity_recall"] == 1
    assert score_entities(query, f"{room}5 years and more")["entity_recall"] == 0
    assert score_entities(query, f" {room}5 years")["entity_recall"] == 0
    assert score_entities(query, "x" * MAX_ANSWER_CHARS + " 5 years")["entity_recall"] == 0


@given(st.text(max_size=60) | st.sampled_from([ANSWER, EXACT]))
def test_scores_are_shares_and_f1_lies_between_the_two(answer: str) -> None:
    scores = score_entities(LEASE, answer)
    assert all(value is not None and 0 <= value <= 1 for value in scores.values())
    both = [scores["entity_precision"] or 0, scores["entity_recall"] or 0]
    assert min(both) - 1e-9 <= (scores["entity_f1"] or 0) <= max(both) + 1e-9
