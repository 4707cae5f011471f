"""Dates, amounts, durations, percentages and companies, as they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.retrieve.values import find_values

FOUND = [
    ("for eighteen (18) months", ["duration eighteen (18) months"]),
    ("one hundred and twenty (120) days", ["duration one hundred and twenty (120) days"]),
    ("a rolling six-month forecast", ["duration six-month"]),
    ("10-12 % or 5 - 8 euros", ["percentage 10-12 %", "amount 5 - 8 euros"]),
    ("\u20ac10 000, US$5 million", ["amount \u20ac10 000", "amount US$5 million"]),
    ("5.2 EUR 500", ["amount EUR 500"]),
    ("ten thousand Euro", ["amount ten thousand Euro"]),
    ("from 1 July 2024 on", ["date 1 July 2024"]),
    ("2024-07-01, 1.7.2024", ["date 2024-07-01", "date 1.7.2024"]),
    ("by 31 May in each year", ["date 31 May"]),
    ("ten per cent (10%)", ["percentage ten per cent (10%)"]),
    ("between Acme Pumps AB, and", ["party Acme Pumps AB"]),
    ("a \u00a3650 day rate", ["amount \u00a3650"]),
]
NOT_FOUND = [
    "section 5.2. of the Agreement",
    "12%20Munt.txt",
    "someone yearns; a tone days away",
    "1.2 Business Days are",
    "It may 3 be; may be",
    "heard by the AS400",
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_what_is_found(text: str, expected: list[str]) -> None:
    assert [f"{value.kind} {value.text}" for value in find_values(text)] == expected


@pytest.mark.parametrize("text", NOT_FOUND)
def test_words_and_section_numbers_hold_no_values(text: str) -> None:
    assert find_values(text) == ()


pieces = st.sampled_from([text for text, _ in FOUND] + NOT_FOUND + ["(", "1", " 5", "%", "\n"])


@given(st.lists(pieces, max_size=8).map(" ".join))
def test_values_are_verbatim_and_do_not_overlap(text: str) -> None:
    end = 0
    for value in find_values(text):
        assert text[value.start : value.end] == value.text
        assert value.start >= end
        end = value.end
