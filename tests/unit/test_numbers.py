"""Number words and dates have one grammar: finding, checking and comparing texts agree."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.evaluate.entities import extract_entities, normalise
from lexichord.retrieve.values import (
    MONTH_NAMES,
    SPELLED_NUMBER,
    find_dates,
    find_unsupported,
    find_values,
    parse_number,
)

SPELLED = [
    ("seventeen", "17"),
    ("twenty-one", "21"),
    ("Ninety\nNine", "99"),
    ("one hundred and five", "105"),
    ("twelve hundred", "1200"),
    ("two hundred thousand", "200000"),
    ("one million two hundred and five thousand three hundred and seventeen", "1205317"),
    ("2.5 million", "2500000"),
    ("1,000 thousand", "1000000"),
]


@pytest.mark.parametrize(("words", "digits"), SPELLED)
def test_all_who_read_numbers_agree(words: str, digits: str) -> None:
    match = SPELLED_NUMBER.fullmatch(words)
    assert match is not None
    assert parse_number(words) == Decimal(digits)
    assert [value.text for value in find_values(f"for {words} days")] == [f"{words} days"]
    assert extract_entities(f"for {words} days")["TIME"] == [f"{words} days"]
    assert find_unsupported(f"{words} days", [f"{digits} days"]) == ()
    assert find_unsupported(f"{digits} days", [f"{words} days"]) == ()
    assert find_unsupported(f"{words} days", [f"{digits}9 days"]) == (words,)
    assert normalise(f"{words} days") == f"{digits} day"


@pytest.mark.parametrize("apart", ["one, two", "five six", "two or three"])
def test_numbers_beside_each_other_stay_two(apart: str) -> None:
    first, *_, second = apart.replace(",", "").split()
    assert [match[0] for match in SPELLED_NUMBER.finditer(apart)] == [first, second]
    assert [value.text for value in find_values(f"{apart} days")] == [f"{second} days"]
    assert len([word for word in normalise(apart).split() if word.isdecimal()]) == 2


@pytest.mark.parametrize("text", ["someone often attends", "tenant", "bone", "sixths", "mid-ten"])
def test_words_that_hold_a_number_are_none(text: str) -> None:
    assert not SPELLED_NUMBER.search(text)


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("EUR 5 million", "EUR 5,000,000"),
        ("EUR 5 million", "€5m"),
        ("a 5-year term", "a five-year term"),
    ],
)
def test_a_scale_is_part_of_the_number(answer: str, source: str) -> None:
    assert find_unsupported(answer, [source]) == ()
    assert find_unsupported("5 million", ["5 thousand"]) == ("5 million",)


DATES = st.dates(date(1800, 1, 1), date(2199, 12, 31))


@given(DATES)
def test_all_who_read_dates_agree(day: date) -> None:
    name = MONTH_NAMES[day.month - 1]
    short = name if name == "May" else f"{name[:3]}."
    for text in (
        f"{day.day} {name} {day.year}",
        f"{day.day}th day of {name}, {day.year}",
        f"{name} {day.day}, {day.year}",
        f"{short} {day.day} {day.year}",
        day.isoformat(),
    ):
        assert [(value, match[0]) for value, match in find_dates(f"on {text}.")] == [(day, text)]
        assert [value.text for value in find_values(f"on {text}.")] == [text]
        assert extract_entities(f"on {text}.")["TIME"] == [text]
        assert find_unsupported(text, [day.isoformat()]) == ()


def test_a_day_that_does_not_exist_is_no_date() -> None:
    assert list(find_dates("30 February 2024")) == []
