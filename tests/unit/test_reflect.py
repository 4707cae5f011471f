from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.retrieve.reflection import (
    add_round,
    cover_by_reading,
    decide_next_query,
    held_share,
    is_covered,
    is_passed,
    missing_entities,
)
from lexichord.retrieve.values import find_unsupported
from lexichord.types import ReflectOptions
from lexichord.types.response import Budget, Coverage, Grade, Reflection, Rewrite, Round, Term
from tests.builders import scored_hit

PLENTY = Budget(rounds=2, milliseconds=1000)
POOR = Coverage(0.2, ("rent",))
OTHER = [Rewrite("none", "q", "-"), Rewrite("expansion", "q deposit", "added 'deposit'")]


def term(idf: float, *chunks: str) -> Term:
    return Term("w", ("w",), 1, 1, idf, chunks)


def test_share_of_terms() -> None:
    terms = [term(3, "a"), term(1, "b"), term(4)]
    assert held_share(terms) == 0.5
    assert held_share(terms, ["b"]) == 0.125
    assert held_share([]) is None


def test_a_sub_question_needs_one_passage_that_speaks_of_it() -> None:
    assert is_covered([term(1, "a"), term(1)])
    assert not is_covered([term(1, "a"), term(1, "b"), term(1, "c")])
    assert not is_covered([])


def test_a_reader_tells_which_questions_are_answered() -> None:
    both = cover_by_reading(POOR, {"a": True, "b": True})
    assert both == Coverage(1.0, ("rent",))
    one = cover_by_reading(both, {"a": True, "b": False})
    assert one == Coverage(0.5, ("rent",), (), ("b",))
    assert decide_next_query(one, PLENTY).query == "b"
    alone = cover_by_reading(one, {"a": False})
    assert alone == Coverage(0.0, ("rent",))
    assert decide_next_query(alone, PLENTY, OTHER).query == "q deposit"


def test_entities_are_whole_words() -> None:
    assert missing_entities(["T", "c", "All"], [scored_hit("a", None)]) == ["All"]
    across = ["h c"]  # of the heading and the content
    assert missing_entities(across, [scored_hit("a", None)]) == across


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("It is 1,000 EUR.", "EUR 1000"),
        ("Within 36 hours [1], see [2, 3]", "thirty-six (36) hours"),
        ("ninety days", "90 days"),
        ("on February 5th, 2025", "the 5th day of February 2025"),
        ("section 5.2.1", "5.2.1 Rent"),
        ("", ""),
    ],
)
def test_what_a_source_holds_is_supported(answer: str, source: str) -> None:
    assert find_unsupported(answer, ["else", source]) == ()


@pytest.mark.parametrize(
    ("answer", "source", "wrong"),
    [
        ("10 and 10", "100 and 1.10", ("10",)),
        ("on 6 February 2025", "on 5 February 2025, 6 times", ("6 February 2025",)),
        ("5.2", "5.2.1", ("5.2",)),
        ("within 5 days", "on 5 February 2025", ("5",)),
        ("twelve months", "two months", ("twelve",)),
    ],
)
def test_what_no_source_holds_is_told(answer: str, source: str, wrong: tuple[str, ...]) -> None:
    assert find_unsupported(answer, [source]) == wrong


@given(st.text("0123456789., abc-[]/", max_size=40))
def test_any_text_supports_itself(text: str) -> None:
    assert find_unsupported(text.replace("[", ""), [text.replace("[", "")]) == ()


@given(st.decimals(0, 10**6, places=2, allow_nan=False, allow_infinity=False))
def test_a_number_is_found_however_it_is_grouped(number: Decimal) -> None:
    assert find_unsupported(f"{number}", [f"EUR {number:,} in all"]) == ()
    assert find_unsupported(f"{number + 1}", [f"EUR {number:,} in all"]) == (f"{number + 1}",)


def test_a_covered_question_stops() -> None:
    decision = decide_next_query(Coverage(ReflectOptions.min_coverage), PLENTY, OTHER)
    assert (decision.query, decision.reason) == (None, "the evidence covers 70%")


def test_a_rewrite_is_handed_back_once() -> None:
    assert decide_next_query(POOR, PLENTY, OTHER).query == "q deposit"
    assert decide_next_query(POOR, PLENTY, OTHER, tried=["Q Deposit"]).query is None


def test_an_uncovered_sub_question_goes_first() -> None:
    part = Coverage(0.9, uncovered_sub_questions=("what of rent?",))
    assert decide_next_query(part, PLENTY, OTHER).query == "what of rent?"
    assert decide_next_query(part, PLENTY, OTHER, tried=["what of rent?"]).query == "q deposit"


@given(st.integers(-1, 3), st.floats(-10, 100), st.floats(0, 100))
def test_no_round_is_begun_outside_the_budget(rounds: int, left: float, cost: float) -> None:
    decision = decide_next_query(POOR, Budget(rounds, left), OTHER, expected_ms=cost)
    assert (decision.query is None) == (rounds < 1 or left <= 0 or left < cost)
    assert decision.reason


def test_an_error_is_recorded_and_is_no_pass() -> None:
    good = Reflection(Coverage(1.0), "the evidence covers 100%")
    assert is_passed(good)
    failed = add_round(good, Round("q", "expansion", 5.0, error="time-out"), Coverage(1.0))
    assert failed.errors == ("time-out",)
    assert failed.coverage == good.coverage
    assert not is_passed(failed)


def test_one_low_grade_is_no_pass() -> None:
    covered = Reflection(Coverage(1.0), "")
    high, low = Grade("grounding", 0.7, ""), Grade("completeness", 0.6, "")
    assert is_passed(replace(covered, grades=(high,)))
    assert not is_passed(replace(covered, grades=(high, low)))
    assert is_passed(replace(covered, grades=(high, low)), min_grade=0.6)


def test_a_round_brings_its_coverage() -> None:
    start = Reflection(POOR, "")
    after = add_round(start, Round("q", "expansion", 5.0, coverage=0.9), Coverage(0.9))
    assert after.coverage == Coverage(0.9)
    assert len(after.rounds) == 1
    assert is_passed(after)
    assert not is_passed(start)
    assert not is_passed(Reflection(None, "could not be measured"))
    assert not is_passed(Reflection(Coverage(1.0), "", unsupported=("12",)))
